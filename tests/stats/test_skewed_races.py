"""The benchmark of what skewed effects cost any race: its likelihood ratio, and its two ends."""

import numpy as np
import pytest
from benchmarks.calibration.skewed_races import LOOKS, Races, log_ratio, of_level
from scipy import integrate


def density(sample: np.ndarray, of_one: str, unit: float) -> float:
    """Of the sample up to a factor: that of one over the unit, to be integrated."""
    of_normal = -((unit * sample - 2) ** 2) / 2 - np.log(2 * np.pi) / 2
    logs = of_normal if of_one == "normal" else unit * sample - 1
    return float(np.exp((len(sample) - 1) * np.log(unit) + logs.sum()))


@pytest.mark.parametrize("sets", [4, 7, 16])
def test_the_log_ratio_is_that_of_samples_up_to_a_factor(sets: int) -> None:
    drawn = np.random.default_rng(sets)
    for sample in (drawn.normal(2.0, 1.0, sets), 1 - drawn.exponential(size=sets)):
        found = log_ratio(3.7 * sample[None])[0]
        normal, _ = integrate.quad(lambda unit, x: density(x, "normal", unit), 0, np.inf, (sample,))
        skewed, _ = integrate.quad(lambda unit, x: density(x, "skewed", unit), 0, 1 / sample.max(), (sample,))
        assert found == pytest.approx(np.log(normal / skewed), abs=0.01)


def test_weighed_races_that_differ_are_wrong_as_often_as_races_that_do_not() -> None:
    """A rule with one threshold for the ratio at every look but the last, by both ways."""
    races = Races.simulated(4000, "a test")
    equal = 1 - np.random.default_rng(0).exponential(size=(4000, LOOKS[-1]))
    left, weighed = np.ones(4000, dtype=bool), 0.0
    for ratio in races.ratios[:-1]:
        weighed += np.exp(-ratio[left & (ratio >= 2.0)]).sum() / 4000
        left &= ratio < 2.0
    counted = np.any([log_ratio(equal[:, :sets]) >= 2.0 for sets in LOOKS[:-1]], axis=0).mean()
    assert counted == pytest.approx(0.095, abs=0.014)
    assert weighed == pytest.approx(counted, abs=0.014)


def test_the_bound_lies_below_the_rule_and_close_to_it() -> None:
    learning, judging = Races.simulated(3000, "learning"), Races.simulated(3000, "judging")
    rule = of_level(learning, 0.1)
    false, sets = rule.outcome(judging)
    least, error = rule.bound(Races.simulated(500, "bounding"), false)
    assert false == pytest.approx(0.1, abs=0.02)
    assert least - 3 * error < sets < least + 0.5
