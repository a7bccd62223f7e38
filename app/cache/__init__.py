"""The cache as a person sees it."""
