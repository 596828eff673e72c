"""How far a datum walks stays within what docs/architecture.md was planned for."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data.proben1.genuine import FOLDER

HOUSE = Path(__file__).parents[1]
LIMITS = {"CSV": (65, 14, 80), "mgendata": (65, 14, 36), "PROBEN1": (70, 14, 30)}
"""Files, rooms and crossings at most; the plan of the house has crossings of all, the rest of the first."""


@pytest.mark.parametrize("walk", LIMITS)
def test_no_walk_is_longer_than_planned(walk: str) -> None:
    if walk == "PROBEN1" and not FOLDER.is_dir():
        pytest.skip(f"PROBEN1's own files are not in {FOLDER}")
    env = os.environ | {"REDELVE_PROBEN1": str(FOLDER)}
    words = [sys.executable, "-m", "benchmarks.walks", walk]
    told = subprocess.run(words, capture_output=True, text=True, cwd=HOUSE, env=env, check=True).stdout
    counts = [int(count) for count in re.findall(r"\d+", told.splitlines()[-1])[1:]]
    assert all(count <= most for count, most in zip(counts, LIMITS[walk], strict=True)), counts
