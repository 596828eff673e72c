"""PROBEN1's error measures of what any method answered."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from redelve.assessment import assess
from redelve.data.proben1 import assignment_of, problem
from redelve.data.proben1.dt_files import write_dt
from redelve.errors import SpecError
from redelve.findings.error_percentages import run_errors
from redelve.stats.output_errors import STRICT, classification_error, classify, squared_error_percentage
from tests.data.proben1.test_tasks import classes_file, numbers_file, with_outputs


def test_class_probabilities_are_measured_as_a_network_s_outputs(tmp_path: Path) -> None:
    """The same numbers by scikit-learn alone and the arrays of the file."""
    file = classes_file(120)
    write_dt(tmp_path / "own.dt", file)
    found = assess({"logistic": LogisticRegression()}, assignment_of(file, name="own"))
    (made,) = run_errors(found.results)
    answer = found.results.records[0].answer
    assert answer is not None
    assert answer.probabilities is not None
    outputs, targets = answer.probabilities.values, problem(tmp_path / "own.dt").test.outputs
    assert made.squared_error_percentage == pytest.approx(float(squared_error_percentage(outputs, targets)))
    assert made.classification_error == pytest.approx(float(classification_error(outputs, targets)))
    verdict = classify(outputs, targets, STRICT)
    assert (made.strict_wrong, made.strict_rejected) == (float(verdict.wrong), float(verdict.rejected))
    assert made.half_rejected is not None
    assert made.strict_rejected is not None
    assert made.half_rejected <= made.strict_rejected


def test_numbers_are_measured_by_all_outputs_and_their_range() -> None:
    file = numbers_file()
    found = assess({"ridge": Ridge()}, assignment_of(file, name="own"))
    (made,) = run_errors(found.results)
    answer = found.results.records[0].answer
    assert answer is not None
    assert answer.guesses is not None
    outputs, targets = np.column_stack(answer.guesses.values), file.outputs[30:]
    expected = float(squared_error_percentage(outputs, targets))
    assert made.squared_error_percentage == pytest.approx(expected)
    assert made.classification_error is None
    wider = run_errors(found.results, output_range=(-1.0, 1.0))[0].squared_error_percentage
    assert wider == pytest.approx(2 * expected)
    with pytest.raises(SpecError, match="empty"):
        run_errors(found.results, output_range=(1.0, 1.0))


def test_one_boolean_output_is_one_node() -> None:
    file = with_outputs(np.array([[0.0, 1.0] * 20]).T)
    found = assess(["constant"], assignment_of(file, name="own"))
    answer = found.results.records[0].answer
    assert answer is not None
    assert answer.probabilities is not None
    (made,) = run_errors(found.results)
    one = answer.probabilities.values[:, 1:]
    assert made.squared_error_percentage == pytest.approx(
        float(squared_error_percentage(one, file.outputs[30:]))
    )


def test_a_method_without_probabilities_has_a_classification_error_alone() -> None:
    found = assess({"svc": LinearSVC()}, assignment_of(classes_file(), name="own"))
    frame = found.error_percentages()
    assert frame["classification_error"].notna().all()
    assert frame[["squared_error_percentage", "half_wrong"]].isna().all(axis=None)


def test_an_archive_gives_the_same(tmp_path: Path) -> None:
    given = assignment_of(classes_file(), name="own")
    kept = assess(["constant"], given, archive=tmp_path / "archive", runs=2).error_percentages()
    assert kept.equals(assess(["constant"], given, runs=2).error_percentages())
    assert len(kept) == 2
