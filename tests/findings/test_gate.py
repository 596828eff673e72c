"""The gate: three verdicts and exit codes, what is paired with what, and rates through the command itself."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from benchmarks.calibration.gates import Builds, commanded, exit_shares
from scipy import stats as scipy_stats

from redelve.cli.evaluations import GATE, GateOptions
from redelve.cli.main import main
from redelve.cli.options import parse
from redelve.errors import RedelveError, SpecError
from redelve.findings.gate import gate
from redelve.report.gate_summaries import gate_junit, gate_markdown
from redelve.stats.bounded_tests import mid_p, not_worse_p_value


def scores(right: Any, **more: Any) -> pd.DataFrame:
    return pd.DataFrame({"case": [f"q{i}" for i in range(len(right))], "correct": right, **more})


def answers(wins: int, losses: int, both: int, neither: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """New and old right and wrong answers with so many of each kind."""
    new = [1] * wins + [0] * losses + [1] * both + [0] * neither
    old = [0] * wins + [1] * losses + [1] * both + [0] * neither
    return scores(new), scores(old)


def test_three_verdicts_and_their_codes() -> None:
    same = gate(*answers(15, 15, 970), margin=0.05)
    assert (same.answer, same.exit_code) == ("not worse", 0)
    worse = gate(*answers(5, 40, 155), margin=0.05)
    assert (worse.answer, worse.exit_code) == ("worse", 1)
    unknown = gate(*answers(15, 17, 168), margin=0.05)
    assert (unknown.answer, unknown.exit_code) == ("not enough evidence", 2)


def test_worse_but_by_less_than_the_margin_passes() -> None:
    found = gate(*answers(0, 30, 4970), margin=0.05)
    assert found.p_worse < 0.001
    assert found.exit_code == 0


def test_it_is_tangos_and_mcnemars_test() -> None:
    found = gate(*answers(15, 17, 168), margin=0.05)
    d = np.repeat([1.0, -1.0, 0.0], [15, 17, 168])
    assert found.p_not_worse == pytest.approx(float(not_worse_p_value(d, 0.05)))
    assert found.p_worse == pytest.approx(float(mid_p(np.array(17.0), np.array(15.0))))
    assert found.difference == pytest.approx(-0.01)
    assert found.scores == pytest.approx((183 / 200, 185 / 200))
    assert found.needed == 405  # (1.645 + 0.842)²·(33/202)/0.05² = 404.0, rounded up


def test_the_interval_ends_where_the_verdict_changes() -> None:
    new, old = answers(15, 17, 168)
    low, high = gate(new, old, margin=0.05).interval
    assert gate(new, old, margin=-low + 1e-6).answer == "not worse"
    assert gate(new, old, margin=-low - 1e-6).answer == "not enough evidence"
    turned = gate(old, new, margin=0.05).interval
    assert (-turned[1], -turned[0]) == pytest.approx((low, high))


def test_cases_are_paired_by_name_not_by_place() -> None:
    new, old = answers(15, 17, 168)
    mixed = gate(new.sample(frac=1, random_state=1), old.sample(frac=1, random_state=2), margin=0.05)
    assert mixed.p_not_worse == pytest.approx(gate(new, old, margin=0.05).p_not_worse)


def test_answers_without_a_score_are_told_or_count_as_the_worst() -> None:
    runs = [scores([1] * 20, run=1), scores([float("nan")] * 10 + [1] * 10, run=2)]
    new, old = pd.concat(runs), pd.concat([scores([1] * 20, run=run) for run in (1, 2)])
    flattered = gate(new, old, margin=0.2)
    assert flattered.scores == (1, 1)
    assert "Note: answers without a score do not count: new 10 of 40" in str(flattered)
    assert "different numbers of answers to a case (new 1.5 and old 2 on average)" in str(flattered)
    counted = gate(new, old, margin=0.2, missing="worst")
    assert counted.scores == (0.75, 1)
    assert counted.answer == "worse"
    assert "Note: answers without a score count as the worst score: new 10 of 40." in str(counted)


@pytest.mark.parametrize(
    ("what", "new", "old", "told"),
    [
        ("weight", [1, 2, 1, 1], [1, 5, 1, 1], "2.0 in the new scores and 5.0 in the old ones"),
        ("weight", [1, 1, 1, 1], [1, 5, 1, 1], "1.0 in the new scores and 5.0 in the old ones"),
        ("group", list("xxyy"), list("xyyy"), "'x' in the new scores and 'y' in the old ones"),
        ("group", list("abcd"), list("ayyy"), "'b' in the new scores and 'y' in the old ones"),
    ],
)
def test_files_that_contradict_each_other_on_a_case_are_refused(
    what: str, new: list[Any], old: list[Any], told: str
) -> None:
    first, second = (scores([1, 0, 1, 0], **{what: values}) for values in (new, old))
    with pytest.raises(SpecError, match=f'case "q1" has two values of {what}, {told}: a case has one'):
        gate(first, second, margin=0.5)
    plain = gate(first, second.drop(columns=what), margin=0.5)
    assert plain.p_not_worse == gate(second.drop(columns=what), first, margin=0.5).p_not_worse


@pytest.mark.parametrize("more", [0.0, 0.5, 0.1, -0.7])
@pytest.mark.parametrize("columns", [{}, {"group": list("xxyyy")}, {"weight": [1, 2, 3, 1, 1]}])
def test_without_limits_differences_that_never_vary_are_no_evidence(
    more: float, columns: dict[str, Any]
) -> None:
    """There is no t-test; what is left by rounding (5.3 + 0.1 − 5.3) is no variance either."""
    times = [3.1, 5.3, 0.2, 8.7, 1e3 / 3]
    old = pd.DataFrame({"case": range(5), "seconds": times, **columns})
    new = old.assign(seconds=old["seconds"] + more)
    found = gate(new, old, margin=0.01, limits="none", higher_is_better=False)
    assert (found.answer, found.exit_code) == ("not enough evidence", 2)
    assert "differences are the same, so nothing tells how much they vary" in str(found)
    assert "interval" not in str(found)
    assert "| unknown |" in gate_markdown(found)
    assert 'skipped="1"' in gate_junit(found)
    vary = gate(
        new.assign(seconds=new["seconds"] + [0, 0, 0, 0, 1e-6]),
        old,
        margin=1,
        limits="none",
        higher_is_better=False,
    )
    assert not vary.is_constant


def test_cases_of_several_tasks_are_said_to_be_taken_together() -> None:
    new, old = answers(15, 15, 970)
    tasks = {"task": ["law", "math"] * 500}
    told = "Note: cases of 2 tasks are taken together: this is about new cases of these tasks."
    assert str(gate(new.assign(**tasks), old.assign(**tasks), margin=0.05)).count(told) == 1
    assert "tasks" not in str(gate(new.assign(task="law"), old.assign(task="law"), margin=0.05))


def test_cases_that_one_lacks_are_left_out_or_count_as_the_worst() -> None:
    new, old = answers(15, 15, 970)
    few = new.iloc[:-30]
    left_out = gate(few, old, margin=0.05)
    assert left_out.cases == 970
    assert "of 1,000 cases the new model lacks 30, which are left out" in left_out.notes
    worst = gate(few, old, margin=0.02, missing="worst")
    assert worst.cases == 1000
    assert worst.difference == pytest.approx(-0.03)
    assert worst.exit_code == 1
    empty = gate(new.assign(correct=new["correct"].where(new.index < 970)), old, margin=0.05)
    assert empty.p_not_worse == left_out.p_not_worse


def test_repeated_answers_are_averaged_and_judged_as_one_case() -> None:
    rng = np.random.default_rng(1)
    chance = rng.random(300)
    runs = [scores((rng.random(300) < chance).astype(float)).assign(run=run) for run in range(4)]
    new, old = pd.concat(runs[:2]), pd.concat(runs[2:])
    found = gate(new, old, margin=0.1)
    means = [part.groupby("case", sort=False)["correct"].mean().to_numpy() for part in (new, old)]
    assert found.cases == 300
    assert found.p_not_worse == pytest.approx(float(not_worse_p_value(means[0] - means[1], 0.1)))


def test_groups_count_as_one() -> None:
    """Forty groups of five cases that always agree are forty cases, whichever table tells the groups."""
    new, old = answers(6, 4, 30)
    groups = np.repeat(np.arange(40), 5)
    big_new, big_old = (scores(np.repeat(one["correct"].to_numpy(), 5)) for one in (new, old))
    found = gate(big_new.assign(group=groups), big_old, margin=0.2)
    assert (found.cases, found.units) == (200, 40)
    assert found.p_worse == pytest.approx(gate(new, old, margin=0.2).p_worse, abs=1e-9)
    assert found.p_not_worse == gate(big_new, big_old.assign(group=groups), margin=0.2).p_not_worse
    assert found.p_not_worse > gate(big_new, big_old, margin=0.2).p_not_worse
    assert found.needed == pytest.approx(5 * gate(new, old, margin=0.2).needed, abs=5)


def test_few_groups_are_told_where_they_leave_it_open() -> None:
    """Identical answers in 30 groups are as little evidence as 30 of them, but for t instead of z."""
    old = scores([1, 1, 1, 0, 1] * 60, group=np.repeat(np.arange(30), 10))
    few = gate(old.copy(), old, margin=0.03)
    assert few.answer == "not enough evidence"
    assert "fresh cases in 220 groups would settle it" in few.reason
    assert few.notes[-1].startswith("30 groups are few: each counts as one")
    alone = gate(old.head(30).drop(columns="group"), old.head(30).drop(columns="group"), margin=0.03)
    assert few.interval == pytest.approx(alone.interval, abs=0.006)
    assert "groups" not in str(alone)
    assert gate(old.copy(), old, margin=0.2).answer == "not worse"
    assert "groups are few" not in str(gate(old.copy(), old, margin=0.2))
    many = old.assign(group=np.repeat(np.arange(60), 5))
    assert "groups are few" not in str(gate(many.copy(), many, margin=0.01))


def test_weights_count() -> None:
    new, old = answers(10, 0, 50)
    heavy = new.assign(weight=[5.0] * 10 + [1.0] * 50)
    assert gate(heavy, old, margin=0.1).difference == pytest.approx(50 / 100)
    assert gate(new.assign(weight=2.0), old, margin=0.1).p_not_worse == gate(new, old, margin=0.1).p_not_worse


def test_losses_and_other_limits() -> None:
    new, old = answers(15, 17, 168)
    wanted = gate(new, old, margin=0.05)
    errors = [one.assign(error=100 * (1 - one["correct"])).drop(columns="correct") for one in (new, old)]
    found = gate(*errors, margin=5, limits=(0, 100))
    assert found.p_not_worse == pytest.approx(wanted.p_not_worse)
    assert found.difference == pytest.approx(-1.0)
    assert found.scores == pytest.approx((8.5, 7.5))
    assert found.interval == pytest.approx([100 * end for end in wanted.interval])


def test_scores_without_limits_are_judged_by_a_t_test() -> None:
    rng = np.random.default_rng(2)
    old = pd.DataFrame({"case": range(80), "seconds": rng.exponential(2.0, 80)})
    new = old.assign(seconds=old["seconds"] + rng.normal(0.05, 0.3, 80))
    found = gate(new, old, margin=0.2, limits="none")
    d = (old["seconds"] - new["seconds"]).to_numpy()
    assert found.p_not_worse == pytest.approx(scipy_stats.ttest_1samp(d, -0.2, alternative="greater").pvalue)
    assert found.p_worse == pytest.approx(scipy_stats.ttest_1samp(d, 0.0, alternative="less").pvalue)
    assert found.scores[0] == pytest.approx(new["seconds"].mean())
    assert "t-test" in found.notes[-1]
    assert found.interval[0] == pytest.approx(d.mean() - scipy_stats.t.ppf(0.95, 79) * scipy_stats.sem(d))


def test_planned_looks_share_the_level() -> None:
    new, old = answers(13, 14, 223)
    one, four = gate(new, old, margin=0.05), gate(new, old, margin=0.05, looks=4)
    assert one.p_not_worse == four.p_not_worse
    assert one.p_not_worse < 0.05
    assert (one.answer, four.answer) == (
        "not worse",
        "not worse" if one.p_not_worse < 0.0125 else "not enough evidence",
    )
    assert four.needed > one.needed
    assert four.interval[0] < one.interval[0]


def test_two_models_of_one_table() -> None:
    new, old = answers(15, 15, 970)
    wide = new.rename(columns={"correct": "mine"}).assign(main=old["correct"])
    found = gate(wide, margin=0.05, model="mine", than_model="main", higher_is_better=True)
    assert found.p_not_worse == gate(new, old, margin=0.05).p_not_worse
    with pytest.raises(SpecError, match=r"2 models \(mine, main\): say which one, model="):
        gate(wide, margin=0.05, higher_is_better=True)
    with pytest.raises(SpecError, match="compared with itself"):
        gate(wide, margin=0.05, model="main", than_model="main", higher_is_better=True)


def test_a_wide_table_is_told_with_options_that_the_gate_has() -> None:
    new, old = answers(15, 15, 970)
    wide = pd.DataFrame({"case": new["case"], "a": new["correct"], "b": old["correct"]})
    found = gate(wide, model="a", than_model="b", margin=0.05, higher_is_better=True)
    (note,) = [one for one in found.notes if "wide table" in one]
    assert "on the command line --model and --than-model) or remove it" in note
    assert "slices" not in note


def test_models_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    new, old = (one.assign(model="gpt") for one in answers(15, 15, 970))
    for name, one in (("new", new), ("main", old)):
        one.to_csv(tmp_path / f"{name}.csv", index=False)
    found = gate(tmp_path / "new.csv", tmp_path / "main.csv", margin=0.05)
    assert (found.new, found.than) == ("gpt (new.csv)", "gpt (main.csv)")
    assert (gate(new, old, margin=0.05).new, gate(new, old, margin=0.05).than) == ("new gpt", "old gpt")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"margin": 0.0}, "a margin is a loss that would matter"),
        ({"margin": "1%"}, "a number in units of the score"),
        ({"new": scores([np.nan, np.nan])}, "has no scores: all 2 are missing"),
        ({"margin": 1.5}, "as much as the score can vary"),
        ({"level": 0.7}, "a level is between 0 and 0.5"),
        ({"looks": 0}, "once or more often"),
        ({"missing": "zero"}, '"common" or "worst"'),
        ({"limits": "none", "missing": "worst"}, "there is no worst score"),
        ({"model": "gtp"}, 'has no model "gtp"'),
        (
            {"than": scores([1, 0]).assign(case=["x", "y"])},
            'the new scores and the old ones share no case: cases such as "q0" and "x" must',
        ),
        ({"than": scores([1, 0]).rename(columns={"correct": "error"})}, "different limits or directions"),
        ({"new": scores([1])}, "only one case"),
        ({"new": scores([0.5, 3.0])}, 'scores go from 0.5 to 3.*or limits="none"'),
        (
            {"new": scores([0, 1]).rename(columns={"correct": "blob"})},
            "which column|nobody says whether|no column",
        ),
        ({"columns": {"score": "corect"}}, 'no column "corect"'),
        ({"new": scores([0, 1])[["correct"]]}, 'neither a column "case" nor "fold".*; it has correct$'),
    ],
)
def test_what_cannot_be_judged_is_refused(changes: dict[str, Any], words: str) -> None:
    new, old = answers(3, 3, 30)
    wanted: dict[str, Any] = {"new": new, "than": old, "margin": 0.1, **changes}
    with pytest.raises(RedelveError, match=words):
        gate(**wanted)


def test_a_misspelt_option_is_answered_with_the_one_meant() -> None:
    with pytest.raises(TypeError, match="limits"):
        gate(*answers(3, 3, 30), margin=0.1, limit=(0, 1))  # type: ignore[call-arg]


def test_words_say_verdict_reason_and_numbers() -> None:
    words = str(gate(*answers(15, 17, 168), margin=0.05))
    assert words.startswith(
        "not enough evidence: neither a loss of 0.05 nor an equal score is ruled out; about 400 fresh"
    )
    assert "new scores 0.915, old 0.925 on 200 cases: 0.01 worse (90 % interval 0.0" in words
    assert "a loss of 0.05 or more is ruled out (p < 0.0001)" in str(gate(*answers(15, 15, 970), margin=0.05))


def test_junit_and_markdown_summaries() -> None:
    for kind, counts in (((15, 15, 970), "00"), ((5, 40, 155), "10"), ((15, 17, 168), "01")):
        found = gate(*answers(*kind), margin=0.05)
        suite = ElementTree.fromstring(gate_junit(found)).find("testsuite")
        assert suite is not None
        assert suite.get("failures", "") + suite.get("skipped", "") == counts
        text = gate_markdown(found)
        assert f"new against old: {found.answer}" in text
        assert "| difference | 90 % interval |" in text


def test_a_name_at_the_beginning_stays_as_it_is() -> None:
    new, old = answers(5, 40, 155)
    text = gate_markdown(gate(new.assign(model="gpt-4o"), old.assign(model="main"), margin=0.05))
    assert "\ngpt-4o is worse than main (p &lt; 0.0001)." in text
    assert "Neither a loss of" in gate_markdown(gate(*answers(15, 17, 168), margin=0.05))


def test_names_cannot_break_the_summaries() -> None:
    new, old = (one.assign(model='<a> & "b" | `c`') for one in answers(5, 40, 155))
    found = gate(new, old, margin=0.05)
    case = ElementTree.fromstring(gate_junit(found)).find(".//testcase")
    assert case is not None
    assert '<a> & "b" | `c`' in case.get("name", "")
    assert "<a>" not in gate_markdown(found)


def test_a_name_with_what_no_xml_may_have_makes_a_sound_report() -> None:
    new, old = (one.assign(model="a\0\x1b[31m\ufffe\U0001f600") for one in answers(5, 40, 155))
    case = ElementTree.fromstring(gate_junit(gate(new, old, margin=0.05))).find(".//testcase")
    assert case is not None
    assert case.get("name", "").startswith("new a??[31m?\U0001f600 is not worse")


def written(folder: Path, kinds: tuple[int, int, int]) -> list[str]:
    for name, one in zip(("new", "main"), answers(*kinds), strict=True):
        one.to_csv(folder / f"{name}.csv", index=False)
    return ["gate", str(folder / "new.csv"), "--than", str(folder / "main.csv")]


@pytest.mark.parametrize(("kinds", "code"), [((15, 15, 970), 0), ((5, 40, 155), 1), ((15, 17, 168), 2)])
def test_the_command_exits_with_the_verdict(
    kinds: tuple[int, int, int], code: int, tmp_path: Path, capsys: Any
) -> None:
    words = written(tmp_path, kinds)
    junit, markdown = tmp_path / "gate.xml", tmp_path / "gate.md"
    assert main([*words, "--margin", "0.05", "--junit", str(junit), "--markdown", str(markdown)]) == code
    assert capsys.readouterr().out.startswith(("not worse: ", "worse: ", "not enough evidence: ")[code])
    assert ElementTree.parse(junit).getroot().tag == "testsuites"
    assert "new against main" in markdown.read_text()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "a margin is missing: give the loss that would matter, as --margin 0.01"),
        (["--margin", "-1"], 'option "--margin" needs a number above 0, not "-1"'),
        (["--margin", "0.1", "--than", "none.csv"], "none.csv: no such file"),
        (["--margin", "0.1", "--junit", "no/such/folder.xml"], "no such file or folder"),
        (["--margin", "0.1", "--limits", "0"], "two numbers, as 0,1, or none"),
        (["--margin", "0.1", "--hihger"], 'did you mean "--higher"?'),
    ],
)
def test_the_command_exits_with_3_where_there_is_no_verdict(
    more: list[str], said: str, tmp_path: Path, capsys: Any
) -> None:
    assert main([*written(tmp_path, (3, 3, 30)), *more]) == 3
    assert said in capsys.readouterr().err


def test_a_score_without_a_telling_name_is_asked_for(tmp_path: Path, capsys: Any) -> None:
    for name, last in (("new", 3), ("old", 3.1)):
        pd.DataFrame({"case": range(300), "latency": [1, 2, last] * 100}).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    words = ["gate", str(tmp_path / "new.csv"), "--than", str(tmp_path / "old.csv"), "--margin", "0.1"]
    assert main(words) == 3
    told = capsys.readouterr().err
    assert "if latency is the score of one model, say so, as in score=… (on the command line --score" in told
    assert main([*words, "--score", "latency", "--lower", "--limits", "none"]) == 0


def test_the_example_workflow_gives_commands_that_there_are() -> None:
    text = (Path(__file__).parents[2] / "examples" / "gate-action.yml").read_text()
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("redelve gate")]
    assert len(lines) == 2
    for line in lines:
        given = GateOptions(parse(GATE, shlex.split(line)[2:]))
        assert given.margin == 0.02
        assert given.than is not None


def test_through_the_command_false_blocks_and_misses_are_as_computed(tmp_path: Path) -> None:
    """40 unchanged builds of 200 cases, files and all; and 20 that lost twice the margin."""
    same, wanted = Builds(200, 0.05), exit_shares(Builds(200, 0.05))
    assert wanted[1] <= 0.05
    for share, chance in zip(commanded(same, 40, tmp_path, np.random.default_rng(3)), wanted, strict=True):
        assert abs(share - chance) <= 3 * np.sqrt(chance * (1 - chance) / 40)
    power = exit_shares(Builds(200, 0.05, lost=0.1))
    assert power[1] > 0.98
    lost = commanded(Builds(200, 0.05, lost=0.1), 20, tmp_path, np.random.default_rng(4))
    assert lost[1] >= power[1] - 3 * np.sqrt(power[1] * (1 - power[1]) / 20)


def test_a_model_that_is_not_there_is_answered_with_all_that_are() -> None:
    table = pd.concat([scores([1, 0, 1]).assign(model=name) for name in ("alpha", "beta", "gamma")])
    with pytest.raises(
        RedelveError, match=r'no model "betta" \(did you mean "beta"\?\): it has alpha, beta, gamma'
    ):
        gate(table, margin=0.1, model="alpha", than_model="betta")
