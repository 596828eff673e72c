"""Sheets are run in batches; what was run before is not run again; files hold what was run."""

from pathlib import Path

import numpy as np
import pytest

from redelve.errors import FormatError, SpecError
from redelve.nets import Engine, train
from redelve.studies.proben1 import store
from redelve.studies.proben1 import training_runs as running
from redelve.studies.proben1.plan import Amounts, Sheet, make_plan
from redelve.studies.proben1.readings import BEST, PRINTED, SEARCH
from redelve.studies.proben1.topologies import TRIED, Topology
from redelve.studies.proben1.training_runs import COLUMNS, Runs, make_batches, run_sheets
from tests.studies.proben1.made import sheet, write_dataset

ENGINE = Engine(threads=2)


def run_one(of: Sheet, engine: Engine = ENGINE, done: Runs | None = None) -> Runs:
    known = {} if done is None else {(of.part, of.dataset): done}
    (found,) = run_sheets([of], engine, known)
    return found


def same(first: Runs, second: Runs) -> None:
    for name in COLUMNS:
        np.testing.assert_array_equal(first.figures[name], second.figures[name], err_msg=name)
    assert first.reasons == second.reasons


def test_a_run_has_all_its_figures(tmp_path: Path) -> None:
    found = run_one(sheet(write_dataset(tmp_path, "tiny1")))
    for name in COLUMNS:
        assert np.isfinite(found.figures[name]).all(), name
    assert (found.figures["relevant"] <= found.figures["epochs"]).all()
    assert set(found.figures["class"] * 15 / 100 % 1) == {0.0}
    assert len(set(found.figures["test"])) == 4


def test_approximation_has_no_classes(tmp_path: Path) -> None:
    found = run_one(sheet(write_dataset(tmp_path, "tiny1", classes=False)))
    assert np.isnan(found.figures["class"]).all()
    assert np.isfinite(found.figures["test"]).all()


def test_only_missing_runs_are_made_and_none_depends_on_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_dataset(tmp_path, "tiny1")
    whole, some = run_one(sheet(path, 6)), run_one(sheet(path, 2))
    made: list[int] = []

    def counted(*arguments: object, **options: object) -> object:
        made.append(len(arguments[1]))  # type: ignore[arg-type]
        return train(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(running, "train", counted)
    same(run_one(sheet(path, 6), done=some), whole)
    assert made == [4]
    same(run_one(sheet(path, 6), done=whole), whole)
    assert made == [4]


def test_networks_of_a_search_are_trained_by_kinds(tmp_path: Path) -> None:
    path = write_dataset(tmp_path, "tiny1")
    search = Sheet("search", path, TRIED[:6], sheet(path).reading)
    jobs = [job for batch in make_batches(running._Page(search).jobs(), ENGINE) for job in batch.jobs]
    assert sorted(len(job.places) for job in jobs) == [1, 1, 2, 2]
    assert np.isfinite(run_one(search).figures["test"]).all()


@pytest.mark.torch
def test_on_torch_datasets_of_equal_shape_are_one_batch_and_numbers_stay(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    sheets = [sheet(write_dataset(tmp_path, f"tiny{number}", seed=number)) for number in (1, 2)]
    engine = Engine("torch", "float64")
    jobs = [job for each in sheets for job in running._Page(each).jobs()]
    assert [len(batch.jobs) for batch in make_batches(jobs, engine)] == [2]
    assert [len(batch.jobs) for batch in make_batches(jobs, ENGINE)] == [1, 1]
    plain = {found.sheet.dataset: found for found in run_sheets(sheets, ENGINE)}
    for found in run_sheets(sheets, engine):
        for name in COLUMNS:
            np.testing.assert_allclose(
                found.figures[name], plain[found.sheet.dataset].figures[name], rtol=1e-4, err_msg=name
            )


def test_seeds_are_named_and_another_number_draws_others(tmp_path: Path) -> None:
    plan = make_plan([8], BEST, datasets=["glass1"], amounts=Amounts(multilayer=3))
    other = make_plan([8], BEST, datasets=["glass1"], amounts=Amounts(multilayer=3), seed=1)
    both = (*plan.sheets[0].seeds, *other.sheets[0].seeds)
    assert len(set(both)) == 6
    assert plan.sheets[0].seeds[:2] == plan.sheets[0].first(2).seeds


def test_a_plan_needs_each_sheet_once() -> None:
    plan = make_plan(range(3, 13), BEST)
    assert len(plan.sheets) == 43 + 3 * 42
    counts = {sheet.part: len(sheet.topologies) for sheet in plan.sheets}
    assert counts == {"linear": 10, "search": 36, "pivot": 60, "no-shortcut": 60}
    assert len(make_plan([3], BEST, datasets=["mushroom1"]).sheets[0].topologies) == 1
    assert {sheet.part for sheet in make_plan([12], PRINTED).sheets} == {"pivot", "no-shortcut"}
    assert make_plan([5], PRINTED).sheets[0].reading == SEARCH
    assert make_plan([5], BEST).sheets[0].reading == BEST
    bare = next(sheet for sheet in plan.sheets if sheet.part == "no-shortcut")
    assert not bare.topologies[0].shortcuts


def test_a_plan_without_anything_to_do_is_refused() -> None:
    with pytest.raises(SpecError, match="tell nothing of mushroom1"):
        make_plan([8], BEST, datasets=["mushroom1"])
    with pytest.raises(SpecError, match='did you mean "glass1"'):
        make_plan([8], BEST, datasets=["glas1"])
    with pytest.raises(SpecError, match="make at least one run"):
        Amounts(linear=0)


def test_files_hold_every_digit(tmp_path: Path) -> None:
    found = run_one(sheet(write_dataset(tmp_path, "tiny1"), 3))
    path = tmp_path / "runs.csv"
    path.write_text(store.to_csv(found))
    same(store.read_runs(path, found.sheet), found)
    same(store.read_runs(path, found.sheet.first(2)), found.first(2))


def test_files_of_other_runs_are_refused(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path, "tiny1")
    found = run_one(sheet(dataset, 3))
    path = tmp_path / "runs.csv"
    path.write_text(store.to_csv(found))
    other = Sheet("pivot", dataset, found.sheet.topologies, BEST)
    with pytest.raises(FormatError, match=r"line 3: expected .* use another folder, or delete"):
        store.read_runs(path, other)
    with pytest.raises(FormatError, match=r'expected a whole run of "8\+0 linear"'):
        store.read_runs(path, sheet(dataset, 3, topology=Topology((8,))))
    path.write_text("nonsense\n")
    with pytest.raises(FormatError, match=r'line 1: expected .* but got "nonsense"'):
        store.read_runs(path, found.sheet)


def test_a_folder_gives_back_what_was_saved(tmp_path: Path) -> None:
    of = Sheet("linear", "tiny1", (Topology(),) * 2, BEST)
    figures = {name: np.arange(2.0) for name in COLUMNS}
    store.save(tmp_path, Runs(of, figures, ("a", "b")))
    assert store.load_stored(tmp_path, [of])["linear", "tiny1"].reasons == ("a", "b")
    assert store.load_stored(tmp_path, [Sheet("pivot", "tiny1", of.topologies, BEST)]) == {}
