"""Seeds as text, and a trial over seeds: what is counted, grouped, written."""

from __future__ import annotations

import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import cellwright as cw
from cellwright.core.errors import BadInput
from cellwright.experiments.pool import each_result
from cellwright.experiments.seeds import parse_seeds, seeds_text
from cellwright.experiments.trial_sweep import SeedJob, SeedRow, TrialSweep, run_seed, sweep_seeds
from cellwright.experiments.trial_sweep_files import junit_xml, sweep_page


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("3", (3,)), ("0..3", (0, 1, 2, 3)), ("1,5,7..9", (1, 5, 7, 8, 9)), ("7..9,8, 1", (1, 7, 8, 9)), ("4..4", (4,))],
)
def test_seeds_are_read(text, seeds):
    assert parse_seeds(text) == seeds
    assert parse_seeds(seeds_text(seeds)) == seeds


@pytest.mark.parametrize("text", ["", "a", "-1", "1.5", "5..2", "0..", "1,,2", "0..10000", "99999999999999999999", "٣"])
def test_other_seeds_are_refused_in_one_line(text):
    with pytest.raises(BadInput, match=r"^--seeds: ") as refused:
        parse_seeds(text)
    assert "\n" not in str(refused.value)


def test_runs_of_seeds_are_short():
    assert seeds_text([9, 1, 2, 3, 5, 6]) == "1..3,5,6,9"


@pytest.fixture
def sweep():
    rows = [
        SeedRow(0, "done", True, 0.9, 20.0, 5.0),
        SeedRow(1, "partial", False, 0.5, 60.0, 9.0, "slot_1: 3.20 mm off centre"),
        SeedRow(2, "done", True, 1.0, 22.0, 5.0),
        SeedRow(3, "partial", False, 0.6, 60.0, 9.0, "slot_1: 12.9 mm off centre"),
        SeedRow(4, "false_done", False, 0.1, 30.0, 9.0, "<slot_2>: \x1b[1mis empty"),
    ]
    return TrialSweep("mine", "aprs", "internal", tuple(range(6)), rows)


def test_reasons_that_differ_in_measures_are_one(sweep):
    assert sweep.reasons() == [("slot_1: 3.20 mm off centre", [1, 3]), ("<slot_2>: \x1b[1mis empty", [4])]


def test_the_rate_has_its_interval_and_what_was_not_run_is_not_done(sweep):
    rate, low, high = sweep.rate
    assert (rate, round(low, 3), round(high, 3)) == (0.4, 0.118, 0.769)
    assert not sweep.all_done
    assert [(kind["outcome"], kind["count"], kind["seeds"]) for kind in sweep.outcomes()] == [
        ("done", 2, "0,2"),
        ("partial", 2, "1,3"),
        ("false_done", 1, "4"),
    ]


def test_junit_has_a_case_for_every_seed(sweep):
    suite = ElementTree.fromstring(junit_xml(sweep).encode())
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("6", "3", "1")
    assert [case.get("name") for case in suite] == [f"seed {seed}" for seed in range(6)]
    assert suite[4].find("failure").get("message") == "<slot_2>: [1mis empty"


def test_the_page_tells_reasons_and_what_was_not_run(sweep, tmp_path):
    page = sweep_page(sweep, tmp_path)
    assert "3 of 5 seeds are not done; 1 of 6 seeds were not run" in page
    assert "&lt;slot_2&gt;" in page
    assert "95 %: 11.8 to 76.9 % of 5" in page
    assert re.search(r"<dd>\d+<small>mean, of 100; 95 %: \d+ to \d+</small>", page)
    assert f"Made with cellwright {cw.__version__}, python" in page


def twice_unless_three(number):
    if number == 3:
        os._exit(9)
    return 2 * number


@pytest.mark.slow
def test_a_process_that_dies_takes_only_its_own_job_along(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))  # other processes import this module by its name
    assert sorted(each_result(twice_unless_three, [1, 2, 3, 4, 5], 2), key=lambda one: one[0]) == [
        (0, 2), (1, 4), (2, None), (3, 8), (4, 10)
    ]  # fmt: skip


@pytest.mark.slow
def test_a_seed_that_fails_is_not_done_and_keeps_its_files(tmp_path):
    file, folder = tmp_path / "trial.yaml", tmp_path / "seed-5"
    file.write_text("trial: short\ncell: aprs\ntime_limit_s: 0.5\norders: [{order: kit_m2l1}]\n")
    folder.mkdir()
    (folder / "trace.html").write_text("of an earlier run")
    row = run_seed(
        SeedJob(
            file=file, seed=5, changes={}, controller="internal", command=None, pace=None, folder=folder, keep="failed",
            trace=False, repeat="",
        )
    )  # fmt: skip
    assert (row.seed, row.done, row.folder) == (5, False, str(folder))
    assert "slot_1: the slot is empty" in row.reason
    assert (folder / "verdict.json").exists()
    assert not (folder / "trace.html").exists()


@pytest.mark.long
@pytest.mark.slow
def test_one_process_or_two_find_the_same(tmp_path):
    file = tmp_path / "trial.yaml"
    file.write_text("trial: short\ncell: aprs\ntime_limit_s: 1.5\norders: [{order: kit_m2l1}]\n")
    tables = []
    for workers in (1, 2):
        sweep = TrialSweep("short", "aprs", "internal", (0, 1), [])
        jobs = [
            SeedJob(
                file=file, seed=seed, changes={}, controller="internal", command=None, pace=None,
                folder=tmp_path / f"seed-{seed}-{workers}", keep="all", trace=False, repeat="",
            )
            for seed in sweep.seeds
        ]  # fmt: skip
        sweep_seeds(sweep, jobs, workers)
        rows = [(row.seed, row.status, row.done, row.score, row.time_s, row.reason) for row in sweep.rows]
        tables.append(
            (
                rows,
                sweep.rate,
                sweep.outcomes(),
                sweep.reasons(),
                [(job.folder / "log.mcap").read_bytes() for job in jobs],
            )
        )
    assert tables[0] == tables[1]
    assert len({*tables[0][-1]}) == 2  # logs differ from seed to seed
