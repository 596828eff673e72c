"""Training graphs and efficiency graphs: files that never differ, and numbers beside them."""

import numpy as np
import pytest
from benchmarks.calibration.times import bursts, exclusive_or, settings

from redelve.report.drawing import save, save_all
from redelve.report.formatting import to_csv
from redelve.report.trial_times import Measured, describe, measure, pictures
from redelve.stats.training_time import trial_times


@pytest.fixture(scope="module")
def measured() -> tuple[Measured, ...]:
    rng = np.random.default_rng(1)
    known = settings()
    return (
        measure("exclusive-or", exclusive_or().trials(2000, rng)),
        measure("encoder <&>", known[1].trials(100, rng)),
        measure("bursts", bursts(500, rng)),
    )


def test_both_graphs_are_drawn_and_drawn_alike(measured: tuple[Measured, ...]) -> None:
    for several in (measured, measured[:1], measured[1:2]):
        for picture in pictures(several):
            svg = save(picture, "svg")
            assert svg == save(picture, "svg")
            assert b"<svg" in svg
    assert save_all(pictures(measured)).startswith(b"%PDF")


def test_graphs_have_their_numbers_beside_them(measured: tuple[Measured, ...]) -> None:
    table = pictures(measured)[1].table
    assert table is not None
    lines = to_csv(table).splitlines()
    assert lines[0] == "algorithm,e,standard_error,T_E,T_E1,T_E2,success_rate,asymptotic_success_rate"
    assert lines[2].split(",")[3] == "inf"
    assert lines[3].endswith(",")  # no asymptotic rate: the model does not fit


def test_the_description_says_when_the_model_does_not_fit(measured: tuple[Measured, ...]) -> None:
    text = describe(measured)
    assert "the model does not fit" in text
    assert "best limit T_E     ∞" in text
    assert "Differences of efficiency" in text
    assert max(map(len, text.splitlines())) < 130
    assert "Differences" not in describe(measured[:1])


def test_a_mean_that_exists_is_shown() -> None:
    rng = np.random.default_rng(2)
    times = 5 + rng.exponential(20, 800)
    text = describe([measure("steady", trial_times(times, limit=60))])
    line = next(line for line in text.splitlines() if "corrected mean" in line)
    assert " to " in line


def test_many_trials_make_small_files() -> None:
    times = np.random.default_rng(3).gamma(4, 5, 200_000)
    for picture in pictures([measure("many", trial_times(times, limit=40))]):
        assert len(save(picture, "svg")) < 400_000
