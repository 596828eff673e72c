"""What is told or was written by a server that nobody vouches for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from redelve.errors import LocationError


@contextmanager
def as_a_server_writes(what: str, way_out: str) -> Iterator[None]:
    """Refuse documents that are no JSON, lack a part, or have a value that cannot be where it should be."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as problem:
        lacks = f" (no {problem})" if isinstance(problem, KeyError) else ""
        raise LocationError(f"{what} is not as a server writes it{lacks}: {way_out}") from problem
