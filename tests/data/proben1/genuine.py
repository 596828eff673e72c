"""PROBEN1's own files may not be redistributed: tests that need them are skipped where they are not."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("REDELVE_PROBEN1") or Path(__file__).parents[4] / "shared" / "data" / "proben1")

needs_genuine = pytest.mark.skipif(
    not (FOLDER / "glass1.dt").is_file(),
    reason=f"PROBEN1's own files are not in {FOLDER}: set REDELVE_PROBEN1 to the folder that has them",
)
