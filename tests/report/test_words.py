"""The summary in plain words answers the three questions and never claims too much."""

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import redelve
from redelve.findings import Findings, find
from redelve.findings.validity import Note
from redelve.model import Scheme
from redelve.model.prototask import DataDescription
from redelve.report.card_points import BY_AUTHOR
from redelve.report.formatting import listed
from redelve.report.sections import Panel, ReportContext, panels
from redelve.report.sections.card import SCHEMES, benchmark_card
from redelve.report.sections.one_prototask import pairs_table
from redelve.report.words import (
    HOW_SURE,
    MORE_DATA,
    WHICH,
    scope,
    serious,
    summarise_panel,
    uncertainty_sentence,
)
from redelve.run.results import Results

from .made import made_findings, made_results, method_facts, task_facts


def only_panel(findings: Findings) -> Panel:
    (panel,) = panels(findings)
    return panel


def said(panel: Panel, question: str) -> str:
    found = {reply.question: " ".join(reply.sentences) for reply in summarise_panel(panel).replies}
    return found[question]


def test_a_clear_winner_is_named_with_its_lead() -> None:
    panel = only_panel(find(made_results({"a": 0.2, "b": 2.0}, spread=0.05)))
    assert summarise_panel(panel).headline == "a is the best of these methods (95 % confidence)."
    which = said(panel, WHICH)
    assert "With 64 training cases a had the smallest expected squared error" in which
    assert "It loses less than b by" in which
    assert "standardised" in which
    assert "It had the smallest loss at every smaller training-set size as well." in which
    assert "a: cannot be told; at twice the data the loss may fall by" in said(panel, MORE_DATA)


def test_what_was_not_shown_is_not_claimed() -> None:
    panel = only_panel(find(made_results({"a": 0.30, "b": 0.30}, spread=1.0)))
    sure = said(panel, HOW_SURE)
    assert "could not be told apart" in sure
    assert "would be found with power 0.8" in sure
    assert "allowing for all" in sure
    for text in (sure, said(panel, WHICH), summarise_panel(panel).headline):
        assert "equal" not in text
        assert "same" not in text


def test_methods_without_results_are_not_passed_over() -> None:
    results = made_results({"a": 0.2, "b": 2.0}, spread=0.05)
    results = replace(results, methods={**results.methods, "c": method_facts("c")})
    panel = only_panel(find(results))
    assert "the 2 methods with results" in summarise_panel(panel).headline
    assert "c has no results here and could not be judged." in said(panel, HOW_SURE)


def test_one_size_cannot_tell_whether_more_data_would_help() -> None:
    panel = only_panel(find(made_results({"a": 0.2, "b": 2.0}, tasks=[task_facts("/data/proto/std.16", 16)])))
    assert "cannot be told from one training-set size" in said(panel, MORE_DATA)


def test_log_losses_change_by_amounts_and_not_by_per_cents() -> None:
    results = made_results({"a": 0.2, "b": 2.0}, spread=0.05)
    lower = [replace(record, losses={"L": record.losses["S"] - 3.0}) for record in results.records]
    panel = only_panel(find(replace(results, records=tuple(lower))))
    (curve, _) = panel.curves
    assert "the loss may fall by 0.0" in curve.would_more_data_help
    assert "%" not in curve.would_more_data_help.replace("95 % interval", "")


def test_every_design_has_its_words() -> None:
    assert set(SCHEMES) == set(get_args(Scheme))


@given(st.lists(st.text(min_size=1), max_size=6))
def test_lists_name_everybody(names: list[str]) -> None:
    assert all(name in listed(names) for name in names)


def test_the_most_serious_notes_come_first() -> None:
    notes = [Note("V1", "t", "x", severity) for severity in ("note", "caution", "invalid")]
    assert [note.severity for note in serious(notes)] == ["invalid"]
    assert serious(notes[:1]) == ()


@pytest.mark.parametrize(("cases", "known"), [(4, "scores of 20 cases"), (1, "scores of whole test sets")])
def test_the_card_of_brought_folds_says_what_is_known_and_no_more(cases: int, known: str) -> None:
    rng = np.random.default_rng(2)
    rows = [(m, f, f"{f}.{c}") for m in ("a", "b") for f in range(5) for c in range(cases)]
    table = pd.DataFrame(rows, columns=["model", "fold", "case"]).assign(accuracy=rng.random(len(rows)))
    made = redelve.compare_scores(table if cases > 1 else table.drop(columns="case"), ratio=1 / 4)
    card = benchmark_card(made.findings)
    (problem,), (error,) = card.points[0].entries, card.points[6].entries
    assert problem.text.startswith(f"{known}, computed elsewhere; data digest ")
    assert error.text == f"accuracy, mean over test {'cases' if cases > 1 else 'sets'}; not standardised"


def test_the_card_has_the_eight_points_of_proben1() -> None:
    card = benchmark_card(made_findings())
    assert [point.number for point in card.points] == list(range(1, 9))
    words = [
        "Problem",
        "sets",
        "Network",
        "Initialisation",
        "parameters",
        "Termination",
        "Error function",
        "runs",
    ]
    for point, word in zip(card.points, words, strict=True):
        assert word in point.title
        assert point.entries or point.missing


def test_the_card_tells_what_only_the_author_knows() -> None:
    findings = made_findings()
    before = benchmark_card(findings).points[0]
    assert BY_AUTHOR in before.status
    about = ReportContext(data=(DataDescription("data", source="doi 10.1000/1"),))
    after = benchmark_card(findings, about).points[0]
    assert after.missing == ()
    assert "doi 10.1000/1" in after.entries[0].text


def test_the_card_takes_settings_from_identities() -> None:
    results = made_results({"net": 0.3})
    settings = {"hidden_layers": [25], "init": "uniform", "estimator": {"max_iter": 100}, "rate": 0.1}
    results = replace(results, methods={"net": method_facts("net", **settings)})
    points = benchmark_card(find(results)).points
    assert "hidden_layers = [25]" in points[2].entries[0].text
    assert any("init = uniform" in entry.text for entry in points[3].entries)
    assert "rate = 0.1" in points[4].entries[0].text
    assert points[5].entries[0].text == "estimator.max_iter = 100"


def test_the_card_counts_runs_and_failures() -> None:
    results = made_results({"a": 0.3, "b": 0.4}, runs=2)
    first = replace(results.records[0], status="failed", losses={})
    found = find(replace(results, records=(first, *results.records[1:])))
    point = benchmark_card(found).points[7]
    assert "2 for each training set and method" in point.entries[0].text
    assert "1 failed: 1 without an answer" in point.entries[1].text


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_the_card_has_all_points_in_other_formats(form: str) -> None:
    text = getattr(benchmark_card(made_findings()), form)()
    assert text.count("Initialisation") == 1
    assert text.count(BY_AUTHOR) >= 4


@pytest.mark.parametrize(("mean", "word"), [(0.2, "less"), (6.0, "more")])
def test_one_method_is_compared_with_the_best_constant_answer_and_nobody_else(mean: float, word: str) -> None:
    panel = only_panel(find(made_results({"a": mean}, spread=0.05)))
    told = f"it lost {word} than the best constant answer"
    assert summarise_panel(panel).headline == f"a is the only method with results: {told}."
    which = said(panel, WHICH)
    assert "With 64 training cases a had an expected squared error of" in which
    assert told in which
    assert "smallest" not in which


def test_a_winner_that_loses_more_than_a_constant_is_not_praised_without_saying_so() -> None:
    panel = only_panel(find(made_results({"a": 6.0, "b": 9.0}, spread=0.05)))
    assert "it lost more than the best constant answer" in said(panel, WHICH)


def alike(**options: Any) -> Panel:
    tasks = [task_facts("/data/proto/std.16", 16, instances=8, cases=200)]
    return only_panel(find(made_results({"a": 0.3, "b": 0.301, "c": 0.9}, tasks=tasks), **options))


def test_methods_within_the_margin_are_called_equivalent() -> None:
    panel = alike(margin="20%")
    assert summarise_panel(panel).headline.endswith("is equivalent to it within 20 %.")
    sure = said(panel, HOW_SURE)
    assert "equivalent to b within the margin of 20 %" in sure or "equivalent to a within" in sure
    small = said(alike(margin=1e-6), HOW_SURE)
    assert "No method was shown to be equivalent to" in small
    assert "Whether they differ by more than the margin of 1e-06 is open." in small
    assert "margin" not in said(alike(), HOW_SURE)


def test_planned_comparisons_are_the_only_ones_claimed() -> None:
    panel = alike(planned=[("a", "c")])
    assert summarise_panel(panel).headline == "a loses less than c."
    sure = said(panel, HOW_SURE)
    assert sure.startswith("Only the planned comparison was tested; other differences are described, not")
    assert "b" not in sure.replace("but", "").split()
    assert "(95 % confidence)" not in summarise_panel(panel).headline


@pytest.mark.parametrize(
    ("shares", "start"),
    [
        ((0.43, 0.30, 0.27), "The largest part of the uncertainty is due to test cases (on average 43 % of"),
        ((0.51, 0.25, 0.24), "The uncertainty is mostly due to test cases (on average 51 % of"),
    ],
)
def test_mostly_is_more_than_half(
    shares: tuple[float, ...], start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_sources = dict(zip(("test cases", "training sets", "residual"), shares, strict=True))
    monkeypatch.setattr("redelve.report.words.variance_shares", lambda finding: of_sources)
    task = only_panel(find(made_results({"a": 0.2, "b": 2.0}))).largest
    assert uncertainty_sentence(task).startswith(start)


def test_both_numbers_of_jobs_have_their_thousands_told_apart() -> None:
    results = made_results({"a": 0.2, "b": 2.0}, runs=200)
    count = f"{len(results.records):,}"
    assert "," in count
    assert scope(replace(made_findings(), results=results)).endswith(f"{count} of {count} jobs done")


def tied(share: float = 0.5, higher: bool = True) -> Findings:
    """Scores of 60 cases: a and b are right on as many, though not on the same, c on `share` of them."""
    cases = np.arange(60)
    scores = {"a": cases % 5 != 1, "b": cases % 5 != 0, "c": cases < 60 * share}
    table = pd.DataFrame({"case": [f"q{one}" for one in cases]} | {n: s * 1.0 for n, s in scores.items()})
    if not higher:
        table = table.assign(**{name: 1 - table[name] for name in scores})
    return redelve.compare_scores(
        table, higher_is_better=higher, metric="accuracy" if higher else "gap"
    ).findings


def test_models_with_the_same_score_are_said_to_tie_and_none_of_them_has_the_highest() -> None:
    panel = only_panel(tied())
    said_of_all = summarise_panel(panel)
    assert said_of_all.headline == (
        "a and b had the same accuracy, the highest; neither could be ruled out as the best."
    )
    which = " ".join(said_of_all.replies[0].sentences)
    assert which.startswith("On 60 cases a and b had the same accuracy, the highest: for a 80.0 ± 5.2 %.")
    assert "a has a higher accuracy than c by" in which


def test_a_tie_is_named_where_nobody_was_shown_to_be_better() -> None:
    headline = summarise_panel(only_panel(tied(share=0.75))).headline
    assert headline.endswith("than all others; a and b had the same accuracy, the highest.")
    headline = summarise_panel(only_panel(tied(higher=False))).headline
    assert headline.startswith("a and b had the same gap, the lowest; ")


def test_a_tie_by_a_loss_is_named_at_every_size() -> None:
    results = made_results({"a": 0.3, "b": 0.3, "c": 3.0}, spread=0.05)
    of_a = {(one.job.task, one.job.instance): one.losses for one in results.records if one.job.method == "a"}
    records = [
        replace(
            one, losses={code: losses[::-1] for code, losses in of_a[one.job.task, one.job.instance].items()}
        )
        if one.job.method == "b"
        else one
        for one in results.records
    ]
    panel = only_panel(find(replace(results, records=tuple(records))))
    assert panel.largest.leaders == ("a", "b")
    which = said(panel, WHICH)
    assert "a and b had the same expected squared error, the smallest: for a 0." in which
    assert "a loses less than c by" in which
    assert "They had the same loss, the smallest, at every smaller training-set size as well." in which


def identical(step: int = 1) -> Results:
    """Three methods, of which the second loses what the first does; with step −1, on other cases."""
    results = made_results({"a": 0.3, "b": 0.3, "c": 3.0}, tasks=[task_facts("/data/proto/std.16", 16)])
    of_a = {one.job.instance: one.losses for one in results.records if one.job.method == "a"}
    records = [
        replace(one, losses={code: losses[::step] for code, losses in of_a[one.job.instance].items()})
        if one.job.method == "b"
        else one
        for one in results.records
    ]
    return replace(results, records=tuple(records))


def test_methods_with_the_same_loss_on_every_case_are_not_said_to_lack_equivalence() -> None:
    panel = only_panel(find(identical(), margin="2%"))
    sure = said(panel, HOW_SURE)
    assert "No method was shown to be equivalent" not in sure
    assert "b has the same losses as a on every case, so there is no difference to test against" in sure
    assert "their losses are the same on every case, and no test of a difference is defined." in sure
    contest = panel.largest.contest("a", "b")
    assert not contest.is_equivalent
    assert contest.words.startswith("a and b have the same losses on every case")
    (row,) = [row for row in pairs_table(panel).rows if (row[1].text, row[2].text) == ("a", "b")]
    assert row[-1].text == "same losses"


def test_methods_with_the_same_means_alone_are_not_said_to_lose_the_same_on_every_case() -> None:
    panel = only_panel(find(identical(-1), margin="2%"))
    assert "same losses as" not in said(panel, HOW_SURE)
    assert "on every case" not in said(panel, HOW_SURE)


def test_a_tie_at_one_size_is_not_told_of_another() -> None:
    results = made_results({"a": 0.3, "b": 0.6}, spread=0.05)
    first = {(one.job.task, one.job.instance): one.losses for one in results.records if one.job.method == "a"}
    records = [
        replace(one, losses=first[one.job.task, one.job.instance]) if one.job.task.endswith("16") else one
        for one in results.records
    ]
    which = said(only_panel(find(replace(results, records=tuple(records)))), WHICH)
    assert "the smallest loss was that of a and b (the same) at 16 and a at 32." in which
