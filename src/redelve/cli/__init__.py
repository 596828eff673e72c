"""DELVE's thirteen commands."""
