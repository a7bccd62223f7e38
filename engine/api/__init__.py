"""The engine's public interface: messages, facts, settings, errors and their user-visible sentences."""
