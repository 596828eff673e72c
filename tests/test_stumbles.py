"""Every row of docs/stumbles.md is held by a test that is there."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
ROWS = [
    line
    for line in (PROJECT / "docs" / "stumbles.md").read_text("utf-8").splitlines()
    if line.startswith("| ")
][1:]


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_a_stumble_names_its_test(row: str) -> None:
    cells = re.split(r"(?<!\\)\|", row)[1:-1]
    assert len(cells) == 5, "finding, command, before, now, test"
    path, _, name = cells[-1].strip().strip("`").partition("::")
    assert f"def {name}(" in (PROJECT / path).read_text("utf-8") if name else (PROJECT / path).exists()
