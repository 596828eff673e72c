"""The law in docs/architecture.md holds, the house has few doors, and importing is cheap."""

import ast
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import redelve
import redelve.challenge
import redelve.stats

PROJECT = Path(__file__).parent.parent
SOURCE = PROJECT / "src" / "redelve"
LAW = re.compile(r"^[a-z]+(?: < [a-z]+)+$", re.MULTILINE)
LEAVES = {"errors", "seeds", "registry", "text_numbers"}
PLANTED = "from redelve.report.page import render_html\n"


def law() -> list[str]:
    """The rooms from left to right, as docs/architecture.md has them."""
    (line,) = LAW.findall((PROJECT / "docs" / "architecture.md").read_text())
    return str(line).split(" < ")


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(text: str) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(text)):
        modules = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import of {node.module}"
            modules = [node.module or ""]
            if node.module == "redelve":
                modules = [f"redelve.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        rooms |= {name.split(".")[1] for name in modules if name.startswith("redelve.")}
        rooms |= {"the package root" for name in modules if name == "redelve"}
    return rooms


def breaches(room: str, text: str) -> set[str]:
    """What a module of the room imports although it stands to the room's right."""
    order = law()
    allowed = set() if room == "errors" else {"errors"} if room in LEAVES else {*LEAVES, "__version__"}
    left = set(order[: order.index(room) + 1]) if room in order else set()
    return imported_rooms(text) - left - allowed


DOORS = {SOURCE / "__init__.py", SOURCE / "__main__.py"}
"""The package itself and `python -m redelve`: they stand outside and may open any room."""
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path not in DOORS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_rooms_import_only_what_stands_to_their_left(path: Path) -> None:
    assert breaches(room_of(path), path.read_text()) == set()


@pytest.mark.parametrize("room", ["stats", "model", "store", "findings"])
def test_a_planted_upward_import_is_a_breach(room: str) -> None:
    text = sorted((SOURCE / room).glob("*.py"))[-1].read_text()
    assert breaches(room, text) == set()
    assert breaches(room, text + PLANTED) == {"report"}
    assert breaches("challenge", text + PLANTED) == set()


def test_the_law_names_just_the_rooms_that_exist() -> None:
    existing = {room_of(path) for path in MODULES} - LEAVES
    assert existing == set(law())


def test_the_house_has_few_doors() -> None:
    packages = [path for path in SOURCE.iterdir() if (path / "__init__.py").exists()]
    modules = [path for path in SOURCE.glob("*.py") if not path.name.startswith("__")]
    assert len(packages) <= 14, sorted(path.name for path in packages)
    assert len(modules) <= 6, sorted(path.name for path in modules)


def test_no_module_is_called_as_one_of_the_standard_library() -> None:
    assert {path.stem for path in MODULES} & sys.stdlib_module_names <= {"__main__"}


@cache
def public_classes() -> dict[str, list[str]]:
    """Every public class of the package: its name, and where classes of that name are."""
    found = defaultdict(list)
    for path in MODULES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(SOURCE)))
    return found


def test_no_two_public_classes_share_a_name() -> None:
    assert len(public_classes()) > 400
    assert {name: places for name, places in public_classes().items() if len(places) > 1} == {}


def test_modules_share_a_name_only_where_the_page_says_why() -> None:
    found = defaultdict(list)
    for path in MODULES:
        if not path.name.startswith("__"):
            found[path.stem].append(path)
    page = (PROJECT / "docs" / "architecture.md").read_text().partition("## One meaning for a word")[2]
    page = page.partition("\n## ")[0]
    explained = set(re.findall(r"^\| `(\w+)` \| .+ \| .+ \|$", page, re.MULTILINE))
    assert {name for name, places in found.items() if len(places) > 1} == explained


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines from `def` to the end, without those of the docstring."""
    first = function.body[0]
    is_docstring = isinstance(first, ast.Expr) and ast.get_docstring(function, clean=False) is not None
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if is_docstring else 0
    return (function.end_lineno or function.lineno) - function.lineno + 1 - docstring


def test_functions_are_short() -> None:
    lengths = {
        f"{path.relative_to(SOURCE)}: {node.name}": lines_of(node)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(lengths) > 5000
    assert {place: lines for place, lines in lengths.items() if lines > 40} == {}
    assert statistics.median(lengths.values()) <= 8


def loaded_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_redelve_loads_no_heavy_package() -> None:
    assert not loaded_after("import redelve") & {"numpy", "scipy", "pyarrow", "dataclasses"}


def test_importing_the_analyses_loads_no_scipy() -> None:
    assert "scipy" not in loaded_after("import redelve.stats")


def test_the_public_face_is_small_and_hides_no_module() -> None:
    assert len(redelve.__all__) <= 30
    for package in (redelve, redelve.stats, redelve.challenge):
        folder = Path(str(package.__file__)).parent
        inside = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
        assert set(package.__all__) & inside == set(), package.__name__


def test_every_public_name_can_be_loaded() -> None:
    for name in redelve.__all__:
        assert getattr(redelve, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        redelve.nonsense  # type: ignore[attr-defined]  # noqa: B018
    assert dir(redelve) == sorted(redelve.__all__)
