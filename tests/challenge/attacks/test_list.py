"""The list of attacks in the documentation names tests that exist, and all of them."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "challenge-security.md"


def names_of_tests() -> set[str]:
    """The names of all tests of this folder, with their classes."""
    found = set()
    for path in HERE.glob("test_*.py"):
        if path == Path(__file__):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                found |= {
                    f"{node.name}.{item.name}" for item in node.body if isinstance(item, ast.FunctionDef)
                }
            elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found.add(node.name)
    return found


def rows() -> list[list[str]]:
    """The cells of every row of the tables of attacks."""
    tables = PAGE.read_text(encoding="utf-8").split("\n\n")
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for table in tables
        if table.startswith("| attack |")
        for line in table.splitlines()[2:]
    ]


def test_every_row_has_an_attack_a_defence_and_tests_that_exist() -> None:
    known = names_of_tests()
    assert len(rows()) > 30
    for row in rows():
        assert len(row) == 3, row
        named = re.findall(r"`([^`]+)`", row[2])
        assert named, row
        assert not set(named) - known, row


def test_every_attack_is_in_the_list() -> None:
    named = {name for row in rows() for name in re.findall(r"`([^`]+)`", row[2])}
    assert names_of_tests() == named
