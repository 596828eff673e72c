"""Scoring entries of five datasets, 10⁵ test cases in one.

One entry alone against bare NumPy and scikit-learn; many, by a server and its workers, from the upload to the
scores on test cases, against a bare loop of reading and scoring.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, best_of
from redelve.challenge import (
    Challenge,
    DatasetEntry,
    Phases,
    Submission,
    example,
    pack_bytes,
    read_submission,
    score_submission,
)
from redelve.challenge.challenge_files import PARTS

if TYPE_CHECKING:
    from redelve.challenge.server.audit import Actor
    from redelve.challenge.server.services import Services

COMMAND = "python -m benchmarks challenge"
WRONG = 0.15
ENTRIES = 40
PASSWORD = "correct horse"
REDELVE = (sys.executable, "-c", "import sys; from redelve.cli.main import main; sys.exit(main())")


def some_entry(challenge: Challenge, name: str) -> DatasetEntry:
    """Answers of which some are wrong, with confidences."""
    rng = np.random.default_rng(1)
    answers: dict[str, NDArray[np.int8]] = {}
    confidences: dict[str, NDArray[np.float64]] = {}
    for part in PARTS:
        truths = challenge.truths(name, part)
        confidences[part] = truths + rng.normal(0, 1, truths.size)
        answers[part] = np.where(rng.random(truths.size) < WRONG, -truths, truths).astype(np.int8)
    return DatasetEntry(answers, confidences, WRONG)


def bare_scores(
    entries: Mapping[str, DatasetEntry], challenge: Challenge
) -> list[tuple[float, float, float]]:
    """BER, σ and AUC of every part, and R of the test part: errors by NumPy, the area by scikit-learn."""
    from sklearn.metrics import roc_auc_score

    found = []
    for name, entry in entries.items():
        for part in PARTS:
            truths = challenge.truths(name, part)
            wrong = truths != entry.answers[part]
            cases = truths > 0, truths < 0
            rates = [wrong[of_class].mean() for of_class in cases]
            variances = [
                rate * (1 - rate) / of_class.sum() for rate, of_class in zip(rates, cases, strict=True)
            ]
            ber, sigma = sum(rates) / 2, np.sqrt(sum(variances)) / 2
            found.append((ber, sigma, roc_auc_score(truths, entry.confidences[part])))
        delta = abs((entry.guess or 0.0) - ber)
        found.append((delta, wrong.mean(), ber + delta * (1 - np.exp(-delta / sigma))))
    return found


def bare_reading(data: bytes) -> list[NDArray[np.float64]]:
    """Every file of the zip by NumPy's reader of texts."""
    with ZipFile(BytesIO(data)) as archive:
        return [np.loadtxt(StringIO(archive.read(name).decode())) for name in archive.namelist()]


def bare_loop(paths: list[Path], challenge: Challenge) -> None:
    """What the server computes: training and validation when an entry comes, everything after the end."""
    for parts in (("train", "valid"), PARTS):
        for path in paths:
            score_submission(read_submission(path, challenge), challenge, parts)


@contextmanager
def process(*words: str) -> Iterator[str]:
    """A command of redelve that runs as long as the block does; the line it prints when it is ready."""
    started = subprocess.Popen([*REDELVE, "challenge", *words], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    try:
        yield started.stdout.readline()
    finally:
        started.kill()
        started.wait()
        started.stdout.close()


def served_entries(folder: Path, path: Path, workers: int) -> float:
    """Seconds from the first upload until all entries have their test scores."""
    from redelve.challenge.server.client import Client
    from redelve.challenge.server.organising import move_phases
    from redelve.challenge.server.services import open_services
    from redelve.challenge.server.settings import Settings

    data = str(folder.parent / f"server-{workers}")
    words = (str(folder), "--data", data)
    with ExitStack() as stack:
        told = stack.enter_context(process("serve", *words, "--port", "0", "--workers", "0"))
        for _ in range(workers):
            stack.enter_context(process("worker", *words))
        found = re.search(r"http://[^/]+", told)
        assert found is not None
        client = stack.enter_context(Client(found[0], Client(found[0]).register("Ada", PASSWORD)))
        services = open_services(Settings.for_folder(folder, data=data))
        organiser = new_organiser(services)
        start = time.perf_counter()
        for _ in range(ENTRIES):
            client.submit(path)
        wait_for(services, "check")
        move_phases(services, organiser, {"validation_labels": "now", "ends": "now"}, "a benchmark")
        wait_for(services, "final")
        seconds = time.perf_counter() - start
        services.close()
    return seconds


def wait_for(services: Services, kind: str) -> None:
    """Wait until every entry has this kind of job done."""
    from sqlalchemy import func, select

    from redelve.challenge.server.database_tables import QueuedJob
    from redelve.challenge.server.jobs import DONE

    done = select(func.count()).where(QueuedJob.kind == kind, QueuedJob.state == DONE)
    while True:
        with services.database.reading() as session:
            if session.scalar(done) == ENTRIES:
                return
        time.sleep(0.02)


def new_organiser(services: Services) -> Actor:
    """Somebody who may end the challenge."""
    from redelve.challenge.server.audit import Actor

    secret = str(services.organiser_link()).rpartition("/")[2]
    return Actor(services.accounts.use_invitation(services.now(), "here", secret, "Olga", PASSWORD))


def throughput(folder: Path) -> list[Row]:
    """Seconds for each entry, by one worker and by two."""
    now, day = datetime.now(UTC), timedelta(days=1)
    challenge = example(folder / "served", phases=Phases(now - day, now + day, now + 2 * day))
    path = folder / "entry.zip"
    path.write_bytes(pack_bytes({name: some_entry(challenge, name) for name in challenge.names}))
    one, two, bare = best_of(
        1,
        lambda: served_entries(challenge.folder, path, 1),
        lambda: served_entries(challenge.folder, path, 2),
        lambda: bare_loop([path] * ENTRIES, challenge),
    )
    return [
        {
            "name": f"challenge: {ENTRIES} entries from upload to test scores, seconds an entry, {workers}",
            "ours": seconds / ENTRIES,
            "alternative": bare / ENTRIES,
            "against": "a bare loop of read_submission and score_submission, one process",
            "ratio": seconds / bare,
            "command": COMMAND,
        }
        for workers, seconds in (("1 worker process", one), ("2 worker processes", two))
    ]


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        challenge = example(Path(folder) / "challenge")
        entries = {name: some_entry(challenge, name) for name in challenge.names}
        submission, data = Submission(entries, challenge.names), pack_bytes(entries)
        ours, bare = best_of(
            7, lambda: score_submission(submission, challenge), lambda: bare_scores(entries, challenge)
        )
        reading, plain = best_of(
            5, lambda: read_submission(BytesIO(data), challenge), lambda: bare_reading(data)
        )
        served = throughput(Path(folder))
    return [
        {
            "name": "challenge: scoring an entry of five datasets (136 619 test cases), with DeLong's errors",
            "ours": ours,
            "alternative": bare,
            "against": "BER, σ and R in NumPy, scikit-learn's AUC without an error",
            "ratio": ours / bare,
            "bound": 2.0,
            "command": COMMAND,
        },
        {
            "name": "challenge: reading and checking the zip of that entry",
            "ours": reading,
            "alternative": plain,
            "against": "zipfile and numpy.loadtxt, without any check",
            "ratio": reading / plain,
            "bound": 2.0,
            "command": COMMAND,
        },
        *served,
    ]
