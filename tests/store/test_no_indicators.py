"""Archives of before the columns for missing values that `Cases: no missing` leaves out were left out."""

from __future__ import annotations

from pathlib import Path

import pytest

import redelve
from redelve.data.catalogue.dataset_folder import AttributeLine, PrototaskPlan, attribute_lines, dataset_files
from redelve.errors import LocationError
from redelve.model import Assignment, prototask
from redelve.store import Archive
from tests.conftest import make_root


@pytest.fixture
def gaps(delve_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset whose input is missing in every fifth case; its prototask leaves these out."""
    rows = [[("?" if n % 5 == 0 else str(n % 7)), str(n * 37 % 101)] for n in range(1, 101)]
    attributes = [AttributeLine("x", "[0,Inf) ?", ""), AttributeLine("y", "[0,Inf)", "")]
    plan = PrototaskPlan((1,), (2,), {1: "real", 2: "real"}, 40, (10,), "simulated")
    head = "Origin: simulated\nUsage: development\nOrder: uninformative\nAttributes:\n"
    files = dataset_files(rows, head + attribute_lines(attributes), {"p": plan}, {})
    files["p/Prototask.spec"] = files["p/Prototask.spec"].replace("Cases: all", "Cases: no missing")
    root = make_root(tmp_path / "delve", {f"data/gaps/{name}": text for name, text in files.items()})
    monkeypatch.chdir(root)
    return root


def test_a_task_that_had_columns_for_missing_values_is_another_one_now(
    gaps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(prototask, "_used", lambda attribute, _: attribute)
        before.setattr(Assignment, "_has_fewer_columns", property(lambda _: False))
        old = redelve.assess(["lin-1"], "gaps/p", archive="kept")
    again = redelve.assess(["lin-1"], "gaps/p", archive="kept")
    digests = [{one.digest for one in found.results.records} for found in (old, again)]
    assert len(digests[0]) == len(digests[1]) > 1
    assert not digests[0] & digests[1]
    with pytest.raises(LocationError, match=r"/gaps/p/std.10\" is there in 2 versions"):
        Archive.open("kept").load()


def test_tasks_without_such_inputs_are_what_they_were(gaps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their digests have nothing more in them: archives of before go on."""
    spec = gaps / "data/gaps/Dataset.spec"
    spec.write_text(spec.read_text().replace("[0,Inf) ?", "[0,Inf)"))
    data = gaps / "data/gaps/Dataset.data"
    data.write_text(data.read_text().replace("?", "3"))
    (plain,) = redelve.task("gaps/p").assignments
    monkeypatch.setattr(Assignment, "_has_fewer_columns", property(lambda _: False))
    (before,) = redelve.task("gaps/p").assignments
    assert plain.digest == before.digest
