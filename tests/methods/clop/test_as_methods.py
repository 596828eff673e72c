"""Learning objects are methods of redelve, and large sparse tables are never filled."""

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import redelve
from redelve.methods import clop
from tests.methods.clop.cases import two_classes

METHODS = {
    "chain": clop.chain([clop.standardize, clop.s2n(f_max=3), clop.neural(maxiter=20)]),
    "ensemble": clop.ensemble([clop.kridge, clop.naive, clop.rf(units=5)]),
    "cv": clop.cv(clop.chain([clop.subsample(p_max=40), clop.naive]), folds=3),
}


def test_objects_can_be_assessed() -> None:
    X, y = two_classes(300)
    table = pd.DataFrame(X, columns=[f"x{place}" for place in range(6)])
    table["class"] = np.where(y > 0, "yes", "no")
    task = redelve.from_frame(table, "class", name="signs")
    assessment = redelve.assess({**METHODS, "constant": "constant"}, task, losses=["Z"])
    for name in METHODS:
        for contest in assessment.compare(name, "constant"):
            assert contest.winner == name


def test_their_seeds_come_from_the_job_down_to_the_last_member() -> None:
    method = redelve.as_method(METHODS["chain"])
    assert not method.fixed_seeds
    assert redelve.as_method(clop.chain([clop.neural(random_state=1)])).fixed_seeds


def test_other_hyperparameters_of_a_member_make_another_method() -> None:
    one, same, other = (
        redelve.as_method(clop.chain([clop.s2n(f_max=f_max), clop.kridge])).identity for f_max in (3, 3, 4)
    )
    assert one == same != other


@pytest.mark.parametrize(
    "name",
    ["chain", pytest.param("ensemble", marks=pytest.mark.slow), pytest.param("cv", marks=pytest.mark.slow)],
)
def test_they_conduct_themselves_as_methods_should(name: str) -> None:
    report = redelve.check_method(METHODS[name])
    assert report.passed, str(report)


LARGE = [
    clop.kridge(),
    clop.kridge(degree=2, gamma=0.1),
    clop.svc(shrinkage=1.0),
    clop.naive(),
    clop.standardize(),
    clop.normalize(),
    clop.shift_n_scale(take_log=True),
    clop.pc_extract(f_max=3),
    clop.subsample(p_max=20),
    clop.s2n(f_max=5),
    clop.relief(f_max=5),
    clop.gs(f_max=5, ranked=5),
]


@pytest.mark.parametrize("learner", LARGE, ids=lambda each: each.called)
def test_a_large_sparse_table_is_never_filled(learner: Any) -> None:
    """Dense it would take 60 × 400,000 × 8 bytes, 192 MB."""
    random = np.random.default_rng(0)
    X = sp.random_array((60, 400_000), density=1e-4, format="csr", rng=random, data_sampler=random.uniform)
    y = np.where(np.arange(60) % 2, 1, -1)
    tracemalloc.start()
    learner.fit(X, y)
    made = learner.transform(X) if hasattr(learner, "transform") else learner.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert made.shape[0] == 60
    assert peak < 100e6
