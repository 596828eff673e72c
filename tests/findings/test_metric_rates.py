"""How often tests and intervals of metrics err, end to end; the long version is in docs/calibration.md."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.calibration.metrics import MetricSetting, measured, truths, worth
from benchmarks.calibration.metrics import learnt as learn
from sklearn import metrics as sk

COUNT = 150


def slack(rate: float) -> float:
    """Three standard errors of a percentage."""
    return 3 * float(np.sqrt(rate * (100 - rate) / COUNT))


@pytest.mark.parametrize(
    "setting",
    [
        MetricSetting("one", 1, 200, 0.5),
        MetricSetting("common", 4, 100, None),
        MetricSetting("folds", 10, 200, 0.225, shrunken=True),
    ],
    ids=str,
)
def test_levels_and_coverages_are_what_is_promised(setting: MetricSetting) -> None:
    for name, rates in measured(setting, COUNT, np.random.default_rng(5)).items():
        assert rates.level <= 5 + slack(5), name
        if name == "average_precision" and setting.design == "folds":
            assert rates.without == 100
        else:
            assert rates.coverage >= 95 - slack(95), name


def test_formulas_agree_with_endless_cases() -> None:
    rng = np.random.default_rng(7)
    share = 0.2
    model = learn((80, 20), share, 1, rng)
    positive = rng.random(200_000) < share
    inputs = rng.standard_normal((200_000, 3)) + positive[:, None] * 1.6 / np.sqrt(3)
    scores = model.scores(inputs)[0]
    found = worth(model, share)
    wanted = {
        "roc_auc": sk.roc_auc_score(positive, scores),
        "average_precision": sk.average_precision_score(positive, scores),
        "balanced_accuracy": sk.balanced_accuracy_score(positive, scores > 0),
        "f1": sk.f1_score(positive, scores > 0),
        "matthews_corrcoef": sk.matthews_corrcoef(positive, scores > 0),
        "log_loss": sk.log_loss(positive, 1 / (1 + np.exp(-scores))),
    }
    for name, value in wanted.items():
        assert found[name][0] == pytest.approx(value, abs=0.01), name
    assert 0.8 < truths(MetricSetting("common", 4, 200, 0.5))["roc_auc"] < 0.9
