"""Models: the picker, the window with the library, the hub and the downloads, and what the engine says about itself."""
