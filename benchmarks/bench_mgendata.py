"""mgendata for five tasks of a dataset of 8192 × 33 values against np.savetxt of the same numbers."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.timing import Row, best_of
from redelve.cli.method_directories import mgendata, mgendir
from redelve.data.delve.case_files import read_matrix, write_cases

SIZES = (64, 128, 256, 512, 1024)


def make_dataset(folder: Path) -> None:
    """A dataset of uniform numbers with one prototask, hierarchical, 4096 test cases."""
    random = np.random.default_rng(2)
    values = random.uniform(-1, 1, size=(33, 8192))
    prototask = folder / "data" / "wide" / "last"
    prototask.mkdir(parents=True)
    (folder / "methods" / "m").mkdir(parents=True)
    attributes = "".join(f" {n} X{n} u (-Inf,Inf)\n" for n in range(1, 34))
    spec = f"Origin: artificial\nUsage: development\nOrder: uninformative\nAttributes:\n{attributes}"
    (folder / "data" / "wide" / "Dataset.spec").write_text(spec)
    columns = [[f"{value:.7e}" for value in column] for column in values.tolist()]
    write_cases(folder / "data" / "wide" / "Dataset.data", columns)
    (prototask / "Prototask.spec").write_text(
        f"Cases: all\nInputs: {' '.join(map(str, range(1, 33)))}\nOrder: retain\nOrigin: artificial\n"
        f"Targets: 33\nTest-Set-Size: 4096\nTraining-Set-Sizes: {' '.join(map(str, SIZES))}\n"
        "Test-Set-Selection: hierarchical\nMaximum-Number-Of-Instances: 8\n"
    )
    (prototask / "std.prior").write_text("".join(f"{n} NLMH real\n" for n in range(1, 34)))


def run() -> list[Row]:
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "delve-bench"
        make_dataset(folder)
        os.chdir(folder / "methods" / "m")
        try:
            assert mgendir(["-q", "wide"]) == 0
            assert mgendata(["-q", "wide"]) == 0
            files = sorted(Path("wide").glob("last/*/t*.[0-9]"))
            matrices = [read_matrix(path) for path in files]

            def alternative() -> None:
                for path, matrix in zip(files, matrices, strict=True):
                    np.savetxt(Path(name) / path.name, matrix, fmt="%.9g")

            ours, bare = best_of(3, lambda: mgendata(["-q", "wide"]), alternative)
        finally:
            os.chdir(home)
    return [
        {
            "name": "mgendata: five tasks (36 instances) of an 8192 × 33 dataset, reading included",
            "ours": ours,
            "alternative": bare,
            "against": "np.savetxt of the same matrices, nothing read, measured or encoded",
            "ratio": ours / bare,
            "bound": None,
            "command": "python -m benchmarks mgendata",
        }
    ]
