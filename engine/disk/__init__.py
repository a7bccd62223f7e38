"""Files and streams that outlive a crash: written whole, locked, refused in words."""
