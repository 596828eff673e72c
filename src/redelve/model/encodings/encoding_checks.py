"""Does an encoding keep to the contract? Numbered checks that anyone can run on an encoding of their own."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from redelve.errors import RedelveError
from redelve.model import Attribute, AttributePrior, Column, parse_range, written
from redelve.model.dataset import Numbers
from redelve.model.encodings import bind, measure
from redelve.model.encodings.encoder import NUMERICAL, CodedColumn, Encoder, Encoding, Texts, encoding_called
from redelve.model.numbered_checks import CheckReport, NotApplicableError, NumberedChecks, must
from redelve.model.prototask import TYPES
from redelve.seeds import generator

CASES = 20
TURN = 360.0
LEVELS = {"binary": ("no", "yes"), "nominal": ("red", "green", "blue"), "ordinal": ("low", "middle", "high")}
RANGES = {"real": "(-Inf,Inf)", "integer": "-Inf..Inf", "angular": "[0,360)"}
CHECKS = NumberedChecks[Encoding]()


def check_encoding(encoding: Encoding | str) -> CheckReport:
    """Try an encoding on small made-up columns of every type of attribute that it suits.

    Parameters
    ----------
    encoding
        An encoding, or the name of one that is registered.

    Returns
    -------
    CheckReport
        A finding for each of the checks E001 to E007, on every type of attribute that the encoding suits.

    Examples
    --------
    >>> check_encoding("nm-abs").passed
    True
    """
    subject = encoding_called(encoding) if isinstance(encoding, str) else encoding
    return CHECKS.report(subject.name, subject)


@dataclass(frozen=True)
class EncodingTrial:
    """An attribute's encoder, and test values that it has never seen."""

    kind: str
    encoder: Encoder
    texts: tuple[str, ...]

    @property
    def column(self) -> Column:
        """The test values as a column."""
        return written(list(self.texts))

    def coded(self, rows: range | None = None) -> list[CodedColumn]:
        """The test values, or some of them, encoded."""
        texts = self.texts if rows is None else [self.texts[row] for row in rows]
        return self.encoder.encode(written(list(texts)))


def _values(kind: str, stream: str) -> tuple[str, ...]:
    rng = generator("check encoding", kind, stream)
    if kind in LEVELS:
        return tuple(LEVELS[kind][place] for place in rng.integers(len(LEVELS[kind]), size=CASES).tolist())
    numbers = {"real": rng.normal(size=CASES) * 7 + 3, "angular": rng.uniform(0, TURN, size=CASES)}
    if kind == "integer":
        return tuple(map(str, rng.integers(-9, 30, size=CASES).tolist()))
    return tuple(f"{value:.6g}" for value in numbers[kind].tolist())


def made_trial(encoding: Encoding, kind: str, *, missing: str | None = None) -> EncodingTrial:
    """The encoding fitted on made-up training cases of a type; with `missing`, some values are."""
    passive = LEVELS[kind][0] if kind == "binary" else None
    turn = TURN if kind == "angular" else None
    text = RANGES.get(kind) or " ".join(LEVELS[kind])
    attribute = Attribute(1, "x", "u", parse_range(text + (" ?" if missing else "")))
    prior = AttributePrior(1, "nlmh", kind, passive=passive, unit=turn)
    training, testing = _values(kind, "training"), _values(kind, "testing")
    if missing:
        training, testing = ("?", *training[1:]), ("?", *testing[1:])
    statistics = measure(written(list(training))) if kind in NUMERICAL else None
    coding = encoding.coding(passive=passive, unit=turn, missing=missing)
    return EncodingTrial(kind, bind(attribute, prior, coding, statistics), testing)


def _trials(encoding: Encoding) -> Iterator[EncodingTrial]:
    return (made_trial(encoding, kind) for kind in encoding.types if kind in TYPES)


def _texts(columns: list[CodedColumn]) -> list[Texts]:
    """What a file would have of coded columns."""
    return [
        np.array([repr(number) for number in one.numbers.tolist()], dtype=object)
        if one.texts is None
        else one.texts
        for one in columns
    ]


def _same(one: list[CodedColumn], other: list[CodedColumn]) -> bool:
    pairs = zip(_texts(one), _texts(other), strict=True)
    return len(one) == len(other) and all(a.tolist() == b.tolist() for a, b in pairs)


@CHECKS.check(
    "E001",
    "it says where it may be used",
    "`types` are the types of attribute that it suits; it may be the default only of these.",
)
def _places(encoding: Encoding) -> None:
    must(
        bool(encoding.types) and set(encoding.types) <= set(TYPES),
        f"types are {encoding.types}: use {', '.join(TYPES)}",
    )
    must(
        bool(encoding.name) and not set(encoding.name) & set(" \t\n="),
        f'its name "{encoding.name}" has blanks or equal signs: encoding files could not name it',
    )
    for kind in set(TYPES) - set(encoding.types):
        prior = AttributePrior(1, "nlmh", kind)
        must(
            not encoding.is_default_for(prior),
            f"it is the default for {kind} attributes, which it does not suit",
        )


@CHECKS.check(
    "E002",
    "it can be sent to another process",
    "It must survive pickling by cloudpickle, and encode alike there.",
)
def _sent(encoding: Encoding) -> None:
    import cloudpickle

    copied: Encoding = pickle.loads(cloudpickle.dumps(encoding))
    for one, other in zip(_trials(encoding), _trials(copied), strict=True):
        must(_same(one.coded(), other.coded()), f"the copy encodes {one.kind} attributes differently")


@CHECKS.check(
    "E003",
    "it gives a column for each name and a number for each case",
    "Columns come in the order of `names`. Where a number is not finite there must be texts, for files.",
)
def _columns(encoding: Encoding) -> None:
    for trial in _trials(encoding):
        columns = trial.coded()
        names = tuple(one.name for one in columns)
        must(names == tuple(trial.encoder.names), f"names are {trial.encoder.names}, but columns {names}")
        must(len(set(names)) == len(names), f"two columns share a name: {names}")
        for one in columns:
            must(one.numbers.shape == (CASES,), f"column {one.name} has the shape {one.numbers.shape}")
            must(one.texts is None or len(one.texts) == CASES, f"column {one.name} has too few texts")
            must(
                one.texts is not None or bool(np.isfinite(one.numbers).all()),
                f"column {one.name} of a {trial.kind} attribute has numbers that are not finite",
            )


@CHECKS.check(
    "E004",
    "each case is encoded on its own",
    "Encoders are fitted on training cases: what a test case becomes must not depend on other test cases.",
)
def _alone(encoding: Encoding) -> None:
    for trial in _trials(encoding):
        rows = range(1, CASES, 2)
        whole = [texts[list(rows)].tolist() for texts in _texts(trial.coded())]
        part = [texts.tolist() for texts in _texts(trial.coded(rows))]
        must(whole == part, f"{trial.kind} values change when other cases are left out")


@CHECKS.check(
    "E005",
    "decoding gives back what was encoded",
    "Levels to the letter, numbers to six digits, angles up to full turns: methods answer in coded form.",
)
def _decodes(encoding: Encoding) -> None:
    looked = False
    for trial in _trials(encoding):
        if not trial.encoder.names:
            continue
        looked = True
        back = trial.encoder.decode(_texts(trial.coded())).tolist()
        must(len(back) == CASES, f"{CASES} values were encoded, {len(back)} decoded")
        for text, decoded in zip(trial.texts, back, strict=True):
            must(_agrees(trial.kind, text, decoded), f'{trial.kind} "{text}" comes back as "{decoded}"')
    if not looked:
        raise NotApplicableError("it has no columns")


def _agrees(kind: str, text: str, decoded: str) -> bool:
    if kind in LEVELS:
        return decoded == text
    gap = float(decoded) - float(text)
    if kind == "angular":
        gap = math.remainder(gap, TURN)
    return abs(gap) <= 1e-6 * max(abs(float(text)), 1.0)


@CHECKS.check(
    "E006",
    "missing values are encoded, or refused",
    "With `missing=indicator` or `impute` a missing value becomes numbers; an encoding that cannot do that "
    "raises an error of redelve's. NaN is no code.",
)
def _missing(encoding: Encoding) -> None:
    for kind in encoding.types:
        for treatment in ("indicator", "impute"):
            try:
                columns = made_trial(encoding, kind, missing=treatment).coded()
            except RedelveError:
                continue
            for one in columns:
                must(
                    one.texts is not None or bool(np.isfinite(one.numbers).all()),
                    f"missing={treatment}: a missing {kind} value becomes {one.numbers[0]}",
                )


@CHECKS.check(
    "E007",
    "log_density_shift fits the code of a real target",
    "Densities of a coded target are turned into those of the target by adding it: the log of the slope of "
    "the code, which must be the same everywhere.",
)
def _shift(encoding: Encoding) -> None:
    if "real" not in encoding.types:
        raise NotApplicableError("it is not for real attributes")
    encoder = made_trial(encoding, "real").encoder
    if len(encoder.names) != 1:
        raise NotApplicableError("a real value does not become one column")
    coded: Numbers = encoder.encode(written(["-1", "0", "2"]))[0].numbers
    slopes = np.abs(np.diff(coded) / [1.0, 2.0])
    must(
        np.allclose(np.log(slopes), encoder.log_density_shift, atol=1e-6),
        f"it is {encoder.log_density_shift:.6g}, but the slopes are {slopes[0]:.6g} and {slopes[1]:.6g}",
    )
