"""Metrics by scikit-learn's names: values are scikit-learn's, pseudo-values leave one case out."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import cloudpickle
import numpy as np
import pytest
from sklearn import metrics as sk

from redelve.answers.answer import Answer, score
from redelve.answers.losses import LOSSES, METRICS, Loss, Metric, as_loss, canonical_code, parse_loss
from redelve.answers.losses.scorer_metrics import BLOCKS, CalledMetric
from redelve.answers.predictions import ClassProbabilities, Guesses, Target, Truth
from redelve.errors import PredictionError, SpecError
from redelve.model.dataset import Numbers
from redelve.run.pooled_answers import joined_predictions
from redelve.stats.units import pool_units

Made = tuple[Truth, Answer, Numbers, Numbers]
"""Truth and answer, and what scikit-learn is given for them."""
AVERAGES = ("macro", "micro", "weighted")


def classes(levels: int, cases: int = 60, *, ties: bool = False) -> Made:
    """Cases of several classes with probabilities, some of which are alike."""
    rng = np.random.default_rng(levels + ties)
    target = Target("kind", "categorical", tuple("abcdef"[:levels]))
    truth = rng.integers(0, levels, cases).astype(np.float64)
    rows = rng.dirichlet(np.ones(levels), cases)
    rows[np.arange(cases), truth.astype(int)] += 0.3
    rows = np.round(rows, 1) + 0.05 if ties else rows
    rows = rows / rows.sum(axis=1, keepdims=True)
    held = ClassProbabilities.from_probabilities(target, rows)
    return Truth.exact(target, truth), Answer(probabilities=held), truth, held.values


def numbers(cases: int = 60) -> Made:
    rng = np.random.default_rng(4)
    target, truth = Target("size", "real"), rng.normal(5, 1, cases)
    guesses = truth + rng.normal(0, 0.5, cases)
    return Truth.exact(target, truth), Answer(guesses=Guesses((target,), (guesses,))), truth, guesses


def labelled(function: Callable[..., float], **options: object) -> Callable[[Numbers, Numbers], float]:
    return lambda truth, rows: float(function(truth, rows.argmax(axis=1), **options))


def scored(function: Callable[..., float], **options: object) -> Callable[[Numbers, Numbers], float]:
    return lambda truth, rows: float(function(truth, rows[:, 1] if rows.shape[1] == 2 else rows, **options))


OF_SHARES = {
    "f1": sk.f1_score,
    "precision": sk.precision_score,
    "recall": sk.recall_score,
    "jaccard": sk.jaccard_score,
}
TWO_CLASSES = {
    "roc_auc": scored(sk.roc_auc_score),
    "average_precision": scored(sk.average_precision_score),
    **{name: labelled(function) for name, function in OF_SHARES.items()},
}
SEVERAL = {
    f"roc_auc_{how}{end}": scored(sk.roc_auc_score, multi_class=how, average=average)
    for how in ("ovr", "ovo")
    for end, average in (("", "macro"), ("_weighted", "weighted"))
}
ANY_CLASSES = {
    "accuracy": labelled(sk.accuracy_score),
    "balanced_accuracy": labelled(sk.balanced_accuracy_score),
    "matthews_corrcoef": labelled(sk.matthews_corrcoef),
    "cohen_kappa": labelled(sk.cohen_kappa_score),
    "log_loss": sk.log_loss,
    "brier": scored(sk.brier_score_loss),
    **{
        f"{name}_{average}": labelled(function, average=average)
        for name, function in OF_SHARES.items()
        for average in AVERAGES
    },
}
OF_NUMBERS = {
    "rmse": sk.root_mean_squared_error,
    "r2": sk.r2_score,
    "mae": sk.mean_absolute_error,
    "mse": sk.mean_squared_error,
    "mape": sk.mean_absolute_percentage_error,
    "pinball": lambda truth, guess: sk.mean_pinball_loss(truth, guess, alpha=0.5),
    "pinball@0.9": lambda truth, guess: sk.mean_pinball_loss(truth, guess, alpha=0.9),
}
CASES = [
    *[(name, function, classes(2)) for name, function in (TWO_CLASSES | ANY_CLASSES).items()],
    *[(name, function, classes(2, ties=True)) for name, function in TWO_CLASSES.items()],
    *[(name, function, classes(4)) for name, function in (SEVERAL | ANY_CLASSES).items()],
    *[(name, function, numbers()) for name, function in OF_NUMBERS.items()],
]
IDS = [f"{name}-{len(made[0].target.levels)}-{place}" for place, (name, _, made) in enumerate(CASES)]
LABELS = np.random.default_rng(9).permutation(np.arange(60) % 17)


def own(loss: Loss, value: float) -> float:
    """A loss as the metric's own value."""
    return loss.metric_value(value)


def test_every_metric_is_in_one_of_these_lists() -> None:
    listed = {canonical_code(name) for name in (*TWO_CLASSES, *SEVERAL, *ANY_CLASSES, *OF_NUMBERS)}
    computed = set(METRICS) - {"score"}  # of scores brought by the user nothing is computed here
    assert {canonical_code(name) for name in computed} == listed - {"pinball@0.9"}
    assert not set(METRICS) & set(LOSSES)


@pytest.mark.parametrize(("name", "function", "made"), CASES, ids=IDS)
def test_its_value_is_scikit_learns_and_the_mean_of_what_cases_have(
    name: str, function: Callable[..., float], made: Made
) -> None:
    truth, answer, *given = made
    loss = parse_loss(name)
    found = score(answer, [truth], [loss])[loss.code]
    assert found.shape == (len(truth),)
    assert own(loss, float(found.mean())) == pytest.approx(function(*given), abs=1e-12)
    assert loss.higher_is_better == (loss.shown_value(0.1) > loss.shown_value(0.2))


@pytest.mark.parametrize(
    ("name", "function", "made"),
    [one for one in CASES if not parse_loss(one[0]).mean_of_cases],
    ids=[key for key, one in zip(IDS, CASES, strict=True) if not parse_loss(one[0]).mean_of_cases],
)
def test_pseudo_values_leave_one_case_or_one_group_out(
    name: str, function: Callable[..., float], made: Made
) -> None:
    truth, answer, true, found = made
    loss = parse_loss(name)
    assert isinstance(loss, Metric)
    prediction = loss.part_of(answer)
    assert prediction is not None
    for labels, few in ((np.arange(60), 6), (LABELS, 6)):
        _, without = loss.left_out(truth, prediction, labels if labels is LABELS else None)
        assert len(without) == len(np.unique(labels))
        wanted = [function(true[labels != one], found[labels != one]) for one in range(few)]
        np.testing.assert_allclose(without[:few], wanted, atol=1e-12)


def test_values_of_groups_are_spread_over_cases_and_pooled_again() -> None:
    truth, answer, _, _ = classes(2)
    loss = parse_loss("roc_auc")
    assert isinstance(loss, Metric)
    value, without = loss.left_out(truth, loss.part_of(answer), LABELS)  # type: ignore[arg-type]
    wanted = value + 16 * (without.mean() - without)
    pooled = pool_units([score(answer, [truth], [loss], LABELS)["roc_auc"]], [LABELS])[0]
    np.testing.assert_allclose(1 - pooled, wanted, atol=1e-12)


def test_blocks_of_one_are_leave_one_out() -> None:
    truth, answer, _, _ = classes(2, BLOCKS)
    called = as_loss(sk.make_scorer(sk.roc_auc_score, response_method="predict_proba", max_fpr=1.0))
    assert isinstance(called, CalledMetric)
    blocks, exact = (score(answer, [truth], [one])[one.code] for one in (called, parse_loss("roc_auc")))
    np.testing.assert_allclose(blocks + 1, exact, atol=1e-12)


def test_scorers_and_functions_are_the_registered_metrics_where_they_mean_them() -> None:
    meant = {
        "f1": sk.f1_score,
        "roc_auc": sk.get_scorer("roc_auc"),
        "f1_macro": sk.make_scorer(sk.f1_score, average="macro"),
        "rmse": sk.root_mean_squared_error,
        "accuracy": sk.accuracy_score,
    }
    assert {as_loss(given).code for given in meant.values()} == set(meant)
    assert canonical_code("neg_root_mean_squared_error") == "rmse"


def test_a_function_of_the_users_has_its_value_and_direction() -> None:
    truth, answer, true, rows = classes(2, 200)

    def gain_score(y_true: Numbers, y_pred: Numbers) -> float:
        return float(sk.fbeta_score(y_true, y_pred, beta=2, pos_label="b"))

    loss = as_loss(gain_score)
    found = score(answer, [truth], [loss])[loss.code]
    names = np.array(["a", "b"])
    wanted = gain_score(names[true.astype(int)], names[rows.argmax(axis=1)])
    assert own(loss, float(found.mean())) == pytest.approx(wanted, abs=1e-12)
    assert loss.higher_is_better
    assert not loss.is_builtin
    again = pickle.loads(cloudpickle.dumps(loss))
    np.testing.assert_array_equal(score(answer, [truth], [again])[loss.code], found)


def test_of_numbers_a_function_leaves_out_blocks_of_cases() -> None:
    truth, answer, true, guesses = numbers(1000)
    loss = parse_loss("explained_variance")
    found = score(answer, [truth], [loss])[loss.code]
    assert len(np.unique(found)) == BLOCKS + 1  # and the mean
    assert own(loss, float(found.mean())) == pytest.approx(
        sk.explained_variance_score(true, guesses), abs=1e-12
    )
    labels = loss.unit_numbers(truth, None)
    assert labels is not None
    by_blocks = pool_units([found], [labels])[0].std(ddof=1) / BLOCKS**0.5
    exact = score(answer, [truth], [parse_loss("r2")])["r2"].std(ddof=1) / 1000**0.5
    assert by_blocks == pytest.approx(exact, rel=0.35)


def test_a_positive_class_can_be_chosen() -> None:
    truth, answer, true, rows = classes(3)
    loss = parse_loss("roc_auc@b")
    found = score(answer, [truth], [loss])[loss.code]
    assert own(loss, float(found.mean())) == pytest.approx(sk.roc_auc_score(true == 1, rows[:, 1]), abs=1e-12)
    assert loss.shown(0.25) == "AUC of class b 0.75"


def test_values_are_shown_in_the_users_words() -> None:
    assert parse_loss("accuracy").shown(0.0884) == "accuracy 91.2 %"
    assert parse_loss("rmse").shown(3.2) == "RMSE 3.2"
    assert parse_loss("roc_auc").shown(0.13) == "AUC 0.87"
    assert parse_loss("S").shown(0.5) == "squared error 0.5"
    assert parse_loss("accuracy").shown(None) == "accuracy unknown"
    assert not parse_loss("S").higher_is_better


def test_a_class_with_one_case_leaves_it_undefined_and_says_why() -> None:
    target = Target("kind", "categorical", ("a", "b"))
    truth = Truth.exact(target, [0.0] * 9 + [1.0])
    answer = Answer(guesses=Guesses((target,), (truth.values,)))
    loss = parse_loss("balanced_accuracy")
    assert np.isnan(score(answer, [truth], [loss])[loss.code]).all()
    assert 'class "b" has a single test case' in str(loss.why_undefined([truth]))
    assert "all test cases are of class" in str(loss.why_undefined([Truth.exact(target, [0.0] * 9)]))
    assert "mape divides by the target, which is 0 in 1 of 2" in str(
        parse_loss("mape").why_undefined([Truth.exact(Target("x", "real"), [0.0, 1.0])])
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("roc_uac", 'did you mean "roc_auc"'),
        ("max_error", "rests on one case"),
        ("pinball@2", "between 0 and 1"),
        (lambda y, p: 0.0, "greater_is_better=True"),
        (3, "is no loss"),
    ],
)
def test_what_is_no_metric_is_refused_with_a_way_out(given: object, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        as_loss(given)  # type: ignore[arg-type]


def test_metrics_that_do_not_suit_the_target_are_refused() -> None:
    three, size = Target("kind", "categorical", ("a", "b", "c")), Target("size", "real")
    assert "roc_auc_ovo" in str(parse_loss("roc_auc").why_not([three]))
    assert "f1_macro" in str(parse_loss("f1").why_not([three]))
    assert "is for categorical targets" in str(parse_loss("accuracy").why_not([size])) or "integer" in str(
        parse_loss("accuracy").why_not([size])
    )
    assert "real" in str(parse_loss("rmse").why_not([three]))
    with pytest.raises(SpecError, match='no level "x"'):
        parse_loss("f1@x").why_not([three])
    silent = Guesses((three,), (np.array([np.nan, 1.0]),))
    with pytest.raises(PredictionError, match="balanced_accuracy demands one"):
        parse_loss("balanced_accuracy").of([Truth.exact(three, [0.0, 1.0])], silent)


def test_a_perfect_answer_loses_nothing_and_a_constant_one_the_baseline() -> None:
    truth, _, true, _ = classes(2)
    right = ClassProbabilities.from_probabilities(truth.target, np.eye(2)[true.astype(int)])
    same = ClassProbabilities.from_probabilities(truth.target, np.full((60, 2), 0.5))
    for name in ("roc_auc", "average_precision", "balanced_accuracy", "f1", "matthews_corrcoef"):
        loss = parse_loss(name)
        assert isinstance(loss, Metric)
        perfect, constant = (
            score(Answer(probabilities=one), [truth], [loss])[name].mean() for one in (right, same)
        )
        assert perfect == pytest.approx(0, abs=1e-12)
        baseline = loss.baseline([truth])
        assert baseline is not None
        assert baseline <= constant + 1e-12


def test_probabilities_are_judged_as_they_were_told() -> None:
    """A zero has a floor in the log loss of redelve, and scikit-learn's own in log_loss."""
    target = Target("kind", "categorical", ("a", "b"))
    told = np.array([[1.0, 0.0], [0.2, 0.8], [0.0, 1.0], [0.6, 0.4]])
    held = ClassProbabilities.from_probabilities(target, told + 0.01, told)
    truth = Truth.exact(target, [1.0, 1.0, 1.0, 0.0])
    found = score(Answer(probabilities=held), [truth], [parse_loss("log_loss"), parse_loss("roc_auc@b")])
    wanted = sk.log_loss(truth.values, told)
    assert found["log_loss"].mean() == pytest.approx(wanted, rel=1e-12)
    both = joined_predictions([held, held])
    assert isinstance(both, ClassProbabilities)
    np.testing.assert_array_equal(both.values, np.concatenate([told, told]))
