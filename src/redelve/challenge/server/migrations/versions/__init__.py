"""One module for each step; their names tell the order."""
