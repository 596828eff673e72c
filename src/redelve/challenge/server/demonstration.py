"""A challenge from beginning to end in a minute: a server, three participants, the end, the final ranking."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from redelve.challenge import Challenge, DatasetEntry, Phases
from redelve.challenge.challenge_files import PARTS
from redelve.challenge.examples import example
from redelve.challenge.packing import PublicData, pack, read_public
from redelve.challenge.server.app import create_app
from redelve.challenge.server.client import Client, ServerRefused
from redelve.challenge.server.clock import ManualClock
from redelve.challenge.server.services import open_services
from redelve.challenge.server.serving import ServingPlace, in_background
from redelve.challenge.server.settings import Settings
from redelve.stats.balanced_errors import balanced_errors

OPENS = datetime(2026, 1, 1, tzinfo=UTC)
PHASES = Phases(OPENS, OPENS + timedelta(days=50), OPENS + timedelta(days=60))
PASSWORD = "a demonstration only"
FOLDS = 5


@dataclass(frozen=True)
class Scripted:
    """A participant who does what the script says: a name, a classifier, and a shift of the guess."""

    name: str
    classifier: Callable[[], Any]
    optimism: float = 0.0


def scripted() -> tuple[Scripted, ...]:
    """The three participants."""
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.naive_bayes import MultinomialNB

    return (
        Scripted("Bayes", lambda: MultinomialNB(fit_prior=False)),
        Scripted("Logistic", lambda: LogisticRegression(C=0.1, class_weight="balanced", max_iter=500)),
        Scripted(
            "Overconfident Ridge", lambda: RidgeClassifier(10.0, class_weight="balanced"), optimism=0.05
        ),
    )


def demonstrate(folder: Path, *, port: int = 0, keep: bool = False) -> Iterator[str]:
    """Run it all in a folder, telling what happens; with `keep` the server runs until it is interrupted."""
    yield "Making the example challenge: five datasets, one with 100000 test cases.\n"
    challenge = example(folder / "challenge", phases=PHASES)
    clock = ManualClock(OPENS + timedelta(days=1))
    settings = Settings.for_folder(folder / "challenge")
    services = open_services(settings, clock)
    with in_background(create_app(settings, services=services), ServingPlace(port=port)) as url:
        yield f"The server runs at {url}/\n"
        for person in scripted():
            yield from take_part(url, person, challenge, folder)
            clock.advance(days=3)
        yield from publication(url, clock)
        yield from the_end(url, clock)
        if keep:
            yield f"\nLook at {url}/leaderboard as long as you like, and stop it with Control-C.\n"
            yield f"The organiser's link, which works once: {url}{services.organiser_link()}\n"
            threading.Event().wait()


def take_part(url: str, person: Scripted, challenge: Challenge, folder: Path) -> Iterator[str]:
    """Register, download the data, learn, and send an entry, all by HTTP."""
    with Client(url) as nobody:
        token = nobody.register(person.name, PASSWORD)
    place = folder / "participants" / f"{len(person.name)}"
    with Client(url, token) as client:
        copy = download(client, challenge, place)
        if person.optimism:
            yield from slip(client, person, read_public(copy, copy.names[0]), place / "slip.zip")
        entries = {name: answer(person, read_public(copy, name)) for name in copy.names}
        sent = client.submit(pack(place / "entry.zip", entries), "all datasets")
        found = client.wait(sent["id"])
    bers = ", ".join(f"{n} {s['parts']['valid']['ber']:.3f}" for n, s in found["development"].items())
    yield f"  {person.name}: entry {found['id']} {found['state']}; validation BER {bers}\n"


def slip(client: Client, person: Scripted, data: PublicData, path: Path) -> Iterator[str]:
    """Send an entry with answers to the wrong cases: the server tells what to mend."""
    faulty = pack(path, {data.name: DatasetEntry({"valid": data.labels})})
    refused = client.wait(client.submit(faulty, "a slip")["id"])
    yield f"  {person.name}: entry {refused['id']} {refused['state']}: {refused['problems'][0]}\n"


def download(client: Client, challenge: Challenge, place: Path) -> Challenge:
    """Get all files that the server offers; a challenge without secrets that lies there."""
    for dataset, files in client.get("/api/v1/data").items():
        target = place / "public" / dataset
        target.mkdir(parents=True, exist_ok=True)
        for file in files:
            (target / file["name"]).write_bytes(client.download(f"/api/v1/data/{dataset}/{file['name']}"))
    return replace(challenge, folder=place, _truths={})


def answer(person: Scripted, data: PublicData) -> DatasetEntry:
    """Answers to all parts, and a guess by cross-validation that is as honest as the person."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    model = make_pipeline(MaxAbsScaler(), person.classifier())
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    crossed = cross_val_predict(model, data.patterns["train"], data.labels, cv=folds)
    guess = max(0.0, balanced_errors(data.labels, crossed).ber - person.optimism)
    model.fit(data.patterns["train"], data.labels)
    return DatasetEntry(
        {part: model.predict(data.patterns[part]).astype("int8") for part in PARTS}, {}, guess
    )


def publication(url: str, clock: ManualClock) -> Iterator[str]:
    """Validation labels appear; the final ranking is still sealed."""
    with Client(url) as client:
        before = sum(len(files) for files in client.get("/api/v1/data").values())
        clock.set(PHASES.validation_labels)
        after = sum(len(files) for files in client.get("/api/v1/data").values())
        yield f"The clock moves on: {after - before} files of validation labels can be downloaded now.\n"


def the_end(url: str, clock: ManualClock) -> Iterator[str]:
    """The clock moves to the end; test cases are scored; the ranking appears."""
    clock.set(PHASES.ends)
    yield "The clock moves to the end: test cases are scored.\n\n"
    with Client(url) as client:
        while True:
            try:
                board = client.get("/api/v1/ranking")
                break
            except ServerRefused as refused:
                if refused.code != "in_the_making":
                    raise
                time.sleep(0.2)
    yield ranking_text(board)


def ranking_text(board: dict[str, Any]) -> str:
    """The final ranking for a terminal."""
    names = list(board["datasets"])
    scores = {name: {row["entry"]: row for row in rows} for name, rows in board["datasets"].items()}
    width = max(len(row["participant"]) for row in board["overall"])
    lines = ["Final ranking, by the sum of ranks of R on the test cases", ""]
    lines.append(f"place  {'participant':{width}}  sum  " + "  ".join(f"{name:>16}" for name in names))
    for row in board["overall"]:
        cells = [scores[name][row["entry"]] for name in names]
        shown = "  ".join(f"{c['value']:.4f} ± {c['value_error']:.4f}".rjust(16) for c in cells)
        lines.append(f"{row['place']:5}  {row['participant']:{width}}  {row['rank_sum']:3g}  {shown}")
    best = [row["participant"] for row in board["overall"] if row["may_be_best"]]
    lines += ["", f"Paired comparisons leave it open that the best is: {', '.join(best)}."]
    return "\n".join(lines) + "\n"
