"""Packages that carry raw data: tests that need them are skipped where they are not (`make test-proben1`)."""

import sys
from pathlib import Path

import pytest

from redelve.data.proben1.raw_files import absent_carriers, raw_files

RAW = (Path(sys.prefix) / "proben1-raw",)
"""Where `make test-proben1` puts their files, so that nothing else finds them."""


def needs_carriers(problem: str) -> None:
    """Skip the test if a problem's raw files are not here."""
    if absent := absent_carriers(problem, RAW):
        pytest.skip(f"{absent[0].package} is not installed: make test-proben1")


PROBLEMS = tuple(raw_files())
FILES = tuple(f"{problem}{number}" for problem in PROBLEMS for number in (1, 2, 3))
