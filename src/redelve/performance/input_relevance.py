"""Which inputs matter? Relevances of Bayesian networks as a characterisation of a data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from redelve.data.tasks import task
from redelve.errors import SpecError
from redelve.methods.builtin.bayesian_answers import BayesianPredictor
from redelve.methods.builtin.bayesian_networks import bayesian
from redelve.registry import named_options
from redelve.report.plots import new_axes
from redelve.run.experiment import lessons_of
from redelve.seeds import generator

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from redelve.nets import Engine

BAR = 30


@dataclass(frozen=True, eq=False)
class InputRelevances:
    """For each target and training set how widely the weights out of each input are spread.

    `widths` is targets × training sets × inputs: posterior means of standard deviations. Inputs and targets
    are normalised, so widths may be compared.
    """

    task: str
    targets: tuple[str, ...]
    inputs: tuple[str, ...]
    widths: NDArray[np.float64]
    notes: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """For each target and input mean, lowest and highest over training sets, and the mean's rank."""
        import pandas as pd

        rows = [
            (target, name, *each)
            for target, widths in zip(self.targets, self.widths, strict=True)
            for name, *each in zip(
                self.inputs, widths.mean(axis=0), widths.min(axis=0), widths.max(axis=0), _ranks(widths),
                strict=True,
            )
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=["target", "input", "relevance", "low", "high", "rank"])

    def __str__(self) -> str:
        lines = [f"Relevance of the inputs of {self.task}: width of their weights, mean of training sets"]
        width = max(map(len, self.inputs))
        for target, widths in zip(self.targets, self.widths, strict=True):
            lines += [f"target {target}"] if len(self.targets) > 1 else []
            means, largest = widths.mean(axis=0), widths.mean(axis=0).max()
            lines += [
                f"  {self.inputs[k]:{width}} {means[k]:8.3f}  {'#' * round(BAR * means[k] / largest)}"
                for k in np.argsort(-means, kind="stable")
            ]
        return "\n".join(line.rstrip() for line in (*lines, *self.notes)) + "\n"

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """A row for each input of the first target: the mean as a dot, a line from lowest to highest."""
        widths = self.widths[0]
        axes = new_axes(ax, (6.0, 1.0 + 0.22 * len(self.inputs)))
        order = np.argsort(widths.mean(axis=0), kind="stable")
        rows = np.arange(len(order))
        axes.hlines(rows, widths.min(axis=0)[order], widths.max(axis=0)[order])
        axes.plot(widths.mean(axis=0)[order], rows, "o")
        axes.set_yticks(rows, [self.inputs[k] for k in order])
        axes.set_xlabel("width of weights")
        axes.set_title(f"Relevance of inputs, {self.task}")
        return axes


@named_options
def input_relevances(  # noqa: PLR0913  (options of a public function are explicit)
    data: Any,
    *,
    target: str | None = None,
    size: int | None = None,
    sets: int = 4,
    method: str = "mlp-mc-6",
    passes: int | None = 12_000,
    chains: int | None = None,
    engine: Engine | None = None,
    seed: int = 0,
) -> InputRelevances:
    """Tell which inputs of a data set matter, by automatic relevance determination.

    Parameters
    ----------
    data
        An address such as ``"pumadyn-32nm/accel"``, a file, a data frame: what `redelve.task` takes.
    target
        The column to predict, where `data` does not tell.
    size
        The size of training sets; by default the largest of the task's.
    sets
        From how many training sets, at most.
    method
        A method of the mlp-mc family with relevance determination.
    passes, chains
        Fewer or more than the method's own.
    engine
        On what to compute.
    seed
        Another seed draws other chains.

    Returns
    -------
    InputRelevances
        A table (`frame`), a figure (`plot`) and text.

    Raises
    ------
    RedelveError
        There is no such task, size or method, or nothing can be learnt by numbers.

    Notes
    -----
    The relevance of an input is the posterior mean of the standard deviation of its weights (Neal 1996,
    section 4.3). It tells what networks use, not what causes what; of inputs that are nearly alike, one may
    stand for the others.

    Examples
    --------
    >>> from redelve.performance.input_relevance import input_relevances
    >>> found = input_relevances("pumadyn-8nm/accel", size=64, sets=1, passes=400, chains=1)
    >>> found.frame().shape
    (8, 6)
    """
    known = task(data) if target is None else task(data, target=target)
    offered = {each.task.training_set_size: each for each in known.assignments}
    if size is not None and size not in offered:
        sizes = ", ".join(map(str, offered))
        raise SpecError(f"there are no training sets of {size} cases: there are {sizes}")
    chosen = offered[max(offered) if size is None else size]
    learner = bayesian(method, passes=passes, chains=chains, engine=engine)
    if learner.recipe.prior.relevance is None:
        raise SpecError(f'"{method}" has no relevances: use one with relevance determination, as mlp-mc-6')
    shown = [lessons_of(chosen, instance)[0] for instance in chosen.instances[:sets]]
    rngs = [generator("relevances", chosen.address, number, seed) for number in range(len(shown))]
    return _gathered(chosen.address, learner.learn_many(shown, rngs))


def _gathered(address: str, learnt: list[BayesianPredictor]) -> InputRelevances:
    if not learnt[0].lessons:
        raise SpecError(f"{address}: too few cases, or all with the same target: nothing can be learnt")
    told = [each.relevances() for each in learnt]
    targets = tuple(told[0])
    inputs = tuple(told[0][targets[0]])
    widths = np.array([[list(each[target].values()) for each in told] for target in targets])
    doubtful = sum("note" in each.told for each in learnt)
    note = f"In {doubtful} of {len(learnt)} training sets chains had not converged: take more passes."
    return InputRelevances(address, targets, inputs, widths, (note,) if doubtful else ())


def _ranks(widths: NDArray[np.float64]) -> list[int]:
    order = np.argsort(-widths.mean(axis=0), kind="stable")
    return [int(place) + 1 for place in np.argsort(order, kind="stable")]
