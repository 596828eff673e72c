"""Checking a challenge from outside: are labels and rules those of the opening, and does the ranking follow?

An export has everything, so that all of it is made again. A server tells its hashes from the opening on and,
after the end, salts and ranking; the labels it publishes are checked, and the ranking as far as its own
numbers go.
"""

from __future__ import annotations

import hashlib
import json
import math
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from redelve.challenge.challenge_files import labels_bytes, parse_labels
from redelve.challenge.challenge_folder import Challenge, read_challenge
from redelve.challenge.commitments import RULES, contents, rules_text, salted_hash
from redelve.challenge.ranked_boards import RankedEntry, Ranking, final_ranking
from redelve.challenge.scoring import score_submission, scores_to_json
from redelve.challenge.server_documents import as_a_server_writes
from redelve.challenge.submissions import SubmissionError, read_submission
from redelve.data.decompression import damage
from redelve.data.files import json_value, read_text
from redelve.data.problems import Problems
from redelve.errors import LocationError, RedelveError, in_words
from redelve.stats.balanced_errors import ranking_score
from redelve.stats.standings import rank_sums
from redelve.store.layout import unpack_zip

CLOSE = 1e-9
PARTS_OF_EXPORT = ("commitments.json", "entries.json", "ranking.json")
Document = Mapping[str, Any]
Fetch = Callable[[str], bytes]


@dataclass(frozen=True)
class CheckedPoint:
    """One thing that was looked at; `is_right` is None where it could not be."""

    what: str
    is_right: bool | None
    why: str = ""

    def __str__(self) -> str:
        mark = {True: "right", False: "WRONG", None: "open "}[self.is_right]
        return f"{mark}  {self.what}" + (f": {self.why}" if self.why else "")


def verify_export(place: Path, noted: Document | None = None) -> list[CheckedPoint]:
    """Make everything again from an export, the zip or its folder: hashes, scores, ranking."""
    written = as_a_server_writes(" or ".join(PARTS_OF_EXPORT), "get the export again")
    with _unpacked(place) as folder, written:
        told, entries, ranking = (_document(folder / name) for name in PARTS_OF_EXPORT)
        challenge = read_challenge(folder / "challenge")
        given = contents(challenge)
        points = [*_noted(told, noted), *_hashes(told, given)]
        for name in challenge.names:
            lacking = [part for part in ("valid", "test") if f"{name}_{part}" not in given]
            points += [CheckedPoint(f"labels {name}_{part}", False, "not in the export") for part in lacking]
        if any(point.is_right is False for point in points):
            return [*points, CheckedPoint("scores and ranking", None, "labels or rules are other ones")]
        scored = [_scored(folder / "sent", challenge, entry) for entry in entries]
        points += [point for point, _ in scored]
        points.append(_remade(challenge, told, [held for _, held in scored if held is not None], ranking))
        return points


def verify_server(fetch: Fetch, noted: Document | None = None) -> list[CheckedPoint]:
    """Check what a server tells; `fetch` gets a path below /api/v1."""
    told = json_value(fetch("commitments"))
    points = [*_noted(told, noted)]
    if told["salts"] is None:
        points.append(CheckedPoint("labels and rules", None, "the salts are shown at the end"))
        return points
    given = {RULES: told["rules"].encode()}
    for dataset, files in json_value(fetch("data")).items():
        names = [f["name"] for f in files if f["name"].endswith(("_valid.labels", "_test.labels"))]
        for name in names:
            given[name.removesuffix(".labels")] = _written(fetch(f"data/{dataset}/{name}"), name)
    points += _hashes(told, given)
    kept = [key for key in told["hashes"] if key not in given]
    points += [CheckedPoint(f"labels {key}", None, "the server does not publish them") for key in kept]
    return [*points, *_own_numbers(json_value(fetch("ranking")))]


def verify_folder(folder: Path, noted: Document | None = None) -> list[CheckedPoint]:
    """Check the files of a challenge's folder against what its server, with the usual database, has bound."""
    from redelve.challenge.server.belonging import bound
    from redelve.challenge.server.database import Database
    from redelve.challenge.server.settings import Settings

    settings = Settings.for_folder(folder)
    if not (settings.data / "server.sqlite3").is_file():
        raise LocationError(
            f"{folder}: no server ran here, so nothing is bound: give an export or an address"
        )
    challenge, database = read_challenge(folder), Database(settings.database)
    written = as_a_server_writes("the database", "restore it from a copy")
    with closing(database), written, database.failures_told(), database.reading() as session:
        held = bound(session)
    told = {
        "hashes": {key: one.hash for key, one in held.items()},
        "salts": {key: one.salt for key, one in held.items()},
        "bound_at": {key: one.at for key, one in held.items()},
        "rules": rules_text(challenge),
    }
    return [*_noted(told, noted), *_hashes(told, contents(challenge))]


def _noted(told: Document, noted: Document | None) -> Iterator[CheckedPoint]:
    """Whether the hashes are those that somebody kept from an earlier day."""
    if noted is None:
        yield CheckedPoint(
            "hashes of an earlier day", None, "none were given (-n); keep them from the opening"
        )
        return
    for key, digest in noted["hashes"].items():
        if told["hashes"].get(key) == digest:
            yield CheckedPoint(f"hash of {key}", True, "as it was noted")
        else:
            yield CheckedPoint(f"hash of {key}", False, "another one than was noted: it was exchanged")


def _hashes(told: Document, given: Mapping[str, bytes]) -> Iterator[CheckedPoint]:
    """Whether texts have the hashes that were published."""
    if told["rules"].encode() != given[RULES]:
        yield CheckedPoint("rules", False, "challenge.toml has others than were published")
    for key, text in given.items():
        salt = (told["salts"] or {}).get(key)
        if salt is None or key not in told["hashes"]:
            yield CheckedPoint(key, False, "was never bound")
        else:
            is_right = salted_hash(salt, text) == told["hashes"][key]
            why = f"bound on {told['bound_at'][key]}" if is_right else "not what was bound at the opening"
            yield CheckedPoint(key, is_right, why)


def _scored(folder: Path, challenge: Challenge, entry: Document) -> tuple[CheckedPoint, RankedEntry | None]:
    """An entry's file and scores, and what it brings to the ranking."""
    what, path = f"entry {entry['id']} of {entry['participant']}", folder / f"{entry['id']}.zip"
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != entry["sha256"]:
        return CheckedPoint(what, False, "its file is missing, or not the one that was received"), None
    try:
        scores = score_submission(read_submission(path, challenge), challenge)
    except SubmissionError as problem:
        return CheckedPoint(what, False, f"its file cannot be scored: {problem.problems[0]}"), None
    held = RankedEntry(
        str(entry["id"]),
        entry["participant"],
        datetime.fromisoformat(entry["received_at"]),
        scores,
        is_chosen=entry.get("is_chosen", False),
    )
    if entry["final"] is None or not _same(json.loads(json.dumps(scores_to_json(scores))), entry["final"]):
        return CheckedPoint(what, False, "has other scores than its file gives"), held
    return CheckedPoint(what, True), None if entry["is_disqualified"] else held


def _remade(
    challenge: Challenge, told: Document, entries: list[RankedEntry], ranking: Document | None
) -> CheckedPoint:
    """Whether the ranking is the one that the entries give."""
    if ranking is None:
        return CheckedPoint("ranking", None, "there is none in the export")
    deadline = datetime.fromisoformat(told["deadline"])
    made = final_ranking([entry for entry in entries if entry.submitted < deadline], challenge)
    if not _same(_places(made), [_place(row) for row in ranking["overall"]]):
        return CheckedPoint("ranking", False, "the entries give another order")
    for name, rows in made.datasets.items():
        shown = [(row["entry"], row["rank"], row["value"]) for row in ranking["datasets"][name]]
        if not _same(sorted((int(row.entry), row.rank, row.value) for row in rows), sorted(shown)):
            return CheckedPoint("ranking", False, f"the entries give other ranks on {name}")
    return CheckedPoint("ranking", True, f"{len(made.overall)} entries, made again from their files")


def _places(made: Ranking) -> list[Any]:
    return [(int(row.entry), row.participant, row.place, row.rank_sum) for row in made.overall]


def _place(row: Document) -> tuple[Any, ...]:
    return row["entry"], row["participant"], row["place"], row["rank_sum"]


def _own_numbers(ranking: Document) -> Iterator[CheckedPoint]:
    """Whether R, ranks and sums follow from the BERs, errors and guesses that the ranking shows."""
    for name, rows in ranking["datasets"].items():
        right = [ranking_score(row["ber"], row["ber_error"], row["guess"]).score for row in rows]
        ranks = rank_sums([[row["value"] for row in rows]]).ranks[0].tolist() if rows else []
        is_right = _same(right, [row["value"] for row in rows]) and _same(
            ranks, [row["rank"] for row in rows]
        )
        yield CheckedPoint(f"scores and ranks on {name}", is_right)
    overall = ranking["overall"]
    values = {
        name: {row["entry"]: row["value"] for row in rows} for name, rows in ranking["datasets"].items()
    }
    if overall:
        found = rank_sums([[held[row["entry"]] for row in overall] for held in values.values()])
        shown = [(row["place"], row["rank_sum"]) for row in overall]
        is_right = _same(list(zip(found.places.tolist(), found.sums.tolist(), strict=True)), shown)
        yield CheckedPoint("sums of ranks and places", is_right)


def _same(one: Any, other: Any) -> bool:
    """Whether plain values agree, numbers to the ninth digit."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)
    return bool(one == other)


def _written(data: bytes, name: str) -> bytes:
    """Labels as they are bound, however the file is written."""
    problems = Problems(name)
    labels = parse_labels(data, problems, None)
    if labels is None:
        raise LocationError(f"{name}: these are no labels: {next(iter(problems))}")
    return labels_bytes(labels)


def _document(path: Path) -> Any:
    try:
        return json_value(read_text(path))
    except (RedelveError, ValueError):
        raise LocationError(
            f"{path.name} is not there or no JSON: give an export of the server, made after the end"
        ) from None


@contextmanager
def _unpacked(place: Path) -> Iterator[Path]:
    """The folder of an export; what is needed of a zip is put into one that is gone afterwards."""
    if place.is_dir():
        yield place
        return
    if not place.is_file():
        raise LocationError(f"{place}: this is neither a folder nor a file: give an export of the server")
    with tempfile.TemporaryDirectory(prefix="redelve-verify-") as held:
        try:
            with zipfile.ZipFile(place) as archive:
                unpack_zip(place, archive, Path(held), leave_out=("archive/",))
        except damage() as error:
            told = in_words(error) if isinstance(error, OSError) else error
            raise LocationError(
                f"{place}: this is no sound zip ({told}): give an export of the server"
            ) from None
        yield Path(held)


def read_noted(path: Path) -> Document:
    """Hashes that were kept from an earlier day, as `redelve challenge verify -o` writes them."""
    found = _document(path)
    if not isinstance(found, dict) or not isinstance(found.get("hashes"), dict):
        raise RedelveError(f"{path}: this is no file that `redelve challenge verify -o` wrote")
    return found
