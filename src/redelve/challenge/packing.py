"""The participant's side: read public data, and pack the answers to it into a zip."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.challenge.challenge_files import (
    PARTS,
    Int8Array,
    confidences_bytes,
    guess_bytes,
    labels_bytes,
    read_confidences,
    read_data,
    read_guess,
    read_labels,
    read_parameters,
)
from redelve.challenge.challenge_folder import SETTINGS, Challenge, ChallengeDataset, read_challenge
from redelve.challenge.phases import Phases
from redelve.challenge.submissions import DatasetEntry, wanted_files
from redelve.data.files import StrPath, write_atomic
from redelve.errors import LocationError, SpecError, did_you_mean
from redelve.model.dataset import Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOMENT = (1980, 1, 1, 0, 0, 0)
"""The time written into zips, always the same: the same answers give the same bytes."""
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
NO_DATES = Phases(BEGINNING, BEGINNING + timedelta(1), BEGINNING + timedelta(2))
PLACES = ("*.param", "*/*.param", "public/*/*.param")
"""Where the files of datasets lie in what was downloaded: side by side, or in a folder each."""


@dataclass(frozen=True)
class Downloads(Challenge):
    """Public files as participants have them; neither dates nor limits are known."""

    places: Mapping[str, Path] = field(default_factory=dict)

    def public_files(self, dataset: str) -> tuple[Path, ...]:
        """The files of a dataset, all in the folder of its .param file."""
        place = self.places[self.dataset(dataset).name]
        return tuple(place / path.name for path in super().public_files(dataset))


def read_downloads(folder: StrPath) -> Challenge:
    """The challenge in a folder; without challenge.toml, the datasets whose downloaded files lie there."""
    place = Path(folder)
    if (place / SETTINGS).is_file():
        return read_challenge(place)
    found: dict[str, Path] = {}
    datasets = []
    for path in sorted(path for pattern in PLACES for path in place.glob(pattern)):
        told = read_parameters(path)
        if path.stem != told.name:
            raise SpecError(f'{path} is about "{told.name}": call it {told.name}.param')
        if told.name in found:
            raise SpecError(f"{told.name}.param lies in {found[told.name]} and in {path.parent}: remove one")
        found[told.name] = path.parent
        datasets.append(ChallengeDataset(told.name, told.kind, told.sizes, told.features))
    if not datasets:
        raise LocationError(
            f"{place}: there is neither {SETTINGS} nor a NAME.param: name the folder of a challenge, or one "
            "with the files of its data page"
        )
    return Downloads(place, place.name, "", tuple(datasets), NO_DATES, places=found)


@dataclass(frozen=True, eq=False)
class PublicData:
    """What participants have of a dataset: patterns of all parts, labels of the training part."""

    name: str
    patterns: Mapping[str, Numbers | csr_array] = field(repr=False)
    labels: Int8Array = field(repr=False)


def read_public(challenge: Challenge, name: str) -> PublicData:
    """The public files of a dataset."""
    param, *_ = challenge.public_files(name)
    parameters = read_parameters(param)
    told = challenge.dataset(name)
    if (parameters.kind, parameters.features, parameters.sizes) != (
        told.kind,
        told.features,
        dict(told.sizes),
    ):
        raise SpecError(f"{param} and challenge.toml tell different sizes or kinds of {name}: correct one")
    patterns = {part: read_data(param.with_name(f"{name}_{part}.data"), parameters, part) for part in PARTS}
    labels = read_labels(param.with_name(f"{name}_train.labels"), parameters.train)
    return PublicData(name, patterns, labels)


def pack(path: StrPath, entries: Mapping[str, DatasetEntry]) -> Path:
    """Write the zip to be submitted."""
    place = Path(path)
    write_atomic(place, pack_bytes(entries))
    return place


def pack_bytes(entries: Mapping[str, DatasetEntry]) -> bytes:
    """The zip to be submitted; the same entries give the same bytes."""
    if not any(entry.answers for entry in entries.values()):
        raise SpecError("there are no answers to pack: give those for one dataset at least")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, entry in entries.items():
            for part, answers in entry.answers.items():
                _add(archive, f"{name}_{part}.resu", labels_bytes(answers))
            for part, confidences in entry.confidences.items():
                _add(archive, f"{name}_{part}.conf", confidences_bytes(confidences))
            if entry.guess is not None:
                _add(archive, f"{name}.guess", guess_bytes(entry.guess))
    return out.getvalue()


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    member = zipfile.ZipInfo(name, MOMENT)
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, data)


def entries_in(folder: StrPath, challenge: Challenge) -> dict[str, DatasetEntry]:
    """What the .resu, .conf and .guess files of a folder hold for the datasets of a challenge."""
    place = Path(folder)
    _refuse_unknown(place, challenge)
    found = {}
    for dataset in challenge.datasets:
        sizes = dataset.sizes
        answers = {
            part: read_labels(path, sizes[part])
            for part in PARTS
            if (path := place / f"{dataset.name}_{part}.resu").is_file()
        }
        confidences = {
            part: read_confidences(path, sizes[part])
            for part in PARTS
            if (path := place / f"{dataset.name}_{part}.conf").is_file()
        }
        guess = place / f"{dataset.name}.guess"
        if answers:
            found[dataset.name] = DatasetEntry(
                answers, confidences, read_guess(guess) if guess.is_file() else None
            )
    if not found:
        names = f"{challenge.names[0]}_valid.resu and so on"
        raise LocationError(f"{place}: there are no answers to pack: put in {names}")
    return found


def _refuse_unknown(folder: Path, challenge: Challenge) -> None:
    """A slip in a name would leave the file out of the zip."""
    wanted = wanted_files(challenge)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix in (".resu", ".conf", ".guess") and path.name not in wanted:
            near = did_you_mean(path.name, wanted)
            meant = f" (did you mean {near}?)" if near else ""
            raise SpecError(f"{path}: the challenge has no such file{meant}: rename it or take it away")
