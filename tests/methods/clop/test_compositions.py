"""The paper's examples: chains, ensembles, their hyperparameters, data, train and test."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from redelve.methods import clop
from tests.methods.clop.cases import sparse_counts, three_classes, two_classes


def test_the_chain_of_the_paper() -> None:
    """`cm=chain({standardize, neural});`, with objects or with their classes."""
    X, y = two_classes()
    for members in ([clop.standardize(), clop.neural(random_state=0)], [clop.standardize, clop.neural]):
        cm = clop.chain(members)
        assert is_classifier(cm)
        cm.set_params(neural__random_state=0)
        by_hand = clop.neural(random_state=0).fit(scaled := clop.standardize().fit_transform(X), y)
        np.testing.assert_array_equal(cm.fit(X, y).decision_function(X), by_hand.decision_function(scaled))
        assert cm.score(X, y) > 0.9


def test_the_ensemble_of_the_paper() -> None:
    """`em=ensemble({neural, kridge, naive});`: the sum of the outputs, with weights of one."""
    X, y = two_classes()
    em = clop.ensemble([clop.neural, clop.kridge, clop.naive]).set_params(neural__random_state=0).fit(X, y)
    neural, kridge, naive = (
        clop.neural(random_state=0).fit(X, y),
        clop.kridge().fit(X, y),
        clop.naive().fit(X, y),
    )
    share = naive.predict_proba(X)[:, 1]
    expected = neural.decision_function(X) + kridge.decision_function(X) + 2 * share - 1
    np.testing.assert_allclose(em.decision_function(X), expected)
    np.testing.assert_array_equal(em.predict(X), np.where(expected > 0, 1, -1))
    assert list(em.weights_) == [1, 1, 1]


def test_the_cross_validation_of_the_paper() -> None:
    """`cv_model=cv(my_model, {'folds=10'}); cv_output = train(cv_model, Dtrain);`"""
    X, y = two_classes()
    cv_model = clop.cv(clop.chain([clop.standardize, clop.kridge]), folds=10, random_state=0)
    cv_output, trained = clop.train(cv_model, clop.data(X, y))
    assert cv_output.X.shape == (60,)
    assert len(trained.split_errors_) == 10
    assert 0 <= trained.guess_ < 0.3


def test_data_train_and_test_are_the_papers() -> None:
    X, y = two_classes()
    D = clop.data(X, y)
    assert D.X is X
    assert D.Y is y
    model0 = clop.kridge(shrinkage=1.0)
    Dout, model1 = clop.train(model0, D)
    assert not hasattr(model0, "coef_")
    np.testing.assert_array_equal(Dout.X, model1.decision_function(X))
    np.testing.assert_array_equal(clop.test(model1, clop.data(X[:5])).X, model1.decision_function(X[:5]))
    selected, ranking = clop.train(clop.s2n(f_max=2), D)
    np.testing.assert_array_equal(selected.X, ranking.transform(X))
    assert clop.train(clop.standardize, D)[0].X.shape == X.shape


def test_chains_and_ensembles_are_parts_of_each_other() -> None:
    X, y = three_classes()
    inner = clop.ensemble([clop.chain([clop.s2n(f_max=3), clop.kridge]), clop.naive])
    model = clop.chain([clop.standardize, clop.chain([clop.pc_extract, clop.gs(f_max=3)]), inner])
    assert (model.fit(X, y).predict(X) == y).mean() > 0.9
    assert model.n_features_in_ == 4
    assert list(model.classes_) == ["ash", "birch", "cedar"]


def test_a_classifier_in_a_chain_feeds_its_outputs_on() -> None:
    X, y = three_classes()
    first = clop.kridge(shrinkage=1.0).fit(X, y)
    second = clop.naive().fit(first.decision_function(X), y)
    model = clop.chain([clop.kridge(shrinkage=1.0), clop.naive()]).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), second.predict_proba(first.decision_function(X)))


def test_a_chain_does_what_its_last_member_does() -> None:
    selecting = clop.chain([clop.standardize(), clop.s2n(f_max=2)])
    assert not is_classifier(selecting)
    assert not hasattr(selecting, "predict")
    assert not hasattr(clop.chain([clop.kridge()]), "predict_proba")
    X, y = two_classes()
    assert selecting.fit_transform(X, y).shape == (60, 2)


def test_members_have_names_and_their_hyperparameters_too() -> None:
    model = clop.ensemble(
        [clop.chain([clop.standardize, clop.kridge]), clop.kridge(gamma=1.0), clop.kridge()]
    )
    found = model.get_params()
    assert found["kridge-1__gamma"] == 1.0
    assert found["chain__kridge__gamma"] == 0.0
    model.set_params(
        **{"kridge-2__shrinkage": 0.5, "chain__standardize__center": False, "kridge-1": clop.naive}
    )
    assert model.objects[2].shrinkage == 0.5
    assert model.objects[0].objects[0].center is False
    assert isinstance(model.objects[1], clop.naive)
    copy = clone(model)
    assert copy.objects[0] is not model.objects[0]
    assert repr(copy.get_params()) == repr(model.get_params())
    with pytest.raises(ValueError, match="Invalid parameter 'forest'"):
        model.set_params(forest__units=3)


def test_estimators_of_scikit_learn_fit_in_and_objects_fit_into_scikit_learn() -> None:
    X, y = two_classes()
    mixed = clop.chain([StandardScaler(), clop.s2n(f_max=3), LogisticRegression()])
    assert mixed.fit(X, y).predict_proba(X).shape == (60, 2)
    pipeline = make_pipeline(clop.standardize(), clop.kridge())
    assert pipeline.fit(X, y).score(X, y) > 0.9
    search = GridSearchCV(
        clop.chain([clop.s2n, clop.kridge]), {"s2n__f_max": [1, 3], "kridge__shrinkage": [0.1]}
    )
    assert search.fit(X, y).best_params_["s2n__f_max"] in (1, 3)


def test_weights_of_votes_can_be_given() -> None:
    X, y = two_classes()
    members = [clop.kridge(shrinkage=1.0), clop.svc(shrinkage=1.0)]
    outputs = [clone(each).fit(X, y).decision_function(X) for each in members]
    for weights in ((2.0, 0.5), np.array([0.0, 1.0])):
        model = clop.ensemble(members, weights=weights).fit(X, y)
        np.testing.assert_allclose(
            model.decision_function(X), weights[0] * outputs[0] + weights[1] * outputs[1]
        )
    heads = clop.ensemble(members, signed_output=True).fit(X, y)
    np.testing.assert_array_equal(heads.decision_function(X), np.sign(outputs[0]) + np.sign(outputs[1]))
    with pytest.raises(clop.UnsuitedError, match="for 2 members"):
        clop.ensemble(members, weights=[1.0]).fit(X, y)


def test_weights_are_learnt_from_patterns_that_were_not_learnt_from() -> None:
    """A forest knows its training patterns by heart; it must not get credit for that."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 8))
    X[:, 4:] = 0.01 * X[:, 4:]
    y = np.where(X[:, 0] + 0.7 * random.normal(size=120) > 0, 1, -1)
    noise = clop.chain([clop.pc_extract(f_max=1), clop.rf(units=10, random_state=0)])
    members = [clop.kridge(shrinkage=1.0), noise]
    seen: list[Any] = []

    def learner(told: Any, targets: Any) -> Any:
        seen.append((told.copy(), targets))
        return clop.stacked(told, targets)

    model = clop.ensemble(members, weights=learner, random_state=0).fit(X, y)
    told, targets = seen[0]
    assert told.shape == (120, 2)
    np.testing.assert_array_equal(targets, y)
    by_heart = np.mean(clone(noise).fit(X, y).predict(X) == y)
    assert np.mean(np.sign(told[:, 1]) == y) < by_heart - 0.2
    assert model.weights_[0] > 1 > model.weights_[1] >= 0
    assert model.weights_.mean() == pytest.approx(1)


def test_weights_are_learnt_with_several_classes_too() -> None:
    X, y = three_classes()
    shapes = []

    def learner(told: Any, targets: Any) -> list[float]:
        shapes.append((told.shape, targets.shape))
        return [1.0, 0.0]

    model = clop.ensemble([clop.kridge(), clop.naive()], weights=learner).fit(X, y)
    assert shapes == [((270, 2), (270,))]
    np.testing.assert_allclose(model.decision_function(X), clop.kridge().fit(X, y).decision_function(X))
    heads = clop.ensemble([clop.kridge(), clop.naive()], signed_output=True).fit(X, y).decision_function(X)
    assert set(np.unique(heads)) <= {-2.0, 0.0, 2.0}


def test_what_cannot_be_composed_is_refused_with_the_way_out() -> None:
    X, y = two_classes()
    with pytest.raises(clop.UnsuitedError, match="member s2n does not classify"):
        clop.ensemble([clop.s2n(), clop.kridge()]).fit(X, y)
    empty: list[Any] = [[], None, "kridge"]
    for nothing in empty:
        with pytest.raises(clop.UnsuitedError, match="give list of learning objects"):
            clop.chain(nothing).fit(X, y)
    lost = clop.ensemble([clop.chain([clop.subsample(patterns=[0, 1, 2, 59]), clop.kridge()])])
    labels = np.array(["a"] * 59 + ["b"])
    assert lost.fit(X, labels).predict(X).shape == (60,)
    labels[30] = "c"
    with pytest.raises(clop.UnsuitedError, match="has seen only the classes"):
        lost.fit(X, labels).predict(X)


def test_sparse_tables_go_through_chains_and_ensembles() -> None:
    X, y = sparse_counts()
    prepared = [clop.normalize(), clop.standardize(), clop.relief(f_max=10)]
    model = clop.chain([*prepared, clop.ensemble([clop.kridge(), clop.naive(), clop.svc(shrinkage=1.0)])])
    assert model.fit(X, y).score(X, y) > 0.8
