"""The program that a child process of ours runs: set the search path, then serve by the module named."""

from __future__ import annotations

import importlib
import json
import os
import sys


def main(module: str, path: str) -> None:
    """Move the channel away from the standard streams, so that nothing printed can get into it."""
    if sys.stderr is None:  # whoever started us has none: nothing else may get its number
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = open(2, "w")  # noqa: SIM115
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    sys.path[:] = json.loads(path)
    serve = importlib.import_module(module).serve
    try:
        os.write(replies, bytes(8))  # an empty message: here I am
    except BrokenPipeError:
        return  # nobody waits any more
    serve(requests, replies)


if __name__ == "__main__":
    main(*sys.argv[1:])
