"""Reading and writing: one module per kind of file."""
