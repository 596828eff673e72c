"""A command: `redelve tally` counts the records of an archive."""

from collections import Counter
from collections.abc import Sequence

from redelve.cli.main import Subcommand
from redelve.cli.options import Command, Given, run

COMMAND = Command("redelve tally", "Count the records of an archive by method.", "archive", least=1)


def tally(given: Given) -> str:
    from redelve.store import Archive

    records = Archive.open(given.arguments[0]).load().records
    counts = Counter(record.job.method for record in records)
    return "".join(f"{method:12} {count}\n" for method, count in sorted(counts.items()))


def main(words: Sequence[str]) -> int:
    return run(COMMAND, tally, words)


TALLY = Subcommand("count the records of an archive", main)
