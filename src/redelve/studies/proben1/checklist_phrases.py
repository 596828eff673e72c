"""PROBEN1's checklist (section 2.11) in sentences for a paper: templates, filled from what is known.

The wording keeps to the terms that sections 2.2 to 2.10 suggest, so that readers take them as meant there.
What is not known is left to the author, and said to be missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from redelve.data.proben1.problem_names import is_name, parse_name
from redelve.stats.many_runs import RunSummary, usual_number_of_runs
from redelve.stats.output_errors import HALF, Thresholds
from redelve.studies.proben1.topologies import count_connections

CITATION = (
    "Lutz Prechelt, PROBEN1: A set of neural network benchmark problems and benchmarking rules, Technical "
    "Report 21/94, Fakultät für Informatik, Universität Karlsruhe, 1994"
)
TITLES = (
    "Problem: name, address, version/variant",
    "Training set, validation set, test set",
    "Network: nodes, connections, activation functions",
    "Initialization",
    "Algorithm parameters and parameter adaption rules",
    "Termination, phase transition, and restarting criteria",
    "Error function and its normalization on the results reported",
    "Number of runs, rules for including or excluding runs in results reported",
)


@dataclass(frozen=True)
class Network:
    """A layered feed-forward network; `nodes` are those of every layer, from inputs to outputs."""

    nodes: tuple[int, ...]
    shortcuts: bool
    hidden: str = "standard sigmoid"
    """The activation function: "standard sigmoid" is 1/(1 + e⁻ˣ), "tanh" 2/(1 + e⁻²ˣ) − 1; others in full."""
    output: str = "identity"

    @property
    def connections(self) -> int:
        """Weights with the bias of every hidden and output node.

        >>> Network((9, 16, 8, 6), shortcuts=True).connections
        572
        """
        return count_connections(self.nodes, shortcuts=self.shortcuts)


@dataclass(frozen=True)
class Benchmark:
    """What is known of a benchmark; None and empty mean: not known here."""

    problems: tuple[str, ...]
    address: str | None = None
    """Where others get the data, for problems that are not PROBEN1's."""
    sizes: tuple[int, int, int] | None = None
    """Numbers of training, validation and test examples, where they are not those of PROBEN1's files."""
    validation_used: bool = True
    representation: str | None = None
    """What was changed of inputs or outputs, such as "using only one output"."""
    network: Network | None = None
    initial_weights: tuple[float, float] | None = None
    algorithm: str | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    parameters_found: str | None = None
    termination: str | None = None
    output_range: tuple[float, float] = (0.0, 1.0)
    classification: Thresholds | None = None
    """None: winner-takes-all."""
    is_classification: bool = True
    runs: int | None = None
    half_left_out: bool = False
    outliers: int = 0
    results: Mapping[str, RunSummary] = field(default_factory=dict)
    """By the name of the measure, such as "test set classification error"."""


@dataclass(frozen=True)
class Phrase:
    """One of the eight points in a sentence or two; `missing` is what only the author can tell."""

    number: int
    title: str
    text: str
    missing: tuple[str, ...] = ()


def phrases_for(known: Benchmark) -> tuple[Phrase, ...]:
    """All eight points."""
    makers = (
        _problem,
        _sets,
        _network,
        _initialisation,
        _parameters,
        _termination,
        _error_function,
        _runs,
    )
    made = (maker(known) for maker in makers)
    return tuple(
        Phrase(number, TITLES[number - 1], " ".join(text), tuple(missing))
        for number, (text, missing) in enumerate(made, start=1)
    )


Said = tuple[Sequence[str], Sequence[str]]


def _problem(known: Benchmark) -> Said:
    named = ", ".join(known.problems)
    own = [name for name in known.problems if not is_name(name)]
    if not own:
        credits = dict.fromkeys(parse_name(name).dataset.credit for name in known.problems)
        text = [
            f"Problems: {named}. All benchmark problems were taken from the PROBEN1 benchmark set; the "
            f"standard PROBEN1 benchmarking rules were applied ({CITATION}).",
            *(f"Credit: {credit}." for credit in credits if credit),
        ]
    else:
        text = [
            f"Problems: {named}.",
            *([f"The data are available from {known.address}."] if known.address else []),
        ]
    if known.representation:
        text.append(f"The representation was changed: {named}, {known.representation}.")
    missing = [f"where others can get {', '.join(own)}"] if own and not known.address else []
    return text, missing


def _sets(known: Benchmark) -> Said:
    if known.sizes is None:
        if all(map(is_name, known.problems)):
            text = ["The sets are the standard partitioning of the data files."]
            if not known.validation_used:
                text.append("No validation set is used; its examples belong to the training set.")
            return text, []
        return [], ["which examples are in the training, the validation and the test set"]
    training, validation, test = known.sizes
    named = ", ".join(known.problems)
    if not known.validation_used or not validation:
        said = (
            f"{named} with {training + validation} examples used for the training set and {test} examples "
            "used for the test set."
        )
    else:
        said = (
            f"{named} with {training} examples used for the training set, {validation} examples used for the "
            f"validation set and {test} examples used for the test set."
        )
    return [said, "They are taken from the data file in the order training, validation, test examples."], []


def _network(known: Benchmark) -> Said:
    if known.network is None:
        return [], ["nodes of every layer, connections (shortcuts or not) and activation functions"]
    one = known.network
    kind = (
        "with all feed forward connections, including all shortcut connections"
        if one.shortcuts
        else "with all feed forward connections between adjacent layers"
    )
    layers = len(one.nodes) - 2
    hidden = {0: "no hidden layer", 1: "one hidden layer"}.get(layers, f"{layers} hidden layers")
    text = [
        f"A {'-'.join(map(str, one.nodes))} network {kind} ({hidden}; {one.connections} free parameters, "
        "bias included)."
    ]
    if layers:
        text.append(f"Activation function of the hidden nodes: {one.hidden}.")
    return [*text, f"Activation function of the output nodes: {one.output}."], []


def _initialisation(known: Benchmark) -> Said:
    if known.initial_weights is None:
        return [], ["how the weights were initialized"]
    low, high = known.initial_weights
    return [f"Initialization: random weights from range {low:g}…{high:g}."], []


def _parameters(known: Benchmark) -> Said:
    text = [f"Training algorithm: {known.algorithm}."] if known.algorithm else []
    if known.parameters:
        text.append(
            f"Parameters: {', '.join(f'{name} = {value}' for name, value in known.parameters.items())}."
        )
    if known.parameters_found:
        text.append(f"Their values were found so: {known.parameters_found}.")
    missing = [] if known.algorithm else ["the training algorithm, with a reference"]
    missing += [] if known.parameters else ["the values of all free parameters"]
    missing += [] if known.parameters_found else ["how these values were found (never by test examples)"]
    return text, missing


def _termination(known: Benchmark) -> Said:
    if known.termination is None:
        return [], ["the exact criteria for stopping, for changing phases and for restarts"]
    return [f"Termination: {known.termination}."], []


def _error_function(known: Benchmark) -> Said:
    low, high = known.output_range
    text = [
        "Errors are squared error percentages, 100·(o_max − o_min)/(N·P)·ΣΣ(o − t)² over the N output nodes "
        f"and P examples, with outputs in the range {low:g}…{high:g}."
    ]
    if known.is_classification:
        text.append(
            "The classification error is the percentage of incorrectly classified examples, "
            f"{_rule(known.classification)}."
        )
    return text, []


def _rule(thresholds: Thresholds | None) -> str:
    if thresholds is None:
        return "by the winner-takes-all method"
    if thresholds == HALF:
        return "the one output larger than 0.5 designating the class; unless there is exactly one, rejection"
    return (
        f"outputs below {thresholds.low:g} being accepted as 0 and those above {thresholds.high:g} as 1; "
        "rejection unless exactly one output is 1 and all others are 0"
    )


def _runs(known: Benchmark) -> Said:
    if known.runs is None:
        return [], ["how many runs were made, and which of them are included"]
    text = [f"{known.runs} runs were made."]
    if known.half_left_out:
        text.append("Exactly half of them, those with the highest validation set errors, are excluded.")
    else:
        text.append("All of them are included.")
    if known.outliers:
        text.append(f"For tests {known.outliers} outliers were removed, never more than 10% of any sample.")
    for measure, found in known.results.items():
        text += _results(measure, found)
    usual = usual_number_of_runs(known.runs)
    return text, () if usual else ("10, 30, 20 or 60 runs, or ten times these, are easier to compare",)


def _results(measure: str, found: RunSummary) -> list[str]:
    deviation = found.standard_deviation
    spread = "" if deviation is None else f", standard deviation (n − 1) {deviation:.4g}"
    text = [
        f"The {measure} had mean {found.mean:.4g}{spread}, minimum {found.minimum:.4g}, maximum "
        f"{found.maximum:.4g}, median {found.median:.4g}."
    ]
    if found.best is not None:
        text.append(
            f"The network with lowest validation set error in {found.runs} runs had a {measure} of "
            f"{found.best.test_error:.4g}."
        )
    return text
