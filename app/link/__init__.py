"""The window's link to the engine: its session, plans, and the model that is loaded."""
