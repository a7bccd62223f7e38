"""Parts of a window without a subject of their own."""
