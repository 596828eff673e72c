"""Challenge data from patterns (Guyon et al. 2006, section IV): put in random order, divided, written.

The training set has 1/11.1 of the cases, the validation set 1/111, the test set the rest, 1/1.11. Labels of
validation and test go to `secret/`, which only its owner may read. So does the seed of the order: it tells
where in the original table a pattern stood, and tables are often sorted by class or by time.
"""

from __future__ import annotations

import os
import secrets
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.challenge.challenge_files import (
    KINDS,
    PARTS,
    Kind,
    Parameters,
    check_name,
    dense_lines,
    labels_bytes,
    parameters_text,
    sparse_lines,
)
from redelve.challenge.challenge_folder import (
    SETTINGS,
    Challenge,
    ChallengeDataset,
    challenge_text,
    dataset_text,
    read_challenge,
)
from redelve.challenge.feedback import TYPICAL_BER, Rounding, largest_sigma
from redelve.challenge.patterns import Patterns
from redelve.challenge.phases import Phases
from redelve.data.files import StrPath, read_text, write_atomic
from redelve.errors import LocationError, SpecError
from redelve.seeds import generator

SPARSE = 0.95
"""Data with a larger share of zeros are written sparse, if nothing else is said."""
FEWEST = 111
ATTEMPTS = 200
FEW = 30
"""Cases of the rarer class that a validation part should have at least (docs/challenge.md)."""
"""How often an order is drawn again that leaves a part without a class."""
SHORT = 20_000
ORIGINS = "origins.txt"
SEED_BITS = 63
TITLE = "Performance prediction challenge"


def challenge_sizes(cases: int) -> dict[str, int]:
    """How many cases each part has: m/11.1, m/111, and m/1.11, which is what remains (section IV).

    >>> challenge_sizes(46033)
    {'train': 4147, 'valid': 415, 'test': 41471}
    """
    if cases < FEWEST:
        raise SpecError(f"{cases} cases are too few: with fewer than {FEWEST} there is no validation set")
    train, valid = round(cases / 11.1), round(cases / 111)
    return {"train": train, "valid": valid, "test": cases - train - valid}


def prepare_dataset(
    folder: StrPath,
    name: str,
    patterns: Patterns,
    *,
    kind: Kind | None = None,
    seed: int | None = None,
    sizes: Mapping[str, int] | None = None,
) -> ChallengeDataset:
    """Write a dataset's files into a challenge's folder; `sizes` are the parts', by section IV if None.

    Orders of patterns and of features are drawn by seeds named after the dataset and `seed`. If that is None
    it is drawn by chance, and kept in `secret/origins.txt`.
    """
    check_name(name)
    chosen = _checked_sizes(dict(sizes or challenge_sizes(len(patterns.labels))), len(patterns.labels))
    kind = kind or kind_for(patterns)
    if kind not in KINDS or (kind == "sparse-binary" and not patterns.is_binary):
        raise SpecError(f'{name} cannot be written as "{kind}": choose one of {", ".join(KINDS)} that fits')
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    rows = _order(name, patterns.labels, chosen, seed)
    columns = generator("challenge", name, seed, "features").permutation(patterns.features.shape[1])
    public, secret = _folders(Path(folder), name)
    start = 0
    for part, size in chosen.items():
        chosen_rows = rows[start : start + size]
        labels = labels_bytes(patterns.labels[chosen_rows])
        values = patterns.features[np.ix_(chosen_rows, columns)]
        write_atomic(public / f"{name}_{part}.data", _lines(values, kind))
        if part == "train":
            write_atomic(public / f"{name}_train.labels", labels)
        else:
            write_secret(secret / f"{name}_{part}.labels", labels)
        start += size
    notes = (*patterns.notes, *_repeated(patterns.features, rows, chosen))
    _add_origin(secret / ORIGINS, [f"{name}: {patterns.origin} (in the order of seed {seed})", *notes])
    made = ChallengeDataset(name, kind, chosen, patterns.features.shape[1])
    parameters = Parameters(name, kind, made.features, *(chosen[part] for part in PARTS))
    write_atomic(public / f"{name}.param", parameters_text(parameters))
    return made


def prepare_challenge(
    folder: StrPath,
    sources: Mapping[str, Patterns],
    *,
    title: str = TITLE,
    description: str = "",
    phases: Phases | None = None,
    seed: int | None = None,
) -> Challenge:
    """Write a whole challenge: data, secret labels, where the data come from, and challenge.toml."""
    place = Path(folder)
    refuse_existing(place)
    if not sources:
        raise SpecError("a challenge needs a dataset at least")
    made = [prepare_dataset(place, name, patterns, seed=seed) for name, patterns in sources.items()]
    text = challenge_text(title, description[:SHORT], made, phases or usual_phases())
    write_atomic(place / SETTINGS, text)
    return read_challenge(place)


def refuse_existing(folder: StrPath) -> None:
    """Raise an error if the folder has a challenge already."""
    if (Path(folder) / SETTINGS).exists():
        raise LocationError(
            f"{folder} has a challenge already: choose another folder, or remove this one first"
        )


def add_dataset(folder: StrPath, name: str, patterns: Patterns, **options: Any) -> Challenge:
    """Add a dataset to a challenge that is there, or begin one with it; options: `prepare_dataset`."""
    settings = Path(folder) / SETTINGS
    if settings.exists():
        before = _text_to_extend(settings, name)
    else:
        before = challenge_text(TITLE, "", (), usual_phases())
    made = prepare_dataset(folder, name, patterns, **options)
    write_atomic(settings, f"{before}\n{dataset_text(made)}")
    return read_challenge(folder)


def _text_to_extend(settings: Path, name: str) -> str:
    """The file challenge.toml as it is, comments and all, if a dataset can be added at its end."""
    if name.lower() in (known.lower() for known in read_challenge(settings.parent).names):
        raise SpecError(f'the challenge has a dataset "{name}" already: give another name (-n)')
    text = read_text(settings)
    try:
        tomllib.loads(f"{text}\n[[datasets]]\n")
    except (ValueError, RecursionError):
        raise SpecError(f"{settings} has its datasets in one list: write each below [[datasets]]") from None
    return text


def usual_phases(now: datetime | None = None) -> Phases:
    """Open from now on for thirty days, with validation labels published a week before the end."""
    start = (now or datetime.now(UTC)).replace(microsecond=0)
    return Phases(start, start + timedelta(days=23), start + timedelta(days=30))


def kind_for(patterns: Patterns) -> Kind:
    """Dense, unless nearly everything is zero."""
    if patterns.sparsity < SPARSE:
        return "dense"
    return "sparse-binary" if patterns.is_binary else "sparse"


def write_secret(path: Path, data: bytes | str) -> None:
    """Write a file that only its owner may read, from the first moment on."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    path.unlink(missing_ok=True)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    write_atomic(path, data)


def _folders(place: Path, name: str) -> tuple[Path, Path]:
    public, secret = place / "public" / name, place / "secret"
    if public.exists():
        raise LocationError(f"{public} exists already: choose another folder, or remove this one first")
    public.mkdir(parents=True)
    secret.mkdir(mode=0o700, exist_ok=True)
    secret.chmod(0o700)
    return public, secret


def _checked_sizes(sizes: dict[str, int], cases: int) -> dict[str, int]:
    if sorted(sizes) != sorted(PARTS) or min(sizes.values()) < 2:
        raise SpecError(f"sizes are given for {', '.join(PARTS)}, two cases at least: got {sizes}")
    if sum(sizes.values()) > cases:
        raise SpecError(
            f"the parts have {sum(sizes.values())} cases in all, but there are {cases}: take fewer"
        )
    return {part: sizes[part] for part in PARTS}


def _order(name: str, labels: NDArray[np.int8], sizes: Mapping[str, int], seed: int) -> NDArray[np.int64]:
    """A random order of the patterns, drawn again while a part lacks two cases of either class.

    Without them there would be no balanced error, or no standard error of the area.
    """
    ends = np.cumsum(list(sizes.values()))
    for attempt in range(ATTEMPTS):
        rows = generator("challenge", name, seed, "patterns", attempt).permutation(labels.size)
        parts = np.split(labels[rows[: ends[-1]]], ends[:-1])
        if all(min((part > 0).sum(), (part < 0).sum()) >= 2 for part in parts):
            return rows
    rarer = min((labels > 0).sum(), (labels < 0).sum())
    raise SpecError(
        f"{name} has {labels.size} cases, {rarer} of the rarer class: parts of "
        f"{', '.join(map(str, sizes.values()))} do not get two cases of either class each; take "
        "more cases or other sizes"
    )


def _lines(values: NDArray[np.int16], kind: Kind) -> Any:
    if kind == "dense":
        return dense_lines(values)
    from scipy.sparse import csr_array

    return sparse_lines(csr_array(values), binary=kind == "sparse-binary")


def _add_origin(path: Path, lines: Sequence[str]) -> None:
    """Add what the organiser may want to know of a dataset and participants should not."""
    before = read_text(path) if path.exists() else ""
    write_secret(path, before + "\n  ".join(" ".join(line.split()) for line in lines) + "\n")


def origin_notes(folder: StrPath, name: str) -> tuple[str, ...]:
    """What `secret/origins.txt` notes of a dataset."""
    lines = read_text(Path(folder) / "secret" / ORIGINS).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"{name}: "))
    return tuple(line.strip() for line in takewhile(lambda line: line.startswith("  "), lines[start + 1 :]))


def few_cases(challenge: Challenge, name: str) -> str | None:
    """A warning where the validation part of a dataset is too small to tell much."""
    labels = challenge.truths(name, "valid")
    rounding = Rounding.of(labels)
    if min(rounding.counts) >= FEW:
        return None
    error = largest_sigma(TYPICAL_BER, rounding.counts)
    return (
        f"{name} has {labels.size} validation cases, {min(rounding.counts)} of the rarer class: a validation "
        f"BER of 0.25 is known to ± {error:.2g} only. Plan {FEW} of the rarer class at least, by -z "
        "train,valid,test"
    )


def _repeated(
    features: NDArray[np.int16], rows: NDArray[np.int64], sizes: Mapping[str, int]
) -> Iterator[str]:
    """A note if test patterns are in the training set as well: their answers can be looked up there."""
    known = {pattern.tobytes() for pattern in features[rows[: sizes["train"]]]}
    test = features[rows[sizes["train"] + sizes["valid"] : sum(sizes.values())]]
    if count := sum(pattern.tobytes() in known for pattern in test):
        yield (
            f"{count} of {len(test)} test patterns are in the training set as well: their answers can be "
            "looked up there, unless like patterns have different labels"
        )
