"""Every object of the paper's lists passes scikit-learn's estimator checks; none is excused from any."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from redelve.methods import clop


class Stacked:
    """`clop.stacked` with a name that is the same in all processes: tests are named after hyperparameters."""

    def __call__(self, told: Any, targets: Any) -> Any:
        return clop.stacked(told, targets)

    def __repr__(self) -> str:
        return "stacked"


# A random_state reaches the object itself only: members that draw are given theirs.
QUICK = [
    clop.kridge(),
    clop.naive(),
    clop.neural(maxiter=20),
    clop.rf(units=5),
    clop.svc(shrinkage=0.1),
    clop.standardize(),
    clop.normalize(),
    clop.shift_n_scale(),
    clop.pc_extract(),
    clop.subsample(),
    clop.s2n(),
    clop.relief(),
    clop.gs(),
    clop.rffs(clop.rf(units=5)),
    clop.svcrfe(clop.svc(shrinkage=1.0)),
    clop.chain([clop.standardize(), clop.kridge()]),
    clop.ensemble([clop.kridge(shrinkage=1.0), clop.naive()]),
    clop.cv(clop.kridge(shrinkage=1.0), folds=2),
    clop.holdout(clop.kridge(shrinkage=1.0)),
    clop.bootstrap(clop.kridge(shrinkage=1.0), rounds=4),
    clop.grid(clop.kridge(), {"shrinkage": [1.0]}, folds=2),
]
SLOW = [
    clop.kridge(gamma=0.5, shrinkage=0.1),
    clop.chain([clop.s2n(), clop.standardize()]),
    clop.svc(),
    clop.svcrfe(),
    clop.rf(),
    clop.rffs(),
    clop.neural(),
    clop.neural(balance=True, restarts=3),
    clop.chain(
        [
            clop.subsample(p_max=60, random_state=0),
            clop.chain([clop.standardize(), clop.s2n(f_max=3)]),
            clop.neural(random_state=0),
        ]
    ),
    clop.ensemble([clop.neural(random_state=0), clop.kridge(), clop.naive()]),
    clop.ensemble([clop.rf(units=20, random_state=0), clop.kridge()], weights=Stacked()),
    clop.cv(clop.chain([clop.standardize(), clop.svc()]), folds=10),
]


def test_every_object_is_checked() -> None:
    assert {type(each) for each in QUICK} == set(clop.OBJECTS)


@parametrize_with_checks(QUICK)
def test_the_checks_of_scikit_learn_pass(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(SLOW)
def test_they_pass_with_other_hyperparameters_too(estimator: Any, check: Any) -> None:
    check(estimator)
