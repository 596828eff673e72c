"""Scores computed elsewhere: one contract, and readers of the files that other tools write."""

from redelve.data.scores.score_files import read_scores
from redelve.data.scores.score_table import ScoreTable

__all__ = ["ScoreTable", "read_scores"]
