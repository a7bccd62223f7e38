"""Owns engine processes: starts them, talks to them, notices when they die."""
