"""Any task as a .dt file: the rules of section 2.4, and the sets."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from redelve.data.delve.reading import Library
from redelve.data.delve.roots import DataAddress, active
from redelve.data.proben1 import Rules, assignment, codings, export, represent_input, represent_output
from redelve.data.proben1.dt_files import read_dt, standard_sizes
from redelve.data.tables import from_frame
from redelve.errors import SpecError
from redelve.methods.shown import TrainingSet
from redelve.model import Assignment, Attribute, AttributePrior, NumberColumn, parse_range, written
from redelve.model.encodings import Encoder
from redelve.run.experiment import assignment_targets


def encoder(
    range_: str, kind: str, values: list[str], rules: Rules | None = None, **prior: object
) -> Encoder:
    attribute = Attribute(1, "x", "?", parse_range(range_))
    about = AttributePrior(1, "NLMH", kind, **prior)  # type: ignore[arg-type]
    column = written(values)
    if rules is None:
        return represent_output(attribute, about, column)
    return represent_input(attribute, about, column, rules)


def coded(
    range_: str, kind: str, values: list[str], rules: Rules | None = None, **prior: object
) -> list[list[float]]:
    made = encoder(range_, kind, values, rules, **prior)
    return np.column_stack([one.numbers for one in made.encode(written(values))]).tolist()  # type: ignore[no-any-return]


class TestInputs:
    def test_numbers_are_scaled_linearly_by_training_values(self) -> None:
        made = encoder("(-Inf,Inf)", "real", ["2", "4", "6"], Rules())
        (column,) = made.encode(NumberColumn(np.array([2.0, 5.0, 8.0])))
        assert column.numbers.tolist() == [0, 0.75, 1.5]
        assert made.decode([np.array(["0", "0.75"], dtype=object)]).tolist() == ["2.0", "5.0"]

    def test_integers_are_treated_as_real(self) -> None:
        assert coded("0..9", "integer", ["1", "3", "5"], Rules()) == [[0], [0.5], [1]]

    def test_a_constant_input_is_zero(self) -> None:
        assert coded("(-Inf,Inf)", "real", ["3", "3"], Rules()) == [[0], [0]]

    def test_binary_attributes_are_one_input(self) -> None:
        assert coded("no yes", "binary", ["yes", "no"], Rules()) == [[1], [0]]
        assert coded("no yes", "binary", ["yes", "no"], Rules(), passive="yes") == [[0], [1]]

    def test_nominal_attributes_are_1_of_m_or_binary_code(self) -> None:
        values = ["a", "b", "c", "d"]
        assert coded("a b c d", "nominal", values, Rules()) == np.eye(4).tolist()
        assert coded("a b c d", "nominal", values, Rules(nominal="binary")) == [
            [0, 0],
            [0, 1],
            [1, 0],
            [1, 1],
        ]

    def test_ordinal_attributes_are_a_scale_a_thermometer_or_nominal(self) -> None:
        values = ["low", "mid", "high"]
        levels = " ".join(values)
        assert coded(levels, "ordinal", values, Rules()) == [[0], [0.5], [1]]
        assert coded(levels, "ordinal", values, Rules(ordinal="thermometer")) == [[0, 0], [1, 0], [1, 1]]
        assert coded(levels, "ordinal", values, Rules(ordinal="1-of-m")) == np.eye(3).tolist()

    def test_missing_values_have_an_indicator(self) -> None:
        assert coded("(-Inf,Inf) ?", "real", ["1", "?", "3"], Rules()) == [[0, 0], [0, 1], [1, 0]]
        assert coded("a b c ?", "nominal", ["b", "?"], Rules()) == [[0, 1, 0, 0], [0, 0, 0, 1]]
        assert coded("no yes ?", "binary", ["yes", "?"], Rules()) == [[1, 0], [0, 1]]

    def test_missing_values_are_the_mean_if_so_wished(self) -> None:
        fixed = Rules(missing="fixed")
        mean = 1.66666667 / 4  # training statistics have nine digits
        assert coded("(-Inf,Inf) ?", "real", ["0", "?", "1", "4"], fixed) == [[0], [mean], [0.25], [1]]
        assert coded("a b ?", "nominal", ["b", "?"], fixed) == [[0, 1], [0, 0]]

    def test_unknown_rules_are_refused(self) -> None:
        with pytest.raises(
            SpecError, match='bad rule ordinal="steps": choose scale or 1-of-m or thermometer'
        ):
            Rules(ordinal="steps")  # type: ignore[arg-type]

    def test_angles_are_a_point_on_a_circle_within_0_to_1(self) -> None:
        found = coded("[0,360)", "angular", ["0", "90", "180"], Rules(), unit=360.0)
        assert np.allclose(found, [[0.5, 1], [1, 0.5], [0.5, 0]])
        made = encoder("[0,360)", "angular", ["90"], Rules(), unit=360.0)
        texts = [
            np.array([repr(float(one.numbers[0]))], dtype=object) for one in made.encode(written(["90"]))
        ]
        assert float(made.decode(texts)[0]) == pytest.approx(90)

    def test_what_can_not_be_a_number_is_refused(self) -> None:
        with pytest.raises(SpecError, match='attribute x: "12:" can\'t be written'):
            coded("(-Inf,Inf)", "real", ["1", "12:"], Rules())
        with pytest.raises(SpecError, match="admit the missing value"):
            coded("(-Inf,Inf)", "real", ["1", "?"], Rules())


class TestOutputs:
    def test_classes_are_1_of_m_even_for_two(self) -> None:
        assert coded("no yes", "binary", ["yes", "no"]) == [[0, 1], [1, 0]]
        assert coded("a b c", "ordinal", ["a", "c"]) == [[1, 0, 0], [0, 0, 1]]

    def test_numbers_are_scaled_and_scaled_back(self) -> None:
        made = encoder("(-Inf,Inf)", "real", ["10", "30"])
        assert made.encode(written(["15"]))[0].numbers.tolist() == [0.25]
        assert made.decode([np.array(["0.25"], dtype=object)]).tolist() == ["15.0"]
        assert made.log_density_shift == pytest.approx(-np.log(20))

    def test_missing_outputs_are_refused(self) -> None:
        with pytest.raises(SpecError, match=r"\?"):
            coded("a b ?", "binary", ["a", "?"])


def flats(count: int = 200) -> Assignment:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": rng.normal(60, 15, count).round(1), "city": rng.choice(["Oslo", "Rome", "Bonn"], count)}
    )
    frame.loc[5, "size"] = np.nan
    frame["dear"] = np.where(rng.random(count) < 0.5, "yes", "no")
    return from_frame(frame, "dear", name="flats").assignments[0]


class TestExport:
    def test_a_table_becomes_a_file_that_can_be_used_again(self, tmp_path: Path) -> None:
        made = export(flats())
        assert made.inputs == ("size", "size:?", "city:Bonn", "city:Oslo", "city:Rome")
        assert made.outputs == ("dear:no", "dear:yes")
        assert made.file.header.sizes == standard_sizes(200)
        made.write(tmp_path / "flats1.dt")
        again = read_dt(tmp_path / "flats1.dt")
        assert np.array_equal(again.inputs, made.file.inputs)
        assert assignment(tmp_path / "flats1.dt").address == "/flats1/class/std.150"
        assert "input 2: size:?" in made.readme()
        assert "100, 50, 50 examples" in made.readme()

    def test_the_same_encodings_serve_methods_and_delve_s_files(self) -> None:
        """What is exported is what `TrainingSet.encode` makes with the same codings, to the bit."""
        given = flats()
        chosen = codings(given, Rules(missing="fixed"))
        assert {one.method for one in chosen.values()} == {"0..1", "1-of-n"}
        made = export(given, instance=0, rules=Rules(missing="fixed"))
        rows = given.instances[0].training
        training = TrainingSet(
            given.data.inputs,
            given.data.targets,
            given.task.prior,
            given.data.cases.select(rows),
            targets=assignment_targets(given),
        )
        encoded = training.encode(chosen)
        assert np.array_equal(encoded.inputs, made.file.inputs[: len(rows)])
        assert np.array_equal(encoded.targets, made.file.outputs[: len(rows)])
        assert encoded.input_names == made.inputs

    def test_censored_test_cases_are_refused(self) -> None:
        frame = pd.DataFrame({"x": np.arange(40.0) ** 1.5, "y": np.arange(40.0) ** 1.2})
        given = from_frame(frame, "y").assignments[0]
        column = written([*map(str, range(39)), "9:"])
        cases = replace(given.data.cases, columns=(column, *given.data.cases.columns[1:]))
        bad = replace(given, data=replace(given.data, cases=cases))
        with pytest.raises(SpecError, match='attribute x: "9:" can\'t be written'):
            export(bad, permutation=0)

    def test_scaling_is_learnt_from_training_and_validation_set_only(self) -> None:
        fair, all_cases = export(flats()), export(flats(), rules=Rules(scaled_by="all"))
        assert (fair.file.inputs[:150, 0].min(), fair.file.inputs[:150, 0].max()) == (0.0, 1.0)
        assert (all_cases.file.inputs[:, 0].min(), all_cases.file.inputs[:, 0].max()) == (0.0, 1.0)
        assert fair.cautions
        assert "something of the test cases" in all_cases.readme()

    def test_permutations_differ_and_repeat(self) -> None:
        one, two, again = (export(flats(), permutation=number) for number in (1, 2, 1))
        assert np.array_equal(one.file.inputs, again.file.inputs)
        assert not np.array_equal(one.file.inputs, two.file.inputs)
        same = [sorted(e.file.inputs[:, 2:].sum(axis=0).tolist()) for e in (one, two)]
        assert same[0] == same[1]

    def test_an_instance_is_exported_with_its_own_sets(self) -> None:
        given = flats()
        made = export(given, instance=1)
        sizes = len(given.instances[1].training), len(given.instances[1].testing)
        assert sum(made.file.header.sizes[:2]) == sizes[0]
        assert made.file.header.test_examples == sizes[1]
        with pytest.raises(SpecError, match="has the instances 0 to"):
            export(given, instance=10_000)

    def test_groups_of_cases_are_not_cut(self) -> None:
        rng = np.random.default_rng(3)
        frame = pd.DataFrame({"x": rng.random(300), "who": np.repeat(np.arange(60), 5), "y": rng.random(300)})
        given = from_frame(frame, "y", groups="who").assignments[0]
        made = export(given)
        first, second, _ = made.file.header.sizes
        assert first % 5 == 0
        assert second % 5 == 0
        assert abs(first - 150) < 5

    def test_a_dataset_of_the_catalogue_is_exported(self, tmp_path: Path) -> None:
        library = Library(active())
        given = library.task(DataAddress.parse("/demo/age/std.128")).assignment()
        made = export(given, permutation=0)
        assert made.file.header.examples == given.data.cases.count
        assert (made.file.inputs[: made.file.header.training_examples] >= 0).all()
        made.write(tmp_path / "demo.dt.gz")
        assert assignment(tmp_path / "demo.dt.gz").address.startswith("/demo/outputs/")

    def test_too_few_cases_and_bad_numbers_are_refused(self) -> None:
        with pytest.raises(SpecError, match="numbered from 1"):
            export(flats(), permutation=-1)
