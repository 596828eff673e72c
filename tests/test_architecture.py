"""The import table in docs/architecture.md holds, and importing is cheap."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import redelve

PROJECT = Path(__file__).parent.parent
SOURCE = PROJECT / "src" / "redelve"
ROW = re.compile(r"^\| ([a-z0-9, ]+) \| ([a-z0-9, ]*)\|$", re.MULTILINE)


def allowed_imports() -> dict[str, set[str]]:
    table = {}
    for rooms, imports in ROW.findall((PROJECT / "docs" / "architecture.md").read_text()):
        names = {name.strip() for name in imports.split(",") if name.strip()}
        for room in rooms.split(","):
            if room.strip() != "room":
                table[room.strip()] = names
    return table


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        modules = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            modules = [node.module or ""]
            if node.module == "redelve":
                modules = [f"redelve.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        rooms |= {name.split(".")[1] for name in modules if name.startswith("redelve.")}
        rooms |= {"the package root" for name in modules if name == "redelve"}
    return rooms


MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_rooms_import_only_what_the_table_allows(path: Path) -> None:
    room = room_of(path)
    if room in ("commands", "cli", "errors"):
        return
    table = allowed_imports()
    assert room in table, f"docs/architecture.md does not know the room {room}"
    assert imported_rooms(path) - {room, "errors", "later"} <= table[room]


def test_errors_import_nothing_of_redelve() -> None:
    assert imported_rooms(SOURCE / "errors.py") == set()


def test_the_table_speaks_of_rooms_that_exist() -> None:
    existing = {room_of(path) for path in MODULES}
    for room, imports in allowed_imports().items():
        assert {room} | imports - {"everything"} <= existing


def loaded_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_redelve_loads_no_heavy_package() -> None:
    assert not loaded_after("import redelve") & {"numpy", "scipy", "pyarrow", "dataclasses"}


def test_importing_the_analyses_loads_no_scipy() -> None:
    assert "scipy" not in loaded_after("import redelve.stats")


def test_every_public_name_can_be_loaded() -> None:
    for name in redelve.__all__:
        assert getattr(redelve, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        redelve.nonsense  # noqa: B018
    assert dir(redelve) == sorted(redelve.__all__)
