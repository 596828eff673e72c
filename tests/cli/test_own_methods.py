"""Estimators of the user's own on the command line: a file, one of its names, or a dictionary in it."""

import sys
from pathlib import Path

import pytest

from redelve.cli.options import UsageError, methods_told
from redelve.cli.own_methods import imported_by, own_methods
from redelve.run.cells import asking
from tests.cli.test_assess import write_table
from tests.conftest import RunCommand

FILE = """
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor as Tree

ridge = Ridge()
tree = Tree(max_depth=2)
_hidden = Ridge(alpha=9)
both = {"weak": Ridge(alpha=0.1), "strong ridge": Ridge(alpha=100)}


def make():
    return Ridge(alpha=5)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of methods, each test's by another name: Python keeps what it has imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def test_a_file_stands_for_all_its_estimators(folder: Path) -> None:
    (folder / "mine_all.py").write_text(FILE)
    found = own_methods("mine_all.py")
    assert list(found) == ["ridge", "tree"]
    assert found["tree"].max_depth == 2


def test_one_of_them_a_dictionary_or_what_a_function_makes_can_be_named(folder: Path) -> None:
    (folder / "mine_some.py").write_text(FILE)
    assert list(own_methods("mine_some.py:tree")) == ["tree"]
    assert own_methods("mine_some.py:both")["strong ridge"].alpha == 100
    assert own_methods("mine_some.py:make")["mine_some"].alpha == 5


@pytest.mark.parametrize(
    ("text", "held", "told"),
    [
        ("mine_absent.py", None, '"mine_absent.py" is not there'),
        ("mine_empty.py", "x = 3\n", "mine_empty.py holds no estimator, nothing with fit and predict"),
        ("mine_broken.py", "1 / 0\n", "can't load mine_broken.py (ZeroDivisionError: division by zero)"),
        ("mine_other.py:tree", "x = 3\n", 'can\'t load "tree" from mine_other.py (AttributeError'),
        ("mine_absent_too.py:tree", None, '"mine_absent_too.py" is not there'),
        ("mine_cut.py:make", "def make():\n    return D\n", "mine_cut.py:make makes no method (NameError"),
    ],
)
def test_what_cannot_be_loaded_is_told(folder: Path, text: str, held: str | None, told: str) -> None:
    if held is not None:
        (folder / text.partition(":")[0]).write_text(held)
    with pytest.raises(UsageError) as caught:
        own_methods(text)
    assert told in str(caught.value)


def test_names_of_redelve_are_not_looked_for_in_files() -> None:
    assert methods_told(["lin-1"]) == {"lin-1": "lin-1"}
    for name in ("mine.py", "my.package:tree"):
        with pytest.raises(UsageError):
            methods_told([name])


def test_own_estimators_take_part_beside_those_that_are_known_by_name(
    run_command: RunCommand, folder: Path
) -> None:
    write_table(folder)
    (folder / "mine_here.py").write_text(FILE.replace("tree =", "_tree ="))
    (folder / "houses_numbers.csv").write_text(
        "\n".join(
            ",".join(line.split(",")[i] for i in (0, 1, 3))
            for line in (folder / "houses.csv").read_text().split()
        )
    )
    words = ["houses_numbers.csv", "-t", "price", "-q", "-m", "constant,mine_here.py"]
    done = run_command("assess", words, folder)
    assert done.code == 0, done.err
    assert "2 methods, " in done.out
    assert done.out.index("\n  ridge ") < done.out.index("\n  constant ")  # sorted by loss


def test_what_a_file_imports_is_known_before_it_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine.py").write_text(
        "import sklearn.svm, os\nfrom . import beside\nraise RuntimeError('run')\n"
        "def make():\n    from sklearn.ensemble import RandomForestRegressor\n"
    )
    (tmp_path / "broken.py").write_text("from (")
    names = [
        "lin-1",
        f"{tmp_path}/mine.py:make",
        f"{tmp_path}/broken.py",
        f"{tmp_path}/absent.py",
        "a.module:f",
    ]
    assert imported_by(names) == ["sklearn.svm", "os", "sklearn.ensemble"]
    assert sys.path[0] == str(tmp_path)


def test_what_was_begun_for_methods_ends_with_the_command(folder: Path, run_command: RunCommand) -> None:
    (folder / "mine_unused.py").write_text("import numpy\n")
    assert run_command("assess", ["absent.csv", "-t", "y", "-m", "mine_unused.py"]).code != 0
    assert not vars(asking._mine).get("wardens")
