"""Does a reader keep to the contract? Numbered checks that anyone can run on a reader of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from redelve.data.scores.score_readers import READERS, ScoreReader, ScoreWish
from redelve.data.scores.score_table import COLUMNS, ScoreTable, checked
from redelve.errors import ANY_FAULT, RedelveError
from redelve.model.numbered_checks import CheckReport, NumberedChecks, must
from redelve.seeds import generator

STRANGE = {
    "plain.csv": b"model,case,score\na,1,0.5\nb,1,0.25\n",
    "plain.jsonl": b'{"model": "a", "case": 1, "score": 0.5}\n',
    "plain.json": b"[]",
    "empty.csv": b"",
    "noise.parquet": bytes(range(256)),
    "noise.eval": b"PK\x03\x04" + bytes(64),
    "noise.arff": b"\xff\xfe@relation",
}
"""Files that no tool has written, and such as are damaged from the start."""
CUTS = (0.0, 0.1, 0.5, 0.9, 0.99)
DAMAGES = 12


@dataclass(frozen=True)
class CheckedReader:
    """The reader under examination, with files that it reads and what it is asked for."""

    kind: type[ScoreReader]
    examples: tuple[Path, ...]
    wish: ScoreWish

    @cached_property
    def table(self) -> ScoreTable:
        """What it makes of its examples."""
        return self.kind().read(self.examples, self.wish)

    @contextmanager
    def copies(self, change: bytes | None, place: int = 0) -> Iterator[list[Path]]:
        """The examples anew, one of them with other bytes, beside the files that lie beside them."""
        with tempfile.TemporaryDirectory() as folder:
            made = []
            for number, path in enumerate(self.examples):
                home = Path(folder, str(number), path.parent.name or "examples")
                home.mkdir(parents=True)
                for beside in path.parent.iterdir():
                    if beside.is_file() and beside.suffix in (".json", ".xml"):
                        (home / beside.name).write_bytes(beside.read_bytes())
                changed = change if change is not None and number == place else path.read_bytes()
                (home / path.name).write_bytes(changed)
                made.append(home / path.name)
            yield made


CHECKS = NumberedChecks[CheckedReader]()


def check_reader(
    reader: str | type[ScoreReader], examples: Sequence[str | Path], *, metric: str | None = None
) -> CheckReport:
    """Try a reader on files of its tool, on other files, and on damaged ones.

    Parameters
    ----------
    reader
        The name of a reader that is registered, or its class.
    examples
        Small files that the tool has written, which the reader reads together.
    metric
        Which score to choose, where the examples have several.

    Returns
    -------
    CheckReport
        A finding for each of the checks S001 to S005.
    """
    kind = READERS[reader] if isinstance(reader, str) else reader
    name = reader if isinstance(reader, str) else reader.__name__
    return CHECKS.report(name, CheckedReader(kind, tuple(map(Path, examples)), ScoreWish(metric)))


@CHECKS.check(
    "S001",
    "it recognises its own files and no others",
    "Files are read by the first reader that recognises them: look at names, columns or first lines, and "
    "raise nothing whatever the file is.",
)
def _recognises(reader: CheckedReader) -> None:
    for path in reader.examples:
        must(reader.kind().recognises(path), f"it does not recognise {path.name}")
    with tempfile.TemporaryDirectory() as folder:
        must(not reader.kind().recognises(Path(folder)), "it recognises an empty folder")
        for name, content in STRANGE.items():
            (path := Path(folder, name)).write_bytes(content)
            is_own_ending = path.suffix in {one.suffix for one in reader.examples} and "noise" in name
            must(
                is_own_ending or not reader.kind().recognises(path), f"it recognises {name}: {content[:40]!r}"
            )


@CHECKS.check(
    "S002",
    "no other reader recognises its files",
    "Two readers for a file: which one reads it would depend on their names.",
)
def _alone(reader: CheckedReader) -> None:
    for name, other in READERS.items():
        if other is not reader.kind:
            for path in reader.examples:
                must(not other().recognises(path), f'{path.name} is recognised by "{name}" too')


@CHECKS.check(
    "S003",
    "its table keeps to the contract",
    "Columns of the contract and no others, with a model and a score in every row, and a case or a fold; the "
    "table passes the checks that all tables pass.",
)
def _contract(reader: CheckedReader) -> None:
    table = reader.table
    strange = [str(name) for name in table.frame.columns if name not in COLUMNS]
    must(not strange, f"columns that the contract does not have: {', '.join(strange)}")
    must(len(table.frame) > 0, "there are no rows")
    must(len(table.metric) > 0, "the score has no name")
    checked(table)


@CHECKS.check("S004", "it reads the same twice", "The rows and their order depend on the files alone.")
def _same_twice(reader: CheckedReader) -> None:
    again = reader.kind().read(reader.examples, reader.wish)
    must(reader.table.frame.equals(again.frame), "the second time, the table is another one")
    must(again.notes == reader.table.notes, "the second time, the notes are other ones")


@CHECKS.check(
    "S005",
    "damaged files get a sentence",
    "Cut off, emptied or with other bytes, a file gives an error of redelve's family or a table.",
)
def _damaged(reader: CheckedReader) -> None:
    for place, path in enumerate(reader.examples):
        for content in _damages(path.read_bytes()):
            with reader.copies(content, place) as paths:
                try:
                    checked(reader.kind().read(paths, reader.wish))
                except RedelveError:
                    continue
                except ANY_FAULT as error:
                    must(False, f"a damaged {path.name} gives {type(error).__name__}: {error}")


def _damages(content: bytes) -> Iterator[bytes]:
    """The file cut off here and there, and with a few bytes changed."""
    for cut in CUTS:
        yield content[: int(cut * len(content))]
    rng = generator("damaged files", len(content))
    for _ in range(DAMAGES if content else 0):
        changed = bytearray(content)
        for place in rng.integers(0, len(content), 3):
            changed[place] = int(rng.integers(0, 256))
        yield bytes(changed)
