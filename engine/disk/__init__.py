"""Operating system services: atomic file writes, standard streams, ending with the parent process."""
