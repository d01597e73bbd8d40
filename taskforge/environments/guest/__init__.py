"""Files that run inside the sandbox with the interpreter and pytest of the repository under test."""
