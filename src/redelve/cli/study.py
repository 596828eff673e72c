"""redelve study: published tables, made anew and set beside what was printed."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.cli.dispatch import dispatch

STUDIES = {
    "proben1": "Prechelt (1994): linear networks, architectures and their comparison, tables 3 to 12",
    "hamey": "Hamey (1992): training times of exclusive-or and encoder, table 1 and figures",
    "wcci": "WCCI 2006: which way to predict the performance of a classifier guesses best",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Do what is named first."""
    return dispatch("study", STUDIES, argv)
