"""Merging archives that hold races: no look is forgotten without a word, whichever record is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from redelve.errors import LocationError, SpecError
from redelve.run.races import OLD_RULE, LookRule, Race, RaceLook, RacePlan
from redelve.store import Archive
from redelve.store.look_files import race_path, read_plans, read_races, write_race
from tests.store.made import TASK, listing, make_method, make_record, make_task
from tests.store.test_merging import zipped

SETS = (4, 5, 6)
FACTS = make_task(instances=SETS[-1])


def race_of(*methods: str, looks: int = 0, rule: LookRule = "same evidence") -> Race:
    digests = {name: make_method(name).digest for name in methods}
    plan = RacePlan(TASK, FACTS.digest, "S", digests, SETS, 0.05, rule=rule)
    return Race(
        plan, tuple(RaceLook(sets, "2026-01-01", dict.fromkeys(methods, 0.5), ()) for sets in SETS[:looks])
    )


MINE = race_of("lin", "knn", looks=2)
OTHER = race_of("lin", "tree", looks=1)


def raced(path: Path, race: Race, sets: int | None = None) -> Archive:
    """An archive with a race, and the records of its methods on as many training sets."""
    archive = Archive.open(path, create=True)
    methods = {name: make_method(name) for name in race.plan.methods}
    archive.register({TASK: FACTS}, methods)
    write_race(path, race)
    for method in methods.values():
        for number in range(race.sets if sets is None else sets):
            archive.add(make_record(FACTS, method, number))
    return archive


def lose(archive: Archive) -> Archive:
    """Its record of the race is lost."""
    race_path(archive.root, TASK).unlink()
    return archive


def problems(archive: Archive) -> list[str]:
    return [one for one in archive.verify().problems if "the record of the race" in one]


@pytest.mark.parametrize("lost", ["mine", "other", "both"])
def test_a_race_is_not_merged_with_one_of_another_plan_where_a_record_is_lost(
    tmp_path: Path, lost: str
) -> None:
    mine, other = raced(tmp_path / "mine", MINE), raced(tmp_path / "other", OTHER)
    for archive, name in ((mine, "mine"), (other, "other")):
        if lost in (name, "both"):
            lose(archive)
    before = listing(mine.root)
    with pytest.raises(SpecError) as caught:
        mine.merge(other)
    said = {
        name: "" if lost not in (name, "both") else " (its record is missing)" for name in ("mine", "other")
    }
    assert str(caught.value) == (
        f"{other.root}: holds a race on {TASK}{said['other']}, and so does {mine.root}{said['mine']}, by "
        "another plan (methods): keep the two archives apart, and report each by itself"
    )
    assert {name: held for name, held in listing(mine.root).items() if name != "lock"} == before
    assert len(problems(mine)) == (lost in ("mine", "both"))


def test_the_same_race_by_another_rule_for_looks_is_another_plan(tmp_path: Path) -> None:
    mine = raced(tmp_path / "mine", race_of("lin", "knn", looks=1))
    other = raced(tmp_path / "other", race_of("lin", "knn", looks=2, rule=OLD_RULE))
    with pytest.raises(SpecError, match=r"by another plan \(how looks share the level\): keep"):
        mine.merge(other)


@pytest.mark.parametrize("is_mine_lost", [True, False])
def test_a_copy_of_the_same_race_restores_a_lost_record(tmp_path: Path, is_mine_lost: bool) -> None:
    mine, copy = raced(tmp_path / "mine", MINE), raced(tmp_path / "copy", MINE)
    lose(mine if is_mine_lost else copy)
    mine.merge(copy)
    assert read_races(mine.root) == {TASK: MINE}
    assert problems(mine) == []


@pytest.mark.parametrize("is_mine_lost", [True, False])
def test_a_race_that_may_have_gone_further_than_the_record_that_is_left_is_not_merged(
    tmp_path: Path, is_mine_lost: bool
) -> None:
    """An older copy must not pass for the whole of it."""
    shorter = Race(MINE.plan, MINE.looks[:1])
    mine, other = (raced(tmp_path / name, race) for name, race in (("mine", MINE), ("other", shorter)))
    if not is_mine_lost:
        mine, other = other, mine
    lost = lose(mine if is_mine_lost else other)
    left = other if is_mine_lost else mine
    with pytest.raises(LocationError) as caught:
        mine.merge(other)
    assert str(caught.value) == (
        f"{lost.root}: races/%2Fdemo%2Fage%2Fstd.32.json: the record of the race on {TASK} is missing, and "
        f"it may have told more looks (2) than that of the same race in {left.root} (1): restore it from a "
        "copy, or give the command of the race again, which takes its looks anew"
    )


@pytest.mark.parametrize("sets", [0, 3, 4])
def test_jobs_beyond_the_last_look_but_not_enough_for_another_are_no_look(tmp_path: Path, sets: int) -> None:
    """One method alone has them all."""
    race = race_of("lin", "knn", looks=1)
    mine, lost = raced(tmp_path / "mine", race), raced(tmp_path / "lost", race, sets)
    lost.add(make_record(FACTS, make_method("lin"), 4))
    mine.merge(lose(lost))
    assert read_races(mine.root) == {TASK: race}


def test_a_plan_by_which_nothing_was_done_does_not_hide_that_a_record_is_lost(tmp_path: Path) -> None:
    mine = raced(tmp_path / "mine", race_of("lin", "tree"), sets=0)
    lost = lose(raced(tmp_path / "lost", MINE))
    mine.merge(lost)
    assert read_plans(mine.root) == {TASK: MINE.plan}
    assert len(problems(mine)) == 1


def test_a_race_lost_on_both_sides_stays_missed(tmp_path: Path) -> None:
    mine, other = (lose(raced(tmp_path / name, MINE)) for name in ("mine", "other"))
    mine.merge(other)
    assert len(problems(mine)) == 1


def test_a_zip_file_is_named_as_it_was_given(tmp_path: Path) -> None:
    """The folder that it is unpacked into is nothing to the user."""
    mine, other = raced(tmp_path / "mine", MINE), raced(tmp_path / "other", OTHER)
    path = zipped(other.root, tmp_path / "other.zip", "archive/")
    with pytest.raises(SpecError, match=f"^{re.escape(str(path))}: holds a race on {TASK}, and so does "):
        mine.merge(Archive.open(path))
    lost = zipped(lose(other).root, tmp_path / "lost.zip")
    with pytest.raises(LocationError, match=f"^{re.escape(str(lost))}: races/.*: the record of the race"):
        Archive.open(lost).load()
    shorter = raced(tmp_path / "shorter", Race(OTHER.plan), sets=3)
    with pytest.raises(LocationError, match=f"^{re.escape(str(lost))}: races/.*: the record of the race"):
        shorter.merge(Archive.open(lost))
    unfinished = zipped(shorter.root, tmp_path / "shorter.zip")
    with pytest.raises(LocationError, match=re.escape(f"that of the same race in {unfinished} (0)")):
        other.merge(Archive.open(unfinished))
