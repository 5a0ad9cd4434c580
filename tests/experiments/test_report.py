"""What an experiment leaves on disk."""

import csv
import json
import re

import numpy as np
import pytest

from cellwright.core.errors import BadInput, OutputError, UnknownName
from cellwright.core.results import MeasurementConditions, Result
from cellwright.experiments import (
    EXPERIMENTS,
    BarPlot,
    DataTable,
    Experiment,
    ExperimentFindings,
    Heatmap,
    compare_results,
    draw,
    plots,
    read_result,
    run_experiment,
    save_outcome,
)
from cellwright.experiments import report as report_module
from cellwright.experiments.report import interval_text

MAP = Heatmap("map", "a <map>", np.arange(3.0), np.arange(2.0), {"top": np.ones((2, 3))}, {"bottle": (1.0, 1.0)})
BARS = BarPlot("bars", "bars", ["a", "b"], {"ours": [1, 2], "paper": [1, 3]}, "s")


def probe(conditions):
    conditions.say("probing")
    return ExperimentFindings(
        {"a.good": 1.0, "b.bad": conditions.seed + 0.5, "c.none": float("nan")},
        {"a.good": {"min": 1}, "b.bad": {"max": 1}},
        {"b.bad": 0.25},
        {"rows": DataTable(["name", "x_m"], [["<one>", 0.5], ["two", 3]])},
        [MAP, BARS],
        ["Because of <this> & `that`."],
    )


@pytest.fixture
def outcome(monkeypatch):
    monkeypatch.setitem(EXPERIMENTS._entries, "probe", Experiment("A probe", probe))
    return run_experiment("probe", MeasurementConditions(seed=4))


def test_a_bad_name_suggests_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'rovi-reachability'"):
        run_experiment("rovi-reachabilty", MeasurementConditions())


def test_everything_is_saved_and_the_page_stands_alone(outcome, tmp_path):
    pytest.importorskip("matplotlib")
    written = save_outcome(outcome, tmp_path / "new" / "folder")
    assert [path.name for path in written] == ["result.json", "rows.csv", "map.png", "bars.png", "report.html"]
    saved = json.loads(written[0].read_text(), parse_constant=pytest.fail)
    assert (saved["failed"], saved["paper"], saved["metrics"]["c.none"]) == (["b.bad"], {"b.bad": 0.25}, None)
    assert list(csv.reader(written[1].open())) == [["name", "x_m"], ["<one>", "0.5"], ["two", "3"]]
    assert written[2].read_bytes().startswith(b"\x89PNG")
    page = written[-1].read_text(encoding="utf-8")
    assert "$" not in page
    assert not re.search(r"(src|href)=\"(?!data:|#)", page)
    assert page.count("<svg role=") == 2
    assert "Because of &lt;this&gt; &amp; <code>that</code>." in page
    assert "<one>" not in page
    row = next(line for line in page.splitlines() if "<code>b.bad</code>" in line)
    assert re.findall(r">([^<>]+)(?:</span>)?</td>", row) == ["4.5", "0.25", "&lt;= 1", "no"]


def test_without_matplotlib_there_is_a_page_without_plots(outcome, tmp_path, monkeypatch):
    monkeypatch.setattr(report_module, "can_plot", lambda: False)
    said = []
    written = save_outcome(outcome, tmp_path, said.append)
    assert [path.suffix for path in written] == [".json", ".csv", ".html"]
    assert "No plots" in written[-1].read_text()
    assert "cellwright[plots]" in said[0]


def test_a_folder_that_cannot_be_made_is_one_error(outcome, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot write"):
        save_outcome(outcome, tmp_path / "file" / "x")


@pytest.mark.parametrize("plot", [MAP, BARS])
def test_plots_are_the_same_bytes_each_time(plot):
    pytest.importorskip("matplotlib")
    assert draw(plot, "svg") == draw(plot, "svg")


def test_two_results_beside_each_other(outcome, tmp_path):
    save_outcome(outcome, tmp_path)
    first = read_result(tmp_path)
    other = Result(
        name="probe", seed=5, versions={**first.versions, "numpy": "0"}, metrics={"a.good": 3.0, "new": 1.0}, targets={}
    )
    compared = compare_results(first, other)
    by_name = {change.metric: change for change in compared.changes}
    assert by_name["a.good"].difference == 2.0
    assert (by_name["new"].first, by_name["b.bad"].second, by_name["new"].difference) == (None, None, None)
    assert set(compared.circumstances) == {"seed", "numpy"}


def test_results_of_different_experiments_are_not_compared(outcome):
    with pytest.raises(BadInput, match="different experiments"):
        compare_results(outcome.result, Result(name="other", seed=0, versions={}, metrics={}, targets={}))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": 1}'])
def test_a_file_that_is_no_result(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(BadInput, match="is not a result"):
        read_result(tmp_path / "x.json")


@pytest.mark.parametrize(("high_m", "least", "most"), [(0.1, 1.5, 2.5), (2.0, 5.0, 6.5), (0.0, 1.5, 2.5)])
def test_a_map_is_as_high_as_its_ways_need(high_m, least, most):
    figure = pytest.importorskip("matplotlib.figure").Figure(layout="constrained")
    ways = {"a": (np.array([0.0, 2.0]), np.array([0.0, high_m])), "b": (np.array([1.0]), np.array([0.0]))}
    plots.LinePlot("ways", "Ways.", ways, "x [m]", "y [m]", is_map=True).draw(figure)
    assert least <= figure.get_size_inches()[1] <= most


def test_ends_that_are_not_known_have_no_line_of_their_own():
    nan = float("nan")
    metrics = {"error": 2.0, "error_low": nan, "error_high": nan, "error_n": 3.0, "rest_low": 1.0}
    result = Result(name="probe", seed=0, versions={}, metrics=metrics, targets={})
    assert result.shown == ["error", "rest_low"]
    assert interval_text(result, "error") == ("", "3")
    assert interval_text(result, "rest_low") == ("", "")
