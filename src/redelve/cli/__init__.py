"""The commands: DELVE's thirteen, and the verbs of `redelve`."""

FAILURE, USAGE, NO_RESULT, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 130, 141
"""How commands exit when something went wrong; `NO_RESULT`: all is told, but a method came to nothing, or
there is no verdict to tell by an exit code."""
