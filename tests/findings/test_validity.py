"""Every rule has a case that it finds and one in which it keeps silent."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest

import redelve
from redelve.answers.predictions import Target, Truth
from redelve.findings.validity import RULES, check_results, rules_for
from redelve.run.races import EarlierLook, Race, RacePlan
from redelve.run.results import IMPORTED, ISOLATION, SHARED, Results
from tests.findings.made_up import draws, method, results, task


def plain(**changes: object) -> Results:
    facts = task(instances=4, cases=50, **changes)  # type: ignore[arg-type]
    losses = {name: {facts.address: draws(name, 1.0, facts, runs=2)} for name in "ab"}
    return results([facts], losses)


def with_record(made: Results, **changes: object) -> Results:
    first, *rest = made.records
    return replace(made, records=(replace(first, **changes), *rest))  # type: ignore[arg-type]


def one_training_set() -> Results:
    facts = task(instances=1, cases=100)
    return results([facts], {"a": {facts.address: draws("a", 1.0, facts, runs=2)}})


def three_training_sets() -> Results:
    facts = task(instances=3)
    return results([facts], {"a": {facts.address: draws("a", 1.0, facts, runs=2)}})


def one_run() -> Results:
    facts = task()
    return results([facts], {"a": {facts.address: draws("a", 1.0, facts)}})


def three_methods() -> Results:
    facts = task()
    return results([facts], {name: {facts.address: draws(name, 1.0, facts, runs=2)} for name in "abc"})


def two_tasks() -> Results:
    tasks = [task(f"/made/{name}/std.64") for name in ("up", "down")]
    losses = {name: {one.address: draws(name, 1.0, one, runs=2) for one in tasks} for name in "ab"}
    return results(tasks, losses)


def plan_of(address: str, level: float) -> RacePlan:
    return RacePlan(address, f"digest of {address}", "S", dict.fromkeys("ab", "d"), (4,), level)


def beside_a_race() -> Results:
    made = two_tasks()
    first = next(iter(made.tasks))
    return replace(made, races={first: Race(plan_of(first, 0.05))})


def lacking_an_instance() -> Results:
    facts = task()
    a, b = draws("a", 1.0, facts, runs=2), draws("b", 1.0, facts, runs=2)
    return results([facts], {"a": {facts.address: a}, "b": {facts.address: b[:3]}})


def with_units() -> Results:
    made = plain()
    (facts,) = made.tasks.values()
    paired = tuple(replace(one, units=np.arange(50) // 2) for one in facts.instances)
    return replace(made, tasks={facts.address: replace(facts, instances=paired)})


def scores(
    *, lacking: int = 0, prompts: bool = False, twin: bool = False, right: float = 0.6, **said: Any
) -> Results:
    """Right and wrong answers of two or three models to 150 questions."""
    rng = np.random.default_rng(4)
    names = ["a", "b", *(["c"] if twin else [])]
    values = {name: (rng.random(150) < right).astype(int) for name in names}
    rows = [
        {"model": name, "case": case, "accuracy": int(values["a" if name == "c" else name][case])}
        for name in names
        for case in range(150)
    ]
    frame = pd.DataFrame(rows)
    if prompts:
        frame["prompt"] = np.where(frame["case"] < 5, "asked by " + frame["model"], "asked")
    return redelve.compare_scores(frame.iloc[lacking:], **said).results


def two_wide_files() -> Results:
    """Two files that have a column for every model and none for the cases."""
    frame = pd.DataFrame({"a": [0, 1] * 60, "b": [1, 1, 0] * 40})
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.csv" for name in ("first", "second")]
        frame.to_csv(paths[0], index=False)
        frame.rename(columns={"a": "c", "b": "d"}).to_csv(paths[1], index=False)
        return redelve.compare_scores(paths, higher_is_better=True).results


def few_cases() -> Results:
    facts = task(cases=20)
    return results([facts], {"a": {facts.address: draws("a", 1.0, facts, runs=2)}})


def tuned() -> Results:
    made = plain()
    return replace(made, methods={**made.methods, "a": method("a", tuned_on=["made"])})


def fixed_seed() -> Results:
    made = plain()
    return replace(made, methods={**made.methods, "a": method("a", fixed_seeds=True)})


def heavy() -> Results:
    facts = task(cases=250)
    rng = np.random.default_rng(3)
    losses = [[np.square(np.exp(rng.normal(size=250)) - 1.6) for _ in range(2)] for _ in range(4)]
    return results([facts], {"a": {facts.address: losses}})


def rare_class(rare: int = 4) -> Results:
    """Two classes, of which the second has so many of fifty cases."""
    made, target = plain(), Target("ill", "categorical", ("no", "yes"))
    (facts,) = made.tasks.values()
    truths = (Truth.exact(target, [0.0] * (50 - rare) + [1.0] * rare),)
    instances = tuple(replace(one, truths=truths) for one in facts.instances)
    tasks = {facts.address: replace(facts, targets=(target,), instances=instances)}
    records = tuple(replace(one, losses={"Z": one.losses["S"]}) for one in made.records)
    return replace(made, tasks=tasks, records=records)


def repeated() -> Results:
    made = plain()
    first = {
        one.job.instance: one.losses for one in made.records if one.job.run == 0 and one.job.method == "a"
    }
    records = (
        replace(one, losses=first[one.job.instance]) if one.job.method == "a" else one for one in made.records
    )
    return replace(made, records=tuple(records))


VIOLATIONS: dict[str, Callable[[], Results]] = {
    "V001": one_training_set,
    "V002": lambda: plain(training_overlap=True),
    "V003": fixed_seed,
    "V004": lambda: plain(usage="development"),
    "V005": lacking_an_instance,
    "V006": with_units,
    "V007": tuned,
    "V008": three_methods,
    "V009": lambda: with_record(plain(), status="out of time"),
    "V010": three_training_sets,
    "V011": few_cases,
    "V012": lambda: with_record(plain(), losses={"S": np.full(50, np.inf)}),
    "V013": lambda: with_record(plain(), message="ConvergenceWarning: not there yet"),
    "V014": lambda: with_record(with_environment(plain()), environment={"processor": "another"}),
    "V015": one_run,
    "V016": lambda: plain(notes=("cases are in sequence",)),
    "V017": heavy,
    "V021": rare_class,
    "V018": lambda: replace(plain(), looked={plain_address(): (EarlierLook(2, tuple(plain().methods)),)}),
    "V022": repeated,
    "V023": lambda: with_record(plain(), environment={ISOLATION: SHARED}),
    "V024": scores,
    "V025": lambda: scores(lacking=3),
    "V026": lambda: scores(prompts=True),
    "V027": lambda: scores(twin=True),
    "V028": lambda: scores(right=0.99),
    "V029": lambda: scores(notes="two models have seen the questions"),
    "V030": lambda: scores(chosen_of={"a": 20}),
    "V031": two_wide_files,
    "V032": beside_a_race,
}


def test_races_that_share_a_level_need_no_note() -> None:
    (first, second) = two_tasks().tasks
    shared = replace(two_tasks(), races={one: Race(plan_of(one, 0.025)) for one in (first, second)})
    assert not texts(shared, "V032")
    (alone,) = texts(beside_a_race(), "V032")
    assert alone.startswith("1 race and 1 other task have levels of their own")
    assert "of reports like this up to 10 % contain a false claim" in alone


def test_tasks_on_which_fewer_than_two_methods_have_losses_make_no_claims() -> None:
    """One call raced three tasks; its budget ended before the second method began the third."""
    tasks = [task(f"/made/{name}/std.64") for name in ("up", "down", "on")]
    given = {name: {one.address: draws(name, 1.0, one, runs=2) for one in tasks} for name in "ab"}
    last = tasks[-1].address
    races = {one.address: Race(plan_of(one.address, 0.0125)) for one in tasks[:-1]}
    assert texts(replace(results(tasks, given), races=races), "V032")  # the third was not raced
    given["b"][last] = [None]
    assert not texts(replace(results(tasks, given), races=races), "V032")
    del given["a"][last], given["b"][last]
    assert not texts(replace(results(tasks, given), races=races), "V032")


def plain_address() -> str:
    return next(iter(plain().tasks))


def with_environment(made: Results) -> Results:
    return replace(
        made, records=tuple(replace(one, environment={"processor": "this"}) for one in made.records)
    )


def test_every_rule_is_tried() -> None:
    assert set(VIOLATIONS) == set(RULES)


def test_nothing_is_said_of_a_sound_assessment() -> None:
    assert check_results(plain()) == ()


@pytest.mark.parametrize("code", sorted(VIOLATIONS))
def test_a_rule_finds_its_violation_and_names_it(code: str) -> None:
    notes = [note for note in check_results(VIOLATIONS[code]()) if note.code == code]
    assert notes
    for note in notes:
        assert note.title == RULES[code].title
        assert str(note).startswith(f"{code} {note.title}: ")
        assert note.severity == RULES[code].severity


def test_a_rare_class_is_named_with_what_the_commonest_one_achieves() -> None:
    (note,) = check_results(rare_class(4))
    assert 'class "yes" has 8 % of the test cases' in note.text
    assert "is right in 92 %: judge by balanced_accuracy or roc_auc" in note.text
    assert check_results(rare_class(5)) == ()


def test_a_rare_class_is_no_matter_where_nobody_counts_errors() -> None:
    made = rare_class(4)
    squared = tuple(replace(one, losses={"Q": one.losses["Z"]}) for one in made.records)
    assert check_results(replace(made, records=squared)) == ()


def test_overlapping_test_sets_are_a_dependence_too() -> None:
    (note,) = check_results(plain(test_overlap=True))
    assert note.code == "V006"
    assert "overlap partly" in note.text


def test_a_seed_shared_by_all_records_is_noticed_without_being_declared() -> None:
    made = plain()
    same = replace(made, records=tuple(replace(record, seed=1) for record in made.records))
    (note,) = check_results(same)
    assert (note.code, note.methods) == ("V003", ("a", "b"))


@pytest.mark.parametrize("unknown", [{"seed": 7, "environment": {IMPORTED: "DELVE files"}}, {"seed": 0}])
def test_nobody_is_blamed_for_seeds_that_are_unknown(unknown: dict[str, object]) -> None:
    made = plain()
    told = replace(made, records=tuple(replace(one, **unknown) for one in made.records))  # type: ignore[arg-type]
    assert check_results(told) == ()


def test_explanations_are_sentences() -> None:
    for code in RULES:
        assert RULES[code].explanation.endswith(".")
        assert len(RULES[code].explanation) > 60


def test_heavy_tails_are_told_with_what_the_top_carries() -> None:
    made = heavy()
    (note,) = [note for note in check_results(made) if note.code == "V017"]
    tables = [np.stack([one.losses["S"] for one in made.records if one.job.instance == i]) for i in range(4)]
    cases = np.sort(np.concatenate([table.mean(axis=0) for table in tables]))
    share = cases[-10:].sum() / cases.sum()
    assert note.text.startswith(f"10 of 1000 cases carry {100 * share:.0f} % of the loss of a on /made/up")
    assert note.methods == ("a",)


def test_heavy_tails_of_groups_are_told_as_such() -> None:
    made = heavy()
    (facts,) = made.tasks.values()
    pairs = tuple(replace(one, units=one.case_numbers // 2) for one in facts.instances)
    grouped = replace(made, tasks={facts.address: replace(facts, instances=pairs)})
    (note,) = [note for note in check_results(grouped) if note.code == "V017"]
    assert re.match(r"6 of 50\d groups carry \d+ % of the loss of a on /made/up", note.text)


def test_heavy_tails_are_told_once_and_of_the_loss_judged_by() -> None:
    made = heavy()
    (facts,) = made.tasks.values()
    other = replace(facts, address="/made/up/std.128")
    both = replace(
        made,
        tasks={**made.tasks, other.address: other},
        records=tuple(
            replace(
                one,
                job=replace(one.job, task=address),
                losses={"S": one.losses["S"], "A": np.abs(np.sin(np.arange(250)))},
            )
            for one in made.records
            for address in (facts.address, other.address)
        ),
    )
    (note,) = [note for note in check_results(both) if note.code == "V017"]
    assert note.tasks == ("/made/up/std.64", "/made/up/std.128")
    assert "(1 other task alike)" in note.text
    assert not [note for note in check_results(both, loss="A") if note.code == "V017"]


def test_losses_with_an_upper_limit_have_no_heavy_tails() -> None:
    facts = task(cases=250)
    errors = [[(np.arange(250) == 7).astype(float)] for _ in range(4)]
    kind = Target("kind", "categorical", ("a", "b"))
    made = results([replace(facts, targets=(kind,))], {"a": {facts.address: errors}}, code="Z")
    assert not [note for note in check_results(made) if note.code == "V017"]
    made = results([facts], {"a": {facts.address: errors}}, code="S")
    assert [note for note in check_results(made) if note.code == "V017"]


def test_only_methods_all_of_whose_runs_are_equal_are_named_as_such() -> None:
    (note,) = [note for note in check_results(repeated()) if note.code == "V022"]
    assert note.methods == ("a",)
    assert "all 2 runs of a are equal to the last digit" in note.text
    other = with_record(repeated(), losses={"S": np.full(50, 0.5)})
    assert "V022" not in {note.code for note in check_results(other)}


def test_caveats_of_several_sizes_that_differ_by_numbers_alone_are_one_note() -> None:
    facts = [
        task("/x/y/std.64", notes=("3 of 100 test cases have a twin", "cases are in sequence")),
        task("/x/y/std.128", notes=("9 of 100 test cases have a twin", "cases are in sequence")),
        task("/x/y/std.32", notes=("1 of 100 test cases have a twin", "cases are in sequence")),
    ]
    made = results(facts, {"a": {one.address: draws("a", 1.0, one) for one in facts}})
    notes = [note for note in check_results(made) if note.code == "V016"]
    assert [note.text for note in notes] == [
        "9 of 100 test cases have a twin (with the largest training sets; others are alike)",
        "cases are in sequence",
    ]
    assert {len(note.tasks) for note in notes} == {3}


def texts(made: Results, code: str) -> list[str]:
    return [note.text for note in check_results(made) if note.code == code]


def test_fixed_models_are_told_nothing_of_learning() -> None:
    made = scores()
    told = " ".join(str(note) for note in check_results(made))
    assert [note.code for note in check_results(made)] == ["V024"]
    assert "training" not in told
    rules = {one.code for one in rules_for(made)}
    assert not rules & {"V001", "V009", "V015", "V023"}
    assert {"V008", "V011", "V025", "V031"} <= rules
    assert "V025" not in {one.code for one in rules_for(plain())}


def test_how_many_cases_are_missing_and_whose_is_told() -> None:
    (text,) = texts(scores(lacking=3), "V025")
    assert "3 of 150 cases are left out" in text
    assert "(a 3)" in text
    (worst,) = texts(scores(lacking=3, missing="worst"), "V025")
    assert "count as the worst" in worst


def test_prompts_that_are_the_same_for_all_models_are_no_matter() -> None:
    (text,) = texts(scores(prompts=True), "V026")
    assert "5 of 150 cases" in text
    assert not texts(scores(), "V026")


def test_models_that_are_all_right_are_not_called_the_same() -> None:
    assert not texts(scores(right=1.0, twin=True), "V027")
    (text,) = texts(scores(twin=True), "V027")
    assert "a and c have the same score on all 150 cases" in text


def test_the_same_scores_on_other_tasks_are_no_identical_scores() -> None:
    """One after the other both models have the same scores, but on cases that are not the same."""
    first, second = [i % 2 for i in range(10)], [int(i % 3 > 0) for i in range(10)]
    parts = {("a", "t1"): first, ("a", "t2"): second, ("b", "t0"): first, ("b", "t1"): second}
    rows = [
        {"model": model, "task": task, "case": f"{task}-{place}", "accuracy": right}
        for (model, task), scores_there in parts.items()
        for place, right in enumerate(scores_there)
    ]
    assert not texts(redelve.compare_scores(pd.DataFrame(rows)).results, "V027")


def test_saturation_names_the_model_and_is_silent_below() -> None:
    assert not texts(scores(right=0.9), "V028")
    (text,) = texts(scores(right=0.99), "V028")
    assert "% of the range from the best score" in text


def test_the_users_own_words_stand_beside_the_results() -> None:
    assert texts(scores(notes=["one", "two"]), "V029") == ["one", "two"]


def test_one_wide_table_is_not_paired_by_order() -> None:
    frame = pd.DataFrame({"a": [0, 1] * 60, "b": [1, 1, 0] * 40})
    assert not texts(redelve.compare_scores(frame, higher_is_better=True).results, "V031")


def test_who_was_chosen_of_many_must_be_there() -> None:
    with pytest.raises(redelve.RedelveError, match='chosen_of names "z"'):
        scores(chosen_of={"z": 3})
    with pytest.raises(redelve.RedelveError, match="best of 0"):
        scores(chosen_of={"a": 0})


def test_remarks_are_kept_in_an_archive(tmp_path: Path) -> None:
    made = scores(lacking=2, notes="seen before", archive=tmp_path / "kept")
    again = redelve.Archive.open(tmp_path / "kept").load()
    assert {note.code for note in check_results(again)} == {note.code for note in check_results(made)}
