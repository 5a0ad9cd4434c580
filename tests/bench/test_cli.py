"""How a result is printed."""

import json

import pytest

from cellwright.bench import MeasurementFailed, Result
from cellwright.cli import bench as command
from cellwright.cli import main

RESULT = Result(
    name="physics",
    seed=7,
    versions={"cellwright": "1.2", "python": "3.11"},
    metrics={"a.good": 0.9, "b.bad": 31.234567, "c.free": 12},
    targets={},
)
RESULT = Result(
    name=RESULT.name,
    seed=RESULT.seed,
    versions=RESULT.versions,
    metrics=RESULT.metrics,
    targets={"a.good": {"min": 0.7}, "b.bad": {"max": 20}},
)


@pytest.fixture
def conditions(monkeypatch):
    """Replaces the measurement; what it was asked for is collected."""
    asked = []
    monkeypatch.setattr(command, "run_bench", lambda name, given: asked.append((name, given)) or RESULT)
    return asked


def run(*arguments):
    with pytest.raises(SystemExit) as exit_:
        main(["bench", "physics", *arguments])
    return exit_.value.code


def test_the_table_says_which_targets_are_missed(conditions, capsys):
    assert run("--seed", "7", "--quick") == 0  # whatever the figures
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if "." in line] == [
        ["a.good", "0.9", ">=", "0.7", "yes"],
        ["b.bad", "31.23", "<=", "20", "no"],
        ["c.free", "12"],
    ]
    name, given = conditions[0]
    assert (name, given.seed, given.quick) == ("physics", 7, True)


def test_json_is_one_object(conditions, capsys):
    assert run("--json") == 0
    assert json.loads(capsys.readouterr().out) == RESULT.as_dict()


def test_markdown_is_a_table_with_its_versions(conditions, capsys):
    assert run("--markdown") == 0
    out = capsys.readouterr().out
    assert "| `b.bad` | 31.23 | <= 20 | **no** |" in out
    assert out.splitlines()[1] == "|---|---:|---:|---|"
    assert "Seed 7; cellwright 1.2, python 3.11." in out


def test_several_runs_are_told_as_median_and_range(monkeypatch, capsys):
    values = iter([5.0, 1.0, 2.0])
    one = {"versions": {"python": "3"}, "targets": {"x": {"max": 3}}}
    monkeypatch.setattr(
        command, "run_bench", lambda name, given: Result(name=name, seed=0, metrics={"x": next(values)}, **one)
    )
    assert run("--runs", "3", "--markdown") == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[:3] == [
        "| metric | value | range | target | ok |",
        "|---|---:|---:|---:|---|",
        "| `x` | 2 | 1 to 5 | <= 3 | yes |",
    ]
    assert "Seed 0; median of 3 runs; python 3." in captured.out
    assert "run 3 of 3" in captured.err


def test_the_result_is_saved_where_asked(conditions, tmp_path):
    assert run("--out", str(tmp_path / "new" / "result.json")) == 0
    assert json.loads((tmp_path / "new" / "result.json").read_text()) == RESULT.as_dict()


def test_a_file_that_cannot_be_written_is_refused_before_the_work(conditions, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert run("--out", str(tmp_path / "file" / "result.json")) == 2
    assert conditions == []


def test_a_measurement_that_cannot_be_made_exits_1(monkeypatch, capsys):
    def fail(name, given):
        raise MeasurementFailed("the speed", "no clock")

    monkeypatch.setattr(command, "run_bench", fail)
    assert run("--json") == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "the speed could not be measured: no clock" in captured.err
