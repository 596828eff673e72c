"""standardize, normalize, shift_n_scale, pc_extract, subsample."""

import numpy as np
import pytest
import scipy.sparse as sp

from redelve.methods import clop
from tests.methods.clop.cases import sparse_counts, two_classes


def test_standardize_divides_by_the_deviation_after_centring() -> None:
    X = np.array([[1.0, 5.0], [3.0, 5.0]])
    np.testing.assert_allclose(clop.standardize().fit_transform(X), [[-1, 0], [1, 0]])
    zero, one = (clop.standardize(center=flag) for flag in (False, True))
    np.testing.assert_allclose(one.fit_transform(X), [[-1, 0], [1, 0]])
    np.testing.assert_allclose(zero.fit_transform(X), [[1, 5], [3, 5]])
    np.testing.assert_array_equal(one.set_params(center=0).fit_transform(X), zero.transform(X))


def test_standardize_scales_a_sparse_table_and_leaves_it_sparse() -> None:
    X, _ = sparse_counts()
    trained = clop.standardize().fit(X)
    assert not trained.centred_
    assert sp.issparse(trained.transform(X))
    deviations = X.toarray().std(axis=0)
    np.testing.assert_allclose(
        trained.transform(X).toarray(), X.toarray() / np.where(deviations > 0, deviations, 1.0)
    )
    with pytest.raises(
        clop.UnsuitedError, match=r"centring a sparse table of shape \(50, 30\) would fill it"
    ):
        clop.standardize(center=True).fit(X)
    with pytest.raises(clop.UnsuitedError, match="would fill it"):
        clop.standardize().fit(X.toarray()).transform(X)


def test_normalize_gives_every_pattern_length_one() -> None:
    X = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 3.0]])
    expected = np.array([[0.6, 0.8], [0, 0], [1 / np.sqrt(10), 3 / np.sqrt(10)]])
    np.testing.assert_allclose(clop.normalize().fit_transform(X), expected)
    np.testing.assert_allclose(clop.normalize().transform(sp.csr_array(X)).toarray(), expected)
    # Centred: (-0.5, 0.5), (0, 0), (-1, 1), of lengths √½, 0, √2.
    half = np.sqrt(0.5)
    np.testing.assert_allclose(
        clop.normalize(center=True).fit_transform(X), [[-half, half], [0, 0], [-half, half]]
    )
    with pytest.raises(clop.UnsuitedError, match=r"normalize: centring .* sparse"):
        clop.normalize(center=True).fit_transform(sp.csr_array(X))


def test_shift_n_scale_learns_or_is_told_offset_and_factor() -> None:
    X = np.array([[2.0, 4.0], [6.0, 12.0]])
    np.testing.assert_allclose(clop.shift_n_scale().fit_transform(X), [[0, 0.2], [0.4, 1]])
    told = clop.shift_n_scale(offset=1, factor=2)
    np.testing.assert_allclose(told.fit_transform(X), [[0.5, 1.5], [2.5, 5.5]])
    logged = clop.shift_n_scale(offset=1, factor=2, take_log=True)
    np.testing.assert_allclose(logged.fit_transform(X), np.log([[1.5, 2.5], [3.5, 6.5]]))
    np.testing.assert_allclose(clop.shift_n_scale().fit_transform(np.full((3, 2), 7.0)), 0)
    with pytest.raises(clop.UnsuitedError, match=r"log\(1 \+ x\) of -1.5"):
        logged.fit(X).transform([[-2.0, 4.0]])


def test_shift_n_scale_keeps_zeros_of_sparse_tables() -> None:
    X, _ = sparse_counts()
    for scaler in (clop.shift_n_scale(), clop.shift_n_scale(offset=0, take_log=True)):
        made = scaler.fit_transform(X)
        assert sp.issparse(made)
        np.testing.assert_allclose(made.toarray(), scaler.transform(X.toarray()))
    with pytest.raises(clop.UnsuitedError, match="subtracting 1 from a sparse table"):
        clop.shift_n_scale(offset=1).fit(X)


def test_pc_extract_projects_on_directions_of_most_variance() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(100, 3)) * [1.0, 10.0, 3.0]
    made = clop.pc_extract(f_max=2).fit_transform(X)
    centred = X - X.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    np.testing.assert_allclose(np.abs(made), np.abs(centred @ vectors[:, :0:-1]))


@pytest.mark.parametrize("limit", [2000, 5])
def test_components_of_sparse_tables_are_those_of_dense_ones(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redelve.methods.clop.preprocessing.COVARIANCE_LIMIT", limit)
    X, _ = sparse_counts()
    sparse = clop.pc_extract(f_max=4, random_state=0).fit(X).transform(X)
    dense = clop.pc_extract(f_max=4).fit(X.toarray()).transform(X.toarray())
    np.testing.assert_allclose(np.abs(sparse), np.abs(dense), atol=1e-8)


def test_fewer_components_need_no_new_training_but_more_do() -> None:
    X, _ = two_classes()
    trained = clop.pc_extract(f_max=5).fit(X)
    for f_max in (1, 3, 5):
        trained.set_params(f_max=f_max)
        np.testing.assert_allclose(trained.transform(X), clop.pc_extract(f_max=f_max).fit_transform(X))
        assert list(trained.get_feature_names_out()) == [f"pc{place}" for place in range(f_max)]
    for more in (6, None):
        with pytest.raises(clop.UnsuitedError, match="trained with f_max=5"):
            trained.set_params(f_max=more).transform(X)


def test_subsample_draws_patterns_for_training_only() -> None:
    X, y = two_classes(50)
    y[:40], y[40:] = -1, 1
    some = clop.subsample(p_max=12, random_state=0)
    chosen, labels = some.fit_resample(X, y)
    assert chosen.shape == (12, 6)
    np.testing.assert_array_equal(chosen, X[some.pattern_indices_])
    np.testing.assert_array_equal(labels, y[some.pattern_indices_])
    assert len(set(some.pattern_indices_)) == 12
    np.testing.assert_array_equal(some.transform(X), X)
    for p_max, count in ((None, 10), (14, 7), (15, 7)):
        _, labels = clop.subsample(p_max=p_max, balance=True, random_state=0).fit_resample(X, y)
        assert [int((labels == label).sum()) for label in (-1, 1)] == [count, count]
    with pytest.raises(clop.UnsuitedError, match="p_max is 1 for 2 classes"):
        clop.subsample(p_max=1, balance=True).fit(X, y)
    with pytest.raises(clop.UnsuitedError, match="needs labels"):
        clop.subsample(balance=True).fit(X)
    with pytest.raises(clop.UnsuitedError, match="requires y to be passed"):
        clop.subsample().fit_resample(X, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clop.chain([clop.subsample(p_max=5), clop.kridge()]).fit(X, y[:-1])


def test_subsample_takes_the_patterns_it_is_told_in_a_chain() -> None:
    X, y = two_classes()
    kept = [place for place in range(60) if place != 7]
    X[7] *= 1000
    trained = clop.chain([clop.subsample(patterns=kept), clop.kridge(shrinkage=1.0)]).fit(X, y)
    alone = clop.kridge(shrinkage=1.0).fit(X[kept], y[kept])
    np.testing.assert_array_equal(trained.decision_function(X), alone.decision_function(X))
    with pytest.raises(clop.UnsuitedError, match="pattern 60 of 60"):
        clop.subsample(patterns=[60]).fit(X)
