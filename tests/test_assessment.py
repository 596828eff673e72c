"""The main job in Python: from estimators and tables to comparisons, frames and reports."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge

import redelve
from redelve.data.tasks import assignments_for
from redelve.errors import LocationError, RedelveError, SpecError, StatisticsError
from redelve.methods.adapters.sklearn_adapter import SklearnMethod, sklearn_method
from redelve.methods.contract import Predictor
from redelve.methods.shown import TrainingSet
from redelve.model.designs import nest


@pytest.fixture(autouse=True, scope="module")
def _shared_home(tmp_path_factory: pytest.TempPathFactory) -> object:
    """The generated datasets are made once for all tests of this module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REDELVE_HOME", str(tmp_path_factory.mktemp("home")))
        patch.delenv("DELVE_PATH", raising=False)
        yield


def encoded(estimator: Any) -> SklearnMethod:
    """For frames with texts, which a bare estimator does not take."""
    return sklearn_method(estimator, inputs="encoded")


def houses(count: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    area, rooms = rng.uniform(30, 200, count), rng.integers(1, 7, count)
    town = rng.choice(["Toronto", "Karlsruhe", "Sydney"], count)
    price = 3 * area + 20 * rooms + 50 * (town == "Sydney") + rng.normal(0, 20, count)
    return pd.DataFrame({"area": area, "rooms": rooms, "town": town, "price": price.round(2)})


@pytest.fixture(scope="module")
def assessment() -> redelve.Assessment:
    methods = {
        "ridge": encoded(Ridge()),
        "forest": encoded(RandomForestRegressor(20)),
        "constant": "constant",
    }
    return redelve.assess(methods, redelve.from_frame(houses(), "price", name="houses"))


def test_two_methods_are_compared_on_every_task(assessment: redelve.Assessment) -> None:
    contests = assessment.compare("ridge", "constant")
    assert len(contests) == len(assessment.results.tasks)
    for contest in contests:
        assert contest.winner == "ridge"
        assert (contest.p_value or 1) < 0.05
    assert "ridge loses less than constant" in str(contests)
    assert list(contests.frame()["first"]) == ["ridge"] * len(contests)


def test_two_that_were_picked_from_many_are_said_to_be_picked(assessment: redelve.Assessment) -> None:
    """Of ten equal methods the best and the worst of a sample differ at 5 % in far more than 5 %."""
    told = "allows for no other pair of the 3 methods"
    contests = assessment.compare("ridge", "constant")
    assert told in str(contests)
    assert told in contests._repr_html_()
    two = redelve.Assessment(assessment.results.select(methods=("ridge", "constant")))
    assert "no other pair" not in str(two.compare("ridge", "constant"))


def test_one_task_may_be_chosen_with_or_without_the_slash(assessment: redelve.Assessment) -> None:
    address = next(iter(assessment.results.tasks))
    for written in (address, address[1:]):
        assert assessment.compare("ridge", "forest", task=written).tasks == (address,)
    with pytest.raises(LocationError, match="there are /houses"):
        assessment.compare("ridge", "forest", task="/elsewhere")


def test_the_frame_has_a_row_for_every_task_and_method(assessment: redelve.Assessment) -> None:
    frame = assessment.frame()
    assert len(frame) == len(assessment.results.tasks) * 3
    assert set(frame["method"]) == {"ridge", "forest", "constant"}
    constant = frame[frame["method"] == "constant"]["standardised"]
    assert constant.between(0.9, 1.2).all()
    assert (frame["low"] < frame["mean"]).all()


def test_means_in_the_frame_are_means_of_the_cases(assessment: redelve.Assessment) -> None:
    by_case = assessment.cases().groupby(["task", "method", "instance"])["loss.S"].mean()
    expected = by_case.groupby(["task", "method"]).mean().rename("expected").reset_index()
    both = assessment.frame().merge(expected, on=["task", "method"])
    np.testing.assert_allclose(both["mean"], both["expected"])


def test_the_archive_of_an_assessment_may_be_named_by_a_text(tmp_path: Path) -> None:
    done = redelve.assess(["constant", "lin-1"], "demo/age", sizes=64, archive=tmp_path / "archive")
    again = redelve.Assessment(done.results, archive=str(tmp_path / "archive"))  # type: ignore[arg-type]
    assert str(again) == str(done)


def test_another_loss_may_judge(assessment: redelve.Assessment) -> None:
    absolute = assessment.judged_by("A")
    assert set(absolute.frame()["loss"]) == {"A"}
    assert set(assessment.frame()["loss"]) == {"S"}
    with pytest.raises(RedelveError, match='loss Q is for categorical targets, but target "price" is real'):
        assessment.judged_by("Q").frame()


def test_coverage_is_told_for_those_who_gave_distributions(assessment: redelve.Assessment) -> None:
    coverage = assessment.coverage(0.9)
    assert set(coverage["method"]) == {"constant"}
    assert coverage["coverage"].between(0.8, 1.0).all()


def test_the_summary_answers_the_three_questions(assessment: redelve.Assessment) -> None:
    text = str(assessment)
    for question in ("Which method?", "How sure are we?", "Would more data help?"):
        assert question in text


@pytest.mark.parametrize("name", ["out.html", "out.md", "out.tex"])
def test_a_report_is_one_file(assessment: redelve.Assessment, tmp_path: Path, name: str) -> None:
    path = assessment.report(tmp_path / name)
    assert path == tmp_path / name
    assert "forest" in path.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [path]


class Counted(redelve.Method):
    """The mean, by a method that counts how often it learns."""

    summary = "The mean of the training targets."
    identity: ClassVar[dict[str, str]] = {"kind": "counted"}
    times: ClassVar[int] = 0

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        type(self).times += 1
        return redelve.METHODS["constant"].learn(training, rng)


class TestArchive:
    def test_what_is_archived_is_not_done_again_and_says_the_same(self, tmp_path: Path) -> None:
        Counted.times = 0
        task = redelve.from_frame(houses(), "price", name="houses")
        archive = tmp_path / "archive"
        first = redelve.assess({"mean": Counted(), "ridge": encoded(Ridge())}, task, archive=archive)
        count = Counted.times
        assert count == sum(len(one.instances) for one in task.assignments)
        again = redelve.assess({"mean": Counted(), "ridge": encoded(Ridge())}, task, archive=archive)
        assert Counted.times == count
        pd.testing.assert_frame_equal(first.cases(), again.cases())
        in_memory = redelve.assess({"mean": Counted(), "ridge": encoded(Ridge())}, task)
        pd.testing.assert_frame_equal(first.cases(), in_memory.cases())
        assert redelve.Archive.open(archive).verify().ok

    def test_another_setting_is_another_method(self, tmp_path: Path) -> None:
        task = redelve.from_frame(houses(), "price", name="houses")
        one = redelve.assess({"ridge": encoded(Ridge(alpha=1))}, task, archive=tmp_path / "a")
        two = redelve.assess({"ridge": encoded(Ridge(alpha=1000))}, task, archive=tmp_path / "a")
        assert not one.cases()["loss.S"].equals(two.cases()["loss.S"])
        assert len(two.results.records) == len(one.results.records)


def test_classes_are_judged_by_errors_and_probabilities() -> None:
    frame = houses()
    frame["dear"] = np.where(frame.pop("price") > 400, "yes", "no")
    made = redelve.assess(
        {"logistic": encoded(LogisticRegression()), "constant": "constant"}, redelve.from_frame(frame, "dear")
    )
    assert set(made.frame()["loss"]) == {"Z"}
    assert {"loss.Z", "loss.L", "loss.Q"} <= set(made.cases().columns)
    assert made.compare("logistic", "constant")[0].winner == "logistic"


def test_few_cases_are_cross_validated_with_a_caveat() -> None:
    made = redelve.assess(
        {"ridge": encoded(Ridge()), "constant": "constant"}, redelve.from_frame(houses(120), "price")
    )
    (contest,) = made.compare("ridge", "constant")
    assert type(contest.test).__name__ == "ResampledComparison"
    assert "V002" in {note.code for note in made.findings.notes}


def test_folds_can_be_nested() -> None:
    (folds,) = redelve.from_frame(houses(60), "price").assignments
    made = redelve.assess({"ridge": encoded(Ridge()), "constant": "constant"}, nest(folds))
    (task,) = made.findings.tasks
    assert type(task.method("ridge").estimate).__name__ == "NestedCV"
    assert len(made.results.records) == 2 * 5 * 6 / 2
    assert made.compare("ridge", "constant")[0].winner == "ridge"


class TestTasks:
    def test_an_address_stands_for_all_its_sizes(self) -> None:
        found = assignments_for("demo/age")
        assert list(found) == [f"/demo/age/std.{size}" for size in (32, 64, 128, 256, 512)]

    def test_a_dataset_stands_for_all_its_prototasks(self) -> None:
        found = assignments_for("demo", sizes=[64])
        assert list(found) == [
            f"/demo/{name}/std.64" for name in ("age", "colour", "income", "sex", "siblings")
        ]

    @pytest.mark.parametrize("size", [64, np.int64(64)])
    @pytest.mark.parametrize("task", ["demo/age", "demo/age/std.64"])
    def test_one_size_needs_no_list(self, task: str, size: int) -> None:
        assert list(assignments_for(task, sizes=size)) == ["/demo/age/std.64"]
        assert redelve.assess(["constant"], task, sizes=size).results.tasks.keys() == {"/demo/age/std.64"}

    @pytest.mark.parametrize(
        ("task", "sizes", "complaint"),
        [
            ("/", None, "is no task: give an address such as kin-8nm/dist"),
            ("nowhere", None, 'dataset "/nowhere" not found'),
            ("demo/height", None, "height"),
            ("demo/age/bold.32", None, "bold.prior"),
            ("demo/age", [33], "has no training-set size 33: it has 32, 64, 128, 256, 512"),
            ("demo/age", 33, "has no training-set size 33: it has 32, 64, 128, 256, 512"),
            ("demo/age", "64", "sizes is '64': give a whole number, or several in a list"),
            ("demo/age", 64.5, "sizes is 64.5: give a whole number, or several in a list"),
            ([], None, "there is no task"),
        ],
    )
    def test_what_is_not_there_is_named(self, task: object, sizes: object, complaint: str) -> None:
        with pytest.raises(RedelveError) as caught:
            assignments_for(task, sizes=sizes)  # type: ignore[arg-type]
        assert complaint in str(caught.value)

    def test_a_frame_without_a_target_is_no_list_of_addresses(self) -> None:
        with pytest.raises(
            SpecError, match=r'no target is given: name the column to predict, as in target="price"'
        ):
            assignments_for(houses(500))

    def test_a_table_is_read_without_a_look_at_delve_directories(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        houses(60).to_csv(tmp_path / "houses.csv", index=False)
        monkeypatch.setattr("redelve.data.tasks.active", lambda: pytest.fail("looked for DELVE directories"))
        (made,) = assignments_for(redelve.task(tmp_path / "houses.csv", "price")).values()
        assert made.address.startswith("/houses/price/std.")

    def test_whatever_holds_tasks_goes_through_one_door(self, tmp_path: Path) -> None:
        table = houses(500)
        table.to_csv(tmp_path / "houses.csv", index=False)
        by_frame = redelve.task(table, "price", name="houses", sizes=[32])
        by_file = redelve.task(str(tmp_path / "houses.csv"), "price", sizes=[32])
        (one,) = by_frame.assignments
        assert [made.address for made in by_file.assignments] == [one.address]
        assert redelve.task(one).assignments == redelve.task(by_frame).assignments == (one,)
        assert str(by_file).startswith("houses: 500 cases\n  area ")

    def test_options_of_tables_are_refused_for_addresses(self) -> None:
        with pytest.raises(SpecError, match="target='age' is for tables and data frames only"):
            redelve.task("demo/age", "age")

    def test_two_tables_of_one_name_are_refused(self) -> None:
        one, two = houses(500), houses(501)
        with pytest.raises(SpecError, match="two different tasks are called"):
            assignments_for([redelve.from_frame(one, "price"), redelve.from_frame(two, "price")])

    @pytest.mark.parametrize(("other", "target"), [(slice(300, 1400), "price"), (slice(300, 600), "area")])
    def test_two_tables_of_one_name_are_refused_at_other_sizes_and_targets(
        self, other: slice, target: str
    ) -> None:
        one, two = houses(1400)[:300], houses(1400)[other]
        with pytest.raises(SpecError, match=r'two different tables are called "data": one with 300 rows \('):
            assignments_for([redelve.task(one, "price"), redelve.task(two, target)])
        with pytest.raises(SpecError, match=r"give one of them another name, as in task\(frame"):
            redelve.assess(["constant"], [redelve.task(one, "price"), redelve.task(two, target)])
        named = [redelve.task(one, "price"), redelve.task(two, target, name="others")]
        assert {address.split("/")[1] for address in assignments_for(named)} == {"data", "others"}

    def test_the_first_rows_of_a_table_are_another_table(self) -> None:
        with pytest.raises(SpecError, match='two different tables are called "data"'):
            assignments_for([houses(300), houses(1400)[:1400]], "price")

    def test_two_files_of_one_name_are_refused_by_their_paths(self, tmp_path: Path) -> None:
        for folder, count in (("old", 300), ("new", 1100)):
            (tmp_path / folder).mkdir()
            houses(count).to_csv(tmp_path / folder / "t.csv", index=False)
        old, new = str(tmp_path / "old" / "t.csv"), tmp_path / "new" / "t.csv"
        with pytest.raises(SpecError) as caught:
            assignments_for([old, new], "price")
        assert all(f"{one} with " in str(caught.value) for one in (old, new))

    def test_the_same_table_may_be_there_several_times(self) -> None:
        table = houses(1400)
        table.loc[::9, "area"] = np.nan
        made = [
            redelve.task(table, "price", sizes=[32]),
            redelve.task(table, "price", sizes=[64]),
            redelve.task(table.copy(), "price", design="cv"),
            redelve.task(table, "area"),
            redelve.task(table, "town", groups="rooms", design="cv 5"),
            *redelve.task(table, "rooms", kind="classification").assignments,
        ]
        assert {address.split("/")[2] for address in assignments_for(made)} == {
            "price",
            "area",
            "town",
            "rooms",
        }
        assert len(assignments_for(["demo/age/std.32", "demo/age/std.64", "demo/sex"])) == 7

    def test_a_table_called_like_a_dataset_of_the_catalogue_is_refused_beside_it(self) -> None:
        with pytest.raises(SpecError, match=r'two different tables are called "demo": demo/age/std.32 with '):
            assignments_for(["demo/age/std.32", redelve.task(houses(), "price", name="demo")])


@pytest.mark.parametrize("name", ["", " a", "a b ", "../up", ".hidden", "-x", "a/b", 7, "new\nline"])
def test_a_method_needs_a_name_that_can_be_a_folder(name: object) -> None:
    with pytest.raises(SpecError, match="bad name of a method"):
        redelve.assess({name: Ridge()}, "demo/age/std.32")


def test_methods_that_cannot_be_named_are_refused_with_an_example() -> None:
    with pytest.raises(SpecError, match=r'two methods are called "Ridge": .* as in {"ridge": Ridge\(\)'):
        redelve.assess([Ridge(), Ridge(alpha=10)], "demo/age/std.32")
    with pytest.raises(SpecError, match="a method without a name was given"):
        redelve.assess([lambda training, inputs, rng: None], "demo/age/std.32")


def test_a_method_that_does_not_suit_the_target_is_refused_before_anything_runs() -> None:
    with pytest.raises(SpecError, match="sex"):
        redelve.assess({"ridge": Ridge()}, "demo/sex/std.32")


def test_versions_of_a_method_outside_the_question_do_not_matter(tmp_path: Path) -> None:
    def assessed(**methods: object) -> str:
        done = redelve.assess(methods, "demo/age/std.256", archive=tmp_path / "archive")
        return done.frame().to_csv()

    first, second = assessed(mine=encoded(Ridge(1.0))), assessed(mine=encoded(Ridge(1000.0)))
    assert first != second
    assessed(other=encoded(Ridge(3.0)))
    assert (assessed(mine=encoded(Ridge(1.0))), assessed(mine=encoded(Ridge(1000.0)))) == (first, second)


@pytest.mark.parametrize("losses", [["A"], ["A", "S0.2N"]])
def test_the_losses_asked_for_are_judged_by_whatever_an_archive_holds(
    tmp_path: Path, losses: list[str]
) -> None:
    methods, task = ["constant", "lin-1"], "demo/age/std.256"
    redelve.assess(methods, task, archive=tmp_path / "archive")
    again = redelve.assess(methods, task, losses=losses, archive=tmp_path / "archive")
    afresh = redelve.assess(methods, task, losses=losses)
    assert again.frame().to_csv() == afresh.frame().to_csv()
    assert str(again) == str(afresh)


def test_a_size_that_no_task_has_is_refused_and_not_left_out() -> None:
    with pytest.raises(SpecError, match="training sets of 100 cases: there are 32, 64, 128, 256, 512; leave"):
        redelve.assess(["constant"], "demo/age", sizes=[64, 100])
    with pytest.raises(SpecError, match="training sets of 100 cases"):
        redelve.task("demo/age", sizes=[64, 100])


def test_a_margin_and_planned_comparisons_reach_summary_report_and_frame(tmp_path: Path) -> None:
    found = redelve.assess(
        ["constant", "lin-1", "knn-cv-1"],
        "demo/age",
        sizes=[256],
        margin="5%",
        compare=[("lin-1", "knn-cv-1")],
    )
    assert "Only the planned comparison was tested" in str(found).replace("\n  ", " ")
    assert "the margin of 5 %" in str(found).replace("\n  ", " ")
    assert [{one.first, one.second} for one in found.findings.tasks[0].contests] == [{"lin-1", "knn-cv-1"}]
    text = found.report(tmp_path / "report.md").read_text(encoding="utf-8")
    assert "Within 5 %" in text
    frame = found.compare("lin-1", "constant", margin=1e9).frame()
    assert frame["equivalent"].tolist() == [True]


def test_a_planned_comparison_with_nobody_is_refused_before_anything_runs() -> None:
    with pytest.raises(StatisticsError, match=r'with "lin" is planned, .* \(did you mean "lin-1"\?\)'):
        redelve.assess(["constant", "lin-1"], "demo/age", compare=[("constant", "lin")])
    with pytest.raises(StatisticsError, match="a margin is a number above zero"):
        redelve.assess(["constant", "lin-1"], "demo/age", margin="two")


@pytest.mark.parametrize(
    "options",
    [{}, {"judge_by": "accuracy"}, {"judge_by": "roc_auc"}, {"until_settled": True}, {"losses": ["Z"]}],
)
def test_a_margin_that_no_two_methods_can_differ_by_is_refused_before_anything_runs(
    options: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(StatisticsError, match="is as much as the score or loss can vary, 1: any two methods"):
        redelve.assess(["constant", "knn-cv-1"], "demo/sex", archive=tmp_path / "kept", margin=1, **options)
    assert not (tmp_path / "kept").exists()


def test_a_share_of_a_loss_without_zero_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(StatisticsError, match=r"on /demo/age/std\.32 has no natural zero"):
        redelve.assess(
            ["constant"], "demo/age", sizes=32, archive=tmp_path / "kept", judge_by="L", margin="2%"
        )
    assert not (tmp_path / "kept").exists()


def test_a_margin_is_kept_where_one_of_the_tasks_has_no_limit() -> None:
    found = redelve.assess(["constant"], ["demo/age", "demo/sex"], sizes=[32], margin=5)
    assert len(found.findings.tasks) == 2
