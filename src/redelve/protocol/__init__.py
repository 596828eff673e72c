"""DELVE's file protocol: what a method finds in its task directory, and how its answers are scored."""
