"""What Kvasir needs of the operating system: files written whole, locks, streams, a parent to end with."""
