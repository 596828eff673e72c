"""Names of compressed files: `X.gz` stands for `X`. Every command imports this, so it imports nothing."""

from __future__ import annotations

ENDINGS = (".gz", ".Z", ".z", ".bz2", ".xz", ".zst", ".zip")


def plain_name(name: str) -> str:
    """A file's name without the ending that says how it is compressed.

    >>> plain_name("train.0.gz"), plain_name("train.0"), plain_name(".gz")
    ('train.0', 'train.0', '.gz')
    """
    for ending in ENDINGS:
        if name.endswith(ending) and name != ending:
            return name.removesuffix(ending)
    return name
