"""Reading DELVE's files against pyarrow.csv and the array itself, and tables of users against pandas."""

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


TABLE_COLUMNS, TABLE_BOUNDS = 30, (3.0, 1.5)
MANY_ROWS, MEMORY_BOUND = 10_000_000, 8000.0
MIXED = ("red", "green", "blue", "yellow")

# Both run in a fresh process: seconds of CPU and megabytes at the peak, imports not counted.
MEASURE = """
import sys, time
import pandas, pyarrow.csv
from redelve.data.tables import from_file

def resident(field):
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(field))

ways = {"ours": lambda path: from_file(path, "y"), "pandas": pandas.read_csv}
before, start = resident("VmRSS"), time.process_time()
held = ways[sys.argv[1]](sys.argv[2])
print(time.process_time() - start, (resident("VmHWM") - before) / 1e6)
"""


def run(cases: int = CASES) -> list[dict[str, object]]:
    return [*delve_rows(cases), *table_rows(cases)]


def table_rows(cases: int, many: int = MANY_ROWS) -> list[dict[str, object]]:
    """Reading and inferring a CSV, until its tasks are ready, against pandas.read_csv of the same file."""
    what = f"reading and inferring a CSV, {cases} × {TABLE_COLUMNS}"
    against = "pandas.read_csv of the same file"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write_table(path, cases)
        measured = [(measure("ours", path), measure("pandas", path)) for _ in range(RUNS)]
        ours, alternative = (tuple(map(min, zip(*one, strict=True))) for one in zip(*measured, strict=True))
        times = row(f"{what} (seconds of CPU)", ours[0], alternative[0], against)
        peaks = row(f"{what}: peak memory (MB)", ours[1], alternative[1], against)
        write_table(path, cases, times=many // cases)
        large = row(
            f"the same, {many} rows: peak memory (MB)", measure("ours", path)[1], MEMORY_BOUND, "8 GB"
        )
    bounds = (*TABLE_BOUNDS, 1.0)
    return [{**one, "bound": bound} for one, bound in zip((times, peaks, large), bounds, strict=True)]


def measure(way: str, path: Path) -> tuple[float, float]:
    """Seconds of CPU and megabytes at the peak, in a process of its own."""
    command = [sys.executable, "-c", MEASURE, way, str(path)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, memory = map(float, printed.split())
    return seconds, memory


def write_table(path: Path, cases: int, times: int = 1) -> None:
    """Numbers, whole numbers, words and gaps, as tables of users have them; the rows may be repeated."""
    import pandas as pd

    random = np.random.default_rng(0)
    columns: dict[str, object] = {f"x{place}": random.normal(size=cases).round(6) for place in range(15)}
    columns |= {f"k{place}": random.integers(-1000, 100_000, cases) for place in range(8)}
    columns |= {f"c{place}": random.choice(MIXED, cases) for place in range(4)}
    gaps = random.random((2, cases)) < 0.05
    columns["real_gap"] = np.where(gaps[0], np.nan, random.normal(size=cases).round(4))
    columns["whole_gap"] = np.where(gaps[1], np.nan, random.integers(0, 50, cases))
    columns["y"] = random.normal(size=cases).round(4)
    head, _, body = pd.DataFrame(columns).to_csv(index=False).partition("\n")
    with path.open("w") as stream:
        stream.write(f"{head}\n")
        for _ in range(times):
            stream.write(body)


def delve_rows(cases: int) -> list[dict[str, object]]:
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
