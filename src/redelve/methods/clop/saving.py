"""Models saved to and loaded from files that cannot run code (skops)."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from redelve.data.files import write_atomic
from redelve.errors import FormatError, OptionalPackageError, RedelveError

OWN_TYPES = tuple(
    f"redelve.methods.clop.{place}"
    for place in (
        "bayes.NaiveBayesClassifier",
        "chains.Chain",
        "ensembles.Ensemble",
        "ensembles.stacked",
        "filters.GramSchmidt",
        "filters.Relief",
        "filters.SignalToNoise",
        "forest.ForestClassifier",
        "kernel_machines.KernelRidgeClassifier",
        "kernel_machines.SupportVectorClassifier",
        "kernels.Kernel",
        "networks.NeuralClassifier",
        "preprocessing.PatternNormalizer",
        "preprocessing.PrincipalComponents",
        "preprocessing.ShifterAndScaler",
        "preprocessing.Standardizer",
        "preprocessing.Subsample",
        "selection.Bootstrap",
        "selection.Choice",
        "selection.CrossValidation",
        "selection.GridSelection",
        "selection.Guess",
        "selection.HoldOut",
        "wrappers.ForestRanking",
        "wrappers.RecursiveElimination",
    )
)
"""What a file may hold besides the types of NumPy, SciPy and scikit-learn that skops knows to be harmless."""


CHECKED_TYPES = ("scipy.sparse._csr.csr_matrix", "sklearn.tree._tree.Tree")
"""Compiled code that believes what its arrays say; trusted, because each one is checked (`check_sound`)."""


class UntrustedError(RedelveError):
    """A file holds types that nobody has said are to be trusted."""


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise OptionalPackageError(
            "saving and loading models needs skops: pip install 'redelve[clop]'"
        ) from error
    return skops.io


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model, trained or not; the file appears whole or not at all."""
    write_atomic(Path(path), _skops().dumps(model))


def load(path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> Any:
    """Read a model. A file with types beyond our own is refused before any of it is brought to life.

    `trusted` names further types, in full, that you know: a member of your own making, for instance.
    """
    skops, place = _skops(), os.fspath(path)
    try:
        found = set(skops.get_untrusted_types(file=place))
    except FileNotFoundError:
        raise
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError, OSError) as error:
        raise FormatError(
            place, None, f"no model saved by redelve ({type(error).__name__}: {error})"
        ) from error
    unknown = sorted(found - {*OWN_TYPES, *CHECKED_TYPES, *trusted})
    if unknown:
        raise UntrustedError(
            f"{place}: holds types that are not trusted: {', '.join(unknown)}: do not load it unless you "
            f"know where it comes from; then name them, as load(path, trusted={unknown!r})"
        )
    try:
        model = skops.load(place, trusted=sorted(found))
        check_sound(model)
    except (KeyError, ValueError, TypeError, AttributeError, OSError, ImportError) as error:
        raise FormatError(
            place, None, f"no model saved by redelve ({type(error).__name__}: {error})"
        ) from error
    return model


def check_sound(part: Any) -> None:
    """Refuse trees and sparse tables that would lead out of their own arrays, anywhere within a model."""
    if isinstance(part, Mapping):
        for each in part.values():
            check_sound(each)
    elif isinstance(part, list | tuple):
        for each in part:
            check_sound(each)
    elif isinstance(part, np.ndarray) and part.dtype == object:
        check_sound(part.ravel().tolist())
    elif sp.issparse(part):
        part.check_format(full_check=True)
    elif hasattr(part, "tree_"):
        _check_tree(part.tree_, part.n_features_in_)
    elif isinstance(part, BaseEstimator):
        _check_forest(part)
        check_sound(vars(part))


def _check_forest(part: Any) -> None:
    for each in getattr(part, "estimators_", []):
        if getattr(each, "n_features_in_", None) != part.n_features_in_:
            raise ValueError("a member of an ensemble has another number of features")


def _check_tree(tree: Any, features: int) -> None:
    """Children come after their parents and within the tree; features within the table."""
    if not (0 < tree.node_count <= tree.capacity and tree.n_features == features):
        raise ValueError("a decision tree has another number of nodes or features than it says")
    left, right, places = tree.children_left, tree.children_right, np.arange(tree.node_count)
    inner = left != -1
    sound = (left > places) & (left < len(places)) & (right > places) & (right < len(places))
    sound &= (tree.feature >= 0) & (tree.feature < features)
    if not np.where(inner, sound, right == -1).all():
        raise ValueError("a decision tree leads out of itself")
