"""python -m tests.fuzzing [ --count 500 ] [ --seed 1 ] [ --first 0 ] [ --only number ]"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # a process with threads can't be forked safely
    os.environ[_name] = "1"

from redelve.run.cells import job_and_outcome  # noqa: E402
from tests.fuzzing.trials import Fuzzer  # noqa: E402

HEAVY = (
    "numpy",
    "pandas",
    "matplotlib.figure",
    "pyarrow.csv",
    "pyarrow.parquet",
    "sklearn.linear_model",
    "redelve.assessment",
    "redelve.cli.assess",
)


def main() -> int:
    """Try as many as asked for, tell what was found; 1 if anything was."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--first", type=int, default=0, help="the number of the first of them, to go on there"
    )
    parser.add_argument(
        "--scene", help="of one kind: tables, delve, archive, challenge, export, scores, studies or calls"
    )
    parser.add_argument("--show", action="store_true", help="tell of those that end well, too")
    parser.add_argument("--only", type=int, help="do one of them again, and keep its folder")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fuzzing-"))
    os.environ.update(REDELVE_HOME=str(folder / "home"), REDELVE_PROBEN1="raw")
    tempfile.tempdir = str(folder)  # forked processes leave what they unpack
    try:
        if given.only is None:
            numbers = range(given.first, given.first + given.count)
            return fuzz(Fuzzer(folder, given.seed, only=given.scene), numbers, is_told=given.show)
        print(folder)
        return fuzz(Fuzzer(folder, given.seed, True, given.scene), [given.only], is_told=True)
    finally:
        if given.only is None:
            shutil.rmtree(folder)


def fuzz(fuzzer: Fuzzer, numbers: Sequence[int], *, is_told: bool) -> int:
    """Tell of each trial that ends badly, then how all ended; 1 if any did."""
    for name in HEAVY:  # once, before forking
        import_module(name)
    job_and_outcome.ISOLATED_UNLESS_TOLD = False  # the methods behave, and a cell takes a second to begin
    codes, bad = Counter[int](), 0
    for number in numbers:
        trial = fuzzer.trial(number)
        codes.update(trial.codes)
        bad += bool(trial.findings)
        if trial.findings or is_told:
            print(trial, flush=True)
    ends = ", ".join(f"{count} with {code}" for code, count in sorted(codes.items()))
    print(f"seed {fuzzer.seed}: {bad} of the {len(numbers)} inputs found something")
    print(f"{codes.total()} commands ended: {ends}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
