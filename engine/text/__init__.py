"""From chat messages to tokens and from tokens to valid text."""
