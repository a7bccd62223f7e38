"""The model hub client: search, remote headers, downloads."""
