"""Three sentences for people who do not do statistics: true, short, and without p-values or powers of ten."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import redelve
from redelve.answers.losses import parse_loss
from redelve.assessment import Assessment
from redelve.cli.main import main
from redelve.findings import Findings, find
from redelve.report.first_screen import answer_table, number, plain_answer, unit_of
from redelve.report.many_data_sets import datasets_table
from redelve.report.page import all_tables, render_html
from redelve.report.sections import panels
from redelve.report.sections.card import benchmark_card
from redelve.report.sections.overview import left_out, overview_table, summarise
from tests.report.made import made_results, many_tasks, method_facts, task_facts

FORBIDDEN = re.compile(r"\bp [=<]|×10|e[-+]\d\d|standardis|SE\b|prototask")


def told(findings: Findings) -> tuple[str, ...]:
    sentences = plain_answer(findings).sentences
    assert len(sentences) <= 3
    assert FORBIDDEN.search(" ".join(sentences)) is None
    return sentences


def large(factor: float) -> Findings:
    """Losses of house prices, in the millions."""
    results = made_results({"a": 0.2, "b": 2.0}, spread=0.05)
    return find(
        replace(
            results,
            records=tuple(replace(one, losses={"S": factor * one.losses["S"]}) for one in results.records),
        )
    )


def test_a_clear_winner_is_named_with_its_error_in_the_targets_units() -> None:
    found = large(1e8)
    which, sure, more = told(found)
    (panel,) = panels(found)
    loss, other = (panel.largest.method(name).mean or 0.0 for name in "ab")
    assert f"a is the best of these 2 methods, with a typical error of {number(np.sqrt(loss))}" in which
    assert f": {100 * (1 - np.sqrt(loss / other)):.0f} % less than the next, b" in which
    assert sure == "That is 95 % sure: every other method was shown to be worse."
    assert more.startswith("Whether more data would help cannot be told")


def test_what_was_not_shown_is_left_open_and_what_could_not_be_seen_is_told() -> None:
    which, sure, _ = told(find(made_results({"a": 0.30, "b": 0.30, "c": 0.31}, spread=1.0)))
    assert "any other may be the best as well" in which
    assert sure.startswith("None of the 3 methods could be ruled out as the best, and a difference below")
    assert sure.endswith("between the first two may have gone unseen.")


@pytest.mark.parametrize(
    ("halving", "start"), [(1.0, "More data would help"), (0.0, "More data would hardly")]
)
def test_more_data_help_where_the_curve_falls(halving: float, start: str) -> None:
    tasks = [task_facts(f"/data/proto/std.{size}", size, instances=8, cases=400) for size in (64, 128, 256)]
    results = made_results({"a": 1.0, "b": 3.0}, tasks=tasks, spread=0.01)
    sizes = {task.address: task.training_set_size for task in tasks}
    records = [
        replace(one, losses={"S": one.losses["S"] * (sizes[one.job.task] / 16) ** (0.3 - 0.7 * halving)})
        for one in results.records
    ]
    assert told(find(replace(results, records=tuple(records))))[2].startswith(start)


def test_one_size_and_one_method_have_their_words() -> None:
    which, more = told(find(made_results({"a": 0.3}, tasks=[task_facts("/data/proto/std.16", 16)])))
    assert which.startswith("a is the only method with results")
    assert more.endswith("only one training-set size was tried.")


def test_planned_comparisons_are_told_as_such() -> None:
    results = made_results({"a": 0.3, "b": 0.9, "c": 0.3}, spread=0.05)
    which, sure, _ = told(find(results, planned=[("a", "b")]))
    assert "may be the best" not in which
    assert sure == "It is 95 % sure that a is better than b."


@pytest.mark.parametrize(
    ("code", "value", "words"),
    [
        ("accuracy", 0.0881, "accuracy 91.2 %"),
        ("Z", 0.0881, "8.81 % errors"),
        ("S", 35_000_000.0, "a typical error of 5,920"),
        ("A", 12.0, "of 12.0"),
    ],
)
def test_losses_are_told_in_the_readers_units(code: str, value: float, words: str) -> None:
    assert unit_of(parse_loss(code)).words(value).endswith(words)


def test_what_may_have_gone_unseen_is_told_in_the_same_units() -> None:
    found = find(made_results({"a": 0.30, "b": 0.30, "c": 0.31}, spread=0.3))
    task = found.tasks[-1]
    _, second, _ = task.by_loss
    assert task.leader is not None
    smallest = task.contest(task.leader, second.method).smallest_found
    assert smallest is not None
    loss = task.by_loss[0].mean or 0.0
    unseen = 100 * (np.sqrt((loss + smallest) / loss) - 1)
    assert (
        f"a difference below about {unseen:.{1 if unseen < 9.95 else 0}f} % of the typical error"
        in told(found)[1]
    )


def two_classes(noise: float) -> Findings:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(240, 3)), columns=list("abc"))
    table["kind"] = np.where(table["a"] + noise * rng.normal(size=240) > 0, "yes", "no")
    return redelve.assess(["constant", "knn-cv-1"], redelve.from_frame(table, "kind")).findings


@pytest.mark.parametrize(
    ("target", "code", "plain", "in_text"),
    [
        ("price [€]", "rmse", r"RMSE [0-9.]+ €", r"the lowest RMSE: [0-9.]+ ± [0-9.]+ €\. The best constant"),
        ("price [€]", "S", r"a typical error of [0-9.]+ €", "squared error: "),
        ("price", "mae", r"a mean absolute error of [0-9.]+ in price", r"mean absolute error: [0-9.]+ ±"),
        ("{price}", "rmse", r"RMSE [0-9.]+ in \{price\}", r"the lowest RMSE: [0-9.]+ ± [0-9.]+\. The"),
        ("price [€]", "r2", r"R² [0-9.]+[:;]", r"the highest R²: [0-9.]+ ± [0-9.]+\. "),
    ],
)
def test_errors_in_the_targets_unit_say_so(target: str, code: str, plain: str, in_text: str) -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"size": rng.normal(size=120)})
    table[target] = 5 * table["size"] + rng.normal(size=120)
    found = redelve.assess(["constant", "lin-1"], table, target, design="cv 5", judge_by=code)
    assert re.search(plain, plain_answer(found.findings).which)
    assert re.search(in_text, " ".join(str(found).split()))


def test_the_next_method_is_told_beside_per_cents() -> None:
    which, *_ = told(two_classes(0.2))
    assert re.search(r"with [0-9.]+ % errors: the next, constant, has [0-9.]+ % errors", which)


def test_differences_of_shares_of_errors_are_percentage_points() -> None:
    found = two_classes(9.0)
    (contest,) = found.tasks[-1].contests
    smallest = number(100 * (contest.smallest_found or 0))
    assert f"a difference below about {smallest} percentage points may have gone unseen" in told(found)[1]
    assert "% of the loss would be found" in contest.advice


def test_a_roots_standard_error_is_that_of_the_delta_method() -> None:
    rng = np.random.default_rng(1)
    draws = np.sqrt(rng.normal(4.0, 0.1, 200_000))
    value, error = unit_of(parse_loss("S")).shown(4.0, 0.1)
    assert value == 2.0
    assert error == pytest.approx(draws.std(), rel=0.01)


def test_tables_go_from_the_smallest_loss_to_the_largest() -> None:
    found = find(made_results({"bad": 1.5, "good": 0.2, "fair": 0.8}, spread=0.05))
    (panel,) = panels(found)
    assert [row[0].text for row in answer_table(found, panel).rows] == ["good", "fair", "bad"]
    names = {table.name: [row[1].text for row in table.rows[:3]] for table in all_tables(found)}
    for start in ("losses", "variance", "costs"):
        assert names[f"{start}-data-proto"] == ["good", "fair", "bad"], start
    many = find(made_results({"bad": 1.5, "good": 0.2, "fair": 0.8}, tasks=many_tasks()))
    columns = [column.title for column in datasets_table(many, panels(many)).columns]
    assert columns[2:] == ["good", "fair", "bad"]


def test_over_several_data_sets_each_counts_once_and_the_answer_is_over_all() -> None:
    tasks = [*many_tasks(), *(task_facts(f"/a/proto/std.{size}", size) for size in (4, 8))]
    found = find(made_results({"a": 0.2, "b": 0.4, "c": 0.9}, tasks=tasks, spread=0.05))
    which, sure, more = told(found)
    assert which.startswith("Over 4 data sets a did best on average with ")
    assert which.endswith("it may be the best on 4 of 4.")
    assert sure == "It is 95 % sure that a is the best on average over data sets like these."
    assert "data sets" in more
    table = datasets_table(found, panels(found))
    largest = [panel.largest.method("a").standardised or 0.0 for panel in panels(found)]
    assert table.rows[0][2].numbers[0] == pytest.approx(np.mean(largest))
    assert [cell.mark for cell in table.rows[1][2:]] == ["best", "", ""]


def judged_by_two_losses(count: int) -> Findings:
    """Data sets judged by squared errors, of which the first has absolute ones alone."""
    made = made_results({"a": 0.2, "b": 0.4}, tasks=many_tasks()[: 2 * count], spread=0.05)
    rest = [
        replace(one, losses={"A": one.losses["A"]}) if one.job.task.startswith("/a/") else one
        for one in made.records
    ]
    facts = {
        address: replace(one, baselines={"A": 1.0}) if address.startswith("/a/") else one
        for address, one in made.tasks.items()
    }
    return find(replace(made, records=tuple(rest), tasks=facts))


def test_a_data_set_judged_by_another_loss_is_named_and_not_in_the_average() -> None:
    found = judged_by_two_losses(3)
    which, sure, _ = told(found)
    assert which.startswith("Over 2 of the 3 data sets (/b/proto and /c/proto) a did best on average with ")
    assert which.endswith(
        "; of all 3 data sets it may be the best on 3. /a/proto is not in the average: judged by another "
        "loss (absolute error, not squared error)."
    )
    assert sure.startswith("2 data sets are too few")
    caption = datasets_table(found, panels(found)).caption
    assert "Methods by their average over 2 of the 3 data sets (/b/proto and /c/proto), each of" in caption
    assert "/a/proto is not in the average: judged by another loss" in caption
    assert found.across is not None
    assert (
        "these tasks are left out because they are judged by another loss: /a/proto/std.16, /a/proto/std.32"
        in found.across.caveats
    )
    assert "/a/proto is not in the average" in render_html(found)


def test_without_an_average_methods_are_in_the_order_of_their_places() -> None:
    found = judged_by_two_losses(2)
    assert found.across is None
    caption = datasets_table(found, panels(found)).caption
    assert caption.endswith("Methods by their mean place, since there is no average.")


def test_the_leader_is_one_of_the_many_that_are_not_told_apart() -> None:
    losses = {**dict.fromkeys("abcdef", 0.2), "z": 2.0}
    which, sure, _ = told(find(made_results(losses, tasks=many_tasks(), spread=0.3)))
    leader = which.split()[4]
    assert sure == (
        "It is 95 % sure that z is not the best on average over data sets like these; "
        f"6 others, {leader} among them, could not be told apart."
    )


def test_two_data_sets_are_too_few_for_others() -> None:
    tasks = [task_facts(f"/{name}/proto/std.16", 16) for name in "ab"]
    _, sure, _ = told(find(made_results({"a": 0.2, "b": 0.9}, tasks=tasks, spread=0.05)))
    assert sure.startswith("2 data sets are too few")


def test_a_terminal_shows_twenty_data_sets_in_sixty_lines_with_caveats_that_name_them() -> None:
    tasks = [
        task_facts(f"/set{number}/y/std.{size}", size, instances=2, notes=(f"{number} twins",))
        for number in range(20)
        for size in (16, 32)
    ]
    text = summarise(find(made_results({f"m{k}": 0.3 + 0.1 * k for k in range(5)}, tasks=tasks)))
    lines = text.splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 102
    assert all(f"/set{number}/y " in text for number in range(20))
    assert "/set0/y: 0 twins (and 19 more: see the report)" in text


def test_many_methods_and_data_sets_are_cut_and_the_rest_is_counted() -> None:
    tasks = [task_facts(f"/set{number}/y/std.16", 16, instances=2, cases=5) for number in range(32)]
    text = summarise(find(made_results({f"method {k}": 0.3 + 0.1 * k for k in range(11)}, tasks=tasks)))
    assert len(text.splitlines()) <= 60
    assert re.search(r"The report has 3 more data sets and \d more methods\.", text)


def test_what_was_left_out_of_the_data_is_on_the_page() -> None:
    text = 'column "day" is ignored: these are dates'
    one = find(made_results({"a": 0.3}, tasks=[task_facts("/d/y/std.16", 16, left_out=(text,))]))
    assert left_out(one) == (text,)
    assert text in render_html(one).replace("&#34;", '"')
    two = [task_facts("/d/y/std.16", 16, left_out=(text,)), task_facts("/e/y/std.16", 16)]
    assert left_out(find(made_results({"a": 0.3}, tasks=two))) == (f"/d/y: {text}",)


def test_rows_without_a_target_are_told_in_the_text_and_columns_left_out_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = np.random.default_rng(1).normal(size=60)
    y = np.where(np.arange(60) < 7, np.nan, 2 * x)
    frame = pd.DataFrame({"id": np.random.default_rng(2).permutation(60) + 500, "x": x, "y": y})
    told = '7 of 60 rows lack the target "y" and are left out.'
    found = redelve.assess(["constant"], frame, target="y", design="cv 3")
    assert str(found).splitlines()[:2] == ["1 method, 1 task, 3 of 3 jobs done", told]
    assert any('"id"' in text for text in left_out(found.findings))
    assert '"id"' not in str(found)
    frame.to_csv(tmp_path / "some.csv", index=False)
    words = [str(tmp_path / "some.csv"), "-t", "y", "-m", "constant", "--cv", "3", "-q"]
    assert main(["assess", *words, "-o", str(tmp_path / "out")]) == 0
    assert told in capsys.readouterr().out


def test_what_was_left_out_is_kept_in_the_archive(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": range(60), "x": np.arange(60) % 7, "y": np.arange(60) % 7 + 0.5})
    task = redelve.from_frame(frame, "y", name="ids")
    assert task.left_out
    made = redelve.assess(["constant"], task, losses=["S"], archive=tmp_path / "archive")
    kept = Assessment(redelve.Archive.open(tmp_path / "archive").load())
    assert left_out(kept.findings) == left_out(made.findings) == task.left_out


def test_trees_are_not_taken_for_networks_and_long_settings_are_folded() -> None:
    results = made_results({"tree": 0.3})
    settings = {
        "max_leaf_nodes": 31,
        "colsample_bynode": None,
        "steps": {f"step{k}": "x" * 30 for k in range(9)},
    }
    found = find(replace(results, methods={"tree": method_facts("tree", **settings)}))
    assert benchmark_card(found).points[2].entries == ()
    page = render_html(found)
    assert "<summary>kind = test, max_leaf_nodes = 31" in page
    hidden = find(replace(results, methods={"tree": method_facts("tree", n_nodes=5)}))
    assert benchmark_card(hidden).points[2].entries[0].text == "n_nodes = 5"


def test_text_for_a_paper_shows_comparisons_with_the_leader_and_folds_the_others() -> None:
    page = render_html(find(made_results({"a": 0.2, "b": 0.4, "c": 0.6, "d": 0.9})))
    paper = page[page.index('<section id="paper"') : page.index('<section id="methods"')]
    first, _, rest = paper.partition("more comparisons on /data/proto/std.64</summary>")
    assert first.count("loses less than") == first.count("a loses less than") == 3
    assert rest.partition("</details>")[0].count("loses less than") == 3
    assert not re.search(r"e-\d\d", paper)


def tied_tasks(count: int, lacking: str = "") -> Findings:
    """Scores on several tasks: a and b are right on as many cases, c on fewer; a model may lack a task."""
    cases = np.arange(60)
    scores = {"a": cases % 5 != 1, "b": cases % 5 != 0, "c": cases % 4 != 0}
    rows = [
        (f"t{task}", name, f"q{case}", float(scores[name][case]))
        for task in range(count)
        for name in scores
        for case in cases
        if (name, task) != (lacking, 0)
    ]
    table = pd.DataFrame(rows, columns=["task", "model", "case", "accuracy"])
    return redelve.compare_scores(table, higher_is_better=True).findings


def test_models_that_tie_are_named_together() -> None:
    which, *_ = told(tied_tasks(1))
    assert which == "a and b tied for best, with accuracy 80.0 %; c may be the best as well."
    which, *_ = told(tied_tasks(4))
    assert which == (
        "Over 4 tasks a and b tied for best on average, with accuracy 80.0 %; of 4, a may be the best on 4 "
        "and b on 4."
    )


def test_ties_count_for_everybody_who_ties_where_nothing_is_averaged() -> None:
    which, *_ = told(tied_tasks(2, lacking="c"))
    assert which == "Of 2 tasks, the best scores were those of a on 2 and b on 2; those that tie count each."


def test_large_scores_that_hardly_differ_do_not_tie() -> None:
    """Nanoseconds and bytes: a model that was shown to be worse never had "the same score"."""
    rng = np.random.default_rng(1)
    slow, fast = 1e12 + rng.random(30) + 0.5, 1e12 + rng.random(30)
    table = pd.DataFrame({"slow": slow, "fast": fast})
    found = redelve.compare_scores(table, higher_is_better=False).findings
    (task,) = found.tasks
    assert task.leaders == ("fast",)
    text = summarise(found)
    assert "fast is the best" in text
    assert "the same" not in text


def test_the_overview_names_everybody_who_ties() -> None:
    table = overview_table(panels(tied_tasks(2)))
    assert [row[2].text for row in table.rows] == ["a and b", "a and b"]
    assert table.caption.endswith("the standard error is that of the first.")
