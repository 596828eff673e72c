"""How long `dls /` takes to start, set beside Python doing nothing."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

RUNS = 25
BOUND = 4.0


def run() -> list[dict[str, object]]:
    """Alternate the two commands and compare the medians of their wall-clock times."""
    dls = str(Path(sys.executable).with_name("dls"))
    nothing = [sys.executable, "-c", "pass"]
    with tempfile.TemporaryDirectory() as home:
        environment = _environment(home)
        subprocess.run([dls, "/demo"], env=environment, check=True, capture_output=True)
        pairs = [(_seconds([dls, "/"], environment), _seconds(nothing, environment)) for _ in range(RUNS)]
    ours, alternative = (statistics.median(times) for times in zip(*pairs, strict=True))
    return [
        {
            "name": "start of dls / (seconds)",
            "against": "python -c pass",
            "ours": ours,
            "alternative": alternative,
            "ratio": ours / alternative,
            "bound": BOUND,
            "command": "python -m benchmarks startup",
        }
    ]


def _environment(home: str) -> dict[str, str]:
    """A root of its own, and compiled modules kept between runs as they are after any normal installation."""
    dropped = ("DELVE_PATH", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "REDELVE_HOME": home, "PYTHONPYCACHEPREFIX": str(Path(home, "compiled"))}


def _seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
