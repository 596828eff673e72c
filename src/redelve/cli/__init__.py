"""The commands: DELVE's thirteen, and the verbs of `redelve`."""

import gc
import os
import sys
from importlib import import_module

FAILURE, USAGE, NO_RESULT, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 130, 141
"""How commands exit when something went wrong; `NO_RESULT`: all is told, but a method came to nothing, or
there is no verdict to tell by an exit code."""


def dls() -> int:
    """List contents of data directories."""
    return _started("dls")


def dmore() -> int:
    """Show data files."""
    return _started("dmore")


def mls() -> int:
    """List contents of method directories."""
    return _started("mls")


def mmore() -> int:
    """Show method files."""
    return _started("mmore")


def _started(command: str) -> int:
    """Run a command that only shows something, for a person who waits, and end the process.

    Nothing that it loads is garbage: looking for some takes a twentieth of the time. To take modules and
    objects apart takes a tenth more, so when all is written the process ends without that.
    """
    gc.disable()
    code: int = getattr(import_module("redelve.cli.showing"), command)()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return code  # Python tells of it as it always does
    os._exit(code)
