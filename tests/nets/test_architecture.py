"""Architectures count connections as PROBEN1 does and refuse what makes no sense."""

import numpy as np
import pytest

from redelve.errors import SpecError
from redelve.nets import Architecture, layered
from tests.nets.problems import plain_outputs, some_weights

# Prechelt 1994, table 7: inputs, hidden layers, outputs, number of connections of the pivot architecture.
PIVOTS = {
    "building1": (14, (16,), 3, 333),
    "cancer1": (9, (4, 2), 2, 100),
    "card1": (51, (32,), 2, 1832),
    "diabetes2": (8, (16, 8), 2, 410),
    "flare3": (24, (24,), 3, 747),
    "gene1": (120, (4, 2), 3, 1115),
    "glass1": (9, (16, 8), 6, 572),
    "heart1": (35, (32,), 2, 1288),
    "heartac1": (35, (2,), 1, 110),
    "horse1": (58, (16, 8), 3, 1793),
    "soybean1": (82, (16, 8), 19, 4153),
    "thyroid2": (21, (8, 4), 3, 398),
}


@pytest.mark.parametrize("name", PIVOTS)
def test_connections_are_counted_as_in_table_7(name: str) -> None:
    inputs, hidden, outputs, count = PIVOTS[name]
    sizes = (inputs, *hidden, outputs)
    assert layered(sizes, "softsign", "identity", shortcuts=True).connection_count == count


def test_without_shortcuts_only_adjacent_layers_are_connected() -> None:
    assert layered((9, 4, 2, 2), "tanh", "identity").connection_count == 10 * 4 + 5 * 2 + 3 * 2
    assert Architecture((9, 4, 2), ("tanh", "identity"), biases=False).connection_count == 9 * 4 + 4 * 2


@pytest.mark.parametrize(
    ("sizes", "activations", "message"),
    [
        ((3,), (), "at least inputs and outputs"),
        ((3, 0, 1), ("tanh", "tanh"), "each 1 or more"),
        ((3, 2, 1), ("tanh",), "give 2, one for each layer"),
        ((3, 2, 1), ("tnah", "identity"), 'did you mean "tanh"'),
        ((3, 2, 1), ("softmax", "identity"), "for the outputs only"),
    ],
)
def test_nonsense_is_refused(sizes: tuple[int, ...], activations: tuple[str, ...], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Architecture(sizes, activations)


@pytest.mark.parametrize("shortcuts", [False, True])
@pytest.mark.parametrize("biases", [False, True])
def test_groups_hold_every_weight_once_and_what_their_names_say(shortcuts: bool, biases: bool) -> None:
    architecture = Architecture((3, 2, 4, 2), ("tanh", "tanh", "identity"), shortcuts, biases)
    groups = architecture.groups()
    np.testing.assert_array_equal(
        np.sort(np.concatenate(list(groups.values()))), np.arange(architecture.connection_count)
    )
    weights = some_weights(architecture, 1)[0]
    silent = weights.copy()
    for name, places in groups.items():
        if name.startswith("input 2 "):
            silent[places] = 0.0
    inputs = np.random.default_rng(1).normal(size=(5, 3))
    changed = inputs + np.array([0.0, 9.0, 0.0])
    same, other = (plain_outputs(architecture, silent, each) for each in (inputs, changed))
    np.testing.assert_array_equal(same, other)
    assert not np.allclose(plain_outputs(architecture, weights, inputs), same)


def test_groups_of_layers_and_biases_are_where_outputs_say() -> None:
    architecture = Architecture((3, 2, 1), ("tanh", "identity"))
    groups, weights = architecture.groups(), np.zeros(architecture.connection_count)
    weights[groups["biases of layer 1"]] = 0.5
    weights[groups["layer 1 to layer 2"]] = [2.0, 3.0]
    weights[groups["biases of layer 2"]] = 7.0
    outputs = plain_outputs(architecture, weights, np.ones((1, 3)))
    assert outputs[0, 0] == pytest.approx(5 * np.tanh(0.5) + 7)
