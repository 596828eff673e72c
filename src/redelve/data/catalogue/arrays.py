"""Task arrays: one question over the members of a family and over training-set sizes, and what varies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from redelve.data.catalogue import FAMILIES, KINDS
from redelve.errors import SpecError

PROTOTASKS = {"bank": "rej", "kin": "dist", "pumadyn": "accel"}
STANDARD_SIZES = (64, 128, 256, 512, 1024)
LARGEST_SIZE = 2048
"""With half of the 8192 cases for testing, there are at least two training sets of this size."""

LINEARITY = {"f": "fairly linear", "n": "non-linear"}
NOISE = {"m": "medium", "h": "high"}


class TaskFactors(NamedTuple):
    """What distinguishes a task of an array from the others; several of these make a table."""

    address: str
    family: str
    inputs: int
    linearity: str
    noise: str
    size: int


def task_array(
    family: str, sizes: Sequence[int] = STANDARD_SIZES, kinds: Iterable[str] | None = None
) -> tuple[str, ...]:
    """The addresses of a family's tasks, member by member, sizes in the order given; all kinds if None.

    >>> task_array("kin", sizes=(64, 1024), kinds=("8fm", "8nm"))
    ('/kin-8fm/dist/std.64', '/kin-8fm/dist/std.1024', '/kin-8nm/dist/std.64', '/kin-8nm/dist/std.1024')
    """
    if family not in FAMILIES:
        raise SpecError(f'unknown family "{family}": known are {", ".join(sorted(FAMILIES))}')
    chosen = KINDS if kinds is None else _unlike(kinds, "kind")
    _check(chosen, sizes)
    task = f"{PROTOTASKS[family]}/std"
    return tuple(f"/{family}-{kind}/{task}.{size}" for kind in chosen for size in _unlike(sizes, "size"))


def array_factors(addresses: Iterable[str]) -> tuple[TaskFactors, ...]:
    """The factors of each task, from its address.

    >>> array_factors(["/kin-8nm/dist/std.64"])[0][1:]
    ('kin', 8, 'non-linear', 'medium', 64)
    """
    return tuple(_factors(address) for address in addresses)


def _factors(address: str) -> TaskFactors:
    names = address.split("/")
    if len(names) == 4 and not names[0]:
        family, _, kind = names[1].partition("-")
        _, _, size = names[3].rpartition(".")
        if family in FAMILIES and kind in KINDS and size.isascii() and size.isdigit():
            return TaskFactors(
                address, family, int(kind[:-2]), LINEARITY[kind[-2]], NOISE[kind[-1]], int(size)
            )
    raise SpecError(
        f'"{address}" is no task of a family: '
        f"expected an address like /kin-8nm/dist/std.64, family {', '.join(sorted(FAMILIES))}"
    )


def _check(kinds: Sequence[str], sizes: Sequence[int]) -> None:
    for kind in kinds:
        if kind not in KINDS:
            raise SpecError(f'unknown kind "{kind}": known are {", ".join(KINDS)}')
    for size in sizes:
        if not 1 <= size <= LARGEST_SIZE:
            raise SpecError(
                f"there are no two training sets of {size} cases: give sizes from 1 to {LARGEST_SIZE}"
            )


def _unlike(values: Iterable[int] | Iterable[str], what: str) -> tuple[str, ...]:
    found = tuple(str(value) for value in values)
    for value in found:
        if found.count(value) > 1:
            raise SpecError(f'{what} "{value}" is given twice: give it once')
    return found
