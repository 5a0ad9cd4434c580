"""The report of a trial and of a run: one class, one JSON; what is claimed beside what is so."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from cellwright.core.errors import BadInput
from cellwright.execution import OrderReport, OrderStatus
from cellwright.judge import KitVerdict, score_run
from cellwright.judge.kit import KitItem
from cellwright.trials import Report
from cellwright.trials import TrialStatus as S
from cellwright.trials.page import report_json, report_page
from cellwright.trials.report import Ending, OrderVerdict

ACCOUNT = OrderReport(
    status=OrderStatus.DONE,
    reason="3 parts of 3 are in place",
    orders=("kit_m2l1",),
    robots=("fanuc",),
    recovery="full",
)


def kit(*, filled: bool, tray: str = "tray_1") -> KitVerdict:
    slot = KitItem("slot_1", filled, "seated" if filled else "the slot is empty", right_part=filled)
    return KitVerdict(tray, "kit_m2l1", (KitItem("tray", True, "a vessel"), slot))


def report(now: KitVerdict, then: KitVerdict | None = None, *, is_run: bool = False, **changes) -> Report:
    """A report on one kit as it is now, and as it was when it was submitted, if it was."""
    submitted_s, claimed = (None, ()) if then is None else (30.0, (then,))
    ordered = OrderVerdict(
        order="kit_m2l1", priority=0, announced_s=0.0, submitted_s=submitted_s, kits=(now,), claimed=claimed
    )
    made = Report(
        trial="mine", cell="aprs", seed=0, controller="internal", is_run=is_run, ending=Ending.RETURNED, detail="",
        time_s=31.0, start_s=0.0, wall_s=1.0, possible=None,
        orders=(ordered,), account=ACCOUNT if is_run else None,
        faults=(), not_applied=(), hits=(), drops=(), scored=score_run((now,), (), (), 31.0, par_s=60, limit_s=600),
        notes=(), versions={"cellwright": "0"},
    )  # fmt: skip
    return replace(made, **changes)


FULL, EMPTY = kit(filled=True), kit(filled=False)


@pytest.mark.parametrize(
    ("now", "then", "status", "of_run", "of_trial", "false_done"),
    [
        (FULL, FULL, S.DONE, True, True, False),
        (FULL, EMPTY, S.DONE, True, True, True),  # claimed too early
        (FULL, None, S.PARTIAL, False, True, False),  # the controller does not know
        (EMPTY, EMPTY, S.FALSE_DONE, False, False, True),
        (EMPTY, FULL, S.FALSE_DONE, False, False, False),  # it was so when it was claimed
        (EMPTY, None, S.FAILED, False, False, False),
    ],
)
def test_a_claim_is_held_against_the_truth(now, then, status, of_run, of_trial, false_done):
    run, trial = report(now, then, is_run=True), report(now, then)
    assert run.status is trial.status is status
    assert (run.done, trial.done) == (of_run, of_trial)
    assert run.false_done is trial.false_done is false_done


def test_the_reason_of_a_run_begins_with_what_its_controller_says():
    assert report(FULL, FULL, is_run=True).reason == "3 parts of 3 are in place"
    assert report(EMPTY, FULL, is_run=True).reason == "the controller says done, but tray_1: slot_1: the slot is empty"
    assert report(FULL, None, is_run=True).reason.endswith("; by the truth, every kit is complete")
    assert report(EMPTY).reason == "kit_m2l1: tray_1: slot_1: the slot is empty"
    assert report(FULL).reason == "1 kit is complete"


def test_a_kit_without_a_tray_is_null_in_its_order_and_counts_all_the_same():
    gone = KitVerdict("kit_m2l1_1", "kit_m2l1", (KitItem("tray", False, "the tray is not there"),))
    order = OrderVerdict(
        order="two",
        priority=0,
        announced_s=0.0,
        submitted_s=30.0,
        kits=(FULL, gone),
        claimed=(FULL, gone),
        without_tray=frozenset({"kit_m2l1_1"}),
    )
    made = report(FULL, orders=(order,))
    assert made.false_done, "one of two was claimed without a tray"
    assert not made.done
    assert made.reason == "two: no tray is left for it"
    data = json.loads(report_json(made))
    assert [kit and kit["tray"] for kit in data["orders"][0]["kits"]] == ["tray_1", None]
    assert [kit["tray"] for kit in data["kits"]] == ["tray_1", "kit_m2l1_1"]
    assert "There was no tray left for a kit of it." in report_page(made)


def test_run_and_trial_have_one_json_and_one_page():
    run, trial = report(FULL, FULL, is_run=True), report(EMPTY)
    assert list(run.as_dict()) == list(trial.as_dict())
    assert trial.as_dict()["order"] is None
    with pytest.raises(BadInput, match="'internal' gives no account"):
        _ = trial.order
    assert "<h1>Run of <code>kit_m2l1</code></h1>" in report_page(run)
    assert "3 parts of 3 are in place" in report_page(run)
    assert "<h1>Trial <code>mine</code></h1>" in report_page(trial)
    assert "What the controller says" not in report_page(trial)


@pytest.mark.parametrize(("time_s", "shown"), [(31.0, "1"), (61.62, "0.997"), (60.05, "0.9999"), (330.0, "0.5")])
def test_points_that_are_not_all_never_read_as_all(time_s, shown):
    scored = score_run((FULL,), (), (), time_s, par_s=60, limit_s=600)
    colour = "yes" if shown == "1" else "no"
    assert f'<th scope="row">time</th><td class="number {colour}">{shown}</td><td class="number">1</td>' in report_page(
        report(FULL, FULL, scored=scored)
    )
