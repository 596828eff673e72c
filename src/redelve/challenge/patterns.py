"""From cases with attributes to patterns with features, as section IV of the WCCI 2006 challenge has them.

Continuous attributes are scaled to whole numbers from 0 to 999, categories become binary features, and the
class is 1 or −1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.challenge.challenge_files import Int8Array
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import DataAddress, active
from redelve.data.files import StrPath
from redelve.data.tables import Intake, from_file
from redelve.data.tasks import TABLES, is_table
from redelve.errors import LocationError, SpecError
from redelve.model import (
    CATEGORICAL,
    Attribute,
    AttributePrior,
    Column,
    Prior,
    PrototaskData,
    extract,
    is_missing,
)

Features = NDArray[np.int16]
HIGHEST = 999
ABOVE = re.compile(r"\s*>\s*([-+.\deE]+)\s*")


@dataclass(frozen=True, eq=False)
class Patterns:
    """Features, 0 to 999 or 0 and 1, and classes, 1 or −1, of all cases in their original order.

    `origin` and `notes` are for the organiser.
    """

    features: Features = field(repr=False)
    labels: Int8Array = field(repr=False)
    origin: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.features.ndim != 2 or len(self.features) != len(self.labels):
            raise SpecError(
                f"features have the shape {self.features.shape} for {len(self.labels)} labels: one row each"
            )

    @property
    def is_binary(self) -> bool:
        """Whether all features are 0 or 1."""
        return bool(self.features.max(initial=0) <= 1)

    @property
    def sparsity(self) -> float:
        """The share of zeros, as in table I."""
        return 1 - np.count_nonzero(self.features) / max(self.features.size, 1)

    @property
    def share_positive(self) -> float:
        """The share of the positive class, as in table I."""
        return float((self.labels > 0).mean())


def patterns_from(
    source: StrPath | Intake, *, target: str | None = None, positive: str | Sequence[str] | None = None
) -> Patterns:
    """Patterns of a table (.csv and so on), of one that `redelve.from_file` made ready, or of the catalogue.

    `positive` names the classes that count as positive, the rarer of two if None; for a numerical target it
    is a bound such as ">12.5".
    """
    if isinstance(source, Intake):
        data, prior = extract(source.dataset, source.prototask), source.prior
        name, understood = source.dataset.spec.name, _understood(source)
    elif is_table(source):
        return patterns_from(from_file(source, target), positive=positive)
    else:
        if Path(source).is_file():
            raise SpecError(f"{source} is no table that can be read: give one of {', '.join(TABLES)}")
        data, prior = _of_catalogue(str(source), target)
        name, understood = str(source), ()
    if len(data.targets) != 1:
        raise SpecError(f"{name} has {len(data.targets)} targets: a challenge needs exactly one")
    features, notes = _features(data, prior)
    labels = _labels(data, prior, positive)
    return Patterns(features, labels, name, (*understood, *notes))


def _understood(source: Intake) -> tuple[str, ...]:
    """What was made of every column, and why."""
    return tuple(
        f"column {column.name}: {column.use}{f', {column.type}' if column.type else ''} ({column.reason})"
        for column in source.description.columns
    )


def _of_catalogue(name: str, target: str | None) -> tuple[PrototaskData, Prior]:
    address = DataAddress.parse(name if name.startswith("/") else f"/{name}")
    library = Library(active())
    if address.dataset is None:
        raise LocationError('"/" is no dataset: give a name such as breast-cancer (`dls /` lists them)')
    spec = library.dataset_spec(address.dataset)
    known = library.overlay.prototasks(address.dataset)
    chosen = address.prototask or target or (known[0] if len(known) == 1 else None)
    if chosen is None:
        raise SpecError(
            f"{name} has several prototasks: choose one of {', '.join(known)}, as in {name}/{known[0]}"
        )
    prototask = library.prototask(spec, chosen)
    return library.prototask_data(spec, prototask), library.prior(spec, prototask, "std")


def _features(data: PrototaskData, prior: Prior) -> tuple[Features, tuple[str, ...]]:
    columns: list[Features] = []
    notes: list[str] = []
    for attribute, column in zip(data.inputs, data.cases.columns, strict=False):
        made = _features_of(attribute, prior.attribute(attribute.number), column)
        if not made:
            notes.append(f"attribute {attribute.name} is left out: it has one value only")
        columns += made
    if not columns:
        raise SpecError("no attribute varies: there is nothing to learn from")
    return np.column_stack(columns), tuple(notes)


def _features_of(attribute: Attribute, prior: AttributePrior, column: Column) -> list[Features]:
    """An attribute's features; those that have one value only are left out."""
    if prior.type in CATEGORICAL:
        texts = column.texts()
        levels = prior.order or attribute.range.values
        coded = [np.asarray(texts == level, dtype=np.int16) for level in levels]
        if len(coded) == 2 and not (coded[0] + coded[1] == 0).any():
            coded = coded[1:]
    else:
        coded = _scaled(column.numbers())
    return [feature for feature in coded if feature.size and feature.min() != feature.max()]


def _scaled(numbers: NDArray[np.float64]) -> list[Features]:
    """Numbers from 0 to 999, or 0 and 1 if there are two; where some lack, 0 and a feature that tells so."""
    missing = np.isnan(numbers)
    known = numbers[~missing]
    if not known.size:
        return []
    low, high = float(known.min()), float(known.max())
    width = high / 2 - low / 2
    share = np.where(missing, 0.0, (numbers / 2 - low / 2) / width if width > 0 else 0.0)
    top = 1 if np.unique(known).size == 2 else HIGHEST
    found = [np.rint(top * share).astype(np.int16)]
    return [*found, missing.astype(np.int16)] if missing.any() else found


def _labels(data: PrototaskData, prior: Prior, positive: str | Sequence[str] | None) -> Int8Array:
    target, column = data.targets[0], data.cases.columns[-1]
    texts = column.texts()
    if any(is_missing(text) for text in texts):
        raise SpecError(f"the target {target.name} is missing in some cases: leave these out")
    if prior.attribute(target.number).type in CATEGORICAL:
        is_positive = np.isin(texts.astype(str), _positive_levels(target, texts, positive))
    else:
        is_positive = column.numbers() > _bound(target, positive)
    share = float(is_positive.mean())
    if not 0 < share < 1:
        raise SpecError(
            f"all cases are of one class with {target.name} divided so: choose another `positive`"
        )
    return np.where(is_positive, 1, -1).astype(np.int8)


def _positive_levels(
    target: Attribute, texts: NDArray[Any], positive: str | Sequence[str] | None
) -> list[str]:
    levels, counts = np.unique(texts.astype(str), return_counts=True)
    if positive is None:
        if len(levels) != 2:
            raise SpecError(
                f"the target {target.name} has {len(levels)} classes: name those that count as positive "
                f"(-p, or positive=…), of {', '.join(levels[:12].tolist())}"
            )
        return [str(levels[int(counts.argmin())])]
    wanted = [positive] if isinstance(positive, str) else list(positive)
    if unknown := [name for name in wanted if name not in levels]:
        raise SpecError(
            f'{target.name} is never "{unknown[0]}": it is one of {", ".join(levels[:12].tolist())}'
        )
    return wanted


def _bound(target: Attribute, positive: str | Sequence[str] | None) -> float:
    match = ABOVE.fullmatch(positive) if isinstance(positive, str) else None
    if match is None:
        raise SpecError(
            f'the target {target.name} is a number: say which cases are positive, as in -p ">12.5"'
        )
    try:
        return float(match[1])
    except ValueError:
        raise SpecError(f'"{match[1]}" is no number: write ">12.5"') from None
