"""The caches of chats outside the context: kept in RAM and on disk, and restored only where they are exact."""
