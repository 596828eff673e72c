"""Designs by name, dates that tell the order of cases, and windows that move forward in time."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import redelve
from redelve.data.tables.dates import parsed_dates
from redelve.data.tables.description import (
    ColumnDescription,
    Description,
    format_description,
    parse_description,
)
from redelve.data.tables.first_look import DesignChoice
from redelve.data.tables.named_designs import named_design, windows
from redelve.errors import SpecError
from redelve.findings.validity import check_results
from redelve.run.experiment import task_facts
from redelve.run.results import Results


def weather(rows: int = 120, *, classes: bool = False) -> pd.DataFrame:
    """Days in a random order, with their dates as texts."""
    rng = np.random.default_rng(3)
    made = pd.DataFrame({"day": [f"{day:%Y/%m/%d}" for day in pd.date_range("2012-01-01", periods=rows)]})
    made["wind"] = rng.normal(size=rows)
    made["rain"] = rng.choice(["yes", "no"], rows) if classes else made["wind"] + rng.normal(size=rows)
    return made.sample(frac=1, random_state=0).reset_index(drop=True)


@pytest.mark.parametrize(
    ("design", "scheme", "instances", "repetitions", "trained", "tested"),
    [
        ("cv", "cross-validation", 10, 1, 108, 12),
        ("CV 5x2", "cross-validation", 10, 2, 96, 24),
        ("cross-validation 4 x 3", "cross-validation", 12, 3, 90, 30),
        ("nested 4", "nested-cross-validation", 10, 1, 90, 30),
        ("holdout", "hierarchical", 1, 1, 90, 30),
        ("time", "time", 6, 1, 60, 10),
        ("time by day", "time", 6, 1, 60, 10),
    ],
)
def test_a_name_is_a_design(
    design: str, scheme: str, instances: int, repetitions: int, trained: int, tested: int
) -> None:
    (made,) = redelve.from_frame(weather(), "rain", design=design).assignments
    assert (made.scheme, len(made.instances), made.repetitions) == (scheme, instances, repetitions)
    first = made.instances[0]
    assert (len(first.training), len(first.testing)) == (trained, tested)


def test_disjoint_is_what_many_cases_get_anyway() -> None:
    table = weather(500)
    asked, usual = (redelve.from_frame(table, "rain", design=one) for one in ("disjoint", None))
    assert [one.digest for one in asked.assignments] == [one.digest for one in usual.assignments]


def test_a_name_gives_the_same_sets_as_the_file_it_writes(tmp_path: Path) -> None:
    table = weather(classes=True)
    for design in ("cv 5x2", "holdout", "time", "nested"):
        made = redelve.from_frame(table, "rain", design=design)
        text = format_description(made.description)
        assert parse_description(text).design == made.description.design
        again = redelve.from_frame(table, "rain", description=parse_description(text))
        assert [one.digest for one in again.assignments] == [one.digest for one in made.assignments]


@pytest.mark.parametrize(
    ("text", "design"),
    [
        ('selection = "cross-validation"', "cv"),
        ('selection = "cross-validation"\nfolds = 5', "cv 5"),
        ('selection = "nested-cross-validation"', "nested"),
        ('selection = "time"\ngap = 3', "time"),
        ('selection = "holdout"', "holdout"),
    ],
)
def test_what_a_file_leaves_out_is_inferred(text: str, design: str) -> None:
    """The tool's own hint, selection = "cross-validation", led to four errors in a row."""
    table = weather(classes=True)
    given = parse_description(f'target = "rain"\n[design]\n{text}\n')
    gap = 3 if "gap" in text else None
    (made,) = redelve.from_frame(table, description=given).assignments
    (named,) = redelve.from_frame(table, "rain", design=design, gap=gap).assignments
    assert made.digest == named.digest


def test_sizes_left_out_are_inferred_beside_those_given() -> None:
    given = parse_description('[design]\nselection = "common"\ntraining_set_sizes = [50]\n')
    (made,) = redelve.from_frame(weather(500), "rain", description=given).assignments
    assert (made.scheme, made.task.training_set_size) == ("common", 50)
    assert len(made.instances) >= 4


@pytest.mark.parametrize(
    ("design", "gap", "told"),
    [
        ("tiem", None, r'unknown design "tiem" \(did you mean "time"\?\): choose "cv"'),
        ("cv 0", None, 'design "cv 0" has 0 folds: choose "cv"'),
        ("cv 10x0", None, 'design "cv 10x0" has 0 repetitions: choose "cv"'),
        ("nested 0", None, 'design "nested 0" has 0 folds: choose "cv"'),
        ("cv ten", None, 'design "cv ten": "ten" means nothing after "cv"'),
        ("holdout 3", None, '"3" means nothing after "holdout"'),
        ("cv 1", None, "1 folds of 120 cases: give from 2 to 120"),
        ("cv 500", None, "500 folds of 120 cases"),
        ("nested 2", None, "needs 3 folds or more, not 2"),
        ("cv", 3, 'gap=3 is for design "time"'),
        (None, 3, 'gap=3 is for design "time": give design="time" as well'),
        ("time", -1, "gap is -1"),
        ("time", 55, "choose a smaller gap"),
        ("time by wind", None, 'column "wind" is to tell the time, but columns of dates are day'),
        ("disjoint", None, "120 cases are too few"),
    ],
)
def test_designs_that_cannot_be_are_refused_with_a_way_out(
    design: str | None, gap: int | None, told: str
) -> None:
    with pytest.raises(SpecError, match=told):
        redelve.from_frame(weather(), "rain", design=design, gap=gap)


def test_groups_and_time_do_not_go_together() -> None:
    with pytest.raises(SpecError, match='groups and design "time" do not go together'):
        redelve.from_frame(weather(), "rain", design="time", groups=[n // 2 for n in range(120)])


def test_groups_are_kept_whole_by_names() -> None:
    labels = np.arange(120) // 4
    for design in ("cv", "cv 5", "holdout"):
        (made,) = redelve.from_frame(weather(), "rain", design=design, groups=labels).assignments
        for one in made.instances:
            numbers = made.data.case_numbers
            trained, tested = (labels[numbers[some] - 1] for some in (one.training, one.testing))
            assert not np.isin(tested, trained).any()


# Time


def test_forward_in_time_nothing_is_learnt_from_later_days() -> None:
    table = weather()
    (made,) = redelve.from_frame(table, "rain", design="time", gap=2).assignments
    days = pd.to_datetime(table["day"]).to_numpy()[made.data.case_numbers - 1]
    assert (np.diff(days.astype(np.int64)) > 0).all()
    for one in made.instances:
        assert days[one.training].max() + np.timedelta64(3, "D") == days[one.testing].min()
    tested = np.concatenate([one.testing for one in made.instances])
    assert np.array_equal(tested, np.arange(60, 120))  # each once, in the order of time


def test_without_dates_rows_are_in_the_order_of_time() -> None:
    (made,) = redelve.from_frame(weather()[["wind", "rain"]], "rain", design="time").assignments
    assert np.array_equal(made.data.case_numbers, np.arange(1, 121))
    assert made.task.prototask.order == "retain"


def test_a_date_is_never_torn_apart() -> None:
    table = weather().sort_values("day")
    table["day"] = np.repeat(table["day"].to_numpy()[:40], 3)
    (made,) = redelve.from_frame(table, "rain", design="time").assignments
    days = table["day"].to_numpy()[made.data.case_numbers - 1]
    for one in made.instances:
        assert not np.isin(days[one.testing], days[one.training]).any()
        assert len(one.training) == 60


def test_too_few_dates_for_the_blocks_are_refused() -> None:
    table = weather().sort_values("day")
    table["day"] = np.repeat(table["day"].to_numpy()[:4], 30)
    with pytest.raises(SpecError, match="too few different dates for 6 blocks"):
        redelve.from_frame(table, "rain", design="time by day", description=_ignoring("day"))


def _ignoring(column: str) -> Description:
    return Description(columns=(ColumnDescription(column, "ignore"),))


def test_dates_that_are_missing_are_refused() -> None:
    table = weather()
    table.loc[5, "day"] = None
    with pytest.raises(SpecError, match='column "day" lacks 1 dates'):
        redelve.from_frame(table, "rain", design="time")


def test_of_two_columns_of_dates_one_must_be_chosen() -> None:
    table = weather()
    table["sold"] = table["day"]
    with pytest.raises(
        SpecError, match='columns day, sold hold dates: say which, as in design="time by day"'
    ):
        redelve.from_frame(table, "rain", design="time")
    assert redelve.from_frame(table, "rain", design="time by sold").assignments[0].scheme == "time"


def test_dates_are_offered_and_random_sets_are_cautioned_against() -> None:
    made = redelve.from_frame(weather(), "rain")
    told = str(made)
    assert "dates, 2012-01-01 to 2012-04-29, are no input as they are" in told
    assert 'design="time" (--design time)' in told
    (note,) = [one for one in made.assignments[0].notes if "later than those" in one]
    assert 'column "day" holds dates' in note
    facts = task_facts(made.assignments[0])
    found = check_results(Results({facts.address: facts}, {}, ()))
    assert any(one.code == "V016" and note in one.text for one in found)
    forward = redelve.from_frame(weather(), "rain", design="time").assignments[0]
    assert not any("later than those" in one for one in forward.notes)


def test_a_column_of_dates_in_pandas_is_one_too() -> None:
    text = weather()
    typed = text.assign(day=pd.to_datetime(text["day"]))
    ours, theirs = (redelve.from_frame(one, "rain", design="time").assignments[0] for one in (text, typed))
    assert ours.digest == theirs.digest


@pytest.mark.parametrize(
    ("texts", "last"),
    [
        (["2012-01-31", "2012-02-01"], "2012-02-01"),
        (["2012/1/31 00:00:00", "2012/2/1 13:05"], "2012-02-01T13:05"),
        (["2012-01-31T10:00:00Z", "2012-02-01T01:00:00+02:00"], "2012-01-31T23:00"),
        (["31.1.2012", "1.2.2012"], "2012-02-01"),
        (["1/31/2012", "2/1/2012"], "2012-02-01"),
        (["31/1/2012", "1/2/2012"], "2012-02-01"),
    ],
)
def test_dates_are_read_as_they_are_written(texts: list[str], last: str) -> None:
    moments = parsed_dates(texts)
    assert moments is not None
    assert moments[-1] == np.datetime64(last)


@pytest.mark.parametrize(
    "texts",
    [
        ["1/2/2012", "3/4/2012"],
        ["2012-13-01"],
        ["2012-01-01", "later"],
        ["2012-01-01 soon"],
        ["31/12/2012", "12/31/2012"],
    ],
)
def test_what_may_be_another_date_or_none_is_no_date(texts: list[str]) -> None:
    assert parsed_dates(texts) is None


def test_windows_keep_their_size_and_move_on() -> None:
    choice = DesignChoice("time", (5,), test_set_size=7, instances=3)
    found = [(one.training.tolist(), one.testing.tolist()) for one in windows(choice, 5, 12)]
    assert found == [
        ([0, 1, 2, 3, 4], [5, 6]),
        ([2, 3, 4, 5, 6], [7, 8]),
        ([4, 5, 6, 7, 8], [9, 10, 11]),
    ]


def test_an_asked_design_says_nothing_of_what_it_leaves_open() -> None:
    asked = named_design("cv")
    assert (asked.folds, asked.repetitions, asked.stratify) == (0, 0, None)
