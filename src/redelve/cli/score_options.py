"""The options of every verb that reads scores: which column is what, which way is better, who wrote them."""

from __future__ import annotations

from redelve.cli import options as of


class ScoreTableOptions(of.VerbOptions):
    """What compare, race and gate are told of their tables."""

    case = of.text("c", "the column of cases", "column")
    score = of.text("s", "the column of scores", "column")
    task = of.text("t", "the column of tasks", "column")
    run = of.text("r", "the column that counts answers to the same case", "column")
    group = of.text("g", "the column that tells which cases belong together", "column")
    weight = of.text("W", "the column of the cases' weights", "column")
    higher = of.flag("H", "a higher score is better")
    lower = of.flag("L", "a lower score is better")
    reader = of.text("F", "the tool that wrote the files, where that cannot be told", "tool")
