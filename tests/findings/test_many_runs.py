"""Several runs on one partition: PROBEN1's statistics and test, beside the task's own comparison."""

from dataclasses import replace

import numpy as np
import pytest

from redelve.errors import StatisticsError
from redelve.findings import find
from redelve.findings.findings import ManyRuns, many_runs
from redelve.findings.result_frames import runs_frame
from redelve.run.results import Results
from redelve.stats import compare_runs, summarise_runs
from tests.report.made import made_results, task_facts


def one_partition(runs: int = 10, means: dict[str, float] | None = None) -> Results:
    facts = task_facts("/glass1/class/std.161", 161, instances=1, usage="historical")
    return made_results(means or {"net": 0.3, "other": 0.5}, tasks=[facts], runs=runs)


def runs_in(results: Results, **more: object) -> ManyRuns:
    found = many_runs(results, find(results).tasks[0], **more)  # type: ignore[arg-type]
    assert found is not None
    return found


def errors_of(results: Results, method: str) -> list[float]:
    return [float(one.losses["S"].mean()) for one in results.of(method, "/glass1/class/std.161")]


def test_statistics_are_those_of_the_runs_mean_losses() -> None:
    results = one_partition()
    found = runs_in(results)
    for one in found.methods:
        assert one.summary == summarise_runs(errors_of(results, one.method))
        assert list(one.errors) == list(range(10))


def test_pairs_have_both_tests() -> None:
    results = one_partition()
    (pair,) = runs_in(results).pairs
    expected = compare_runs(errors_of(results, "net"), errors_of(results, "other"))
    assert pair.comparison.p_value == expected.p_value
    assert pair.contest is not None
    assert pair.contest.p_value == find(results).tasks[0].contest("net", "other").p_value
    assert any("seeds alone" in text for text in pair.caveats)


def test_the_best_run_is_chosen_by_validation_errors_where_they_are_known() -> None:
    results = one_partition(runs=4)
    errors = errors_of(results, "net")
    found = runs_in(results, validation={"net": {0: 3.0, 1: 2.0, 2: 0.5, 3: 1.0}})
    best = found.methods[0].summary.best
    assert best is not None
    assert (best.run, best.test_error) == (2, errors[2])
    assert found.methods[1].summary.best is None
    frame = runs_frame([found])
    assert frame["best_run"].tolist()[0] == 2
    assert frame["mean"].tolist()[0] == pytest.approx(np.mean(errors))
    with pytest.raises(StatisticsError, match="no validation error for run 3"):
        runs_in(results, validation={"net": {0: 3.0, 1: 2.0, 2: 0.5}})


def test_several_training_sets_or_single_runs_are_none_of_this() -> None:
    several = made_results({"net": 0.3}, runs=3)
    assert many_runs(several, find(several).tasks[0]) is None
    single = one_partition(runs=1)
    assert many_runs(single, find(single).tasks[0]) is None


def zeroed(results: Results, method: str) -> Results:
    records = [
        replace(one, losses={"S": 0 * one.losses["S"]}) if one.job.method == method else one
        for one in results.records
    ]
    return replace(results, records=tuple(records))


def test_errors_of_zero_are_compared_without_logs() -> None:
    results = zeroed(one_partition(), "net")
    (pair,) = runs_in(results).pairs
    assert not pair.comparison.is_log
    assert pair.comparison.ratio is None
    assert any("have a logarithm" in text for text in pair.caveats)
    assert pair.comparison.reliable


def test_a_method_whose_runs_failed_is_compared_by_what_it_has() -> None:
    results = one_partition(runs=5)
    kept = tuple(one for one in results.records if one.job.method != "net" or one.job.run != 2)
    failed = next(one for one in results.records if (one.job.method, one.job.run) == ("net", 2))
    lost = replace(failed, status="failed", losses={}, message="no memory")
    found = runs_in(replace(results, records=(*kept, lost)))
    assert list(found.methods[0].errors) == [0, 1, 3, 4]
