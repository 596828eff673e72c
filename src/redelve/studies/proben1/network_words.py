"""PROBEN1's points 3 to 6 in its own words, for methods whose identity tells of their networks.

An identity tells so by the keys `network` (with `hidden`, the nodes of each hidden layer, and perhaps
`shortcuts`, `activation`, `output`), `initial_weights` (lower and upper end), `algorithm`, `parameters` and
`termination`; each of them may be left out. Scikit-learn's multilayer perceptrons tell by their parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from redelve.run.results import MethodFacts, Results, TaskFacts
from redelve.studies.proben1.checklist_phrases import Benchmark, Network, phrases_for

POINTS = (3, 4, 5, 6)
PERCEPTRONS = "sklearn.neural_network.MLP"
ACTIVATIONS = {"relu": "max(0, x)", "logistic": "standard sigmoid"}
"""Scikit-learn's names in words that PROBEN1's readers know; tanh and identity are the same in both."""
MOST_NETWORKS = 6


def network_words(results: Results, tasks: Sequence[TaskFacts]) -> dict[int, str]:
    """A sentence or two for each point and method; none for methods that tell nothing."""
    found: dict[int, list[str]] = {}
    for name, facts in results.methods.items():
        said = [dict(_sentences(facts, task)) for task in tasks]
        for number in POINTS:
            different = dict.fromkeys(one[number] for one in said if number in one)
            found.setdefault(number, []).extend(f"{name}: {text}" for text in different)
    return {number: " ".join(texts) for number, texts in found.items() if 0 < len(texts) <= MOST_NETWORKS}


def _sentences(facts: MethodFacts, task: TaskFacts) -> list[tuple[int, str]]:
    identity = facts.identity
    algorithm, termination = (identity.get(key) for key in ("algorithm", "termination"))
    parameters = identity.get("parameters")
    known = Benchmark(
        (),
        network=network_of(facts, task),
        initial_weights=_ends(identity.get("initial_weights")),
        algorithm=algorithm if isinstance(algorithm, str) else None,
        parameters=parameters if isinstance(parameters, Mapping) and algorithm else {},
        termination=termination if isinstance(termination, str) else None,
    )
    return [(one.number, one.text) for one in phrases_for(known) if one.number in POINTS and one.text]


def network_of(facts: MethodFacts, task: TaskFacts) -> Network | None:
    """The network that a method trains on a task, with an input node for each input of the task."""
    told = facts.identity.get("network")
    if isinstance(told, Mapping):
        nodes = (task.input_count, *_whole(told.get("hidden")), _outputs(task))
        return Network(
            nodes,
            bool(told.get("shortcuts", False)),
            str(told.get("activation", "standard sigmoid")),
            str(told.get("output", "identity")),
        )
    estimator = facts.identity.get("estimator")
    if isinstance(estimator, Mapping) and str(estimator.get("class", "")).startswith(PERCEPTRONS):
        parameters = estimator.get("parameters")
        return _perceptron(parameters, task) if isinstance(parameters, Mapping) else None
    return None


def _perceptron(parameters: Mapping[str, object], task: TaskFacts) -> Network:
    """Scikit-learn's networks: one output for two classes, softmax outputs for more."""
    outputs, is_class = _outputs(task), task.targets[0].kind == "categorical"
    last = "identity" if not is_class else "standard sigmoid" if outputs == 2 else "softmax"
    name = str(parameters.get("activation"))
    nodes = (
        task.input_count,
        *_whole(parameters.get("hidden_layer_sizes")),
        1 if is_class and outputs == 2 else outputs,
    )
    return Network(nodes, shortcuts=False, hidden=ACTIVATIONS.get(name, name), output=last)


def _outputs(task: TaskFacts) -> int:
    return sum(len(target.levels) if target.kind == "categorical" else 1 for target in task.targets)


def _whole(value: object) -> tuple[int, ...]:
    if isinstance(value, int):
        return (value,)
    return tuple(int(one) for one in value) if isinstance(value, Sequence) else ()


def _ends(value: object) -> tuple[float, float] | None:
    if not isinstance(value, Sequence) or len(value) != 2:
        return None
    return float(value[0]), float(value[1])
