"""Hypothesis strategies for the nouns, shared by the tests of every room."""

from hypothesis import strategies as st

from redelve.model import Attribute, AttributePrior, DatasetSpec, DependencyPrior, Prior, Prototask
from redelve.model.coding import Coding, Normalization
from redelve.model.dataset import CONTROLS, ORDERS, ORIGINS, USAGES
from redelve.model.prototask import SELECTIONS
from redelve.model.ranges import Range, parse_range
from redelve.text_numbers import round9

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
words = st.text(LETTERS + "0123456789_-", max_size=8).flatmap(
    lambda tail: st.sampled_from(LETTERS).map(lambda head: head + tail)
)
sentences = st.lists(words, max_size=6).map(" ".join)
categories = words.filter(lambda word: ".." not in word)
missing_markers = st.just("?") | words.map(lambda word: "?" + word)
numbers = st.floats(-1e9, 1e9).map(round9)
levels = st.lists(st.sampled_from("NLMH"), min_size=1, max_size=4, unique=True).map("".join)


def _interval(ends: tuple[float, float], brackets: tuple[str, str]) -> str:
    return f"{brackets[0]}{min(ends):g},{max(ends):g}{brackets[1]}"


intervals = st.builds(
    _interval,
    st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)),
    st.tuples(st.sampled_from("[("), st.sampled_from("])")),
) | st.sampled_from(["(-Inf,Inf)", "[0,Inf)", "(-Inf,0]"])
integer_ranges = st.builds(lambda low, size: f"{low}..{low + size}", st.integers(-50, 50), st.integers(1, 9))
real_ranges = st.builds(
    lambda a, b: parse_range(" ".join([a, *b])), intervals, st.lists(missing_markers, max_size=2)
)
whole_ranges = integer_ranges.map(parse_range)
category_ranges = st.lists(categories, min_size=2, max_size=6, unique=True).map(
    lambda names: parse_range(" ".join(names))
)
ranges: st.SearchStrategy[Range] = real_ranges | whole_ranges | category_ranges


@st.composite
def dataset_specs(draw: st.DrawFn) -> DatasetSpec:
    names = draw(st.lists(words, min_size=2, max_size=6, unique=True))
    attributes = tuple(
        Attribute(number, name, draw(st.sampled_from(CONTROLS)), draw(ranges), draw(sentences))
        for number, name in enumerate(names, start=1)
    )
    return DatasetSpec(
        draw(words),
        attributes,
        draw(st.sampled_from(ORIGINS)),
        draw(st.sampled_from(USAGES)),
        draw(st.sampled_from(ORDERS)),
        draw(st.none() | sentences.filter(bool)),
        draw(st.booleans()),
    )


@st.composite
def prototasks(draw: st.DrawFn, spec: DatasetSpec) -> Prototask:
    order = draw(st.permutations(range(1, len(spec.attributes) + 1)))
    cut = draw(st.integers(1, len(order) - 1))
    return Prototask(
        name=draw(words),
        dataset=spec.name,
        inputs=tuple(order[cut:]),
        targets=tuple(order[:cut]),
        origin=draw(st.sampled_from(ORIGINS)),
        test_set_size=draw(st.integers(1, 10_000)),
        training_set_sizes=tuple(draw(st.lists(st.integers(1, 4096), min_size=1, max_size=5))),
        maximum_instances=draw(st.integers(1, 99)),
        cases=draw(st.sampled_from(["all", "no missing", "Some-cases"])),
        order=draw(st.sampled_from(["retain", "Random-order"])),
        test_set_selection=draw(st.sampled_from(SELECTIONS)),
        stratified=cut == 1 and spec.attributes[order[0] - 1].range.is_finite and draw(st.booleans()),
    )


@st.composite
def attribute_priors(draw: st.DrawFn, attribute: Attribute) -> AttributePrior:
    allowed = attribute.range
    if allowed.is_finite and len(allowed.values) > 1:
        values = allowed.values
        return AttributePrior(
            attribute.number,
            draw(levels),
            "nominal" if len(values) > 2 else "binary",
            passive=draw(st.none() | st.sampled_from(values)),
            order=draw(st.none() | st.permutations(values).map(tuple)),
        )
    kind = draw(st.sampled_from(["real", "integer", "angular"]))
    return AttributePrior(
        attribute.number,
        draw(levels),
        kind,
        center=draw(st.none() | numbers),
        unit=draw(st.floats(0.01, 1e6)) if kind == "angular" else None,
        missing=draw(st.sampled_from([None, "indicator", "impute", "error"])),
    )


@st.composite
def priors(draw: st.DrawFn, spec: DatasetSpec) -> Prior:
    dependency = draw(st.none() | st.builds(DependencyPrior, levels, st.none() | st.integers(0, 999)))
    return Prior(draw(words), tuple(draw(attribute_priors(each)) for each in spec.attributes), dependency)


codings = st.builds(
    Coding,
    st.sampled_from(["copy", "ignore", "1-of-n", "nm-abs", "rectan", "0..1", "therm-01", "bits"]),
    st.none() | categories,
    st.none() | numbers,
    st.none() | numbers,
    st.sampled_from(["none", "linear", "sqrt"]),
    st.sampled_from([None, "indicator", "error"]),
)
extremes = st.none() | st.floats(allow_nan=False, allow_infinity=False)
normalizations = st.builds(Normalization, numbers, numbers, numbers, numbers, extremes, extremes)
