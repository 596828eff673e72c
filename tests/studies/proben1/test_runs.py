"""Sheets are jobs of an experiment; what an archive holds is not run again; every digit is kept."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from redelve.data.proben1 import assignment
from redelve.errors import LocationError, SpecError
from redelve.nets import Engine
from redelve.nets.training import train_anew
from redelve.run.experiment import Experiment, grouped, pack, perform, plan
from redelve.store import Archive
from redelve.store.archive import carry_out
from redelve.studies import ARCHIVE
from redelve.studies.proben1 import network_method
from redelve.studies.proben1.plan import Amounts, Proben1Plan, Sheet, make_plan
from redelve.studies.proben1.readings import BEST, PRINTED, SEARCH
from redelve.studies.proben1.sheet_runs import COLUMNS, Runs, runs_csv, runs_of
from redelve.studies.proben1.topologies import TRIED, Topology
from tests.studies.proben1.made import sheet, write_dataset

ENGINE = Engine(threads=2)


def run_all(sheets: list[Sheet], engine: Engine = ENGINE, folder: Path | None = None) -> list[Runs]:
    experiment = Proben1Plan((), tuple(sheets)).experiment(engine)
    archive = None if folder is None else folder / ARCHIVE
    return list(runs_of(carry_out(experiment, archive, answers=True), sheets).values())


def run_one(of: Sheet, folder: Path | None = None) -> Runs:
    (found,) = run_all([of], folder=folder)
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


def test_networks_refuse_a_task_whose_classes_are_levels(tmp_path: Path) -> None:
    made = sheet(write_dataset(tmp_path, "tiny1"))
    levels = assignment(made.dataset)
    with pytest.raises(SpecError, match="its outputs are numbers, but levels are wanted of"):
        Experiment(made.methods(ENGINE), {levels.address: levels})


def test_only_missing_runs_are_made_and_none_depends_on_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_dataset(tmp_path, "tiny1")
    folder = tmp_path / "study"
    whole, _ = run_one(sheet(path, 6)), run_one(sheet(path, 2), folder)
    made: list[int] = []

    def counted(*arguments: object, **options: object) -> object:
        made.append(len(options["seeds"]))  # type: ignore[arg-type]
        return train_anew(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(network_method, "train_anew", counted)
    same(run_one(sheet(path, 6), folder), whole)
    assert made == [4]
    same(run_one(sheet(path, 6), folder), whole)
    assert made == [4]
    assert len(run_one(sheet(path, 2), folder).reasons) == 2
    assert made == [4]


def test_networks_of_a_search_are_trained_by_kinds(tmp_path: Path) -> None:
    path = write_dataset(tmp_path, "tiny1")
    search = Sheet("search", path, TRIED[:6], sheet(path).reading)
    experiment = Proben1Plan((), (search,)).experiment(ENGINE)
    assert [len(piece) for piece in grouped(experiment, plan(experiment))] == [2, 1, 2, 1]
    assert np.isfinite(run_one(search).figures["test"]).all()


def test_a_run_by_itself_is_what_it_is_in_company(tmp_path: Path) -> None:
    of = sheet(write_dataset(tmp_path, "tiny1"))
    experiment = Proben1Plan((), (of,)).experiment(ENGINE)
    alone = experiment.results([perform(pack(experiment, job)) for job in plan(experiment)])
    same(runs_of(alone, [of])[of.part, of.dataset], run_one(of))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_problems_of_equal_shape_train_together_with_the_numbers_they_have_alone(
    tmp_path: Path, dtype: str
) -> None:
    """As on torch, where that pays."""
    sheets = [sheet(write_dataset(tmp_path, f"tiny{number}", seed=number)) for number in (1, 2)]
    of = Proben1Plan((), tuple(sheets))
    experiment = of.experiment(Engine(dtype=dtype))
    (method,) = experiment.methods.values()
    packages = [pack(experiment, job) for job in plan(experiment)]
    rngs = [np.random.Generator(np.random.PCG64(one.seed)) for one in packages]
    together = method.learn_many([one.training for one in packages], rngs)  # type: ignore[attr-defined]
    plain = {record.job: record for record in carry_out(experiment, None).records}
    for package, predictor in zip(packages, together, strict=True):
        assert dict(predictor.told) == dict(plain[package.job].told)
        (first, *_) = predictor.predict(package.inputs).guesses.values
        answer = plain[package.job].answer
        assert answer is not None
        assert answer.guesses is not None
        np.testing.assert_array_equal(first, answer.guesses.values[0])


@pytest.mark.torch
def test_on_torch_datasets_of_equal_shape_are_one_batch_and_numbers_stay(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    sheets = [sheet(write_dataset(tmp_path, f"tiny{number}", seed=number)) for number in (1, 2)]
    engine = Engine("torch", "float64")
    of = Proben1Plan((), tuple(sheets))
    on_torch, on_numpy = of.experiment(engine), of.experiment(ENGINE)
    assert [len(piece) for piece in grouped(on_torch, plan(on_torch))] == [8]
    assert [len(piece) for piece in grouped(on_numpy, plan(on_numpy))] == [4, 4]
    plain = {found.sheet.dataset: found for found in run_all(sheets)}
    for found in run_all(sheets, engine):
        for name in COLUMNS:
            np.testing.assert_allclose(
                found.figures[name], plain[found.sheet.dataset].figures[name], rtol=1e-4, err_msg=name
            )


def test_seeds_are_named_and_another_number_draws_others(tmp_path: Path) -> None:
    plan = make_plan([8], BEST, datasets=["glass1"], amounts=Amounts(multilayer=3))
    other = make_plan([8], BEST, datasets=["glass1"], amounts=Amounts(multilayer=3), seed=1)
    both = (*plan.sheets[0].seeds, *other.sheets[0].seeds)
    assert len(set(both)) == 6
    fewer = make_plan([8], BEST, datasets=["glass1"], amounts=Amounts(multilayer=2))
    assert plan.sheets[0].seeds[:2] == fewer.sheets[0].seeds


def test_the_jobs_of_a_study_have_the_studys_seeds(tmp_path: Path) -> None:
    of = sheet(write_dataset(tmp_path, "tiny1"), 3)
    experiment = Proben1Plan((), (of,)).experiment(ENGINE)
    assert [experiment.seed(job) for job in plan(experiment)] == list(of.seeds)
    again = Proben1Plan((), (Sheet(of.part, of.dataset, of.topologies, of.reading, seed=1),))
    other = again.experiment(ENGINE)
    assert not {experiment.digest(job) for job in of.jobs} & {other.digest(job) for job in of.jobs}


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
    same(run_one(found.sheet, tmp_path / "study"), found)
    rows = list(csv.DictReader(io.StringIO(runs_csv([found]))))
    for name in COLUMNS:
        assert [float(row[name]) for row in rows] == found.figures[name].tolist()
    assert [row["stopped_by"] for row in rows] == list(found.reasons)
    assert {row["network"] for row in rows} == {"3+0 linear"}


def test_an_archive_tells_other_trainings_and_networks_apart(tmp_path: Path) -> None:
    dataset, folder = write_dataset(tmp_path, "tiny1"), tmp_path / "study"
    found = run_one(sheet(dataset, 3), folder)
    other = run_one(Sheet("pivot", dataset, found.sheet.topologies, PRINTED), folder)
    assert (other.figures["train"] != found.figures["train"]).any()
    same(run_one(found.sheet, folder), found)
    archive = Archive.open(folder / ARCHIVE)
    assert len(archive.done()) == 6
    assert archive.verify().ok
    run_one(sheet(dataset, 3, topology=Topology((8,))), folder)
    assert len(archive.done()) == 9


def test_a_folder_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / ARCHIVE).mkdir()
    (tmp_path / ARCHIVE / "mine.txt").write_text("x")
    with pytest.raises(LocationError, match="no empty folder"):
        run_one(sheet(write_dataset(tmp_path, "tiny1")), tmp_path)
