"""Results in notebooks: HTML that is well formed and scoped, short reprs, axes that can be used further."""

import re
from html import unescape

import numpy as np
import pytest

from redelve.assessment import Assessment
from redelve.errors import RedelveError
from redelve.findings import find
from redelve.performance.guesses import PerformanceGuess, Prediction
from redelve.report.section_checks import PartReader
from tests.report.made import made_results, many_tasks, task_facts

HOSTILE = "<script>alert(1)</script> & b"
LONGEST = 200
"""Characters of a repr; `Contest` has its sentence."""


@pytest.fixture(scope="module")
def one() -> Assessment:
    return Assessment(made_results({"a": 0.2, HOSTILE: 0.5, "c": 0.9}, spread=0.05))


@pytest.fixture(scope="module")
def many() -> Assessment:
    return Assessment(made_results({"a": 0.2, "b": 0.5, "c": 0.9}, tasks=many_tasks(), spread=0.05))


def prediction() -> Prediction:
    guess = PerformanceGuess("kfold:10", 0.12, 0.08, 0.16, 0.02, "folds", 10, 0.5)
    bare = PerformanceGuess("holdout", 0.14, None, None, None, "", 1, 0.1, ("few <cases>",))
    models = (("SVC", 0.12), ("tree", 0.2))
    return Prediction("SVC", "error rate", 200, 0.95, (guess, bare), "kfold:10", "SVC", models)


def shown(html: str) -> str:
    """The text of well-formed HTML that has no script."""
    reader = PartReader()
    reader.feed(html)
    reader.close()
    assert not reader.crossed
    assert not reader.open
    assert "script" not in reader.tags
    assert not reader.outside
    bare = re.sub("<style>.*?</style>", "", html, flags=re.DOTALL)
    return unescape(re.sub("<[^>]*>", " ", bare)).replace("\u00a0", " ")


def test_an_assessment_and_its_findings_show_the_answer(one: Assessment) -> None:
    text = shown(one._repr_html_())
    assert "a is the best of these 3 methods" in text
    assert "alert(1)" in text
    assert shown(one.findings._repr_html_()) == text


def test_several_data_sets_show_the_answer_over_all_of_them(many: Assessment) -> None:
    text = shown(many._repr_html_())
    assert "Over 4 data sets a did best on average" in text
    assert "/c/proto" in text


def test_comparisons_and_predictions_show_themselves(one: Assessment) -> None:
    assert "a loses less than c" in shown(one.compare("a", "c")._repr_html_())
    text = shown(prediction()._repr_html_())
    assert "error rate 0.120 on new cases, 95 % interval 0.0800 to 0.160" in text
    assert "few <cases>" in text


def test_styles_apply_to_the_view_alone(one: Assessment) -> None:
    (style,) = re.findall("<style>(.*?)</style>", one._repr_html_(), flags=re.DOTALL)
    rules = re.findall(r"([^{}]+)\{", re.sub(r"@media[^{]*\{", "", style))
    assert len(rules) > 10
    for rule in rules:
        assert all(".redelve-view" in part for part in rule.split(",")), rule


def test_reprs_are_short(one: Assessment, many: Assessment) -> None:
    for each in (one, many, many.findings, many.results, many.compare("a", "b"), many.findings.tasks[0]):
        assert len(repr(each)) <= LONGEST, repr(each)
    assert len(repr(prediction())) <= LONGEST
    assert repr(one).startswith("<Assessment: <Results of 3 methods on 3 tasks: 36 of 36 jobs done>")


class TestPlots:
    def test_losses_are_drawn_on_axes_of_ones_own(self, one: Assessment) -> None:
        from matplotlib.figure import Figure

        axes = Figure().add_subplot()
        assert one.plot_losses(ax=axes) is axes
        assert axes.get_yticklabels()[0].get_text() == "a"
        assert axes.get_title() == "/data/proto/std.64"

    def test_differences_are_from_the_leader(self, one: Assessment) -> None:
        from matplotlib.figure import Figure

        axes = one.plot_differences("data/proto/std.16", ax=Figure().add_subplot())
        assert [tick.get_text() for tick in axes.get_yticklabels()][-1] == "c − a"
        (contest,) = (
            x for x in one.findings.task("/data/proto/std.16").contests if {x.first, x.second} == {"a", "c"}
        )
        assert contest.bounds is not None
        drawn = [
            sorted(np.abs(np.asarray(line.get_xdata(), dtype=np.float64)).tolist()) for line in axes.lines
        ]
        assert sorted(map(abs, contest.bounds)) in [pytest.approx(each) for each in drawn]

    def test_curves_and_ranks_are_drawn_where_there_are_some(self, one: Assessment, many: Assessment) -> None:
        from matplotlib.figure import Figure

        assert one.plot_curves(ax=Figure().add_subplot()).get_xlabel() == "training cases"
        texts = [text.get_text() for text in many.plot_ranks(ax=Figure().add_subplot()).texts]
        assert any(text.startswith("a ") for text in texts)

    def test_new_axes_belong_to_a_figure_that_a_notebook_shows(self, one: Assessment) -> None:
        import matplotlib as mpl

        mpl.use("agg")
        from matplotlib import pyplot

        before = pyplot.get_fignums()
        figure = one.plot_losses().figure
        assert len(pyplot.get_fignums()) == len(before) + 1
        pyplot.close(figure)  # type: ignore[arg-type]

    def test_guesses_are_drawn(self) -> None:
        from matplotlib.figure import Figure

        axes = prediction().plot_guesses(ax=Figure().add_subplot())
        assert [tick.get_text() for tick in axes.get_yticklabels()] == ["kfold:10", "holdout"]

    @pytest.mark.parametrize(
        ("ask", "reason"),
        [
            (lambda one, many: many.plot_losses(), "there are 4 data sets: name one with task="),
            (
                lambda one, many: one.plot_losses("elsewhere"),
                'no results on "elsewhere": there are /data/proto',
            ),
            (lambda one, many: one.plot_ranks(), "no ranks over 1 data sets: they take three"),
        ],
    )
    def test_what_can_not_be_drawn_tells_the_way_out(self, one, many, ask, reason) -> None:  # type: ignore[no-untyped-def]
        with pytest.raises(RedelveError, match=reason):
            ask(one, many)

    def test_one_size_has_no_curve(self) -> None:
        single = Assessment(made_results({"a": 0.2, "b": 0.4}, tasks=[task_facts("/d/y/std.16", 16)]))
        with pytest.raises(RedelveError, match="has one training-set size"):
            single.plot_curves()


def test_a_page_of_twenty_data_sets_keeps_its_details_for_later() -> None:
    from redelve.report.page import render_html

    tasks = [task_facts(f"/set{number}/y/std.16", 16, instances=2) for number in range(4)]
    page = render_html(find(made_results({"a": 0.2, "b": 0.4}, tasks=tasks)))
    assert page.count("<template>") == page.count('<details class="fold">') > 4
    assert page.index("Over 4 data sets") < page.index("<template>")
