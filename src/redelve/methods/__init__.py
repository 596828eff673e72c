"""Learning methods."""
