"""Where two methods differ: agreement, deciding cases and slices, by the design of the task."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import redelve
from redelve.errors import LocationError, SpecError, StatisticsError
from redelve.findings.differences import differences_of
from redelve.report.difference_views import deciding_table
from redelve.stats.agreement import error_kappa

from .made_up import results, task

NAMES = ("a", "b")
COUNT = 240
CASES = 400


def scores(*, runs: int = 1, seed: int = 1) -> pd.DataFrame:
    """Two models on questions of three topics; b is bad at law, and at nothing else."""
    rng = np.random.default_rng(seed)
    topic = np.repeat(["art", "law", "logic"], COUNT // 3)
    chance = {"a": np.full(COUNT, 0.8), "b": np.where(topic == "law", 0.4, 0.8)}
    rows = [
        pd.DataFrame(
            {
                "model": name,
                "case": [f"q{number:03}" for number in range(COUNT)],
                "run": run,
                "topic": topic,
                "accuracy": (rng.random(COUNT) < chance[name]).astype(int),
            }
        )
        for name in NAMES
        for run in range(runs)
    ]
    return pd.concat(rows, ignore_index=True)


def wide(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    table = frame.pivot_table(index="case", columns="model", values="accuracy")
    return table["a"].to_numpy(), table["b"].to_numpy()


def by_topic(frame: pd.DataFrame) -> pd.Series:
    return frame[frame["model"] == "a"].drop_duplicates("case").set_index("case")["topic"]


def test_parts_of_a_difference_have_its_unit_and_its_sum() -> None:
    found = redelve.compare_scores(scores()).differences("a", "b")
    table = deciding_table(found)
    assert table.columns[-1].title == "Part of the difference, in percentage points"
    assert found.contest.difference is not None
    assert "whole difference, a − b = 11.3 ± 4.0 percentage points." in table.caption
    assert found.cases()["part"].sum() == pytest.approx(-found.contest.difference)


def test_scores_brought_along_are_taken_apart() -> None:
    frame = scores()
    one, two = wide(frame)
    found = redelve.compare_scores(frame).differences("a", "b", by=by_topic(frame))
    assert found.errors is not None
    assert found.errors.first_wrong == np.sum((one == 0) & (two == 1))
    assert found.errors.agreement == np.mean(one == two)
    assert found.kappa == error_kappa(1 - one, 1 - two)
    assert found.turning == abs(int(one.sum() - two.sum()))
    assert [name for name, slices in found.worse.items() if slices] == ["b"]
    assert [one.value for one in found.worse["b"]] == ["law"]
    assert "b is worse than a where topic is law" in str(found)


def test_frames_speak_of_scores_in_the_direction_of_the_user() -> None:
    frame = scores()
    one, two = wide(frame)
    found = redelve.compare_scores(frame).differences("a", "b", by=by_topic(frame))
    law = found.frame().set_index("slice").loc["law"]
    here = by_topic(frame).sort_index().to_numpy() == "law"
    assert (law["first"], law["second"]) == pytest.approx((one[here].mean(), two[here].mean()))
    assert law["difference"] == pytest.approx(law["first"] - law["second"])
    assert 0 < law["low"] < law["difference"] < law["high"]
    assert law["worse"] == "b"


def test_the_table_of_disagreements_has_the_cases_that_differ_and_adds_up() -> None:
    frame = scores()
    one, two = wide(frame)
    table = redelve.compare_scores(frame).differences("a", "b", by=by_topic(frame)).cases()
    assert len(table) == np.sum(one != two)
    assert table["part"].sum() == pytest.approx(one.mean() - two.mean())
    assert set(table["topic"]) == {"art", "law", "logic"}
    assert (table["a"] - table["b"]).tolist() == table["difference"].tolist()


def test_several_answers_to_a_question_are_averaged_in_slices() -> None:
    frame = scores(runs=3)
    means = frame.pivot_table(index="case", columns="model", values="accuracy")
    found = redelve.compare_scores(frame).differences("a", "b", by=by_topic(frame))
    rows = found.frame().set_index("slice")
    here = by_topic(frame).sort_index().to_numpy() == "law"
    values = (means["a"] - means["b"]).to_numpy()[here]
    quantile = scipy_stats.norm.ppf(1 - 0.05 / 3 / 2)
    reach = quantile * values.std() / np.sqrt(len(values) - quantile**2)
    assert rows.loc["law", "low"] == pytest.approx(values.mean() - reach)
    assert found.errors is not None
    assert found.errors.cases == 3 * COUNT


@pytest.mark.parametrize("scheme", ["common", "hierarchical"])
def test_slices_of_training_sets_are_what_the_comparison_of_their_cases_alone_is(scheme) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(2)
    facts = task(instances=4, cases=60, scheme=scheme)
    losses = {name: {facts.address: [rng.normal(size=60) for _ in range(4)]} for name in NAMES}
    labels = np.where(np.arange(240) % 60 < 30, "low", "high")[: 60 if scheme == "common" else 240]
    given = results([facts_with_count(facts, len(labels))], losses)
    found = differences_of(given, NAMES, facts.address, by={"half": labels}).frame().set_index("slice")
    small = task(instances=4, cases=30, scheme=scheme)
    part = {name: {small.address: [one[:30] for one in each[facts.address]]} for name, each in losses.items()}
    alone = differences_of(results([small], part), NAMES, small.address).contest
    assert found.loc["low", "difference"] == pytest.approx(alone.difference)
    assert found.loc["low", "standard_error"] == pytest.approx(alone.standard_error)
    assert alone.p_value is not None
    assert alone.claim.own_p_value is not None
    assert found.loc["low", "p_value"] == pytest.approx(min(2 * alone.claim.own_p_value, 1.0), rel=1e-3)


def facts_with_count(facts, count: int):  # type: ignore[no-untyped-def]
    from dataclasses import replace

    return replace(facts, case_count=count)


def test_the_parts_of_all_cases_are_the_difference_of_the_comparison() -> None:
    rng = np.random.default_rng(3)
    facts = task(instances=3, cases=40, scheme="common")
    losses = {name: {facts.address: [rng.exponential(size=40) for _ in range(3)]} for name in NAMES}
    found = differences_of(results([facts], losses), NAMES, facts.address)
    assert found.pairs.parts.sum() == pytest.approx(found.contest.difference)
    assert found.errors is None
    assert len(found.pairs.names) == 40
    assert found.pairs.answers.tolist() == [3] * 40
    one, two = (np.concatenate(losses[name][facts.address]) for name in NAMES)
    assert found.correlation.value == pytest.approx(scipy_stats.spearmanr(one, two).statistic)


@pytest.fixture(scope="module")
def assessed() -> redelve.Assessment:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(CASES, 2)), columns=["x", "z"])
    frame["side"] = rng.choice(["left", "right"], CASES)
    turn = np.where(frame["side"] == "left", 1, -1)
    frame["y"] = np.where(frame["x"] * turn + 0.5 * rng.normal(size=CASES) > 0, "yes", "no")
    methods = {"tree": DecisionTreeClassifier(max_depth=4, random_state=0), "logit": LogisticRegression()}
    numbers = frame.assign(side=(turn > 0).astype(float))
    return redelve.assess(methods, numbers, "y", design="cv", losses=["Z", "L"])


def test_inputs_of_the_data_make_slices_by_their_names(assessed: redelve.Assessment) -> None:
    found = assessed.differences("tree", "logit", by=["side", "x"])
    assert list(found.frame()["column"]) == ["side"] * 2 + ["x"] * 4
    assert found.frame()["cases"].tolist()[:2] == [
        CASES - found.frame()["cases"][1],
        found.frame()["cases"][1],
    ]
    assert found.frame()["slice"].tolist()[2].startswith("x ≤ ")
    assert [len(one) > 0 for one in found.worse.values()] == [False, True]
    assert list(found.cases().columns[:4]) == ["case", "y", "side", "x"]


def test_folds_keep_the_ratio_of_the_whole_design(assessed: redelve.Assessment) -> None:
    found = assessed.differences("tree", "logit", by={"all": np.repeat("all", CASES)})
    assert found.frame().loc[0, "standard_error"] == pytest.approx(found.contest.standard_error)
    assert found.frame().loc[0, "p_value"] == pytest.approx(found.contest.claim.own_p_value)


def test_it_shows_itself(assessed: redelve.Assessment) -> None:
    found = assessed.differences("tree", "logit", by="truth")
    assert "tree and logit on" in found._repr_html_()
    assert "print them for more" in repr(found)
    assert str(found).count("\n") == 4


def test_reliability_of_two_classes(assessed: redelve.Assessment) -> None:
    table = assessed.reliability().set_index("method")
    assert table["outcome"].tolist() == ["y = yes"] * 2
    assert table["cases"].tolist() == [CASES, CASES]
    truth, said = [], []
    records = assessed._with_answers().of("logit", table["task"].iloc[0])
    facts = assessed.results.task(table["task"].iloc[0])
    for record in records:
        assert record.answer is not None
        assert record.answer.probabilities is not None
        said.append(record.answer.probabilities.values[:, 1])
        truth.append(facts.instances[record.job.instance].truths[0].values)
    error = np.mean((np.concatenate(said) - np.concatenate(truth)) ** 2)
    assert table.loc["logit", "brier"] == pytest.approx(error)
    other = assessed.reliability(level="no").set_index("method")
    assert other.loc["logit", "brier"] == pytest.approx(error)
    assert (table["adjusted_p_value"] >= table["p_value"]).all()


def test_reliability_is_drawn_with_a_band_for_one_method(assessed: redelve.Assessment) -> None:
    alone = assessed.plot_reliability("logit")
    both = assessed.plot_reliability()
    assert (len(alone.collections), len(both.collections)) == (1, 0)
    assert [line.get_label() for line in both.lines[1:]] == ["tree", "logit"]
    assert alone.get_xlabel() == "probability of y = yes"


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("sied", 'no column "sied".*known are side'),
        (np.arange(7), "7 values for the 400 cases"),
        (5, "names no column"),
    ],
)
def test_columns_that_are_not_there_are_refused(assessed: redelve.Assessment, by: object, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        assessed.differences("tree", "logit", by=by)


def test_what_can_not_be_compared_is_refused(assessed: redelve.Assessment) -> None:
    with pytest.raises(LocationError, match='no results of method "three"'):
        assessed.differences("tree", "three")
    with pytest.raises(StatisticsError, match="no mean over cases"):
        assessed.judged_by("roc_auc").differences("tree", "logit")
    with pytest.raises(StatisticsError, match='"maybe" is no class of y: it has no, yes'):
        assessed.reliability(level="maybe")
    frame = scores()
    found = redelve.compare_scores(frame)
    with pytest.raises(StatisticsError, match="does not predict one class"):
        found.reliability()
    with pytest.raises(SpecError, match="no row for case"):
        found.differences("a", "b", by=by_topic(frame).iloc[:5])
    with pytest.raises(SpecError, match="none is known of these cases"):
        found.differences("a", "b", by="topic")


def test_columns_of_a_score_table_are_kept_for_slices(tmp_path) -> None:  # type: ignore[no-untyped-def]
    frame = scores().assign(length=lambda table: table["case"].str[1:].astype(int) + 0.5)
    found = redelve.compare_scores(frame, slices=["topic", "length"], archive=tmp_path / "archive")
    table = found.differences("a", "b", by=["topic", "length"]).frame()
    assert table["slice"].tolist()[:4] == ["art", "law", "logic", "length ≤ 59.5"]
    loaded = redelve.Assessment(redelve.Archive.open(tmp_path / "archive").load())
    assert loaded.differences("a", "b", by=["topic", "length"]).frame().equals(table)
    again = redelve.compare_scores(
        frame.assign(half=frame["length"] > 90), slices="half", archive=tmp_path / "archive"
    )
    both = redelve.Assessment(redelve.Archive.open(tmp_path / "archive").load())
    assert (
        both.differences("a", "b", by="half").frame().equals(again.differences("a", "b", by="half").frame())
    )
    assert both.differences("a", "b", by="topic").worse["b"][0].value == "law"


def test_wide_tables_keep_columns_too_and_pooled_tasks_are_slices() -> None:
    frame = scores().assign(length=lambda table: table["case"].str[1:].astype(int))
    wide_one = frame.pivot_table(index=["case", "length"], columns="model", values="accuracy").reset_index()
    found = redelve.compare_scores(wide_one, slices="length", higher_is_better=True)
    assert list(found.results.methods) == ["a", "b"]
    assert len(found.differences("a", "b", by="length").frame()) == 4
    pooled = redelve.compare_scores(frame, task="topic", pooled=True)
    assert [one.value for one in pooled.differences("a", "b", by="task").worse["b"]] == ["law"]


def test_columns_for_slices_that_do_not_fit_are_refused() -> None:
    frame = scores()
    with pytest.raises(SpecError, match=r'"topci" for the slices \(did you mean "topic"\?\): it has'):
        redelve.compare_scores(frame, slices="topci")
    mixed = frame.assign(topic=np.repeat(["x", "y"], COUNT))
    with pytest.raises(SpecError, match='case "q000" has two values of topic, "x" and "y"'):
        redelve.compare_scores(mixed, slices="topic")


def test_a_report_on_scores_shows_the_leader_and_the_next(tmp_path) -> None:  # type: ignore[no-untyped-def]
    found = redelve.compare_scores(scores())
    page = found.report(tmp_path / "page.html").read_text()
    assert "Where the leader and the next differ" in page
    assert "A alone wrong" in page
    table = found.differences("a", "b").cases()
    assert all(f">{name}<" in page for name in table["case"].head(10))


def test_a_report_on_methods_that_were_run_does_not(assessed: redelve.Assessment, tmp_path) -> None:  # type: ignore[no-untyped-def]
    page = assessed.report(tmp_path / "page.md").read_text()
    assert "Where the leader and the next differ" not in page
