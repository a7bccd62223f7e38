"""Chats that stay: the store, the sidebar, import and export."""
