"""Metrics through the corridor: analyses of pseudo-values, folds together, what is refused and why."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import redelve
from redelve.answers.losses import parse_loss
from redelve.answers.predictions import Target, Truth
from redelve.assessment import Assessment
from redelve.errors import RedelveError, StatisticsError
from redelve.findings.by_method import losses_of
from redelve.findings.by_metric import check_metric, few_cases, metric_interval
from redelve.model import Assignment
from redelve.model.dataset import Numbers
from redelve.report.formatting import with_error
from redelve.run.results import Record
from redelve.stats.anova import compare_common
from redelve.store import Archive

METHODS = {"lr": LogisticRegression(), "nb": GaussianNB()}
THREE = Target("kind", "categorical", ("a", "b", "c"))


def frame(cases: int = 240, share: float = 0.3, seed: int = 0) -> pd.DataFrame:
    """Two classes that two of four columns tell apart a little."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(cases, 4))
    score = inputs[:, 0] + inputs[:, 1] ** 2 / 2 + rng.normal(size=cases)
    positive = score > np.quantile(score, 1 - share)
    table = pd.DataFrame(inputs, columns=list("abcd"))
    table["ill"] = np.where(positive, "yes", "no")
    return table


@pytest.fixture(scope="module")
def common() -> Assessment:
    """Several training sets with one test set."""
    return redelve.assess(METHODS, redelve.from_frame(frame(400), "ill"), judge_by="roc_auc")


@pytest.fixture(scope="module")
def folded() -> Assessment:
    """Ten folds, of cases too few for several training sets."""
    return redelve.assess(METHODS, cross_validated(frame(120)), judge_by="roc_auc")


def cross_validated(table: pd.DataFrame, groups: str | None = None) -> Assignment:
    made = redelve.from_frame(table, "ill", groups=groups).assignments[0]
    assert made.scheme == ("cross-validation" if groups is None else "nested-cross-validation")
    return made


def scores(record: Record) -> Numbers:
    assert record.answer is not None
    assert record.answer.probabilities is not None
    return record.answer.probabilities.values[:, 1]


def truths(found: Assessment, record: Record) -> Numbers:
    return found.results.task(record.job.task).instances[record.job.instance].truths[0].values


def test_the_expected_metric_is_the_mean_of_the_test_sets_values(common: Assessment) -> None:
    (task,) = common.findings.tasks
    assert task.task.scheme == "common"
    for name in METHODS:
        records = common.results.of(name, task.task.address)
        values = [sk.roc_auc_score(truths(common, one), scores(one)) for one in records]
        mean = task.method(name).mean
        assert mean is not None
        assert task.judged_by.metric_value(mean) == pytest.approx(np.mean(values), abs=1e-12)


def test_a_comparison_is_that_of_the_pseudo_values_with_fewer_degrees_of_freedom(common: Assessment) -> None:
    (contest,) = common.compare("lr", "nb")
    address = common.findings.tasks[0].task.address
    tables = [
        np.array([one.losses["roc_auc"] for one in common.results.of(name, address)]) for name in METHODS
    ]
    plain = compare_common(*tables)
    assert contest.test.difference == pytest.approx(plain.difference, abs=1e-12)
    assert contest.standard_error is not None
    assert contest.test.differences.interval_standard_error == pytest.approx(  # type: ignore[union-attr]
        plain.differences.interval_standard_error, rel=1e-9
    )
    assert contest.p_value is not None
    assert plain.p_value is not None
    assert contest.p_value >= plain.p_value - 1e-12


def test_a_metric_that_is_a_mean_of_cases_gives_the_numbers_of_its_loss(common: Assessment) -> None:
    for metric, loss in (("accuracy", "Z"), ("brier", "Q")):
        named, plain = (common.judged_by(code).findings.tasks[0] for code in (metric, loss))
        part = 0.5 if metric == "brier" else 1.0
        for one, other in zip(named.methods, plain.methods, strict=True):
            assert one.mean == pytest.approx(part * (other.mean or 0), rel=1e-12)
            assert one.bounds == pytest.approx([part * end for end in other.bounds or ()], rel=1e-9)
        pairs = zip(named.contests, plain.contests, strict=True)
        assert all(one.adjusted_p_value == pytest.approx(other.adjusted_p_value) for one, other in pairs)


def area_of_pairs(parts: list[tuple[Numbers, Numbers]]) -> float:
    """The share of pairs of the same fold that scores put in order."""
    areas = [sk.roc_auc_score(true, scored) for true, scored in parts]
    return float(np.average(areas, weights=[np.sum(true == 1) * np.sum(true == 0) for true, _ in parts]))


def test_scores_are_compared_within_folds(folded: Assessment) -> None:
    (task,) = folded.findings.tasks
    records = folded.results.of("lr", task.task.address)
    wanted = area_of_pairs([(truths(folded, one), scores(one)) for one in records])
    assert 1 - np.concatenate([one.losses["roc_auc"] for one in records]).mean() == pytest.approx(
        wanted, abs=1e-12
    )
    found = task.method("lr")
    assert found.mean is not None
    assert 1 - found.mean == pytest.approx(wanted, abs=1e-12)
    assert found.bounds is not None
    assert found.bounds[0] < found.mean < found.bounds[1]


def test_guessed_classes_of_folds_are_put_together(folded: Assessment) -> None:
    found = folded.judged_by("f1")
    records = found.results.of("lr", found.findings.tasks[0].task.address)
    pooled = sk.f1_score(
        np.concatenate([truths(found, one) for one in records]),
        np.concatenate([scores(one) > 0.5 for one in records]),
    )
    assert 1 - (found.findings.tasks[0].method("lr").mean or 0) == pytest.approx(pooled, abs=1e-12)


def test_models_that_order_cases_alike_are_alike_in_folds_of_unequal_classes() -> None:
    """With 45 positive cases folds have 4 or 5: strong penalties follow what that leaves to train."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    score = table["a"] + 0.8 * rng.normal(size=200)
    table["ill"] = np.where(score > np.sort(score)[-46], "yes", "no")
    models = {"weak": LogisticRegression(C=1e-2), "strong": LogisticRegression(C=1e-4)}
    constants = {"prior": DummyClassifier(), "constant": "constant"}
    for judge in ("roc_auc", "average_precision"):
        found = redelve.assess({**models, **constants}, table, target="ill", design="cv", judge_by=judge)
        (task,) = found.findings.tasks
        assert task.contest("weak", "strong").winner is None
        weak, strong, prior, constant = (1 - (task.method(one).mean or 0) for one in (*models, *constants))
        assert abs(weak - strong) < 0.02
        assert prior == constant  # of 20 cases in random order, 4 or 5 of them positive, 0.333 (Bestgen 2015)
        assert prior == pytest.approx(0.5 if judge == "roc_auc" else 0.333, abs=0.02)
        assert (task.method("weak").bounds is None) == (judge == "average_precision")
        assert ("The best constant answer has" in str(found)) == (judge == "roc_auc")
    assert "average precision of few test cases, as a fold has" in found.frame()["reason"].iloc[0]
    assert "average precision of few test cases, as a fold has" in " ".join(str(found).split())
    guess = redelve.predict_performance(
        DummyClassifier(), table[list("abc")], table["ill"], loss="roc_auc", ways="kfold", progress=False
    )
    assert guess.value == 0.5


def test_scores_that_tell_nothing_tie_with_a_constant_on_several_small_sets() -> None:
    """Tied cases, taken together, have the share of positive cases; those in random order have more."""
    rng, claimed = np.random.default_rng(5), 0
    for _ in range(20):
        table = pd.DataFrame(
            {"a": rng.normal(size=1600), "ill": np.where(rng.random(1600) < 0.2, "yes", "no")}
        )
        task = redelve.task(table, "ill", sizes=[32])
        methods = {"noise": GaussianNB(), "prior": DummyClassifier()}
        found = redelve.assess(methods, task, judge_by="average_precision").findings.tasks[0]
        claimed += found.contest("noise", "prior").winner is not None
    assert claimed <= 4


def test_folds_of_one_class_each_have_nothing_to_put_in_order() -> None:
    table = frame(240)
    table["who"] = np.arange(240) // 20
    table["ill"] = np.where(table["who"] % 2, "yes", "no")
    found = redelve.assess(METHODS, table, target="ill", groups="who", design="cv 12x1", judge_by="roc_auc")
    assert "each fold has test cases of one class only" in " ".join(str(found).split())


def test_folds_from_an_archive_are_put_together_as_well(folded: Assessment, tmp_path: Path) -> None:
    task = cross_validated(frame(120))
    place = tmp_path / "archive"
    kept = redelve.assess(METHODS, task, judge_by="roc_auc", archive=place)
    assert kept.results.records[0].answer is None
    loaded = Assessment(Archive.open(place).load(), "roc_auc", place)
    for other in (kept, loaded):
        for one, same in zip(other.findings.tasks[0].methods, folded.findings.tasks[0].methods, strict=True):
            assert one.mean == pytest.approx(same.mean, abs=1e-12)
            assert one.standard_error == pytest.approx(same.standard_error, abs=1e-12)
    assert Archive.open(place).verify().problems == ()
    later = Assessment(Archive.open(place).load(), "balanced_accuracy", place)
    wanted = folded.judged_by("balanced_accuracy").findings.tasks[0].method("nb").mean
    assert later.findings.tasks[0].method("nb").mean == pytest.approx(wanted, abs=1e-12)


def test_groups_are_left_out_whole() -> None:
    table = frame(150)
    table["who"] = np.random.default_rng(3).integers(0, 50, 150)
    found = redelve.assess(METHODS, cross_validated(table, "who"), judge_by="f1")
    (task,) = found.findings.tasks
    records = [one for one in found.results.of("lr", task.task.address) if "f1" in one.losses]
    assert len(records) == 10  # pairs of folds have none
    values = np.concatenate([one.losses["f1"] for one in records])
    units = [found.results.task(task.task.address).instances[one.job.instance].units for one in records]
    labels = np.concatenate([one for one in units if one is not None])
    each = {label: np.unique(values[labels == label].round(12)).size for label in np.unique(labels)}
    assert set(each.values()) == {1}  # all cases of a group have its value
    assert task.contest("lr", "nb").adjusted_p_value is not None


def test_too_few_cases_of_a_class_give_a_value_but_no_verdict() -> None:
    found = redelve.assess(METHODS, redelve.from_frame(frame(200, 0.04), "ill"), judge_by="roc_auc")
    (task,) = found.findings.tasks
    assert task.contests[0].winner is None
    assert task.contests[0].adjusted_p_value is None
    assert "the smallest class has only" in str(task.contests[0])
    assert task.method("lr").mean is not None
    assert task.method("lr").bounds is None


def test_a_class_that_is_missing_is_an_error_with_a_way_out(common: Assessment) -> None:
    (facts,) = common.results.tasks.values()
    judge = parse_loss("balanced_accuracy")
    assert few_cases(facts, judge) is None
    check_metric(facts, judge)
    truth = facts.instances[0].truths[0]
    for kept, message in (
        ([0.0, 0.0], "all test cases are of class"),
        ([0.0, 1.0, 1.0], "a single test case"),
    ):
        lacking = replace(facts.instances[0], truths=(Truth.exact(truth.target, kept),))
        with pytest.raises(StatisticsError, match=f"{message}.*; use more test cases, or another metric"):
            check_metric(replace(facts, instances=(lacking,)), judge)
    some = replace(facts.instances[0], truths=(Truth.exact(THREE, [0.0, 0.0, 1.0, 1.0]),))
    others = replace(facts.instances[0], truths=(Truth.exact(THREE, [2.0, 2.0, 1.0, 1.0]),))
    with pytest.raises(StatisticsError, match="some test sets lack a class that others have"):
        check_metric(replace(facts, scheme="hierarchical", targets=(THREE,), instances=(some, others)), judge)


@pytest.mark.parametrize(
    ("counts", "design", "reason"),
    [
        (
            (2, 200),
            "holdout",
            "AUC has no value here: roc_auc needs cases of two classes, but all test cases are of class",
        ),
        ((3, 400), None, 'AUC has no value here: class "yes" has a single test case'),
    ],
)
def test_test_cases_without_a_class_are_told_in_one_sentence(
    counts: tuple[int, int], design: str | None, reason: str, tmp_path: Path
) -> None:
    found = redelve.assess(METHODS, rare(*counts), target="ill", design=design, judge_by="roc_auc")
    text, page = str(found), found.report(tmp_path / "page.html").read_text()
    for one in (text, page.replace("&#34;", '"')):
        assert reason in " ".join(one.split())
        assert "infinite" not in one.partition("Validity")[0]
    alone = redelve.assess({"lr": LogisticRegression()}, rare(*counts), target="ill", design=design)
    assert reason in " ".join(str(alone.judged_by("roc_auc")).split())


def test_folds_that_lack_a_class_are_put_together_and_too_few_cases_are_the_reason() -> None:
    found = redelve.assess(METHODS, rare(3, 60), target="ill", design="cv 10x1", judge_by="roc_auc")
    (task,) = found.findings.tasks
    assert task.method("lr").mean is not None
    told = " ".join(str(found).split())
    assert "no test is defined between them (the smallest class has only 3 cases or groups" in told


def rare(positive: int, cases: int) -> pd.DataFrame:
    """So few cases of the second class."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(cases, 3)), columns=list("abc"))
    chosen = rng.choice(cases, positive, replace=False)
    table["ill"] = "no"
    table.loc[chosen, "ill"] = "yes"
    table.loc[chosen, "a"] += 1.5
    return table


def test_scores_of_methods_that_find_nothing_are_not_compared(common: Assessment) -> None:
    task = redelve.from_frame(frame(400), "ill")
    found = redelve.assess({"lr": LogisticRegression(), "none": "constant"}, task, judge_by="f1")
    (contest,) = found.compare("lr", "none")
    assert contest.winner is None
    assert "none found 0 cases of the positive class" in str(contest)
    by_auc = found.judged_by("roc_auc").compare("lr", "none")[0]
    assert by_auc.winner == "lr"


@pytest.mark.parametrize("metric", ["roc_auc", "f1", "matthews_corrcoef", "balanced_accuracy", "log_loss"])
def test_intervals_keep_within_what_is_possible(common: Assessment, metric: str) -> None:
    (task,) = common.judged_by(metric).findings.tasks
    low, high = task.judged_by.limits(task.task.targets)
    for one in task.methods:
        assert one.bounds is not None
        assert one.mean is not None
        assert low <= one.bounds[0] < one.mean < one.bounds[1] <= high


def test_a_perfect_score_has_an_interval(common: Assessment) -> None:
    (facts,) = common.results.tasks.values()
    work = common.results.on(facts.address)
    losses = losses_of(work, "roc_auc")["lr"]
    scale = metric_interval(facts, losses, parse_loss("roc_auc"))
    assert scale is not None
    interval = scale.of(0.0, 0.0, None, 0.95)
    assert interval is not None
    assert interval[0] == pytest.approx(0, abs=1e-12)
    assert 0 < interval[1] < 0.1


def test_a_loss_can_be_asked_for_that_was_not_computed(common: Assessment) -> None:
    found = common.judged_by(sk.make_scorer(sk.fbeta_score, beta=2, pos_label="yes"))
    (task,) = found.findings.tasks
    assert task.loss == "fbeta_score"
    assert task.judged_by.higher_is_better
    assert task.method("lr").mean is not None
    with pytest.raises(RedelveError, match="rmse"):
        _ = common.judged_by("rmse").findings


def test_numbers_have_metrics_too() -> None:
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    table["y"] = table["a"] + rng.normal(size=200) / 2
    found = redelve.assess(
        ["constant", "lin-1"], redelve.from_frame(table, "y"), judge_by="neg_root_mean_squared_error"
    )
    (task,) = found.findings.tasks
    assert task.loss == "rmse"
    assert task.leader == "lin-1"
    by_r2 = found.judged_by("r2").findings.tasks[0]
    assert by_r2.judged_by.metric_value(by_r2.method("lin-1").mean or 0) > 0.5


def test_everything_that_is_shown_has_the_users_name_direction_and_unit(
    common: Assessment, tmp_path: Path
) -> None:
    by_accuracy = common.judged_by("accuracy")
    text = str(by_accuracy)
    assert "the highest accuracy" in text
    assert "accuracy, in per cent, ± standard error" in text
    assert "loss" not in text.partition("Bear in mind")[0].replace("whether the loss still falls", "")
    best = by_accuracy.frame().set_index("method")["mean"].max()
    assert f"{100 * best:.1f}"[:2] in text
    table = by_accuracy.frame()
    assert ((table["low"] < table["mean"]) & (table["mean"] < table["high"])).all()
    (contest,) = by_accuracy.compare("lr", "nb")
    means = table.set_index("method")["mean"]
    assert by_accuracy.compare("lr", "nb").frame()["difference"][0] == pytest.approx(
        means["lr"] - means["nb"]
    )
    assert contest.shown[0] == pytest.approx(100 * (means["lr"] - means["nb"]))
    page = by_accuracy.report(tmp_path / "page.html").read_text()
    assert "Accuracy (%)\xa0±\xa0SE" in page


def test_a_metric_of_a_users_own_is_kept_with_an_archive_that_others_read(tmp_path: Path) -> None:
    def gain_score(y_true: Numbers, y_pred: Numbers) -> float:
        return float(np.mean(y_true == y_pred) ** 2)

    place = tmp_path / "archive"
    found = redelve.assess(METHODS, redelve.from_frame(frame(400), "ill"), judge_by=gain_score, archive=place)
    loaded = Assessment(Archive.open(place).load(), "gain_score")
    (facts,) = loaded.results.tasks.values()
    assert not facts.loss("gain_score").mean_of_cases
    assert loaded.findings.tasks[0].loss_words == "gain score"
    wanted = found.findings.tasks[0].method("lr").mean
    assert loaded.findings.tasks[0].method("lr").mean == pytest.approx(wanted, abs=1e-12)


def test_a_method_without_probabilities_is_named_with_the_reason() -> None:
    task = redelve.from_frame(frame(120), "ill")
    methods = {"lr": LogisticRegression(), "ridge": RidgeClassifier(), "mute": Mute()}
    for judge, name, needs in (
        ("log_loss", "ridge and mute have", "log loss needs predicted probabilities"),
        ("brier", "ridge and mute have", "Brier score needs predicted probabilities"),
        ("roc_auc", "mute has", "AUC needs predicted probabilities or decision values"),
    ):
        told = " ".join(str(redelve.assess(methods, task, judge_by=judge)).split())
        assert f"{name} no results here and could not be judged: {needs}." in told


class Mute(RidgeClassifier):  # type: ignore[misc]
    """A classifier that tells classes and nothing else."""

    decision_function = property()

    def predict(self, X: pd.DataFrame) -> Any:
        no, yes = self.classes_
        return np.where(X["a"] > 0, yes, no)


@pytest.mark.parametrize(
    "model",
    [
        RidgeClassifier(),
        LinearSVC(random_state=0),
        SVC(),
        make_pipeline(StandardScaler(), LinearSVC(random_state=1)),
    ],
)
def test_classifiers_with_decision_values_alone_have_scikit_learns_areas(model: BaseEstimator) -> None:
    table = frame(240).assign(ill=lambda made: (made["ill"] == "yes").astype(int))
    task = redelve.task(table, "ill", design="holdout", kind="classification")
    codes = ["roc_auc", "average_precision", "roc_auc@0"]
    (record,) = redelve.assess({"it": model}, task, losses=codes, judge_by="roc_auc").results.records
    (made,) = task.assignments
    (instance,) = made.instances
    learnt, asked = (
        table.iloc[made.data.case_numbers[rows] - 1] for rows in (instance.training, instance.testing)
    )
    by_hand = clone(model).fit(learnt.drop(columns="ill"), learnt["ill"])
    for code in codes[:2]:
        expected = sk.get_scorer(code)(by_hand, asked.drop(columns="ill"), asked["ill"])
        assert 1 - record.losses[code].mean() == pytest.approx(expected, rel=1e-12)
    assert record.losses["roc_auc@0"].mean() == pytest.approx(record.losses["roc_auc"].mean(), rel=1e-12)


def test_decision_values_are_kept_and_folds_of_them_put_together(tmp_path: Path) -> None:
    task = cross_validated(frame(120))
    models = {"svc": SVC(), "ridge": RidgeClassifier()}
    kept = redelve.assess(models, task, judge_by="accuracy", archive=tmp_path / "archive")
    here = redelve.assess(models, task, judge_by="roc_auc")
    later = Assessment(Archive.open(tmp_path / "archive").load(), "roc_auc", tmp_path / "archive")
    records = here.results.of("svc", task.address)
    parts = [one.answer.decision_values for one in records if one.answer is not None]
    wanted = area_of_pairs(
        [
            (truths(here, one), part.values[:, 1])
            for one, part in zip(records, parts, strict=True)
            if part is not None
        ]
    )
    for found in (here, later, kept.judged_by("roc_auc")):
        mean = found.findings.tasks[0].method("svc").mean
        assert mean is not None
        assert 1 - mean == pytest.approx(wanted, abs=1e-12)
    assert Archive.open(tmp_path / "archive").verify().problems == ()


def test_scorers_that_take_decision_values_get_them() -> None:
    table = frame(160)
    found = redelve.assess({"ridge": RidgeClassifier()}, redelve.task(table, "ill", design="holdout"))
    (record,) = found.results.records
    assert record.answer is not None
    assert record.answer.decision_values is not None
    truth = truths(found, record)

    def late_score(y_true: Numbers, scores: Numbers) -> float:
        return float(sk.roc_auc_score(y_true, scores) ** 2)

    scorer = sk.make_scorer(late_score, response_method=("decision_function", "predict_proba"))
    (task,) = found.judged_by(scorer).findings.tasks
    mean = task.method("ridge").mean
    assert mean is not None
    expected = sk.roc_auc_score(truth, record.answer.decision_values.values[:, 1]) ** 2
    assert task.judged_by.metric_value(mean) == pytest.approx(expected, abs=0.05)


def test_a_model_with_decision_values_alone_is_predicted() -> None:
    table = frame(160)
    inputs, outputs = table.drop(columns="ill"), table["ill"]
    found = redelve.predict_performance(RidgeClassifier(), inputs, outputs, loss="roc_auc", ways=("kfold:5",))
    assert found.best.value is not None
    assert 0.5 < found.best.value < 1
    with pytest.raises(RedelveError, match="needs predicted probabilities, and the model gives none"):
        redelve.predict_performance(RidgeClassifier(), inputs, outputs, loss="log_loss", ways=("kfold:5",))


def test_advice_is_in_the_units_of_the_metric(common: Assessment) -> None:
    (contest,) = common.judged_by("accuracy").compare("lr", "nb")
    (by_loss,) = common.judged_by("Z").compare("lr", "nb")
    assert contest.smallest_found == pytest.approx(by_loss.smallest_found)
    assert contest.winner is None
    found = f"{100 * (contest.smallest_found or 0):.2g}"
    assert f"a difference of {found} points would be found with power 0.8" in contest.advice


def test_differences_of_shares_are_points_wherever_they_are_shown(common: Assessment, tmp_path: Path) -> None:
    within = redelve.assess(METHODS, redelve.from_frame(frame(400), "ill"), judge_by="accuracy", margin=0.05)
    (contest,) = within.compare("lr", "nb")
    difference, error, bounds = contest.shown
    assert bounds is not None
    shown = f"lr − nb = {with_error(difference, error)} percentage points (95 % interval "
    assert shown in contest.words
    assert contest.margin_words == "lr and nb are equivalent within the margin of 5 points."
    page = within.report(tmp_path / "page.html").read_text()
    views = (str(contest), str(within), within.compare("lr", "nb")._repr_html_(), page)
    for text in (" ".join(one.replace("\xa0", " ").split()) for one in views):
        assert " points" in text
        assert not re.search(r"± [0-9.]+ %[ ,]95 % interval|interval [−0-9.]+ to [−0-9.]+ %", text)
    assert "Differences of accuracy, in percentage points, A minus B" in page
    assert within.plot_differences().get_xlabel().startswith("difference of accuracy, in percentage")
    (by_auc,) = common.compare("lr", "nb")
    assert by_auc.unit == by_auc.full_unit == ""


def test_text_for_a_paper_has_the_metrics_own_direction(common: Assessment) -> None:
    (contest,) = common.compare("lr", "nb")
    assert contest.difference is not None
    difference, error, _ = contest.shown
    assert difference == pytest.approx(-contest.difference)  # an area is better the larger it is
    sentence = contest.words
    assert f"lr − nb = {with_error(difference, error)}" in sentence
    assert "loses" not in sentence
