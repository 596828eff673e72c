"""Table 1 beside ours: what is printed, what follows from the model, and when nothing is said."""

from math import inf, isfinite

import numpy as np
import pytest
from numpy.typing import NDArray

from redelve.report.formatting import to_csv
from redelve.studies.hamey import (
    PUBLISHED,
    Setting,
    TableRow,
    TrialPlan,
    Trials,
    compare_with_table,
    describe_row,
    encoder,
    exclusive_or,
    parity,
    run_trials,
    table_of,
)


@pytest.fixture(scope="module")
def small() -> TableRow:
    return compare_with_table(run_trials(TrialPlan(exclusive_or(), PUBLISHED["xor"].setting, 1000, 2000)))


def made_up(epochs: NDArray[np.int64], limit: int) -> Trials:
    plan = TrialPlan(parity(3), Setting(1.0, 0.0, 1.0), len(epochs), limit)
    return Trials(plan, epochs, epochs < limit, 0.0)


def number(row: TableRow, symbol: str) -> float:
    ours = row.line(symbol).ours
    assert ours is not None
    return ours


def half_width(row: TableRow) -> float:
    bounds = row.measured.efficiency.interval()
    assert bounds is not None
    return (bounds[1] - bounds[0]) / 2


def test_every_printed_number_stands_beside_ours(small: TableRow) -> None:
    printed = {line.symbol: line.published for line in small.lines if line.published is not None}
    assert printed == {symbol: number.value for symbol, number in PUBLISHED["xor"].numbers.items()}
    assert small.line("e").ours == small.measured.efficiency.efficiency
    assert small.line("λ_T").ours == small.trials.succeeded.mean()
    assert small.line("t̄_E").ours == pytest.approx(1000 / number(small, "e"))


def test_the_printed_form_of_lambda_and_the_models_are_told_apart(small: TableRow) -> None:
    printed, model = (line for line in small.lines if line.symbol == "λ")
    assert (printed.note, model.note) == ("as printed", "as follows from the model")
    assert printed.ours is not None
    assert model.ours is not None
    assert printed.ours > model.ours + 0.05
    assert model.published is None


def test_published_errors_are_ours_for_as_many_trials(small: TableRow) -> None:
    line = small.line("λ_T")
    assert line.error is not None
    theirs = np.hypot(line.error * np.sqrt(1000 / 10_000), 0.01 / np.sqrt(12))
    assert line.published_error == pytest.approx(theirs)
    assert line.z == pytest.approx((number(small, "λ_T") - 0.76) / np.hypot(line.error, theirs))


def test_what_depends_on_the_limit_is_compared_for_the_same_limit_only(small: TableRow) -> None:
    other = compare_with_table(run_trials(TrialPlan(exclusive_or(), PUBLISHED["xor"].setting, 200, 100)))
    for symbol in ("λ_T", "t̄_T", "t̄_H"):
        assert small.line(symbol).z is not None
        assert other.line(symbol).z is None
    assert other.line("e").z is not None
    assert other.line("T_E2").z is None
    assert other.line("T_E2").note == "or beyond the limit"


def test_other_settings_have_nothing_printed_beside_them() -> None:
    row = compare_with_table(run_trials(TrialPlan(exclusive_or(), Setting(1.4, 0.65, 8.0), 200, 300)))
    assert all(line.published is None and line.z is None for line in row.lines)
    assert "–" in describe_row(row)


def test_no_numbers_where_the_model_does_not_fit() -> None:
    rng = np.random.default_rng(1)
    steps = 100 * rng.integers(1, 10, 2000)  # successes only at every hundredth epoch: no smooth tail
    row = compare_with_table(made_up(np.where(rng.random(2000) < 0.8, steps, 1000), 1000))
    assert not row.measured.tail.fits
    for symbol in ("a", "k", "T_0", "γ", "λ", "t̄_C"):
        assert row.line(symbol).ours is None
        assert row.line(symbol).note.startswith("the model does not fit")
    assert describe_row(row).count("does not fit (see below)") == 6
    assert row.line("e").ours is not None


def test_no_tail_where_no_trial_failed() -> None:
    row = compare_with_table(run_trials(TrialPlan(encoder(), PUBLISHED["encoder-10-5"].setting, 50, 600)))
    assert {line.symbol for line in row.lines}.isdisjoint({"a", "k", "T_0", "γ"})
    assert row.line("λ").ours == 1.0
    assert row.line("T_E").ours == row.line("T_E").published == inf
    assert row.line("T_E").z is None


def test_the_table_has_full_numbers(small: TableRow) -> None:
    lines = to_csv(table_of([small])).splitlines()
    assert lines[0] == "problem,measure,meaning,published,published_error,ours,our_error,z,note"
    assert len(lines) == 1 + len(small.lines)
    assert float(lines[1].split(",")[5]) == small.line("e").ours


def test_the_text_fits_a_terminal(small: TableRow) -> None:
    text = describe_row(small)
    assert "exclusive-or 2-2-1, back-propagation, r = 1.4, α = 0.65, η = 7" in text
    assert "17.1 ± 0.3" in text
    assert max(map(len, text.splitlines())) <= 102


@pytest.mark.slow
def test_exclusive_or_is_as_published() -> None:
    row = compare_with_table(
        run_trials(TrialPlan(exclusive_or(), PUBLISHED["xor"].setting, 10_000, 2000, "table"))
    )
    assert number(row, "e") == pytest.approx(17.1, abs=0.6)
    assert number(row, "λ_T") == pytest.approx(0.76, abs=0.02)
    assert number(row, "t̄_T") == pytest.approx(50, abs=4)
    assert number(row, "t̄_H") == pytest.approx(40, abs=2)
    assert 45 <= number(row, "T_E") <= 56
    assert half_width(row) == pytest.approx(0.3, abs=0.1)
    for line in row.lines:
        assert line.z is None or abs(line.z) < 4


@pytest.mark.slow
def test_the_encoder_is_as_published() -> None:
    plan = TrialPlan(encoder(), PUBLISHED["encoder-10-5"].setting, 1000, 600, "table")
    row = compare_with_table(run_trials(plan))
    assert number(row, "e") == pytest.approx(8.1, abs=0.3)
    assert number(row, "λ") == number(row, "λ_T") == 1.0
    assert number(row, "t̄_T") == pytest.approx(124, abs=5)
    assert not isfinite(number(row, "T_E"))
    assert half_width(row) == pytest.approx(0.2, abs=0.1)
