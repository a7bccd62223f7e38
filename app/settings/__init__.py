"""What the person chose: the preferences file, and forms made from the declarations of settings."""
