"""Snapshots of chats outside the context, in RAM or on disk."""
