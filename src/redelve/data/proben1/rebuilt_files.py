"""PROBEN1's data files made anew out of raw data in other packages, in PROBEN1's representation and order.

`rebuilt/NAME.toml` tells what a problem's coefficients are, `orders.npz` in which order its cases stand in
each of the three files. What is made must have the numbers of PROBEN1's own file, to the last digit.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from redelve.data.proben1.coefficient_rules import coefficients
from redelve.data.proben1.dt_files import DtFile, DtHeader, dt_text, remarked, standard_sizes
from redelve.data.proben1.file_digests import numbers_digest
from redelve.data.proben1.problem_names import Variant
from redelve.data.proben1.raw_files import Folders, packages_of, raw_files
from redelve.data.proben1.raw_tables import RawDescription, raw_table
from redelve.errors import LocationError
from redelve.model.dataset import Numbers


@lru_cache(maxsize=16)
def rebuilt(variant: Variant, folders: Folders = ()) -> DtFile:
    """A variant's file, whose numbers are those of PROBEN1's own; raw files may be in `folders`."""
    made = _in_order(variant, all_examples(variant.dataset.name, folders))
    found, wanted = hashlib.sha256(dt_text(made).encode()).hexdigest(), numbers_digest(variant.file)
    if found != wanted:
        raise LocationError(
            f"{made.source}: these are not the numbers of PROBEN1's file (SHA-256 {found[:16]}…, not "
            f"{wanted[:16]}…)"
        )
    return remarked(made)


@lru_cache(maxsize=4)
def all_examples(problem: str, folders: Folders) -> tuple[Numbers, Numbers]:
    """Inputs and outputs of all cases, in the order of the raw file."""
    described = RawDescription.of(problem)
    raw = raw_table(described, [one.content(folders) for one in raw_files()[problem]])
    return coefficients(raw, described.inputs), coefficients(raw, described.outputs)


def _in_order(variant: Variant, examples: tuple[Numbers, Numbers]) -> DtFile:
    problem = variant.dataset.name
    order, (inputs, outputs) = case_order(variant.file), examples
    kinds = RawDescription.of(problem).kinds
    taken, wanted = _declared(kinds[0], inputs.shape[1]), _declared(kinds[1], outputs.shape[1])
    header = DtHeader(*taken, *wanted, *standard_sizes(len(order)))
    source = f"{variant.file} made of the files of {packages_of(problem)}"
    return DtFile(header, inputs[order], outputs[order], source, is_rebuilt=True)


def _declared(kind: str, width: int) -> tuple[int, int]:
    """How many coefficients the header calls boolean and real."""
    return (width, 0) if kind == "bool" else (0, width)


def case_order(file: str) -> NDArray[np.int64]:
    """Which of the raw cases that PROBEN1 uses each example is; of equal cases the first comes first."""
    with as_file(files(str(__package__)) / "orders.npz") as path, np.load(path) as found:
        return np.asarray(found[file], dtype=np.int64)
