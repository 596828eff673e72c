"""A loss: Huber's, squared near the truth and absolute far from it."""

import numpy as np

from redelve.answers.losses import DistanceLoss, gap
from redelve.answers.predictions import Truth
from redelve.model.dataset import Numbers


class Huber(DistanceLoss):
    letter = "H"
    title = "Huber"
    kinds = ("integer", "real", "angular")

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        off = gap(truth, guess)  # 0 where a censored truth allows the guess, the shorter arc of angles
        return np.where(off <= 1, off**2 / 2, off - 0.5)
