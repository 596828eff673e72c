"""Encodings as in the manual's 7.3, missing and censored values, forgiving decoding."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redelve.errors import RedelveError, SpecError
from redelve.model import Attribute, AttributePrior, parse_range, written
from redelve.model.coding import Coding, Normalization
from redelve.model.encodings import bind, default_coding, encodings, encodings_for, fit, kept_for, measure
from redelve.model.prototask import TYPES

COLOURS = "pink blue red green purple"
NOMINAL, ORDINAL = ([one.name for one in encodings_for(kind)] for kind in ("nominal", "ordinal"))


def attribute(values: str, name: str = "X") -> Attribute:
    return Attribute(1, name, "u", parse_range(values))


def prior(kind: str, **options: object) -> AttributePrior:
    return AttributePrior(1, "NLMH", kind, **options)  # type: ignore[arg-type]


def coded(
    values: str, kind: str, coding: Coding, texts: list[str], **options: object
) -> list[list[str | float]]:
    """The coded columns as texts, fitted on the same column."""
    encoder = fit(attribute(values), prior(kind, **options), coding, written(texts))
    columns = encoder.encode(written(texts))
    return [list(column.texts) if column.texts is not None else column.numbers.tolist() for column in columns]


def test_every_encoding_is_allowed_for_some_type() -> None:
    assert set(encodings) == {one.name for kind in TYPES for one in encodings_for(kind)}


@pytest.mark.parametrize(
    ("kind", "options", "method"),
    [
        ("angular", {"unit": 360.0}, "rectan"),
        ("binary", {}, "-1/+1"),
        ("binary", {"passive": "a"}, "0/1"),
        ("nominal", {}, "1-of-n"),
        ("ordinal", {}, "therm"),
        ("integer", {}, "nm-abs"),
        ("real", {}, "nm-abs"),
    ],
)
def test_the_default_follows_the_prior(kind: str, options: dict[str, object], method: str) -> None:
    assert default_coding(prior(kind, **options)).method == method


def test_binary_codes() -> None:
    assert coded("male female", "binary", Coding("-1/+1"), ["male", "female"]) == [["-1", "1"]]
    assert coded("no yes", "binary", Coding("0/1", passive="yes"), ["no", "yes"]) == [["1", "0"]]


def test_one_of_n_with_and_without_passive_value() -> None:
    assert coded("a b c", "nominal", Coding("1-of-n"), ["a", "c"]) == [["1", "0"], ["0", "0"], ["0", "1"]]
    assert coded("a b c", "nominal", Coding("1-of-n", passive="b"), ["a", "b", "c"]) == [
        ["1", "0", "0"],
        ["0", "0", "1"],
    ]


@pytest.mark.parametrize(("scale", "high"), [("sqrt", "0.707106781"), ("linear", "0.5"), ("none", "1.0")])
def test_thermometer_scales(scale: str, high: str) -> None:
    low = f"-{high}"
    columns = coded("a b c", "ordinal", Coding("therm", scale=scale), ["a", "b", "c"])
    assert columns == [[low, high, high], [low, low, high]]


def test_thermometer_of_two_values_prints_one_point_zero() -> None:
    assert coded("a b", "ordinal", Coding("therm"), ["a", "b"]) == [["-1.0", "1.0"]]


def test_the_prior_can_override_the_order_of_values() -> None:
    order = ("c", "a", "b")
    columns = coded("a b c", "ordinal", Coding("0-up"), ["a", "b", "c"], order=order)
    assert columns == [["1", "2", "0"]]


def test_counting_codes() -> None:
    assert coded("a b c", "nominal", Coding("0-up"), ["b", "c"]) == [["1", "2"]]
    assert coded("1..3", "nominal", Coding("1-up"), ["1", "3"]) == [["1", "3"]]


def test_statistics_use_n_minus_1_and_nine_digits() -> None:
    statistics = measure(written(["1", "2", "4", "9"]))
    # the variance 38/3 is rounded to 12.6666667 before its root is taken: 3.559026088..., not 3.559026084...
    assert statistics == Normalization(4.0, 3.55902609, 3.0, 3.33333333, 1.0, 9.0)


def test_extremes_are_kept_to_the_bit() -> None:
    statistics = measure(written(["0.1234567890123", "?", "7", "9:"]))
    assert (statistics.least, statistics.greatest) == (0.1234567890123, 9.0)


def test_normalising_by_the_median_and_by_the_mean() -> None:
    texts = ["1", "2", "4", "9"]
    by_median = coded("(-Inf,Inf)", "real", Coding("nm-abs"), texts)[0]
    assert by_median == pytest.approx([-0.6, -0.3, 0.3, 1.8], rel=1e-8)
    by_mean = coded("(-Inf,Inf)", "real", Coding("nm-sqr", center=2.0), texts)[0]
    # variance 38/3; the centre is what the mean becomes, as the manual says
    assert by_mean == pytest.approx([2 + (x - 4) / math.sqrt(38 / 3) for x in (1, 2, 4, 9)], rel=1e-8)


def test_a_constant_attribute_is_coded_as_zero() -> None:
    assert coded("(-Inf,Inf)", "real", Coding("nm-abs"), ["5", "5"])[0] == [0.0, 0.0]


class TestUnit:
    """Codes from 0 to 1: PROBEN1, section 2.4."""

    def test_numbers_are_scaled_by_their_extremes(self) -> None:
        assert coded("(-Inf,Inf)", "real", Coding("0..1"), ["2", "5", "10"]) == [[0, 0.375, 1]]
        assert coded("0..9", "integer", Coding("0..1"), ["1", "3", "5"]) == [[0, 0.5, 1]]
        assert coded("(-Inf,Inf)", "real", Coding("0..1"), ["7", "7"]) == [[0, 0]]

    def test_extremes_are_those_of_the_training_cases(self) -> None:
        encoder = fit(attribute("(-Inf,Inf)"), prior("real"), Coding("0..1"), written(["2", "4"]))
        (column,) = encoder.encode(written(["1", "3", "6"]))
        assert column.numbers.tolist() == [-0.5, 0.5, 2]
        assert encoder.log_density_shift == -math.log(2)

    def test_a_missing_number_is_zero_beside_its_indicator_or_the_mean(self) -> None:
        texts = ["1", "?", "2", "5"]
        assert coded("[0,9] ?", "real", Coding("0..1"), texts) == [[0, 0, 0.25, 1], ["0", "1", "0", "0"]]
        (column,) = coded("[0,9] ?", "real", Coding("0..1", missing="impute"), texts)
        assert column == pytest.approx([0, 5 / 12, 0.25, 1], rel=1e-8)
        assert coded("[0,9] ?", "real", Coding("0..1", missing="impute"), ["3", "?"]) == [[0, 0]]

    def test_ordinal_values_are_equidistant_or_a_thermometer(self) -> None:
        levels = ["low", "mid", "high"]
        assert coded("low mid high", "ordinal", Coding("0..1"), levels) == [["0.0", "0.5", "1.0"]]
        assert coded("low mid high", "ordinal", Coding("therm-01"), levels) == [
            ["0", "1", "1"],
            ["0", "0", "1"],
        ]
        order = {"order": ("high", "mid", "low")}
        assert coded("low mid high", "ordinal", Coding("0..1"), levels, **order) == [["1.0", "0.5", "0.0"]]

    @pytest.mark.parametrize(("levels", "digits"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (9, 4)])
    def test_bits_are_as_many_as_needed(self, levels: int, digits: int) -> None:
        texts = [str(level) for level in range(levels)]
        columns = coded(f"0..{levels - 1}", "nominal", Coding("bits"), texts)
        found = [int("".join(map(str, row)), 2) for row in zip(*columns, strict=True)]
        assert (len(columns), found) == (digits, list(range(levels)))

    def test_two_classes_may_have_a_column_each(self) -> None:
        assert coded("no yes", "binary", Coding("1-of-n"), ["yes", "no"]) == [["0", "1"], ["1", "0"]]

    def test_angles_are_a_point_on_a_circle_from_0_to_1(self) -> None:
        sine, cosine = coded("[0,8)", "angular", Coding("0..1", unit=8.0), ["0", "2", "4"], unit=8.0)
        assert sine == pytest.approx([0.5, 1, 0.5])
        assert cosine == pytest.approx([1, 0.5, 0])
        encoder = bind(attribute("[0,8)"), prior("angular", unit=8.0), Coding("0..1", unit=8.0))
        assert encoder.decode([written(["0"]).texts(), written(["0.5"]).texts()])[0] == "6.0"
        assert encoder.log_density_shift == pytest.approx(math.log(2 * math.pi / 8))

    @pytest.mark.parametrize("extremes", [(), (0.0, None), (2.0, 1.0)])
    def test_statistics_without_extremes_are_refused(self, extremes: tuple[float | None, ...]) -> None:
        statistics = Normalization(0, 1, 0, 1, *extremes)
        with pytest.raises(SpecError, match="no least and greatest training value"):
            bind(attribute("[0,1)"), prior("real"), Coding("0..1"), statistics)

    def test_files_keep_extremes_for_this_encoding_alone(self) -> None:
        measured = measure(written(["1", "3"]))
        assert kept_for(Coding("0..1"), measured) == measured
        assert kept_for(Coding("nm-abs"), measured).least is None

    @pytest.mark.parametrize(
        ("kind", "coding"),
        [("nominal", Coding("0..1")), ("real", Coding("bits")), ("binary", Coding("0..1"))],
    )
    def test_other_types_are_refused(self, kind: str, coding: Coding) -> None:
        with pytest.raises(SpecError, match=f'can\'t use "{coding.method}" encoding'):
            bind(attribute("a b"), prior(kind), coding)


def test_angles_are_sine_then_cosine() -> None:
    sine, cosine = coded("[0,24)", "angular", Coding("rectan", unit=24.0), ["0", "6", "12"], unit=24.0)
    assert sine == pytest.approx([0, 1, 0], abs=1e-12)
    assert cosine == pytest.approx([1, 0, -1], abs=1e-12)


def test_missing_numbers_get_an_indicator_beside_the_imputed_value() -> None:
    columns = coded("[0,Inf) ? ?lost", "real", Coding("nm-abs"), ["1", "?", "3", "?lost", "8"])
    assert columns[0][1] == columns[0][3] == 0.0
    assert columns[1] == ["0", "1", "0", "1", "0"]


@pytest.mark.parametrize(
    ("kind", "values", "coding", "expected"),
    [
        ("binary", "a b ?", Coding("-1/+1"), [["-1", "0"], ["0", "1"]]),
        ("nominal", "a b c ?", Coding("1-of-n"), [["1", "0"], ["0", "0"], ["0", "0"], ["0", "1"]]),
        ("nominal", "a b c ?", Coding("0-up"), [["0", "3"]]),
        ("ordinal", "a b c ?", Coding("therm", scale="none"), [["-1.0", "0"], ["-1.0", "0"], ["0", "1"]]),
        ("angular", "[0,4) ?", Coding("rectan", unit=4.0), None),
    ],
)
def test_missing_categories_get_a_column_or_level_of_their_own(
    kind: str, values: str, coding: Coding, expected: list[list[str]] | None
) -> None:
    options: dict[str, object] = {"unit": 4.0} if kind == "angular" else {}
    first = "0" if kind == "angular" else "a"
    columns = coded(values, kind, coding, [first, "?"], **options)
    if expected is None:
        assert columns == [[0.0, 0.0], [1.0, 0.0], ["0", "1"]]
    else:
        assert columns == expected


def test_the_missing_option_chooses() -> None:
    texts = ["1", "?", "3"]
    assert len(coded("[0,Inf) ?", "real", Coding("nm-abs", missing="impute"), texts)) == 1
    with pytest.raises(SpecError, match=r'expected a number but got "\?"'):
        coded("[0,Inf) ?", "real", Coding("nm-abs", missing="error"), texts)
    with pytest.raises(SpecError, match='bad missing option for "X", "drop"'):
        coded("[0,Inf) ?", "real", Coding("nm-abs", missing="drop"), texts)


def test_censored_values_keep_their_colon() -> None:
    encoder = bind(attribute("[0,Inf)"), prior("real"), Coding("nm-abs"), Normalization(0, 1, 10, 2))
    column = encoder.encode(written(["12:", ":8", "10"]))[0]
    assert column.texts is not None
    assert list(column.texts) == ["1.0:", ":-1.0", "0.0"]
    assert list(encoder.decode([column.texts])) == ["12.0:", ":8.0", "10.0"]


@pytest.mark.parametrize(
    ("values", "kind", "coding", "texts", "expected"),
    [
        ("a b c", "nominal", Coding("1-of-n"), [["0.2"], ["0.9"], ["-3"]], "b"),
        ("a b c", "nominal", Coding("1-of-n", passive="c"), [["0.4"], ["0.3"]], "c"),
        ("a b", "binary", Coding("-1/+1"), [["0.01"]], "b"),
        ("a b", "binary", Coding("0/1", passive="b"), [["0.4"]], "b"),
        ("a b c", "ordinal", Coding("therm", scale="none"), [["0.7"], ["-0.1"]], "b"),
        ("a b c", "ordinal", Coding("0-up"), [["7"]], "c"),
        ("[0,8)", "angular", Coding("rectan", unit=8.0), [["-2"], ["0"]], "6.0"),
        ("[0,Inf)", "real", Coding("copy"), [["7.50"]], "7.50"),
    ],
)
def test_decoding_is_forgiving(
    values: str, kind: str, coding: Coding, texts: list[list[str]], expected: str
) -> None:
    options: dict[str, object] = {"unit": 8.0} if kind == "angular" else {}
    encoder = bind(attribute(values), prior(kind, **options), coding)
    assert encoder.decode([written(column).texts() for column in texts])[0] == expected


def test_densities_get_the_change_of_variable() -> None:
    statistics = Normalization(0, 1, 0, 4)
    assert bind(
        attribute("[0,1)"), prior("real"), Coding("nm-abs"), statistics
    ).log_density_shift == -math.log(4)
    assert bind(attribute("0..9"), prior("integer"), Coding("nm-abs"), statistics).log_density_shift == 0
    angle = bind(attribute("[0,1)"), prior("angular", unit=1.0), Coding("rectan", unit=1.0))
    assert angle.log_density_shift == pytest.approx(math.log(2 * math.pi))


@pytest.mark.parametrize(
    ("values", "kind", "coding", "message"),
    [
        ("a b c", "real", Coding("1-of-n"), 'can\'t use "1-of-n" encoding for "real" attribute X'),
        ("a b c", "binary", Coding("-1/+1"), "expected two values in range of attribute X, but got 3"),
        ("a b", "binary", Coding("0/1"), 'no passive value given for "0/1" encoded attribute "X"'),
        ("a b", "binary", Coding("0/1", passive="c"), 'bad passive value "c"'),
        ("a b c", "ordinal", Coding("therm", scale="log"), 'bad scale option for "X", "log"'),
        ("[0,1)", "angular", Coding("rectan"), 'no unit given for "rectan" encoded attribute "X"'),
        ("[0,1)", "angular", Coding("rectan", unit=0.0), "bad unit 0"),
        ("[0,1)", "real", Coding("nm-abs"), "no training statistics"),
        ("[0,1)", "nominal", Coding("1-of-n"), "can't list an infinite range"),
    ],
)
def test_impossible_encodings_are_refused(values: str, kind: str, coding: Coding, message: str) -> None:
    with pytest.raises(RedelveError) as caught:
        bind(attribute(values), prior(kind), coding)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "texts"), [("nominal", ["a", "z"]), ("real", ["1", "x"]), ("integer", ["1", "1.5"])]
)
def test_values_that_do_not_fit_are_named(kind: str, texts: list[str]) -> None:
    values = "a b c" if kind == "nominal" else "(-Inf,Inf)"
    with pytest.raises(SpecError) as caught:
        coded(values, kind, default_coding(prior(kind)), texts)
    assert f'"{texts[1]}"' in str(caught.value)


@given(st.lists(st.sampled_from(COLOURS.split()), min_size=1), st.sampled_from(NOMINAL[1:]))
def test_discrete_codes_decode_to_what_was_encoded(texts: list[str], method: str) -> None:
    encoder = bind(attribute(COLOURS), prior("nominal"), Coding(method))
    columns = [column.texts for column in encoder.encode(written(texts))]
    assert list(encoder.decode([column for column in columns if column is not None])) == texts


@given(st.lists(st.sampled_from(COLOURS.split()), min_size=1), st.sampled_from(ORDINAL[1:]))
def test_ordinal_codes_decode_to_what_was_encoded(texts: list[str], method: str) -> None:
    encoder = bind(attribute(COLOURS), prior("ordinal"), Coding(method))
    columns = [column.texts for column in encoder.encode(written(texts))]
    assert list(encoder.decode([column for column in columns if column is not None])) == texts


@given(st.lists(st.floats(0, 359.9), min_size=1), st.sampled_from(["rectan", "0..1"]))
def test_angles_decode_to_nearly_what_was_encoded(angles: list[float], method: str) -> None:
    encoder = bind(attribute("[0,360)"), prior("angular", unit=360.0), Coding(method, unit=360.0))
    columns = encoder.encode(written(repr(angle) for angle in angles))
    decoded = encoder.decode([written(repr(x) for x in one.numbers.tolist()).texts() for one in columns])
    apart = np.abs(np.array([float(text) for text in decoded]) - angles)
    assert (np.minimum(apart, 360 - apart) < 1e-5).all()


@given(st.lists(st.floats(-1e6, 1e6), min_size=2), st.sampled_from(["nm-abs", "nm-sqr", "0..1"]))
def test_numerical_codes_decode_to_nearly_what_was_encoded(values: list[float], method: str) -> None:
    texts = [f"{value:.6f}" for value in values]
    encoder = fit(attribute("(-Inf,Inf)"), prior("real"), Coding(method, center=0.5), written(texts))
    (column,) = encoder.encode(written(texts))
    decoded = encoder.decode([written(f"{number:.17g}" for number in column.numbers).texts()])
    expected = np.array([float(text) for text in texts])
    tolerance = 1e-8 * max(1.0, float(np.abs(expected).max()))
    assert np.allclose([float(text) for text in decoded], expected, atol=tolerance)


def test_fitting_looks_at_training_cases_only() -> None:
    encoder = fit(attribute("(-Inf,Inf)"), prior("real"), Coding("nm-sqr"), written(["0", "2"]))
    alone = encoder.encode(written(["5"]))[0].numbers[0]
    among = encoder.encode(written(["5", "1000", "-3"]))[0].numbers[0]
    assert alone == among
