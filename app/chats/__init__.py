"""The chats: the one that is open, its requests, and the list of all."""
