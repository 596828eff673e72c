"""Where the genuine results are that may not be committed here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("REDELVE_RESULTS") or Path(__file__).parents[4] / "shared" / "data" / "results")
needs_genuine = pytest.mark.skipif(
    not (FOLDER / "tsc-bakeoff").is_dir(),
    reason=f"genuine results are not in {FOLDER}: set REDELVE_RESULTS to the folder that has them",
)
