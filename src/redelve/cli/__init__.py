"""The commands: DELVE's thirteen, and the verbs of `redelve`."""

FAILURE, USAGE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
"""How commands exit when something went wrong."""
