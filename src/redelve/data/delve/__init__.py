"""DELVE's own files."""
