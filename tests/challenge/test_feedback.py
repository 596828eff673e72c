"""What is shown of validation scores: steps, the largest standard error, and how sure the board may be."""

import re
from pathlib import Path

import numpy as np
import pytest

from redelve.challenge import ChallengeRules, Rounding, ShownEntry, read_challenge, shown_leaderboard
from redelve.challenge.feedback import largest_sigma, weak_feedback
from redelve.errors import FormatError, StatisticsError
from redelve.stats.standings import apart_p_values
from tests.challenge.server.bench import make_challenge


@pytest.mark.parametrize(
    ("positive", "negative", "step"), [(1500, 1500, 0.005), (100, 200, 0.01), (13, 27, 0.05), (2, 2, 0.1)]
)
def test_the_step_is_about_half_a_standard_error(positive: int, negative: int, step: float) -> None:
    labels = np.repeat(np.array([1, -1], dtype=np.int8), [positive, negative])
    assert Rounding.of(labels).step == step
    assert 0.6 < step / (largest_sigma(0.25, (negative, positive)) / 2) < 1.7


@pytest.mark.parametrize("ber", [0.0, 0.02, 0.3, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("counts", [(50, 50), (970, 30)])
def test_no_division_of_the_errors_has_a_larger_sigma(ber: float, counts: tuple[int, int]) -> None:
    rates = np.linspace(max(0, 2 * ber - 1), min(1, 2 * ber), 4001)
    others = 2 * ber - rates
    sigmas = np.sqrt(rates * (1 - rates) / counts[1] + others * (1 - others) / counts[0]) / 2
    assert largest_sigma(ber, counts) == pytest.approx(sigmas.max(), rel=1e-4, abs=1e-12)


@pytest.mark.parametrize("split", [(0.2, 0.2), (0.36, 0.04)])
def test_equal_entries_are_told_apart_no_more_often_than_the_level(
    split: tuple[float, float], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Six entries that err independently with the same BER: any told apart is a mistake."""
    challenge = make_challenge(tmp_path_factory.mktemp("level") / "challenge")
    rng, runs, mistakes = np.random.default_rng(3), 400, 0
    rounding = Rounding.of(np.repeat(np.array([1, -1], dtype=np.int8), [60, 140]))
    for run in range(runs):
        missed, alarmed = rng.binomial(60, split[0], 6) / 60, rng.binomial(140, split[1], 6) / 140
        shown = [
            rounding.shown(rounding.rounded(float(ber), b"s", f"{run}:{k}".encode()))
            for k, ber in enumerate((missed + alarmed) / 2)
        ]
        entries = [ShownEntry(str(k), str(k), {"ada": one}) for k, one in enumerate(shown)]
        rows = shown_leaderboard(entries, challenge).datasets["ada"]
        mistakes += any(row.first != 1 or row.last != 6 for row in rows)
    level = 0.05 / 2  # shared by two datasets
    assert mistakes / runs < level + 3 * np.sqrt(level * (1 - level) / runs)


def test_values_far_apart_are_told_apart() -> None:
    assert apart_p_values([0.3, 0.1], [0.03, 0.03])[0, 1] < 1e-5
    with pytest.raises(StatisticsError, match="standard error above 0"):
        apart_p_values([0.3, 0.1], [0.03, 0.0])


def test_rules_are_read_and_wrong_ones_told_with_their_line(tmp_path: Path) -> None:
    rules = ChallengeRules(validation_feedback="ladder")
    challenge = make_challenge(tmp_path / "challenge", rules=rules)
    assert challenge.rules == rules
    path = challenge.folder / "challenge.toml"
    path.write_text(path.read_text().replace('"ladder"', '"stairs"'))
    with pytest.raises(FormatError, match=r"toml, line \d+: validation_feedback is one of rounded, ladder"):
        read_challenge(challenge.folder)
    path.write_text(re.sub(r"\[rules\](.|\n)*?(?=\[\[)", "", path.read_text()))
    assert read_challenge(challenge.folder).rules == ChallengeRules()


def test_a_quota_that_gives_labels_away_is_warned_of(tmp_path: Path) -> None:
    weak = make_challenge(tmp_path / "a")
    assert "40 validation cases" in str(weak_feedback(weak))
    strong = make_challenge(tmp_path / "b", rules=ChallengeRules(validation_feedback="ladder"))
    assert weak_feedback(strong) is None
