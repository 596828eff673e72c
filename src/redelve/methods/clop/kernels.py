"""The kernel of kridge and svc."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.extmath import safe_sparse_dot

from redelve.methods.clop.hyperparameters import Hyperparameter, number, whole
from redelve.model.dataset import Numbers

KERNEL_HYPERPARAMETERS = (
    Hyperparameter("coef0", number(0), "added to the inner product: the bias of the kernel"),
    Hyperparameter("degree", whole(0), "power of the polynomial; 0: none, a Gaussian kernel"),
    Hyperparameter("gamma", number(0), "inverse width of the Gaussian; 0: none, a polynomial kernel"),
)


@dataclass(frozen=True)
class Kernel:
    """k(x, x′) = (coef0 + x·x′)^degree exp(-gamma ‖x - x′‖²) (Guyon et al. 2006, section V.C).

    >>> Kernel(coef0=1.0, degree=2, gamma=0.0).between(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]]))
    array([[36.]])
    """

    coef0: float
    degree: int
    gamma: float

    @staticmethod
    def of(machine: Any) -> Kernel:
        """With the hyperparameters of a machine."""
        return Kernel(float(machine.coef0), int(machine.degree), float(machine.gamma))

    @property
    def is_linear(self) -> bool:
        """Whether weights of the features tell all."""
        return self.degree == 1 and self.gamma == 0

    def between(self, first: Any, second: Any) -> Numbers:
        """The kernel of every pattern of the first with every pattern of the second table."""
        if self.degree == 0:
            values = np.ones((first.shape[0], second.shape[0]))
        else:
            values = (self.coef0 + safe_sparse_dot(first, second.T, dense_output=True)) ** self.degree
        return values if self.gamma == 0 else values * rbf_kernel(first, second, gamma=self.gamma)
