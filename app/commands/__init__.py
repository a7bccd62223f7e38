"""Everything that can be done in the window, with its key, and the palette to find it."""
