"""How many examples of a property are tried."""

from hypothesis import settings

QUICK = 40
"""So many unless told (conftest.py); with make test-all there are more."""


def quickly(count: int) -> int:
    """So many with make test, for what takes long; as many as any property has with make test-all."""
    every = settings().max_examples
    return count if every <= QUICK else every
