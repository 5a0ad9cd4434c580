"""Detectors that misbehave for good: the run names their state, ends in time, and claims nothing that is not so."""

from __future__ import annotations

import pytest

from cellwright.cells import load_cell
from cellwright.execution.settings import ExecutionSettings
from cellwright.judge import parse_fault
from cellwright.lab import Lab
from cellwright.trials import TrialStatus
from cellwright.trials.run import RunCfg, run_order

from .test_belief_changes import SMALL


def run(fault):
    with Lab(load_cell("aprs").changed({"fidelity": "kinematic"}), seed=2) as lab:
        settings = ExecutionSettings(look_limit_s=4.0)
        return run_order(lab, [SMALL], RunCfg(("fanuc",), settings, (parse_fault(fault),)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "state", "reason"),
    [
        ("blind:at=1,for_s=600", "sees nothing", "saw nothing in"),
        ("repeat:at=1,for_s=600", "repeats old frames", "gave the frame of"),
        ("clock:at=1,by_s=20", "has a wrong clock", "s ahead of the cell's"),
        ("clock:at=1,by_s=-20", "has a wrong clock", "went back by"),
    ],
)
def test_a_detector_that_misbehaves_for_good_is_named_with_its_reason_and_the_run_ends(fault, state, reason):
    report = run(fault)
    assert report.status in (TrialStatus.FAILED, TrialStatus.PARTIAL), report.reason
    assert f"detector_fanuc {state}" in report.reason
    (note,) = [text for text in report.as_dict()["notes"] if text.startswith(f"detector_fanuc {state} at ")]
    assert reason in note
    assert report.time_s < 60.0


@pytest.mark.slow
def test_two_cameras_that_disagree_are_named_and_the_kit_is_judged_by_the_truth():
    report = run("offset:detector=detector_motoman,at=0.5,by_mm=40/0")
    assert report.status is not TrialStatus.FALSE_DONE, report.reason
    (note,) = [text for text in report.notes if text.startswith("detector_motoman disagrees with another detector at ")]
    shift_mm = float(note.partition("shifted alike by (")[2].partition(",")[0])
    assert shift_mm == pytest.approx(40.0, abs=2.0)
    assert not any(name.endswith("_gear_11") for slot in report.order.kits for name in slot.extras), (
        "nothing is doubled"
    )
