"""Reading 10⁶ × 33 numbers: time against pyarrow.csv, peak memory against the array itself."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.timing import best_of

CASES, WIDTH = 1_000_000, 33
RUNS = 3
BOUND = 3.0
COMMAND = "python -m benchmarks reading"

# Run in a fresh process: the most memory ever resident, less what was resident after the imports.
MEASURE_MEMORY = """
import sys
import pyarrow.csv
from redelve.data.delve.case_files import read_cases

def resident(field):
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(field))

before = resident("VmRSS")
values = read_cases(sys.argv[1]).numbers()
print(resident("VmHWM") - before, values.nbytes)
"""


def run(cases: int = CASES) -> list[dict[str, object]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for manner, form in (("single blanks", " %.7e"), ("right-justified", "%16.7e")):
            path = Path(folder, "Dataset.data")
            write_numbers(path, form, cases)
            what = f"reading {cases} × {WIDTH} numbers, {manner}"
            peak, array = peak_memory(path)
            if manner == "single blanks":
                ours, alternative = best_of(RUNS, lambda: read_ours(path), lambda: read_pyarrow(path))  # noqa: B023
                against = "pyarrow.csv.read_csv of the same file"
                rows.append(row(f"{what} (seconds)", ours, alternative, against))
            rows.append(row(f"{what}: peak memory (MB)", peak / 1e6, array / 1e6, "the array of float64"))
            path.unlink()
    return rows


def row(name: str, ours: float, alternative: float, against: str) -> dict[str, object]:
    return {
        "name": name,
        "ours": ours,
        "alternative": alternative,
        "against": against,
        "ratio": ours / alternative,
        "bound": BOUND,
        "command": COMMAND,
    }


def write_numbers(path: Path, form: str, cases: int) -> None:
    """Normally distributed numbers, as the kin and pumadyn families of DELVE write theirs."""
    random = np.random.default_rng(1)
    line = (form * WIDTH).lstrip(" ") + "\n"
    with path.open("w") as stream:
        for start in range(0, cases, 10_000):
            values = random.standard_normal((min(10_000, cases - start), WIDTH))
            stream.write(line * len(values) % tuple(values.ravel().tolist()))


def read_ours(path: Path) -> object:
    from redelve.data.delve.case_files import read_cases

    return read_cases(path)


def read_pyarrow(path: Path) -> object:
    import pyarrow
    from pyarrow import csv

    names = [str(position) for position in range(WIDTH)]
    return csv.read_csv(
        path,
        read_options=csv.ReadOptions(column_names=names),
        parse_options=csv.ParseOptions(delimiter=" "),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pyarrow.float64())),
    )


def peak_memory(path: Path) -> tuple[int, int]:
    """Bytes that reading takes at its peak, and bytes of what was read; Linux only."""
    command = [sys.executable, "-c", MEASURE_MEMORY, str(path)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    peak, array = map(int, printed.split())
    return peak, array


if __name__ == "__main__":
    for result in run():
        numbers = [f"{result[key]:.3g}" for key in ("ours", "alternative", "ratio", "bound")]
        sys.stdout.write(f"| {result['name']} | {' | '.join(numbers)} | `{result['command']}` |\n")
