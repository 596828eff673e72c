"""Pages of models that were compared as they are: their words, their size with many models, their order."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

import redelve
from redelve.assessment import Assessment
from redelve.report.drawing import look_of
from redelve.report.first_screen import draw_rows, rows_figure
from redelve.report.notebook import findings_html
from redelve.report.page import all_tables, render_html, render_latex, render_markdown

MODELS, TASKS, CASES = 14, 5, 40
PAIRS = MODELS * (MODELS - 1) // 2
LEARNING = re.compile(
    r"training|\bmethods?\b|\blearn|\bseeds?\b|\bjobs?\b|DELVE\b|standardised|constant answer|prototask|"
    "PROBEN1"
)


def table(models: int, tasks: int, cases: int) -> pd.DataFrame:
    """A wide table: right and wrong answers, models from good to bad."""
    rng = np.random.default_rng(6)
    chances = np.linspace(0.85, 0.25, models)
    rows = pd.DataFrame(
        (rng.random((tasks * cases, models)) < chances).astype(int),
        columns=[f"model {number:02}" for number in rng.permutation(models)],
    )
    return rows.assign(task=np.repeat([f"task {n}" for n in range(tasks)], cases))


@pytest.fixture(scope="module")
def many() -> Assessment:
    return redelve.compare_scores(table(MODELS, TASKS, CASES), higher_is_better=True)


@pytest.fixture(scope="module")
def few() -> Assessment:
    frame = table(4, 1, 120).drop(columns="task")
    return redelve.compare_scores(frame, higher_is_better=True, margin=0.05)


@pytest.fixture(scope="module")
def page(many: Assessment) -> str:
    return render_html(many.findings)


def words_of(page: str) -> str:
    """What a page says, without its script, styles and drawings."""
    kept = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", kept)).split())


def rows_of(page: str, name: str) -> list[str]:
    found = re.search(rf'id="table-{name}".*?<tbody>(.*?)</tbody>', page, flags=re.DOTALL)
    assert found is not None
    return [words_of(row) for row in found[1].split("</tr>")[:-1]]


@pytest.mark.slow
def test_the_page_of_29_models_on_14_tasks_is_small() -> None:
    made = redelve.compare_scores(table(29, 14, CASES), higher_is_better=True)
    assert len(render_html(made.findings).encode()) < 3_000_000


@pytest.fixture(scope="module")
def repeated() -> Assessment:
    """Three answers to each case, which come in groups, with weights and costs."""
    rng = np.random.default_rng(7)
    cells = [(model, case, run) for model in ("one", "two") for case in range(60) for run in range(3)]
    frame = pd.DataFrame(cells, columns=["model", "case", "sample"])
    right = rng.random(len(frame)) < np.where(frame["model"] == "one", 0.7, 0.6)
    case, cost = frame["case"], rng.random(len(frame))
    frame = frame.assign(accuracy=right.astype(int), group=case // 3, weight=1 + case % 2, cost=cost)
    return redelve.compare_scores(frame)


def test_several_answers_to_a_case_are_no_runs_with_seeds(repeated: Assessment) -> None:
    assert repeated.findings.runs == ()
    assert "Runs with different seeds" not in f"{repeated}{render_html(repeated.findings)}"


def test_groups_of_cases_are_told_in_words_of_cases(repeated: Assessment) -> None:
    (note,) = [one for one in repeated.findings.notes if one.code == "V006"]
    assert note.text == "60 cases come in 20 groups: each group counts as one unit in standard errors"


def test_cases_in_groups_are_asked_for_by_the_group() -> None:
    """Five cases of a group that all say the same are one: five times as few would not be enough."""
    rng = np.random.default_rng(9)
    alone = pd.DataFrame(
        (rng.random((80, 2)) < [0.75, 0.7]).astype(int), columns=["one", "two"], index=[*range(80)]
    )
    grouped = alone.loc[np.repeat(alone.index, 5)].assign(group=np.repeat(alone.index, 5))
    both = [redelve.compare_scores(one, higher_is_better=True, margin=0.05) for one in (alone, grouped)]
    said = [" ".join(str(one).split()) for one in both]
    cases, groups = (
        re.search(r"([\d,]+) more (groups of )?cases would find one as large as the margin", one)
        for one in said
    )
    assert cases is not None
    assert groups is not None
    assert cases[1] == groups[1]
    assert (cases[2], groups[2]) == (None, "groups of ")
    plan = both[1].findings.tasks[0].contests[0].answer_plan(0.05)
    assert plan is not None
    assert plan.questions == 80


def test_scores_that_are_no_shares_tell_what_would_be_found() -> None:
    """Higher is better, and no limits: two per cent of such a score mean nothing."""
    rng = np.random.default_rng(8)
    marks = pd.DataFrame(rng.normal(10, 1, (40, 2)), columns=["one", "two"])
    said = " ".join(str(redelve.compare_scores(marks, higher_is_better=True)).split())
    assert re.search(
        r"a difference of 0\.\d+ would be found with power 0\.8\. Say which difference matters", said
    )
    assert "cannot be told" not in said
    with_margin = " ".join(str(redelve.compare_scores(marks, higher_is_better=True, margin=0.1)).split())
    assert "more cases would find one as large as the margin of 0.1" in with_margin


def test_nothing_is_said_of_learning(
    many: Assessment, few: Assessment, repeated: Assessment, page: str
) -> None:
    made = {
        "text of repeated answers": str(repeated),
        "page of repeated answers": words_of(render_html(repeated.findings)),
        "page": words_of(page),
        "page of few": words_of(render_html(few.findings)),
        "Markdown": render_markdown(many.findings),
        "LaTeX": render_latex(few.findings),
        "notebook": words_of(findings_html(many.findings)),
        "text": f"{many} {few}",
    }
    for what, text in made.items():
        found = [text[max(one.start() - 60, 0) : one.end() + 40] for one in LEARNING.finditer(text)]
        assert not [one for one in found if "Holm" not in one and "Scheffé" not in one], what


def test_models_are_rows_from_the_best_average_to_the_worst(many: Assessment, page: str) -> None:
    rows = rows_of(page, "datasets")
    across = many.findings.across
    assert across is not None
    assert len(rows) == MODELS
    assert [row[: len("model 00")] for row in rows] == [one.method for one in across.by_loss]


def test_of_many_models_the_page_has_comparisons_with_the_best_and_the_next(page: str) -> None:
    rows = rows_of(page, "nearest-task-0")
    assert len(rows) == (MODELS - 1) + (MODELS - 2)
    assert "table-pairs-task-0" not in page
    assert f"{PAIRS - len(rows)} more comparisons are in the report's folder" in words_of(page)


def test_every_comparison_is_in_the_folder(many: Assessment) -> None:
    tables = {one.name: one for one in all_tables(many.findings)}
    assert len(tables["pairs-task-0"].rows) == PAIRS
    assert len(tables["across-pairs"].rows) == PAIRS


def test_few_models_have_every_comparison(few: Assessment) -> None:
    page = render_html(few.findings)
    assert len(rows_of(page, "pairs-scores")) == 6
    assert "4 models, 120 cases" in words_of(page)


def test_scores_of_folds_have_no_sizes_and_no_question_about_more_data() -> None:
    rng = np.random.default_rng(1)
    rows = [{"model": m, "fold": n, "accuracy": rng.random()} for m in "ab" for n in range(10)]
    made = redelve.compare_scores(pd.DataFrame(rows), ratio=1 / 9)
    text = f"{made} {words_of(render_html(made.findings))}"
    assert "Over 10 folds" in text
    assert "2 methods, 1 task, 10 folds" in text
    assert not re.search(r"\bjobs? (done|has)|Training time|use runs=2|fewer than 100 test cases", text)
    assert "Seeds not known: the scores were computed elsewhere" in text
    assert "more data" not in text
    assert "by training-set size" not in str(made)


def test_scores_of_folds_on_several_data_sets_count_folds_and_have_no_cases_to_pool() -> None:
    rng = np.random.default_rng(1)
    rows = [
        {
            "model": model,
            "task": task,
            "fold": fold,
            "accuracy": 0.6 + 0.1 * (model == "a") + 0.01 * rng.random(),
        }
        for model in "ab"
        for task in ("Coffee", "Trace", "Wafer")
        for fold in range(7)
    ]
    made = redelve.compare_scores(pd.DataFrame(rows), ratio=1)
    table = next(one for one in all_tables(made.findings) if one.name == "datasets")
    assert [column.title for column in table.columns] == ["Data set", "Folds", "a", "b"]
    assert [row[1].text for row in table.rows] == ["–", "7", "7", "7"]
    text = " ".join(str(made).split())
    assert "This is about new tasks like these 3." in text
    assert "Accuracy. *: may be the best there" in text
    assert not any(words in text for words in ("--pooled", "training-set size", "standardised"))


def test_training_sets_of_unknown_size_are_counted() -> None:
    rng = np.random.default_rng(1)
    rows = [
        {"model": m, "training_set": n, "case": c, "accuracy": int(rng.random() < 0.7)}
        for m in "ab"
        for n in range(5)
        for c in range(20)
    ]
    text = str(redelve.compare_scores(pd.DataFrame(rows)))
    assert "Over 5 training sets" in text
    assert "0 training cases" not in text


def test_rows_of_a_figure_have_room_for_names_that_differ_at_their_ends() -> None:
    names = [f"npe_lampe[flow=nsf,transforms={count}]" for count in (1, 3)]
    names.append("a name of more letters than find room")
    values = {name: (float(place), 0.1) for place, name in enumerate(names)}
    figure, axes = rows_figure(names)
    draw_rows(axes, values, dict.fromkeys(names, look_of(0)), ())
    labels = [one.get_text() for one in axes.get_yticklabels()]
    assert labels == [*names[:2], "a name of more letters than find …"]
    assert axes.get_position().width * figure.get_figwidth() > 2  # inches for the values
    assert rows_figure(["a", "b"])[0].get_figwidth() < figure.get_figwidth()


def answers() -> pd.DataFrame:
    """README's answers to 300 questions: huge 74 %, large 71 %, small 52 %."""
    number = np.arange(1, 301)
    right = {"small": number * 37 % 100 < 52, "large": number * 53 % 100 < 71, "huge": number * 29 % 100 < 74}
    return pd.DataFrame({name: values.astype(int) for name, values in right.items()})


def both_said(made: Assessment) -> list[str]:
    """The text and the page, each on one line."""
    return [" ".join(str(made).split()), words_of(render_html(made.findings))]


@pytest.mark.parametrize(
    ("planned", "is_about_cases", "is_about_best"),
    [("small:large,huge:large", True, False), ("small:large", False, True), ("huge:small", False, True)],
)
def test_planned_pairs_do_not_settle_who_is_best(
    planned: str, is_about_cases: bool, is_about_best: bool
) -> None:
    pairs = [(one, two) for one, _, two in (pair.partition(":") for pair in planned.split(","))]
    made = redelve.compare_scores(answers(), higher_is_better=True, compare=pairs)
    for said in both_said(made):
        assert "best of these: it is settled" not in said
        assert "the truly best is so marked" not in said
        assert ("huge and large: as it stands, a difference of 11 points" in said) is is_about_cases
        assert ("Not for the planned comparison: it is settled." in said) is not is_about_cases
        assert ("Which model is the best was not tested." in said) is is_about_best


def test_planned_pairs_that_leave_one_model_settle_who_is_best() -> None:
    frame = answers().drop(columns="large")
    made = redelve.compare_scores(frame, higher_is_better=True, compare=[("small", "huge")])
    assert "Not to find the best of these: it is settled." in " ".join(str(made).split())


def test_over_tasks_planned_pairs_say_nothing_of_who_may_be_the_best() -> None:
    frame = table(3, 4, 40)
    made = redelve.compare_scores(frame, higher_is_better=True, compare=[("model 00", "model 01")])
    assert "may be the best on 0" not in words_of(render_html(made.findings))


IMPOSSIBLE = re.compile(r"\b(?:1\d\d(?<!100)|[2-9]\d\d|\d{4,}|\d,\d{3})(?:\.\d+)? (?:percentage )?points")


def two_groups(tasks: int = 1) -> pd.DataFrame:
    """Forty cases in two groups whose differences are far apart."""
    number = np.arange(40)
    right = {"a": number % 2, "b": (number % 2 == 0) | (number % 7 == 0), "group": number % 2}
    frame = pd.DataFrame({name: values.astype(int) for name, values in right.items()})
    return pd.concat([frame.assign(task=f"t{one}") for one in range(tasks)]) if tasks > 1 else frame


@pytest.mark.parametrize(
    ("frame", "few"),
    [
        (pd.DataFrame({"a": [1, 0, 1, 0], "b": [0, 1, 1, 0]}), "cases"),
        (two_groups(), "groups of cases"),
    ],
)
def test_no_difference_beyond_the_limits_of_a_score_is_told(frame: pd.DataFrame, few: str) -> None:
    made = redelve.compare_scores(frame, higher_is_better=True)
    (contest,) = made.findings.tasks[0].contests
    assert contest.smallest_found is not None
    assert contest.smallest_found > 1
    nothing = f"no possible difference would be found with power 0.8: there are too few {few}."
    for said in both_said(made):
        assert nothing in said
        assert not IMPOSSIBLE.search(said)
    assert "any difference may have gone unseen" in both_said(made)[1]


def test_intervals_are_cut_where_they_are_told_and_not_in_frames() -> None:
    made = redelve.compare_scores(two_groups(), higher_is_better=True)
    (contest,) = made.findings.tasks[0].contests
    assert contest.bounds is not None
    assert contest.bounds[0] < -1 < 1 < contest.bounds[1]
    assert contest.shown[2] == (-100.0, 100.0)
    for said in (*both_said(made), contest.words):
        assert "95 % interval −100 to 100 points" in said


def test_intervals_over_tasks_are_cut_too() -> None:
    rng = np.random.default_rng(3)
    several = pd.concat(
        [
            pd.DataFrame({"a": rng.integers(0, 2, 3), "b": rng.integers(0, 2, 3)}).assign(task=f"t{one}")
            for one in range(3)
        ]
    )
    made = redelve.compare_scores(several, higher_is_better=True)
    assert made.findings.across is not None
    (pair,) = made.findings.across.pairs
    assert pair.claim.bounds is not None
    assert max(map(abs, pair.claim.bounds)) > 1
    for said in (*both_said(made), pair.words):
        assert not IMPOSSIBLE.search(said)


def test_a_margin_that_was_given_is_not_asked_for() -> None:
    made = redelve.compare_scores(answers(), higher_is_better=True, margin=0.15)
    wanted = "Not for a difference that matters: large is equivalent to huge within the margin of 15 points."
    for said in both_said(made):
        assert wanted in said
        assert "Say which difference matters" not in said


def test_a_rival_that_is_not_equivalent_is_asked_about_though_another_is() -> None:
    frame = answers().assign(same=lambda one: one["huge"].where(one.index > 0, 1))
    said = " ".join(str(redelve.compare_scores(frame, higher_is_better=True, margin=0.05)).split())
    assert re.search(r"(huge|same) and large: as it stands, .* more cases would find one as large as", said)


def test_a_share_of_no_loss_is_asked_for_as_a_number() -> None:
    frame = pd.DataFrame({"a": [1] * 30, "b": [1] * 29 + [0]})
    said = " ".join(str(redelve.compare_scores(frame, higher_is_better=True, margin="5%")).split())
    assert "Give the margin as a number, margin=… (--margin), and redelve tells how many more cases" in said


@pytest.mark.parametrize("higher", [True, False])
def test_scores_with_limits_are_told_in_their_own_units(higher: bool) -> None:
    rng = np.random.default_rng(8)
    marks = pd.DataFrame(rng.integers(2, 10, (40, 2)), columns=["one", "two"])
    made = redelve.compare_scores(marks, higher_is_better=higher, limits=(0, 10), metric="rating")
    (contest,) = made.findings.tasks[0].contests
    for said in both_said(made):
        found = re.search(
            r"a difference of ([\d.]+) would be found with power 0\.8\. \d+ more cases would find", said
        )
        assert found is not None
        assert float(found[1]) == pytest.approx(contest.smallest_found, abs=0.05)
        assert f"{found[0]} 0.20;" in said
    plan = contest.answer_plan(0.2)
    assert plan is not None
    assert plan.questions_needed is not None
    assert f"{plan.questions_needed - plan.questions} more test cases would find 0.20" in contest.advice


def test_a_share_of_what_a_score_lacks_says_so() -> None:
    rng = np.random.default_rng(8)
    marks = pd.DataFrame(rng.integers(2, 10, (40, 2)), columns=["one", "two"])
    made = redelve.compare_scores(marks, higher_is_better=True, limits=(0, 10), metric="rating", margin="2%")
    (contest,) = made.findings.tasks[0].contests
    assert re.search(r"a difference of \d+ % of the loss \(10 − rating\) would be found", contest.advice)
