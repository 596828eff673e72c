"""Named seeds: the seed of a thing is a hash of its names, so there is no global random state."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def seed(*names: str | int) -> int:
    """A 64-bit seed that depends on every name and on their order.

    >>> seed("split", "/demo/age", 0) == seed("split", "/demo/age", 0)
    True
    >>> seed("split", "/demo/age", 0) == seed("split", "/demo/age", 1)
    False
    """
    parts = [f"{type(name).__name__}:{len(str(name))}:{name}" for name in names]
    return int.from_bytes(hashlib.blake2b("|".join(parts).encode(), digest_size=8).digest(), "big")


def generator(*names: str | int) -> np.random.Generator:
    """A random generator of its own for the thing so named."""
    import numpy as np

    return np.random.Generator(np.random.PCG64(seed(*names)))
