"""What outlives the window, free of Qt: chats, preferences, imports and exports."""
