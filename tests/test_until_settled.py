"""Races from end to end: real methods on real tasks, stopped, resumed, reported; and what is refused."""

import json
import re
import shutil
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import redelve
from redelve.assessment import Assessment
from redelve.cli import NO_RESULT
from redelve.cli.main import main
from redelve.data.tasks import assignments_for
from redelve.errors import RedelveError
from redelve.findings.racing import look_at
from redelve.run.cells import Limits
from redelve.run.races import OLD_RULE, EarlierLook, Race
from redelve.run.results import Costs, Record
from redelve.settling import Settling, raced_assignments, seconds_of
from redelve.stats.sequential import planned_looks
from redelve.store import Archive
from redelve.store.fresh_records import GroupCommit
from redelve.store.layout import write_document
from redelve.store.look_files import begun_race, keep_looks, read_analyses, read_races, write_race
from redelve.store.wanted_data import assignments_of

WINNER = ["constant", "ridge", "lin-1"]
"""On demo/age ridge is shown to be better than lin-1 after 5 training sets of 64."""


def race_on(folder: Path | None, methods: list[str] = WINNER, **options: Any) -> Assessment:
    return redelve.assess(methods, "demo/age", until_settled=True, archive=folder, **options)


def only_race(assessment: Assessment) -> Race:
    (race,) = assessment.results.races.values()
    return race


def by_job(records: tuple[Record, ...]) -> dict[object, tuple[int, float, str]]:
    return {one.job: (one.seed, float(one.losses["S"].sum()), one.started) for one in records}


@pytest.fixture(scope="module")
def winner(tmp_path_factory: pytest.TempPathFactory) -> Assessment:
    folder = tmp_path_factory.mktemp("race") / "archive"
    return race_on(folder, ["ridge", "lin-1"], margin="2%")


def test_a_race_ends_when_it_is_settled(winner: Assessment) -> None:
    race = only_race(winner)
    assert race.plan.looks == (4, 5, 6, 7, 8, 10, 12, 14, 16)
    assert race.verdict == "better"
    assert race.left == ("ridge",)
    assert len(winner.results.records) == 2 * race.sets < 2 * 16
    assert "After 5 of 16 training sets it is settled: ridge is the best" in " ".join(str(winner).split())


def test_the_archive_holds_the_plan_and_the_looks_and_is_sound(winner: Assessment) -> None:
    assert winner.archive is not None
    assert read_races(winner.archive) == dict(winner.results.races)
    assert Archive.open(winner.archive).verify().ok
    path = next((winner.archive / "races").iterdir())
    text = path.read_text()
    path.write_text(text.replace('"sets": 4', '"sets": 5'))
    try:
        assert any(
            "checksum does not agree" in each for each in Archive.open(winner.archive).verify().problems
        )
    finally:
        path.write_text(text)


def test_a_report_of_the_archive_says_what_the_race_said(winner: Assessment, capsys: Any) -> None:
    assert main(["report", str(winner.archive)]) == 0
    assert capsys.readouterr().out.strip() == str(winner).strip()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            ["-d", "5%"],
            "planned with a margin of 2 %, and a plan is not changed after a look: got a margin of 5 %",
        ),
        (["-c", "ridge:lin-1"], "so it has no planned comparisons: leave them out"),
        (["-m", "ridge"], "is a race of ridge, lin-1 and is reported whole: without lin-1 its p-values"),
    ],
)
def test_a_report_that_asks_a_race_for_something_else_is_refused(
    winner: Assessment, options: list[str], why: str, capsys: Any
) -> None:
    assert main(["report", str(winner.archive), *options]) == 1
    assert why in capsys.readouterr().err


def test_a_report_with_all_methods_and_the_margin_of_a_race_is_that_of_the_race(
    winner: Assessment, capsys: Any
) -> None:
    assert main(["report", str(winner.archive), "-m", "lin-1,ridge", "-d", "2%"]) == 0
    assert "it is settled: ridge is the best" in " ".join(capsys.readouterr().out.split())


def test_the_page_says_the_verdict(winner: Assessment, tmp_path: Path) -> None:
    page = winner.report(tmp_path / "report.html").read_text()
    assert "it is settled: ridge is the best of these 2 methods" in page
    assert "Looks were planned after 4, 5, 6, 7, 8, 10, 12, 14 and 16 training sets" in page


def test_looks_of_a_race_are_not_remembered_as_analyses(winner: Assessment) -> None:
    assert winner.findings.tasks
    assert winner.archive is not None
    assert read_analyses(winner.archive) == {}
    assert "V018" not in {note.code for note in winner.findings.notes}


def test_an_interrupted_race_goes_on_where_it_was(
    winner: Assessment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped in the middle of the second leg: the first look is kept, no job is done twice."""
    keep, done = Archive.add, 0

    def stop_after_nine(self: Archive, record: Record, commits: GroupCommit) -> None:
        nonlocal done
        done += 1
        if done > 9:
            raise KeyboardInterrupt
        keep(self, record, commits)

    with monkeypatch.context() as patch:
        patch.setattr(Archive, "add", stop_after_nine)
        with pytest.raises(KeyboardInterrupt):
            race_on(tmp_path, ["ridge", "lin-1"], margin="2%")
    (race,) = read_races(tmp_path).values()
    assert [look.sets for look in race.looks] == [4]
    first = by_job(Archive.open(tmp_path).load().records)
    assert len(first) == 9
    again = race_on(tmp_path, ["ridge", "lin-1"], margin="2%")
    after = by_job(again.results.records)
    assert {job: after[job] for job in first} == first
    assert only_race(again).looks[0] == race.looks[0]
    assert [look.p_values for look in only_race(again).looks] == [
        look.p_values for look in only_race(winner).looks
    ]
    assert again.archive is not None
    assert Archive.open(again.archive).verify().ok


def test_the_same_call_without_an_archive_finds_the_same(winner: Assessment) -> None:
    race = only_race(race_on(None, ["ridge", "lin-1"], margin="2%"))
    assert [look.p_values for look in race.looks] == [look.p_values for look in only_race(winner).looks]


def test_methods_that_drop_out_work_no_more(tmp_path: Path) -> None:
    assessment = redelve.assess(
        ["knn-cv-1", "constant", "lin-1"], "kin-8nm/dist", sizes=128, until_settled=True, margin="1%"
    )
    race = only_race(assessment)
    assert race.plan.looks == planned_looks(32)
    for name in race.plan.methods:
        records = [one for one in assessment.results.records if one.job.method == name]
        assert len(records) == race.sets_of(name)
    assert min(map(race.sets_of, race.plan.methods)) < 32


def test_a_budget_that_is_too_small_for_one_job_is_told(tmp_path: Path) -> None:
    with pytest.raises(RedelveError, match="used up before any job was done"):
        race_on(tmp_path, ["ridge", "lin-1"], budget=0.001)
    assert only_race(race_on(tmp_path, ["ridge", "lin-1"])).verdict == "better"


def test_a_budget_is_looked_at_before_every_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count(1)
    monkeypatch.setattr(Settling, "elapsed", property(lambda how: next(ticks)))
    stopped = race_on(tmp_path, ["ridge", "lin-1"], budget=9.9)
    assert len(stopped.results.records) == 9
    assert only_race(stopped).sets == 4
    text = " ".join(str(stopped).split())
    assert "After 4 of 16 training sets it is open which of ridge and lin-1 is the best" in text
    assert "the same command goes on from here" in text
    assert text.startswith("2 methods, 1 task, 9 of 10 jobs done")
    monkeypatch.undo()
    gone_on = race_on(tmp_path, ["ridge", "lin-1"])
    assert only_race(gone_on).verdict == "better"
    assert "V018" not in {note.code for note in gone_on.findings.notes}


def test_no_job_begins_that_would_end_after_the_budget(
    winner: Assessment, monkeypatch: pytest.MonkeyPatch
) -> None:
    elapsed = 60.0
    monkeypatch.setattr(Settling, "elapsed", property(lambda how: elapsed))
    record = replace(winner.results.records[0], costs=Costs(25.0, 5.0))
    job, other = record.job, replace(record.job, method="other")
    alone = Settling(budget=100)
    assert alone.may_begin([job])  # nothing is known of it
    alone.learn([record, replace(record, costs=Costs(1.0, None))])
    assert alone.may_begin([job])
    alone.learn([record])
    assert not alone.may_begin([job, job])
    elapsed = 75.0
    assert not alone.may_begin([job])
    assert alone.may_begin([other])
    elapsed = 101.0
    assert not alone.may_begin([other])
    assert Settling().may_begin([other])


def test_jobs_that_wait_for_a_worker_count_as_well(
    winner: Assessment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Settling, "elapsed", property(lambda how: 20.0))
    record = replace(winner.results.records[0], costs=Costs(30.0, 0.0))
    several = Settling(budget=100, workers=2)
    several.learn([record])
    jobs = [replace(record.job, instance=number) for number in range(9)]
    assert [several.may_begin([job]) for job in jobs[:5]] == [True] * 4 + [False]


def test_a_batch_of_workers_ends_what_it_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two processes jobs are handed out ahead; when time is up they are kept, not lost."""
    ticks = count(1)
    monkeypatch.setattr(Settling, "elapsed", property(lambda how: next(ticks)))
    stopped = race_on(tmp_path, ["ridge", "lin-1"], budget=5.5, workers=2)
    assert len(stopped.results.records) == 5
    assert only_race(stopped).looks == ()


def test_a_race_begun_by_the_old_rule_goes_on_by_it(winner: Assessment, tmp_path: Path) -> None:
    """Its record names no rule; it was looked at after 4 sets of 4, 8 and 16, each with a third of 5 %."""
    assert winner.archive is not None
    Archive.open(tmp_path, create=True).merge(Archive.open(winner.archive))
    new = only_race(winner)
    plan = replace(new.plan, looks=(4, 8, 16), rule=OLD_RULE)
    write_race(tmp_path, Race(plan, (look_at(winner.results.on(plan.task), Race(plan)),)))
    (path,) = (tmp_path / "races").iterdir()
    document = json.loads(path.read_text())
    del document["plan"]["rule"], document["checksum"]
    write_document(path, document)
    assert read_races(tmp_path)[plan.task].plan == plan
    again = only_race(race_on(tmp_path, ["ridge", "lin-1"], margin="2%"))
    assert again.plan == plan
    assert [look.sets for look in again.looks] == [4, 8]
    assert again.verdict == "better"
    assert again.looks[1].p_values["lin-1"] < 0.05 / 3
    with pytest.raises(RedelveError, match=r"whose plan was another \(margin\)"):
        race_on(tmp_path, ["ridge", "lin-1"], margin="3%")


def test_a_race_begun_with_equal_p_values_goes_on_by_them(winner: Assessment, tmp_path: Path) -> None:
    Archive.open(tmp_path, create=True)
    new = only_race(winner)
    old = Race(replace(new.plan, rule="all looks together"), new.looks[:1])
    write_race(tmp_path, old)
    assert new.plan.rule == "same evidence"
    assert begun_race(tmp_path, new.plan) == old


def test_a_rule_of_a_newer_version_is_refused(winner: Assessment, tmp_path: Path) -> None:
    Archive.open(tmp_path, create=True)
    race = only_race(winner)
    write_race(tmp_path, replace(race, plan=replace(race.plan, rule="by moonlight")))  # type: ignore[arg-type]
    with pytest.raises(RedelveError, match='by the rule "by moonlight"'):
        read_races(tmp_path)


@pytest.mark.parametrize(
    ("changed", "named"), [({"margin": "3%"}, "margin"), ({"runs": 2}, "runs"), ({"judge_by": "A"}, "loss")]
)
def test_a_plan_cannot_be_changed_once_it_was_looked_at(
    winner: Assessment, changed: dict[str, Any], named: str
) -> None:
    with pytest.raises(RedelveError, match=rf"whose plan was another \({named}\)"):
        race_on(winner.archive, ["ridge", "lin-1"], **({"margin": "2%"} | changed))


def test_other_methods_are_another_plan(winner: Assessment) -> None:
    with pytest.raises(RedelveError, match="methods"):
        race_on(winner.archive, ["ridge", "lin-1", "constant"], margin="2%")


@pytest.fixture
def stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Assessment:
    """A race whose budget ends in the third of the four training sets before its first look."""
    ticks = count(1)
    with monkeypatch.context() as patch:
        patch.setattr(Settling, "elapsed", property(lambda how: next(ticks)))
        return race_on(tmp_path / "a", ["ridge", "lin-1"], margin="2%", budget=5.5)


def test_a_race_stopped_before_its_first_look_is_reported_as_one(stopped: Assessment, capsys: Any) -> None:
    assert stopped.archive is not None
    told = str(stopped).strip()
    assert "Nothing can be said yet: the first look comes after 4 training sets." in told
    assert only_race(stopped).looks == ()
    assert read_races(stopped.archive) == dict(stopped.results.races)
    assert main(["report", str(stopped.archive)]) == 0
    assert capsys.readouterr().out.strip() == told
    assert Archive.open(stopped.archive).verify().ok


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["-d", "9%"], "planned with a margin of 2 %, and a plan is not changed"),
        (["-c", "ridge:lin-1"], "so it has no planned comparisons: leave them out"),
        (["-m", "ridge"], "is a race of ridge, lin-1 and is reported whole: without lin-1 its p-values"),
    ],
)
def test_a_report_that_asks_a_race_for_something_else_before_its_first_look_is_refused(
    stopped: Assessment, options: list[str], why: str, capsys: Any
) -> None:
    assert main(["report", str(stopped.archive), *options]) == 1
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"margin": "5%"}, "margin"),
        ({"margin": None}, "margin"),
        ({"runs": 2}, "runs"),
        ({"judge_by": "A"}, "loss"),
        ({"methods": ["ridge", "constant"]}, "methods"),
    ],
)
def test_a_plan_cannot_be_changed_once_there_are_records(
    stopped: Assessment, changed: dict[str, Any], named: str
) -> None:
    with pytest.raises(RedelveError, match=rf"whose plan was another \({named}\)"):
        race_on(stopped.archive, **({"methods": ["ridge", "lin-1"], "margin": "2%"} | changed))


def test_a_race_stopped_before_its_first_look_goes_on(stopped: Assessment, winner: Assessment) -> None:
    first = by_job(stopped.results.records)
    again = race_on(stopped.archive, ["ridge", "lin-1"], margin="2%")
    after = by_job(again.results.records)
    assert {job: after[job] for job in first} == first
    assert [look.p_values for look in only_race(again).looks] == [
        look.p_values for look in only_race(winner).looks
    ]
    assert "V018" not in {note.code for note in again.findings.notes}


def test_a_race_of_an_older_version_that_left_no_plan_goes_on(stopped: Assessment, capsys: Any) -> None:
    assert stopped.archive is not None
    (path,) = (stopped.archive / "races").iterdir()
    path.unlink()
    (stopped.archive / "analyses.json").unlink()  # which did not note plans
    assert main(["report", str(stopped.archive)]) == 0
    assert "Nothing can be said yet" not in capsys.readouterr().out
    assert only_race(race_on(stopped.archive, ["ridge", "lin-1"], margin="3%")).verdict == "better"


def test_a_plan_by_which_nothing_was_done_may_be_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Whoever is stopped between the plan and the first job may choose again; the last plan holds."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("redelve.settling.carry_out", stop)
        with pytest.raises(KeyboardInterrupt):
            race_on(tmp_path, ["ridge", "lin-1"], margin="2%")
    assert [race.plan.margin for race in read_races(tmp_path).values()] == ["2 %"]
    assert Archive.open(tmp_path).verify().ok
    assert main(["report", str(tmp_path)]) == 1
    assert "there are no records of jobs" in capsys.readouterr().err
    with pytest.raises(RedelveError, match="used up before any job was done"):
        race_on(tmp_path, ["ridge", "constant"], margin="3%", budget=0.001)
    assert [race.plan.margin for race in read_races(tmp_path).values()] == ["3 %"]
    again = race_on(tmp_path, ["ridge", "lin-1"])
    assert only_race(again).verdict == "better"
    assert read_races(tmp_path) == dict(again.results.races)


def test_plans_of_all_tasks_are_kept_before_the_first_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("redelve.settling.carry_out", stop)
    tasks = [redelve.from_frame(table(600, seed), "y", name=f"t{seed}") for seed in (1, 2)]
    with pytest.raises(KeyboardInterrupt):
        redelve.assess(["lin-1", "constant"], tasks, until_settled=True, archive=tmp_path)
    assert {race.plan.level for race in read_races(tmp_path).values()} == {0.025}
    assert len(read_races(tmp_path)) == 2


def test_a_look_is_not_kept_beside_a_plan_that_was_changed_meanwhile(
    winner: Assessment, tmp_path: Path
) -> None:
    assert winner.archive is not None
    mine = Archive.open(tmp_path, create=True)
    mine.merge(Archive.open(winner.archive))
    race = only_race(winner)
    other = Race(replace(race.plan, margin="5 %"))
    write_race(tmp_path, other)
    with pytest.raises(RedelveError, match=r"whose plan was another \(margin\)"):
        keep_looks(tmp_path, race)
    write_race(tmp_path, race)
    keep_looks(tmp_path, replace(race, looks=race.looks[:1]))
    assert read_races(tmp_path) == {race.plan.task: race}


def test_options_that_make_no_sense_together_are_refused() -> None:
    with pytest.raises(RedelveError, match="budget='30min' is for races alone"):
        redelve.assess(["lin-1"], "demo/age", budget="30min")
    with pytest.raises(RedelveError, match="don't go together"):
        race_on(None, compare=[("ridge", "lin-1")])
    with pytest.raises(RedelveError, match='budget is "soon"'):
        race_on(None, budget="soon")
    with pytest.raises(RedelveError, match='has no loss "Z"'):
        race_on(None, judge_by="Z")


def test_a_share_of_a_loss_without_zero_is_refused() -> None:
    with pytest.raises(RedelveError, match="has no natural zero"):
        race_on(None, judge_by="L", margin="2%")


def table(rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    return pd.DataFrame({"x": x, "y": x + rng.normal(size=rows)})


@pytest.mark.parametrize(
    ("rows", "size", "sets"),
    [(8192, 256, 16), (1100, 32, 17), (500, 32, 7), (70_000, 2048, 24), (140_000, 4096, 29)],
)
def test_the_largest_size_with_sixteen_sets_is_raced(rows: int, size: int, sets: int) -> None:
    task = redelve.from_frame(table(rows), "y")
    (assignment,) = raced_assignments(task.assignments).values()
    assert assignment.task.training_set_size == size
    assert len(assignment.instances) == sets
    held = np.concatenate([one.training for one in assignment.instances])
    assert len(np.unique(held)) == len(held)


def test_the_size_asked_for_is_raced() -> None:
    (assignment,) = raced_assignments(assignments_for("kin-8nm/dist", sizes=512).values()).values()
    assert (assignment.task.training_set_size, len(assignment.instances)) == (512, 8)


def test_a_table_too_small_for_separate_training_sets_is_refused() -> None:
    task = redelve.from_frame(table(120), "y")
    with pytest.raises(RedelveError, match="120 cases are too few for training sets that share no case"):
        redelve.assess(["lin-1", "constant"], task, until_settled=True)


@pytest.mark.parametrize(
    ("design", "words"), [("cv 10", "is cross-validated"), ("time", "goes forward in time")]
)
def test_a_design_that_was_chosen_is_not_blamed_on_the_number_of_cases(design: str, words: str) -> None:
    task = redelve.from_frame(table(1100), "y", design=design)
    told = f"{words}, so its training sets overlap.*leave out that design if you chose it"
    with pytest.raises(RedelveError, match=told) as caught:
        redelve.assess(["lin-1", "constant"], task, until_settled=True)
    assert "too few" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-c", "lin-1:constant"], "compare and until_settled don't go together"),
        (["-K", "10"], "is cross-validated"),
        (["--budget", "soon"], 'budget is "soon"'),
    ],
)
def test_races_that_cannot_be_leave_no_folder(
    tmp_path: Path, capsys: Any, options: list[str], words: str
) -> None:
    table(1100).to_csv(tmp_path / "t.csv", index=False)
    command = ["assess", str(tmp_path / "t.csv"), "-t", "y", "-m", "lin-1,constant", "-q", "-u"]
    assert main([*command, *options, "-o", str(tmp_path / "out")]) == 1
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_size_with_too_few_training_sets_is_refused() -> None:
    with pytest.raises(RedelveError, match="but there are 2: choose a smaller training-set size"):
        redelve.assess(["lin-1", "constant"], "demo/age", sizes=512, until_settled=True)


@pytest.fixture(scope="module")
def three_races() -> Assessment:
    tasks = [redelve.from_frame(table(600, seed), "y", name=f"t{seed}") for seed in (1, 2, 3)]
    return redelve.assess(["lin-1", "constant", "ridge"], tasks, until_settled=True)


def test_several_tasks_share_the_level() -> None:
    tasks = [redelve.from_frame(table(600, seed), "y", name=f"t{seed}") for seed in (1, 2)]
    assessment = redelve.assess(["lin-1", "constant"], tasks, until_settled=True)
    assert {race.plan.level for race in assessment.results.races.values()} == {0.025}
    assert str(assessment).count("training sets it is") == 2
    assert "V032" not in {note.code for note in assessment.findings.notes}


def test_races_and_claims_over_their_tasks_share_the_level(three_races: Assessment) -> None:
    found = three_races.findings
    assert found.across is not None
    shares = [race.plan.level for race in three_races.results.races.values()]
    assert sum(shares) + found.across.pairs[0].claim.share == pytest.approx(0.05)
    families = {one.claim.family for task in found.tasks for one in task.contests}
    assert families == {one.claim.family for one in found.across.pairs} == {3 * 3 + 3}
    assert "V032" not in {note.code for note in found.notes}


def test_the_page_says_what_p_values_of_races_allow_for(three_races: Assessment, tmp_path: Path) -> None:
    page = " ".join(three_races.report(tmp_path / "report.html").read_text().split())
    assert page.count("p allows for all 12 comparisons and all looks. ") == 3
    assert "adjusted p below 0.05, allowing for all 12 comparisons; intervals likewise" in page


def test_races_of_tasks_left_out_are_not_said_to_wait(three_races: Assessment) -> None:
    looked = dict.fromkeys(three_races.results.tasks, (EarlierLook(4, tuple(WINNER)),))
    every = replace(three_races.results, looked=looked)
    for number, told in ((1, "1 task"), (2, "2 tasks")):
        kept = every.select(tasks=list(every.tasks)[:number])
        assert list(kept.races) == list(kept.looked) == list(kept.tasks)
        jobs = len(kept.records)
        assert str(Assessment(kept)).startswith(f"3 methods, {told}, {jobs} of {jobs} jobs done\n")
    assert every.select(methods=["ridge"]).races == every.races


def test_races_that_the_budget_did_not_suffice_for_have_no_level_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The budget ends in the second of three races of one call: the third has no result."""
    tasks = [redelve.from_frame(table(600, seed), "y", name=f"t{seed}") for seed in (1, 2, 3)]
    archive, ticks = tmp_path / "archive", count(1)
    with monkeypatch.context() as patch:
        patch.setattr(Settling, "elapsed", property(lambda how: next(ticks)))
        redelve.assess(["lin-1", "constant"], tasks, until_settled=True, archive=archive, budget=14.5)
    results = Archive.open(archive).load()
    assert {record.job.task for record in results.records} == {"/t1/y/std.32", "/t2/y/std.32"}
    assert "V032" not in {note.code for note in Assessment(results).findings.notes}


@pytest.mark.parametrize(("raced", "plain", "told"), [(2, 0, "up to 10 %"), (1, 2, "up to 11.3 %")])
def test_races_of_several_calls_say_that_each_has_a_level_of_its_own(
    raced: int, plain: int, told: str, tmp_path: Path
) -> None:
    archive = tmp_path / "archive"
    tasks = [redelve.from_frame(table(600, seed), "y", name=f"t{seed}") for seed in range(raced + plain)]
    methods = ["lin-1", "constant"]
    for one in tasks[:raced]:
        redelve.assess(methods, one, until_settled=True, archive=archive)
    if plain:
        redelve.assess(methods, tasks[raced:], archive=archive, sizes=32)
    whole = Assessment(Archive.open(archive).load(), archive=archive)
    (note,) = [one.text for one in whole.findings.notes if one.code == "V032"]
    assert f"{told} contain a false claim if all methods are equal, instead of 5 %" in note
    page = " ".join(whole.report(tmp_path / "report.html").read_text().split())
    assert "every comparison of this report" not in page
    if plain:
        assert page.count("p allows for all 2 comparisons. ") == 2


def test_a_method_that_fails_leaves_the_race() -> None:
    def broken(training: Any, inputs: Any, rng: Any) -> Any:
        raise ValueError("no")

    task = redelve.from_frame(table(600), "y", name="t")
    assessment = redelve.assess(
        {"lin-1": "lin-1", "constant": "constant", "broken": broken}, task, until_settled=True
    )
    race = only_race(assessment)
    assert race.failed == ("broken",)
    assert "broken left the race after 4 training sets: jobs failed." in " ".join(str(assessment).split())


def test_a_race_goes_on_after_all_methods_but_one_failed(tmp_path: Path) -> None:
    def broken(training: Any, inputs: Any, rng: Any) -> Any:
        raise ValueError("no")

    methods: dict[str, Any] = {"lin-1": "lin-1", "broken": broken}
    task = redelve.from_frame(table(600), "y", name="t")
    for _ in range(2):  # the second time from the archive
        assessment = redelve.assess(methods, task, until_settled=True, archive=tmp_path)
        assert only_race(assessment).left == ("lin-1",)
        assert "broken failed, so there is nothing to compare" in " ".join(str(assessment).split())


@pytest.mark.parametrize("options", [{}, {"budget": "20s"}])
def test_a_race_of_one_is_refused_before_a_folder_is_made(tmp_path: Path, options: dict[str, str]) -> None:
    with pytest.raises(RedelveError, match=r"a race needs two methods or more, not 1 \(ridge\)"):
        race_on(tmp_path / "x", ["ridge"], **options)
    assert not (tmp_path / "x").exists()


def test_the_command_line_races(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "t.csv"
    table(1100).to_csv(path, index=False)
    command = ["assess", str(path), "-t", "y", "-m", "lin-1,constant", "-q", "-o", str(tmp_path / "out")]
    race = [*command, "--until-settled", "--margin", "5%", "--budget", "30min"]
    assert main(race) == 0
    first = capsys.readouterr().out
    assert "it is settled: lin-1 is the best of these 2 methods" in " ".join(first.split())
    assert main(race) == 0
    assert capsys.readouterr().out == first
    alone = ["assess", str(path), "-t", "y", "-m", "lin-1", "-q", "-o", str(tmp_path / "alone"), "-u"]
    assert main(alone) == 1
    assert "a race needs two methods or more, not 1 (lin-1)" in capsys.readouterr().err
    assert not (tmp_path / "alone").exists()
    assert main([*command, "--budget", "1h"]) == 1
    assert (
        "budget='1h' is for races alone: give until_settled=True (--until-settled)" in capsys.readouterr().err
    )
    fresh = ["assess", str(path), "-t", "y", "-q", "-o", str(tmp_path / "alone"), "-u"]
    assert main([*fresh, "--retry", "fialed"]) == 1
    assert "retry is 'fialed': choose failed, crashed, all, none (did you mean" in capsys.readouterr().err
    assert not (tmp_path / "alone").exists()


def test_the_command_line_says_what_the_budget_did_not_suffice_for(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        table(1100, seed=number).to_csv(tmp_path / f"t{number}.csv", index=False)
    names = [str(tmp_path / f"t{number}.csv") for number in range(2)]
    options = ["-t", "y", "-m", "lin-1,ridge", "-q", "-u", "-o", str(tmp_path / "out")]
    ticks = count(1)
    monkeypatch.setattr(Settling, "elapsed", property(lambda how: next(ticks)))
    assert main(["assess", *names, *options, "--budget", "5.5"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    size = re.search(r"not begun: /t1/y/std\.(\d+)", text)
    assert size is not None
    task = f"/y/std.{size[1]}"
    assert text.startswith(f"2 methods, 2 tasks (not begun: /t1{task}), 5 of 16 jobs done")
    left = f"races on /t0{task} and /t1{task} were settled"
    assert f"The budget of 5.5 s ran out before the {left}: the same command goes on" in text
    monkeypatch.undo()
    assert main(["assess", *names, *options]) == 0
    told = capsys.readouterr().out
    assert "not begun" not in told
    assert "budget" not in told


def test_what_failed_before_a_look_is_not_said_to_be_done_again(tmp_path: Path, capsys: Any) -> None:
    table(1100).to_csv(tmp_path / "t.csv", index=False)
    command = ["assess", str(tmp_path / "t.csv"), "-t", "y", "-m", "lin-1", "-p", "broken=sh -c 'exit 7'"]
    assert main([*command, "-q", "-u", "-o", str(tmp_path / "out"), "--retry", "all"]) == NO_RESULT
    told = capsys.readouterr().out
    assert "since looks stand: to race anew, give another folder (-o)" in told
    assert "--retry failed" not in told


@pytest.mark.parametrize("inside", ["", "archive"])
def test_adding_sets_after_a_look_gets_a_caution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str
) -> None:
    """An ordinary assessment looked at half-way, then finished; the look may name the folder around."""
    keep, done, archive = Archive.add, 0, tmp_path / inside

    def stop_after_eight(self: Archive, record: Record, commits: GroupCommit) -> None:
        nonlocal done
        done += 1
        if done > 8:
            raise KeyboardInterrupt
        keep(self, record, commits)

    def assessed() -> Assessment:
        return redelve.assess(["lin-1", "constant"], "demo/age", sizes=128, archive=place)

    place = archive
    with monkeypatch.context() as patch:
        patch.setattr(Archive, "add", stop_after_eight)
        with pytest.raises(KeyboardInterrupt):
            assessed()
    place = tmp_path  # the folder around, from now on
    half = Assessment(Archive.open(tmp_path).load(), archive=tmp_path)
    assert "V018" not in str(half)
    assert Archive.open(tmp_path).verify().ok
    whole = assessed()
    assert "V018 looked at before with fewer instances" in str(whole)
    assert "looked at before with 4 instances, now with 8" in " ".join(str(whole).split())
    assert not list(tmp_path.glob("archive/archive"))
    (looks,) = read_analyses(archive).values()
    assert [look.instances for look in looks] == [4, 8]
    assert "V018" in str(Assessment(Archive.open(tmp_path).load(), archive=tmp_path))
    assert len(read_analyses(archive)["/demo/age/std.128"]) == 2


def test_doing_failed_jobs_again_after_a_look_adds_sets_too(tmp_path: Path) -> None:
    """Compared on the 4 sets of 8 on which both came to an answer, then on all."""
    is_lucky, done = False, count()

    def flaky(inputs: Any, targets: Any, asked: Any) -> Any:
        if not is_lucky and next(done) > 3:
            raise RuntimeError("out of luck")
        return np.full(len(asked), targets.mean())

    def assessed() -> Assessment:
        methods = {"flaky": flaky, "lin-1": "lin-1"}
        there = Limits(isolated=False)
        return redelve.assess(methods, "demo/age", sizes=128, archive=tmp_path, limits=there, retry="failed")

    assert "V018" not in str(assessed())
    assert "V018" not in str(assessed())
    is_lucky = True
    assert "looked at before with 4 instances, now with 8" in " ".join(str(assessed()).split())
    assert [look.instances for look in read_analyses(tmp_path)["/demo/age/std.128"]] == [8, 8]
    path = tmp_path / "analyses.json"
    old = json.loads(path.read_text())
    old["tasks"]["/demo/age/std.128"] = [
        {name: one[name] for name in ("instances", "methods", "when")}
        for one in old["tasks"]["/demo/age/std.128"][:1]
    ]
    write_document(path, {"tasks": old["tasks"]})
    assert "V018" not in str(assessed())  # of a file of before all methods had all instances


@pytest.mark.parametrize(("before", "is_told"), [("constant", True), ("ridge", False)])
def test_an_ordinary_look_at_the_same_methods_before_a_race_is_told(
    tmp_path: Path, before: str, is_told: bool
) -> None:
    str(redelve.assess([before, "lin-1"], "demo/age", sizes=64, archive=tmp_path))
    race = race_on(tmp_path, ["constant", "lin-1"])
    assert only_race(race).sets == 16
    assert ("V018" in {note.code for note in race.findings.notes}) == is_told


@pytest.mark.parametrize("is_race_first", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_look_at_other_data_of_the_same_name_is_no_look_at_these(
    tmp_path: Path, seed: int, is_race_first: bool
) -> None:
    """A table that another one takes the place of; with the same one (seed 0) a look counts."""
    first, now = (
        {"t": pd.DataFrame(np.random.default_rng(one).normal(size=(1100, 2)), columns=["x", "y"])}
        for one in (0, seed)
    )
    methods = ["lin-1", "constant"]
    str(redelve.assess(methods, first, "y", sizes=32, archive=tmp_path, until_settled=is_race_first))
    again = redelve.assess(methods, now, "y", sizes=32, archive=tmp_path, until_settled=not is_race_first)
    assert ("V018" in {note.code for note in again.findings.notes}) == (seed == 0)


def test_whoever_must_choose_between_a_race_and_an_assessment_is_told_which_is_which(
    tmp_path: Path, capsys: Any
) -> None:
    redelve.assess(["ridge", "lin-1"], "demo/age", sizes=64, archive=tmp_path)
    race_on(tmp_path, ["ridge", "lin-1"])
    assert main(["report", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert "choose by tasks=… (redelve report -t) /demo/age/std.64@" in told
    versions = dict(re.findall(r"(/demo/age/std.64@\w+) \(([^)]*), results of", told))
    assert set(versions.values()) == {"8 instances", "a race, 5 instances"}
    for version, words in versions.items():
        assert main(["report", str(tmp_path), "-t", version]) == 0
        assert ("training sets it is settled" in capsys.readouterr().out) == ("race" in words)


def test_a_race_whose_record_is_lost_is_missed(
    winner: Assessment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without it the report would claim by p-values that do not allow for the looks."""
    assert winner.archive is not None
    mine, other = tmp_path / "mine", tmp_path / "other"
    shutil.copytree(winner.archive, mine)
    (path,) = (mine / "races").iterdir()
    path.unlink()
    missing = f"races/{path.name}: the record of the race on /demo/age/std.64 is missing"
    Archive.open(other, create=True).merge(Archive.open(mine))
    for archive in (mine, other):
        assert any(missing in problem for problem in Archive.open(archive).verify().problems)
        assert main(["report", str(archive)]) == 1
        assert missing in capsys.readouterr().err
    with pytest.raises(RedelveError, match=r"a race on /demo/age/std.64 whose plan was another \(methods\)"):
        race_on(mine, ["ridge", "constant"], margin="2%")
    again = race_on(mine, ["ridge", "lin-1"], margin="2%")
    assert [replace(look, when="") for look in only_race(again).looks] == [
        replace(look, when="") for look in only_race(winner).looks
    ]
    assert Archive.open(mine).verify().ok
    assert str(Assessment(Archive.open(mine).load())) == str(winner)


def test_an_archive_of_before_notes_no_races_and_is_sound(winner: Assessment, tmp_path: Path) -> None:
    assert winner.archive is not None
    shutil.copytree(winner.archive, tmp_path / "old")
    (tmp_path / "old" / "analyses.json").unlink()
    old = Archive.open(tmp_path / "old")
    assert old.verify().ok
    assert str(Assessment(old.load())) == str(winner)


def test_no_method_is_added_to_a_race(tmp_path: Path, capsys: Any) -> None:
    """Its methods are fixed; what was assessed in the ordinary way beside it is gone on with."""
    race_on(tmp_path, ["ridge", "lin-1"])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert main(["add", str(tmp_path), "constant", "-q"]) == 1
    told = capsys.readouterr().err
    assert "/demo/age/std.64: there is a race on it, and its methods are fixed since its first job" in told
    assert "race all of them anew in another folder, or assess them there without until_settled" in told
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    redelve.assess(["ridge"], "demo/age", sizes=64, archive=tmp_path)
    (ordinary,) = assignments_of(tmp_path, []).values()
    assert len(ordinary.instances) == 8


def test_an_exported_race_is_not_said_to_be_of_other_data(
    winner: Assessment, tmp_path: Path, capsys: Any
) -> None:
    """It has drawn more training sets than the task has."""
    folder = str(tmp_path / "delve-race")
    assert main(["archive", "export", str(winner.archive), "-d", folder]) == 0
    exported = capsys.readouterr().out
    assert "not exported: the race on /demo/age/std.64: DELVE's analyses would not allow for its" in exported
    assert main(["archive", "import", str(tmp_path / "new"), "-d", folder]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "the results are of 16 instances, and /demo/age/std.64 as it is known here has 8" in told
    assert "If a race (--until-settled) drew them, take them over from its archive" in told


def test_an_ordinary_analysis_with_more_sets_than_a_race_looked_at_is_told(tmp_path: Path) -> None:
    """Its p-values do not allow for the looks of the race, however they were planned."""
    race = only_race(race_on(tmp_path, ["ridge", "lin-1"]))
    assert race.sets == 5
    whole = redelve.assess(["ridge", "lin-1"], "demo/age", sizes=64, archive=tmp_path)
    text = " ".join(str(whole).split())
    assert "looked at before with 4 instances, now with" in text
    assert "use --until-settled" in text


def test_merged_archives_remember_what_was_looked_at(winner: Assessment, tmp_path: Path) -> None:
    assert winner.archive is not None
    mine = Archive.open(tmp_path / "mine", create=True)
    mine.merge(Archive.open(winner.archive))
    assert read_races(mine.root) == read_races(winner.archive)
    assert str(Assessment(mine.load())) == str(winner)


def test_merged_archives_hold_the_race_that_went_further(
    winner: Assessment, stopped: Assessment, tmp_path: Path
) -> None:
    """A plan goes with its records; ours gives way only to the same race with more looks."""
    assert winner.archive is not None
    assert stopped.archive is not None
    mine = Archive.open(tmp_path / "mine", create=True)
    write_race(mine.root, Race(replace(only_race(winner).plan, margin=None)))  # nothing was done by it
    mine.merge(Archive.open(stopped.archive))
    assert read_races(mine.root) == read_races(stopped.archive)
    assert str(Assessment(mine.load())) == str(stopped)
    mine.merge(Archive.open(winner.archive))
    assert read_races(mine.root) == read_races(winner.archive)
    mine.merge(Archive.open(stopped.archive))
    assert read_races(mine.root) == read_races(winner.archive)
    planned = Archive.open(tmp_path / "planned", create=True)
    write_race(planned.root, Race(only_race(winner).plan))
    empty = Archive.open(tmp_path / "empty", create=True)
    empty.merge(planned)
    assert read_races(empty.root) == {}


def test_an_analysis_in_which_nothing_could_be_compared_is_no_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One training set is too few for any comparison."""
    keep, done = Archive.add, 0

    def stop_after_two(self: Archive, record: Record, commits: GroupCommit) -> None:
        nonlocal done
        done += 1
        if done > 2:
            raise KeyboardInterrupt
        keep(self, record, commits)

    with monkeypatch.context() as patch:
        patch.setattr(Archive, "add", stop_after_two)
        with pytest.raises(KeyboardInterrupt):
            redelve.assess(["lin-1", "constant"], "demo/age", sizes=128, archive=tmp_path)
    first = Assessment(Archive.open(tmp_path).load(), archive=tmp_path)
    assert "No comparison is possible" in str(first)
    assert read_analyses(tmp_path) == {}
    whole = redelve.assess(["lin-1", "constant"], "demo/age", sizes=128, archive=tmp_path)
    assert "V018" not in str(whole)
    assert [look.instances for look in read_analyses(tmp_path)["/demo/age/std.128"]] == [8]


def test_spans_of_time() -> None:
    assert [seconds_of(text) for text in ("90s", "30min", "2 h", "1d", 5)] == [90, 1800, 7200, 86400, 5]
    for text in ("", "-3", "5 weeks", "0", "min"):
        with pytest.raises(RedelveError, match="budget is"):
            seconds_of(text)
