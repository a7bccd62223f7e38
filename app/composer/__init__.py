"""What is being written: the text, the files that go with it, and what they cost."""
