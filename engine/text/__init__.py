"""Text processing: chat messages to prompt tokens, sampled tokens to text."""
