"""The window of Kvasir: everything a person sees, and nothing that computes an answer."""
