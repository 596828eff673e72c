"""Make src/redelve/data/proben1/orders.npz: which case of the raw file each example of PROBEN1's files is.

    REDELVE_PROBEN1=folder python -m tests.data.proben1.make_orders

needs PROBEN1's own files and the packages that carry the raw data. Of equal cases the first comes first.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import redelve.data.proben1
from redelve.data.proben1.dt_files import read_dt
from redelve.data.proben1.file_sources import data_folders
from redelve.data.proben1.raw_files import raw_files
from redelve.data.proben1.rebuilt_files import all_examples
from redelve.model.dataset import Numbers
from tests.data.proben1.genuine import FOLDER


def order_of(examples: Numbers, made: Numbers) -> NDArray[np.uint16]:
    """The row of each example among all that were made."""
    places: dict[bytes, list[int]] = defaultdict(list)
    for row, values in enumerate(made):
        places[(values + 0.0).tobytes()].append(row)
    return np.array([places[(values + 0.0).tobytes()].pop(0) for values in examples], dtype=np.uint16)


def main() -> None:
    found: dict[str, Any] = {}
    for problem in raw_files():
        made = np.hstack(all_examples(problem, data_folders()))
        for number in (1, 2, 3):
            file = read_dt(FOLDER / f"{problem}{number}.dt")
            found[f"{problem}{number}"] = order_of(np.hstack([file.inputs, file.outputs]), made)
    np.savez_compressed(Path(redelve.data.proben1.__file__).with_name("orders.npz"), **found)


if __name__ == "__main__":
    main()
