"""redelve challenge: run a challenge in predicting performance, or take part in one."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.cli.dispatch import dispatch

SUBVERBS = {
    "example": "make a challenge of five datasets, ready to be served",
    "prepare": "make challenge data from datasets of the catalogue or tables",
    "check": "check a zip of answers against a challenge",
    "pack": "make a zip of answers from files, or from a method's answers",
    "score": "score a zip with the labels at hand",
    "serve": "run the server of a challenge",
    "worker": "score entries for a server, in a process of its own",
    "submit": "send a zip of answers to a server and wait for its score",
    "demo": "show a challenge from beginning to end",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Do what is named first."""
    return dispatch("challenge", SUBVERBS, argv)
