"""Readers of the files that other tools write: one file each, known to `READERS` by name."""
