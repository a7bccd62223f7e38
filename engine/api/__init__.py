"""What crosses the borders of the engine: messages, facts, settings, errors, and the sentences they are told in."""
