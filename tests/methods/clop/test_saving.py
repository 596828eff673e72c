"""Models go to files and come back; hostile files are refused before anything of them lives."""

import builtins
import io
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from redelve.errors import FormatError, OptionalPackageError
from redelve.methods import clop
from redelve.methods.clop.saving import OWN_TYPES
from tests.methods.clop.cases import sparse_counts, three_classes, two_classes

MODELS = [
    clop.kridge(),
    clop.kridge(gamma=0.5),
    clop.naive(),
    clop.neural(maxiter=5),
    clop.rf(units=3),
    clop.svc(shrinkage=1.0),
    clop.chain([clop.standardize(), clop.s2n(f_max=3), clop.kridge()]),
    clop.chain([clop.normalize(), clop.relief(f_max=3), clop.naive()]),
    clop.chain([clop.shift_n_scale(offset=0), clop.gs(f_max=3), clop.naive()]),
    clop.chain(
        [clop.subsample(p_max=40), clop.rffs(clop.rf(units=3), f_max=2), clop.pc_extract(), clop.kridge()]
    ),
    clop.chain([clop.svcrfe(clop.svc(shrinkage=1.0), f_max=3), clop.kridge()]),
    clop.ensemble([clop.kridge(), clop.naive()], weights=clop.stacked),
    clop.cv(clop.kridge(), folds=3),
    clop.holdout(clop.kridge()),
    clop.bootstrap(clop.kridge(), rounds=3),
    clop.grid(clop.kridge(), {"shrinkage": [0.1, 1.0]}, folds=3),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.called)
def test_a_trained_model_comes_back_as_it_was(model: Any, tmp_path: Path) -> None:
    for X, y in (two_classes(), three_classes(), sparse_counts(60, 20)):
        trained = model.fit(X, y)
        clop.save(trained, tmp_path / "model.skops")
        loaded = clop.load(tmp_path / "model.skops")
        assert type(loaded) is type(trained)
        assert repr(loaded.get_params()) == repr(trained.get_params())
        clop.save(loaded, tmp_path / "again.skops")
        assert arrays_in(tmp_path / "again.skops") == arrays_in(tmp_path / "model.skops")
        # What is computed with the same bits differs in the last digit where arrays lie at other addresses.
        expected = trained.decision_function(X)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(loaded.decision_function(X), expected, rtol=0, atol=1e-12 * scale)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.skops", "model.skops"]


def arrays_in(path: Path) -> list[str]:
    """The arrays of a saved model, every number to its last bit; their names in the file tell nothing."""
    with zipfile.ZipFile(path) as file:
        held = [np.load(io.BytesIO(file.read(name))) for name in file.namelist() if name != "schema.json"]
    assert held
    flat = [part for one in held for part in ([one] if isinstance(one, np.ndarray) else one.values())]
    return sorted(repr((part.dtype.str, part.shape, part.tolist())) for part in flat)


def test_models_of_all_objects_are_among_those_saved() -> None:
    shown = repr(MODELS)
    assert all(kind.__name__ in shown for kind in clop.OBJECTS)


def test_the_trusted_types_are_named_one_by_one_and_exist() -> None:
    from importlib import import_module

    for place in OWN_TYPES:
        module, _, name = place.rpartition(".")
        assert getattr(import_module(module), name).__module__ == module
    assert {f"{kind.__module__}.{kind.__qualname__}" for kind in clop.OBJECTS} <= set(OWN_TYPES)


class Stranger(BaseEstimator):  # type: ignore[misc]
    """A member of somebody's own making."""

    def fit(self, X: Any, y: Any = None) -> "Stranger":
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        return X


def test_types_of_others_are_refused_unless_named(tmp_path: Path) -> None:
    X, y = two_classes()
    clop.save(clop.chain([Stranger(), clop.kridge()]).fit(X, y), path := tmp_path / "model.skops")
    with pytest.raises(clop.UntrustedError, match=r"not trusted: tests.*Stranger: do not load it"):
        clop.load(path)
    known = f"{Stranger.__module__}.Stranger"
    assert clop.load(path, trusted=[known]).predict(X).shape == (60,)


def test_a_model_that_would_run_a_command_is_refused(tmp_path: Path) -> None:
    """Voting weights learnt by os.system: training what was loaded would run it."""
    X, y = two_classes()
    trained = clop.ensemble([clop.kridge()]).fit(X, y).set_params(weights=os.system)
    clop.save(trained, path := tmp_path / "model.skops")
    with pytest.raises(clop.UntrustedError, match=r"not trusted: (os|posix|nt)\.system: do not load it"):
        clop.load(path)


def test_a_class_changed_in_the_file_is_refused(tmp_path: Path) -> None:
    clop.save(clop.kridge().fit(*two_classes()), path := tmp_path / "model.skops")
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(parts["schema.json"]) | {"__class__": "Popen", "__module__": "subprocess"}
    with zipfile.ZipFile(path, "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, json.dumps(schema) if part == "schema.json" else content)
    with pytest.raises(clop.UntrustedError, match=r"not trusted: subprocess\.Popen: do not load it"):
        clop.load(path)


def test_a_pickle_is_refused_unread(tmp_path: Path) -> None:
    trace = tmp_path / "it-ran"

    class Bomb:
        def __reduce__(self) -> Any:
            return (Path.touch, (trace,))

    path = tmp_path / "model.skops"
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(FormatError, match="no model saved by redelve"):
        clop.load(path)
    assert not trace.exists()
    path.write_bytes(b"")
    with pytest.raises(FormatError, match="no model saved by redelve"):
        clop.load(path)


@pytest.mark.parametrize("change", ["children_left", "feature"])
def test_a_tree_that_leads_out_of_itself_is_refused(change: str, tmp_path: Path) -> None:
    X, y = two_classes()
    trained = clop.chain([clop.standardize(), clop.rf(units=3)]).fit(X, y)
    getattr(trained.members_[1].forest_.estimators_[1].tree_, change)[0] = 10**6
    clop.save(trained, path := tmp_path / "model.skops")
    with pytest.raises(FormatError, match="a decision tree leads out of itself"):
        clop.load(path)


def test_a_sparse_table_with_places_it_does_not_have_is_refused(tmp_path: Path) -> None:
    X, y = sparse_counts()
    trained = clop.kridge(gamma=0.1).fit(X, y)
    trained.patterns_.indices[3] = 10**6
    clop.save(trained, path := tmp_path / "model.skops")
    with pytest.raises(FormatError, match="no model saved by redelve"):
        clop.load(path)


def test_a_tree_for_more_features_than_its_forest_has_is_refused(tmp_path: Path) -> None:
    X, y = two_classes()
    trained = clop.rf(units=3).fit(X, y)
    trained.forest_.n_features_in_ = 2
    clop.save(trained, path := tmp_path / "model.skops")
    with pytest.raises(FormatError, match="another number of features"):
        clop.load(path)


def test_a_torn_file_is_refused(tmp_path: Path) -> None:
    clop.save(clop.kridge().fit(*two_classes()), path := tmp_path / "model.skops")
    whole = path.read_bytes()
    for length in (10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError):
            clop.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", "[1, 2]")
    with pytest.raises(FormatError):
        clop.load(path)


def test_without_skops_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    true_import = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:
        if name.startswith("skops"):
            raise ImportError(name)
        return true_import(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(OptionalPackageError, match=r"pip install 'redelve\[clop\]'"):
        clop.load(tmp_path / "model.skops")
