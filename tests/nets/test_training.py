"""What training reports, and what it refuses."""

import numpy as np
import pytest

from redelve.errors import OptionalPackageError, SpecError
from redelve.nets import (
    GL,
    Architecture,
    CrossEntropy,
    Data,
    Engine,
    GradientDescent,
    MaxEpochs,
    P,
    Procedure,
    Rprop,
    ScaledConjugateGradients,
    Sets,
    SquaredOutputError,
    Success,
    initial_weights,
    layered,
    measure,
    predict,
    train,
)
from redelve.nets.backend import lent_memory
from tests.nets.problems import TINY, XOR, noisy_sets, some_weights

NETWORK = layered((5, 8, 2), "softsign", "identity", shortcuts=True)
SEEDS = list(range(10))


def test_the_network_of_lowest_validation_error_is_kept() -> None:
    sets = noisy_sets()
    procedure = Procedure(Rprop(), GL(5) | P(0.1) | MaxEpochs(300), curves=True)
    result = train(NETWORK, some_weights(NETWORK, 10), sets, procedure, seeds=SEEDS)
    curves = result.curves
    assert curves is not None
    assert curves.validation is not None
    assert curves.test is not None
    assert sets.validation is not None
    np.testing.assert_array_equal(result.lowest_validation, np.nanmin(curves.validation, axis=0))
    np.testing.assert_array_equal(
        result.relevant_epochs, curves.epochs[np.nanargmin(curves.validation, axis=0)]
    )
    np.testing.assert_array_equal(measure(NETWORK, result.weights, sets.validation), result.lowest_validation)
    last = np.array([column[~np.isnan(column)][-1] for column in curves.validation.T])
    np.testing.assert_allclose(result.overfit, 100 * (last / result.lowest_validation - 1), atol=1e-12)
    np.testing.assert_array_equal(measure(NETWORK, result.final_weights, sets.validation), last)
    assert (np.isnan(curves.test) == np.isnan(curves.validation)).all()
    assert (result.epochs == 5 * (~np.isnan(curves.training)).sum(axis=0)).all()
    assert {reason.split("(")[0] for reason in result.reasons} <= {"GL", "P", "MaxEpochs"}


def test_a_run_that_is_not_stopped_early_goes_to_the_limit_and_is_measured_there() -> None:
    procedure = Procedure(GradientDescent(1e-6), MaxEpochs(12), curves=True)
    result = train(NETWORK, some_weights(NETWORK, 2), noisy_sets(), procedure)
    assert result.epochs.tolist() == [12, 12]
    assert result.relevant_epochs.tolist() == [12, 12]
    assert result.curves is not None
    assert result.curves.epochs.tolist() == [5, 10, 12]
    assert result.reasons == ("MaxEpochs(epochs=12)",) * 2


def test_without_validation_cases_the_last_weights_are_kept() -> None:
    procedure = Procedure(GradientDescent(1e-3), MaxEpochs(7))
    result = train(NETWORK, some_weights(NETWORK, 2), Sets(noisy_sets().training), procedure)
    np.testing.assert_array_equal(result.weights, result.final_weights)
    assert result.relevant_epochs.tolist() == [7, 7]
    assert np.isnan(result.overfit).all()


def test_measurements_can_be_asked_for_at_any_epochs() -> None:
    procedure = Procedure(GradientDescent(1e-3), MaxEpochs(40), strips=(1, 2, 4, 8, 16, 32), curves=True)
    result = train(NETWORK, some_weights(NETWORK, 2), noisy_sets(), procedure)
    assert result.curves is not None
    assert result.curves.epochs.tolist() == [1, 2, 4, 8, 16, 32, 40]
    assert set(result.relevant_epochs) <= set(result.curves.epochs)


def test_the_training_error_is_measured_during_the_epoch_before_the_weights_move() -> None:
    sets = Sets(noisy_sets().training)
    weights = some_weights(NETWORK, 3)
    result = train(NETWORK, weights, sets, Procedure(GradientDescent(0.0), MaxEpochs(1), curves=True))
    assert result.curves is not None
    np.testing.assert_array_equal(result.curves.training[0], measure(NETWORK, weights, sets.training))


def test_success_counts_exactly_the_epochs_needed() -> None:
    procedure = Procedure(GradientDescent(7.0, momentum=0.65), Success(0.4) | MaxEpochs(500))
    weights = initial_weights(TINY, range(40), 1.4)
    result = train(TINY, weights, Sets(XOR), procedure)
    good = [run for run in range(40) if result.reasons[run] == "Success(tau=0.4)"]
    assert 20 < len(good) < 40
    outputs = predict(TINY, result.weights, XOR.inputs)
    worst = abs(outputs - XOR.targets).max(axis=(1, 2))
    assert (worst[good] < 0.4).all()
    assert result.epochs[[run for run in range(40) if run not in good]].tolist() == [500] * (40 - len(good))
    run = good[0]
    shorter = Procedure(GradientDescent(7.0, momentum=0.65), MaxEpochs(int(result.epochs[run]) - 1))
    before = train(TINY, weights[[run]], Sets(XOR), shorter)
    assert abs(predict(TINY, before.weights, XOR.inputs) - XOR.targets).max() >= 0.4


def test_success_with_validation_cases_keeps_the_best_weights_too() -> None:
    procedure = Procedure(GradientDescent(7.0, momentum=0.65), Success(0.4) | MaxEpochs(200), strips=1000)
    result = train(TINY, initial_weights(TINY, range(20), 1.4), Sets(XOR, XOR), procedure)
    good = np.array([reason.startswith("Success") for reason in result.reasons])
    np.testing.assert_array_equal(result.weights[good], result.final_weights[good])
    np.testing.assert_array_equal(result.relevant_epochs, result.epochs)


def test_exclusive_or_is_learnt_as_hamey_says() -> None:
    """Hamey 1992, table 1: λ_T = 0.76, mean successful time 50 (here 1000 trials: standard error 0.014)."""
    procedure = Procedure(GradientDescent(7.0, momentum=0.65), Success(0.4) | MaxEpochs(2000))
    result = train(TINY, initial_weights(TINY, range(1000), 1.4), Sets(XOR), procedure)
    good = result.epochs < 2000
    assert good.mean() == pytest.approx(0.76, abs=0.05)
    assert 40 < result.epochs[good].mean() < 65


def test_traversals_are_counted() -> None:
    sets = noisy_sets()  # 60 training cases, 30 validation cases
    result = train(NETWORK, some_weights(NETWORK, 1), sets, Procedure(GradientDescent(1e-6), MaxEpochs(10)))
    assert result.traversals[0] == NETWORK.connection_count * (10 * (2 * 60 + 1) + 2 * 30)
    conjugate = Procedure(ScaledConjugateGradients(), MaxEpochs(10))
    result = train(NETWORK, some_weights(NETWORK, 1), Sets(sets.training), conjugate)
    assert result.traversals[0] == NETWORK.connection_count * (21 * 2 * 60 + 10)
    ready = Procedure(GradientDescent(1.0), Success(2.0) | MaxEpochs(10))
    result = train(TINY, some_weights(TINY, 1), Sets(XOR), ready)
    assert (result.epochs[0], result.traversals[0]) == (0, 9 * 4)


def test_cpu_time_is_shared_out_by_epochs() -> None:
    procedure = Procedure(Rprop(), GL(5) | MaxEpochs(100))
    result = train(
        NETWORK, some_weights(NETWORK, 10), noisy_sets(), procedure, seeds=SEEDS, engine=Engine(chunk=10)
    )
    assert (result.cpu_seconds > 0).all()
    np.testing.assert_allclose(result.cpu_seconds / result.epochs, result.cpu_seconds[0] / result.epochs[0])


def test_a_run_that_diverges_stops_and_harms_nobody() -> None:
    procedure = Procedure(GradientDescent((1e-3, 1e6)), MaxEpochs(200))
    network = Architecture((5, 2), ("identity",))
    result = train(network, some_weights(network, 2), noisy_sets(), procedure)
    assert result.reasons == ("MaxEpochs(epochs=200)", "diverged")
    assert result.epochs[1] < 200
    assert np.isfinite(result.weights).all()


def test_every_run_draws_from_its_own_seed() -> None:
    both, one = initial_weights(NETWORK, [3, 2**64 - 1], 0.5), initial_weights(NETWORK, [2**64 - 1], 0.5)
    np.testing.assert_array_equal(both[1], one[0])
    assert (both[0] != both[1]).all()
    assert abs(both).max() <= 0.5
    assert abs(initial_weights(NETWORK, range(100), 0.5).mean()) < 0.02
    assert initial_weights(NETWORK, [1], 0.5, "float32").dtype == np.float32
    with pytest.raises(SpecError, match="seed -1"):
        initial_weights(NETWORK, [-1], 0.5)


def test_float32_gives_about_the_same_errors() -> None:
    sets, weights = noisy_sets(), some_weights(NETWORK, 5)
    procedure = Procedure(GradientDescent(1e-3), MaxEpochs(50))
    double = train(NETWORK, weights, sets, procedure)
    single = train(NETWORK, weights, sets, procedure, engine=Engine(dtype="float32"))
    assert single.weights.dtype == np.float32
    np.testing.assert_allclose(single.lowest_validation, double.lowest_validation, rtol=1e-4)


def test_classes_are_learnt_by_cross_entropy() -> None:
    sets = noisy_sets(outputs=3, cases=200)
    network = Architecture((5, 10, 3), ("tanh", "softmax"))
    procedure = Procedure(Rprop(), GL(5) | MaxEpochs(200), CrossEntropy())
    result = train(network, some_weights(network, 5), sets, procedure, seeds=range(5))
    outputs = predict(network, result.weights, sets.training.inputs)
    np.testing.assert_allclose(outputs.sum(axis=2), 1.0)
    assert (result.lowest_training < np.log(3) * 0.9).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.zeros((2, 3))}, "give runs × 76"),
        ({"sets": Sets(XOR)}, "training data have 2 inputs and 1 targets, the architecture 5 and 2"),
        ({"sets": Sets(Data(np.zeros((3, 4, 5)), np.zeros((4, 2))))}, "for 3 runs, weights for 2"),
        ({"sets": Sets(noisy_sets().training)}, "needs validation cases"),
        ({"seeds": [1]}, "1 seeds for 2 runs"),
        (
            {"procedure": Procedure(Rprop(), MaxEpochs(5), CrossEntropy())},
            'make the last activation "softmax"',
        ),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, object], message: str) -> None:
    usual = {
        "weights": some_weights(NETWORK, 2),
        "sets": noisy_sets(),
        "procedure": Procedure(Rprop(), GL(5) | MaxEpochs(5)),
        "seeds": [1, 2],
    }
    given = usual | change
    with pytest.raises(SpecError, match=message):
        train(NETWORK, given["weights"], given["sets"], given["procedure"], seeds=given["seeds"])  # type: ignore[arg-type]


def test_bad_data_and_engines_are_refused() -> None:
    with pytest.raises(SpecError, match="give cases × columns"):
        Data([1.0, 2.0], [[1.0]])
    with pytest.raises(SpecError, match="1 cases of inputs, 2 of targets"):
        Data([[1.0]], [[1.0], [2.0]])
    with pytest.raises(SpecError, match="inputs are tables or rows of unequal sizes"):
        Data([np.ones((9, 2)), np.ones((4, 2))], np.ones((2, 9, 1)))
    with pytest.raises(SpecError, match="not all finite"):
        Data([[np.nan]], [[1.0]])
    with pytest.raises(SpecError, match="known are numpy, torch"):
        Engine(backend="jax")
    with pytest.raises(SpecError, match="known are float32, float64"):
        Engine(dtype="float16")
    with pytest.raises(SpecError, match='use backend="torch"'):
        Engine(device="cuda")
    with pytest.raises(SpecError, match="chunk=0"):
        Engine(chunk=0)
    with pytest.raises(SpecError, match="give low < high"):
        SquaredOutputError(1, 1)
    softmax = Architecture((2, 2), ("softmax",))
    with pytest.raises(SpecError, match="use CrossEntropy"):
        measure(softmax, some_weights(softmax, 1), Data([[1, 2]], [[0, 1]]))
    with pytest.raises(SpecError, match=r"sum to 1\.5 with softmax"):
        measure(softmax, some_weights(softmax, 1), Data([[1, 2]], [[0.5, 1]]), error=CrossEntropy())
    with pytest.raises(SpecError, match="from 0 to 3"):
        measure(softmax, some_weights(softmax, 1), Data([[1, 2]], [[0, 3]]), error=CrossEntropy())


def test_a_missing_torch_tells_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name=name)

    monkeypatch.setattr("redelve.nets.backend.import_module", absent)
    with pytest.raises(OptionalPackageError, match=r'pip install "redelve\[torch\]"'):
        train(
            TINY,
            some_weights(TINY, 1),
            Sets(XOR),
            Procedure(GradientDescent(1), MaxEpochs(1)),
            engine=Engine("torch"),
        )


def test_memory_is_lent_again_only_when_nobody_looks_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    spare: list[object] = []
    monkeypatch.setattr("redelve.nets.backend._spare", spare)
    first = lent_memory(4, 100, "float64")
    assert [each.ctypes.data % 64 for each in first] == [0] * 4
    view, place = first[2][5:].reshape(5, 19), first[0].ctypes.data
    del first
    assert not spare
    assert all(not np.shares_memory(view, each) for each in lent_memory(4, 100, "float64"))
    del view
    assert len(spare) == 2
    assert lent_memory(4, 100, "float32")[0].ctypes.data == place


@pytest.mark.parametrize("network", [NETWORK, Architecture((5, 3, 2), ("logistic", "identity"))])
def test_what_memory_held_before_changes_nothing(
    network: Architecture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trained() -> list[bytes]:
        procedure = Procedure(Rprop(), GL(5) | MaxEpochs(30))
        result = train(network, some_weights(network, 3), noisy_sets(), procedure, seeds=[1, 2, 3])
        return [result.weights.tobytes(), result.lowest_validation.tobytes()]

    monkeypatch.setattr("redelve.nets.backend._spare", [])
    clean = trained()
    nonsense = np.frombuffer(np.full(100_000, np.nan).tobytes(), dtype=np.uint8).copy()
    monkeypatch.setattr("redelve.nets.backend._spare", [nonsense])
    assert trained() == clean
