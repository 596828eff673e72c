"""A challenge is a folder: challenge.toml, public data, and labels kept aside that `truths` alone reads."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NoReturn, get_args

from redelve.challenge.challenge_files import KINDS, PARTS, Int8Array, Kind, check_name, read_labels
from redelve.challenge.phases import Phases, instant_in, zone_named
from redelve.data.files import StrPath, read_text
from redelve.errors import FormatError, LocationError, SpecError

Feedback = Literal["rounded", "ladder"]
RankPool = Literal["entries", "best", "chosen"]
TestLabels = Literal["kept", "published"]
SETTINGS = "challenge.toml"
FORMAT = 1
MOST_DATASETS = 50
MOST_CASES = 10_000_000
KEYS = {
    "": ("format", "title", "description", "phases", "limits", "rules", "datasets"),
    "phases": ("opens", "validation_labels", "ends", "time_zone"),
    "limits": (
        *("submissions_per_day", "megabytes", "ranked_entries"),
        *("registrations_per_hour", "uploads_per_hour", "address_uploads_per_hour"),
    ),
    "rules": ("validation_feedback", "rank_pool", "test_labels"),
    "datasets": ("name", "kind", "features", "train", "valid", "test", "about"),
}


@dataclass(frozen=True)
class ChallengeDataset:
    """A dataset of a challenge: how many patterns its parts have and how its files are written."""

    name: str
    kind: Kind
    sizes: Mapping[str, int]
    features: int
    about: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", MappingProxyType(dict(self.sizes)))


@dataclass(frozen=True)
class ChallengeLimits:
    """What a participant may do; `ranked_entries` is how many of the last complete ones the ranking takes.

    `registrations_per_hour` and `address_uploads_per_hour` are for all accounts of one address, which may be
    a whole class behind one router; `uploads_per_hour` is for an account, refused files included.
    """

    submissions_per_day: int = 50
    megabytes: int = 64
    ranked_entries: int = 5
    registrations_per_hour: int = 200
    uploads_per_hour: int = 60
    address_uploads_per_hour: int = 2000


@dataclass(frozen=True)
class ChallengeRules:
    """What participants see, and what counts.

    `validation_feedback` is what they see of validation scores until the labels are published: the BER of
    each entry, rounded, or the best so far, changed only by what is clearly better (`feedback.ladder`).
    `rank_pool` is which entries the final ranking ranks (`ranked_boards.ranked_pool`), `test_labels` whether
    those of test cases can be downloaded after the end.
    """

    validation_feedback: Feedback = "rounded"
    rank_pool: RankPool = "entries"
    test_labels: TestLabels = "kept"


CHOICES = {
    "validation_feedback": get_args(Feedback),
    "rank_pool": get_args(RankPool),
    "test_labels": get_args(TestLabels),
}
USUAL = ChallengeLimits()
USUAL_RULES = ChallengeRules()


@dataclass(frozen=True)
class Challenge:
    """A challenge as its folder describes it."""

    folder: Path
    title: str
    description: str
    datasets: tuple[ChallengeDataset, ...]
    phases: Phases
    limits: ChallengeLimits = USUAL
    time_zone: str = "UTC"
    rules: ChallengeRules = USUAL_RULES
    _truths: dict[tuple[str, str], Int8Array] = field(default_factory=dict, repr=False, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The datasets' names."""
        return tuple(dataset.name for dataset in self.datasets)

    def dataset(self, name: str) -> ChallengeDataset:
        """The dataset of that name."""
        for dataset in self.datasets:
            if dataset.name == name:
                return dataset
        raise LocationError(f'there is no dataset "{name[:60]}": the challenge has {", ".join(self.names)}')

    def truths(self, dataset: str, part: str) -> Int8Array:
        """The true labels, ±1, of a part: the only door to those kept aside."""
        key = dataset, part
        if key not in self._truths:
            found = read_labels(self.labels_path(dataset, part), self.dataset(dataset).sizes[part])
            if abs(int(found.sum())) == found.size:
                raise SpecError(f"all labels of {dataset}_{part} are alike: a challenge needs both classes")
            found.setflags(write=False)
            self._truths[key] = found
        return self._truths[key]

    def labels_path(self, dataset: str, part: str) -> Path:
        """Where the labels of a part lie: public for training, secret for the others."""
        name = self.dataset(dataset).name
        if part not in PARTS:
            raise LocationError(f'there is no part "{part[:60]}": the parts are {", ".join(PARTS)}')
        return (
            self.folder / "public" / name / f"{name}_train.labels"
            if part == "train"
            else self.folder / "secret" / f"{name}_{part}.labels"
        )

    def public_files(self, dataset: str) -> tuple[Path, ...]:
        """The files of a dataset that participants may have from the start."""
        name = self.dataset(dataset).name
        names = (f"{name}.param", f"{name}_train.data", f"{name}_train.labels")
        return tuple(
            self.folder / "public" / name / file
            for file in (*names, f"{name}_valid.data", f"{name}_test.data")
        )


def read_challenge(folder: StrPath) -> Challenge:
    """The challenge in a folder; an error tells file, line and way out."""
    place = Path(os.fspath(folder))
    path = place / SETTINGS
    if not path.is_file():
        raise LocationError(
            f"{place}: there is no {SETTINGS}: `redelve challenge example {place}` makes one to look at"
        )
    text = read_text(path, limit=1 << 20)
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as problem:  # no TOML, or a number with too many digits
        line = re.search(r"line (\d+)", str(problem))
        raise FormatError(path, int(line[1]) if line else None, f"this is no TOML: {problem}") from None
    return _Reader(path, text).challenge(place, table)


@dataclass(frozen=True)
class _Reader:
    """Takes what is expected out of the table, and says which line is wrong."""

    path: Path
    text: str

    def challenge(self, folder: Path, table: Mapping[str, Any]) -> Challenge:
        """The challenge that the table describes."""
        self.check_keys("", table)
        if table.get("format") != FORMAT:
            self.fail(
                "format", f"expected format = {FORMAT}, which this version reads: got {table.get('format')!r}"
            )
        datasets = table.get("datasets")
        if not isinstance(datasets, list) or not 1 <= len(datasets) <= MOST_DATASETS:
            self.fail("datasets", f"a challenge needs 1 to {MOST_DATASETS} datasets, each under [[datasets]]")
        found = tuple(self.dataset(number, one) for number, one in enumerate(datasets))
        lower = [one.name.lower() for one in found]
        if repeated := [name for name in lower if lower.count(name) > 1]:
            self.fail("datasets", f'two datasets are called "{repeated[0]}": names differ by more than case')
        title = self.text_of(table, "title", 200)
        description = self.text_of(table, "description", 20_000) if table.get("description") else ""
        zone = self.time_zone(table)
        phases = self.phases(table, zone)
        limits, rules = self.limits(table), self.rules(table)
        return Challenge(folder, title, description, found, phases, limits, zone or "UTC", rules)

    def dataset(self, number: int, table: Any) -> ChallengeDataset:
        """One of the datasets."""
        where = f"datasets[{number}]"
        if not isinstance(table, dict):
            self.fail(where, "datasets are tables: write [[datasets]], then name = … below it")
        self.check_keys("datasets", table, number)
        kind = next((kind for kind in KINDS if kind == table.get("kind")), None)
        if kind is None:
            self.fail("kind", f"kind is one of {', '.join(KINDS)}: got {table.get('kind')!r}", number)
        try:
            name = check_name(self.text_of(table, "name", 40, number))
        except SpecError as problem:
            self.fail("name", str(problem), number)
        sizes = {part: self.whole(table, part, MOST_CASES, number) for part in PARTS}
        about = self.text_of(table, "about", 2000, number) if table.get("about") else ""
        return ChallengeDataset(name, kind, sizes, self.whole(table, "features", MOST_CASES, number), about)

    def time_zone(self, table: Mapping[str, Any]) -> str | None:
        """The time zone named, if there is any."""
        given = self.table_of(table, "phases")
        if "time_zone" not in given:
            return None
        try:
            return zone_named(self.text_of(given, "time_zone", 60)).key
        except SpecError as problem:
            self.fail("time_zone", str(problem))

    def phases(self, table: Mapping[str, Any], zone: str | None) -> Phases:
        """The phases, their instants with offsets or in the time zone named."""
        given = self.table_of(table, "phases")
        instants = {}
        for key in ("opens", "validation_labels", "ends"):
            value = given.get(key)
            if not isinstance(value, datetime | str):
                self.fail(key, f"[phases] needs {key} = 2026-03-01T12:00:00+01:00, or so")
            try:
                instants[key] = instant_in(value, zone)
            except SpecError as problem:
                self.fail(key, str(problem))
        try:
            return Phases(**instants)
        except SpecError as problem:
            self.fail("ends", str(problem))

    def limits(self, table: Mapping[str, Any]) -> ChallengeLimits:
        """The limits, standard ones where nothing is said."""
        given = self.table_of(table, "limits") if "limits" in table else {}
        return ChallengeLimits(
            **{
                one.name: self.whole(given, one.name, 10**6)
                for one in fields(ChallengeLimits)
                if one.name in given
            }
        )

    def rules(self, table: Mapping[str, Any]) -> ChallengeRules:
        """The rules, standard ones where nothing is said."""
        given = self.table_of(table, "rules") if "rules" in table else {}
        for key, value in given.items():
            if value not in CHOICES[key]:
                self.fail(key, f"{key} is one of {', '.join(CHOICES[key])}: got {value!r}")
        return ChallengeRules(**given)

    def table_of(self, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """A table within the table, with known keys."""
        found = table.get(key)
        if not isinstance(found, dict):
            self.fail(key, f"there is no table [{key}]: add one with {', '.join(KEYS[key])}")
        self.check_keys(key, found)
        return found

    def text_of(self, table: Mapping[str, Any], key: str, longest: int, number: int | None = None) -> str:
        """A text that is not empty nor too long."""
        found = table.get(key)
        if not isinstance(found, str) or not found.strip() or len(found) > longest:
            self.fail(key, f'expected {key} = "…", a text of up to {longest} characters', number)
        return found

    def whole(self, table: Mapping[str, Any], key: str, most: int, number: int | None = None) -> int:
        """A whole number above 0."""
        found = table.get(key)
        if not isinstance(found, int) or isinstance(found, bool) or not 1 <= found <= most:
            self.fail(key, f"expected {key} to be a whole number from 1 to {most}: got {found!r}", number)
        return found

    def check_keys(self, name: str, table: Mapping[str, Any], number: int | None = None) -> None:
        """Refuse a key that nobody knows: it may be a slip."""
        if unknown := [key for key in table if key not in KEYS[name]]:
            self.fail(
                unknown[0], f'unknown key "{unknown[0][:60]}": known ones are {", ".join(KEYS[name])}', number
            )

    def fail(self, key: str, message: str, number: int | None = None) -> NoReturn:
        """Raise an error that names the line where the key stands."""
        raise FormatError(self.path, self.line_of(key, number), message)

    def line_of(self, key: str, number: int | None) -> int | None:
        """The line of a key, in the dataset with this number if any."""
        lines = self.text.split("\n")
        starts = [place for place, line in enumerate(lines) if line.strip().startswith("[[datasets]]")]
        begin = starts[number] if number is not None and number < len(starts) else 0
        pattern = re.compile(rf"\s*(\[+\s*)?{re.escape(key)}\b")
        for place in range(begin, len(lines)):
            if pattern.match(lines[place]):
                return place + 1
        return begin + 1 if number is not None and starts else None


def challenge_text(
    title: str,
    description: str,
    datasets: Sequence[ChallengeDataset],
    phases: Phases,
    limits: ChallengeLimits = USUAL,
    rules: ChallengeRules = USUAL_RULES,
) -> str:
    """The file challenge.toml."""
    head = f"format = {FORMAT}\ntitle = {_quoted(title)}\ndescription = {_quoted(description)}\n"
    instants = "".join(
        f"{key} = {getattr(phases, key).isoformat(timespec='seconds')}\n"
        for key in ("opens", "validation_labels", "ends")
    )
    bounds = "".join(f"{one.name} = {getattr(limits, one.name)}\n" for one in fields(ChallengeLimits))
    chosen = "".join(f'{one.name} = "{getattr(rules, one.name)}"\n' for one in fields(ChallengeRules))
    tables = f"[phases]\n{instants}\n[limits]\n{bounds}\n[rules]\n{chosen}"
    parts = [f"{head}\n{tables}", *map(dataset_text, datasets)]
    return "\n".join(parts)


def dataset_text(dataset: ChallengeDataset) -> str:
    """What challenge.toml says of a dataset."""
    about = f"about = {_quoted(dataset.about)}\n" if dataset.about else ""
    numbers = "".join(f"{part} = {dataset.sizes[part]}\n" for part in PARTS)
    return (
        f"[[datasets]]\nname = {_quoted(dataset.name)}\nkind = {_quoted(dataset.kind)}\n"
        f"features = {dataset.features}\n{numbers}{about}"
    )


def _quoted(text: str) -> str:
    """A TOML string on one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'
