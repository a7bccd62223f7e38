"""How the window looks and speaks: theme, fonts, icons, languages."""
