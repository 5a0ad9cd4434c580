"""The first job: it works, it fails with a reason, it sees nothing that a controller may not see."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from cellwright.catalogue import TRAYS, part_of_sku, seated_height_m
from cellwright.core import Bus, Role
from cellwright.core.errors import UnknownName
from cellwright.core.messages import ActionEvent
from cellwright.core.pose import Pose
from cellwright.lab import JobReport, Lab, TransferJob, run_transfer

AWAY = Pose.from_xyz_rpy([5, 5, 0])
KIT, SLOT = "fanuc_kit_m2l1", "fanuc_kit_m2l1/slot_1"


@pytest.mark.parametrize(
    ("seed", "job"),
    [
        (1, TransferJob()),
        pytest.param(2, TransferJob(), marks=pytest.mark.long),
        (3, TransferJob(slot="slot_3")),
        (4, TransferJob("fanuc", "kit_s2l2_tray", "slot_2")),
        (5, TransferJob("motoman", "kit_m2l1_tray", "slot_2")),
        (6, TransferJob("motoman", "kit_s2l2_tray", "slot_1")),
    ],
)
def test_gear_is_seated_by_friction_alone(aprs, seed, job):
    """Both robots, all three gears; every seed is another reality."""
    with Lab(aprs, seed) as lab:
        report = run_transfer(lab, job)
        assert report.done, report.reason
        assert report.grasp_lock_uses == 0
        tray, slot = report.seating.slot.split("/")
        assert (lab.world.object(tray).figures.name, slot) == (job.kit, job.slot)
        figures = lab.world.object(report.seating.part).figures
        assert figures.sku == next(s.accepts for s in TRAYS.get(job.kit).slots if s.name == slot)
        assert report.seating.centre_error_m < 0.001
    assert [step.name for step in report.steps] == ["look", "take", "place", "withdraw", "look again"]
    assert all(a.end_s <= b.start_s for a, b in zip(report.steps, report.steps[1:], strict=False))
    assert report.time_s >= report.steps[-1].end_s


def test_cell_with_a_grasp_lock_reports_its_use(aprs):
    with Lab(aprs.model_copy(update={"grasp_lock": True}), 1) as lab:
        report = run_transfer(lab, TransferJob())
    assert report.done, report.reason
    assert report.grasp_lock_uses == 1


def fails(lab: Lab, job: TransferJob | None = None) -> JobReport:
    with lab:
        report = run_transfer(lab, job or TransferJob())
    assert not report.done
    return report


def test_no_tray_in_view(changed):
    lab = Lab(changed())
    lab.world.place(KIT, AWAY)
    report = fails(lab)
    assert report.reason == "no kit tray for two medium gears and a large one is in view (slot: the slot is empty)"
    assert [step.name for step in report.steps] == ["look"]


def test_tray_taken_out_of_the_cell(changed):
    lab = Lab(changed())
    lab.world.remove(KIT)
    assert "the tray is gone" in fails(lab).reason


def test_supply_is_empty(changed, aprs):
    lab = Lab(changed(populations=[p.model_dump() for p in aprs.populations if p.model != "medium_gear"]))
    assert "the medium-gear tray in view holds no medium gear" in fails(lab).reason


def test_slot_is_filled(changed):
    lab = Lab(changed(parts={"there": {"model": "medium_gear", "slot": SLOT}}))
    report = fails(lab)
    assert "slot_1 of the kit tray for two medium gears and a large one is already filled" in report.reason
    assert report.seating.part == "there"


def test_slot_is_filled_with_the_wrong_part(changed):
    lab = Lab(changed())
    slot = TRAYS.get("kit_m2l1_tray").slots[0]
    height_m = seated_height_m(TRAYS.get("kit_m2l1_tray"), slot, part_of_sku(slot.accepts))
    lab.world.place("small_gear_1", lab.world.pose_of(KIT) @ Pose.from_xyz_rpy([*slot.xy_m, height_m]))
    assert "already filled: sku_part_small_gear" in fails(lab).reason


def on_action(lab: Lab, action: str, do: Callable[[], None]) -> None:
    def hear(_topic: str, event: ActionEvent) -> None:
        if (event.action, event.phase) == (action, "start"):
            do()

    lab.bus.subscribe("/execution/actions", hear, subscriber="somebody in the room")


@pytest.mark.parametrize("fidelity", ["kinematic", "physics"])
def test_gear_is_gone_when_the_gripper_closes(changed, fidelity):
    lab = Lab(changed(fidelity=fidelity))
    on_action(lab, "take", lambda: lab.world.place("medium_gear_1", AWAY))
    report = fails(lab)
    assert re.search(r"nothing was grasped: .* closed to 2\.\d mm, a held medium gear gives 8\.0 mm", report.reason)
    assert [step.name for step in report.steps] == ["look", "take"]


def test_kit_moves_away_while_the_gear_is_on_its_way(changed):
    lab = Lab(changed())
    moved = Pose.from_xyz_rpy([0.36, -1.06, 0.916])
    on_action(lab, "place", lambda: lab.world.place(KIT, moved))
    assert "the slot is empty" in fails(lab).reason


def test_slot_out_of_reach(changed, aprs):
    trays = aprs.model_dump()["trays"]
    trays[KIT]["pose"]["xyz_m"] = (0.78, -1.0, 0.916)
    report = fails(Lab(changed(trays=trays)))
    assert "fanuc cannot reach" in report.reason
    assert [step.name for step in report.steps] == ["look", "take", "place"]


def test_detector_that_gives_no_frames(changed, aprs):
    blind = [line | ({"dropout": 0.999999} if "detector" in line["type"] else {}) for line in aprs.sensors]
    assert (
        "nothing to see: /detector_fanuc/detections gave 0 of 5 frames in 60 s"
        in fails(Lab(changed(sensors=blind))).reason
    )


def test_frames_that_were_under_way_are_not_looked_at(changed, aprs):
    """The detector is slow: when the tray is gone, frames that still show it keep coming."""
    slow = [line | ({"delay_s": 1.0} if "detector" in line["type"] else {}) for line in aprs.sensors]
    lab = Lab(changed(sensors=slow))
    lab.advance(2.0)
    lab.world.place(KIT, AWAY)
    report = fails(lab)
    assert "is in view" in report.reason
    assert report.steps[0].end_s - report.steps[0].start_s > 1.0


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (TransferJob(robot="fanuk"), "unknown robot 'fanuk'; did you mean 'fanuc'"),
        (TransferJob(kit="kit_m2l2_tray"), "unknown kit tray 'kit_m2l2_tray'"),
        (
            TransferJob(kit="medium_gear_tray"),
            r"unknown kit tray 'medium_gear_tray'.*available: kit_m2l1_tray, kit_s2l2",
        ),
        (TransferJob(slot="slot_9"), "unknown slot of kit_m2l1_tray 'slot_9'"),
    ],
)
def test_jobs_that_make_no_sense_are_refused(changed, job, words):
    with Lab(changed()) as lab, pytest.raises(UnknownName, match=words):
        run_transfer(lab, job)


def test_cell_without_that_kit_or_detector(changed, aprs):
    trays = {name: tray for name, tray in aprs.model_dump()["trays"].items() if tray["model"] != "kit_m2l1_tray"}
    with Lab(changed(trays=trays)) as lab, pytest.raises(UnknownName, match=r"kit_m2l1_tray.*available: kit_s2l2_tray"):
        run_transfer(lab, TransferJob())
    with Lab(changed(sensors=[])) as lab, pytest.raises(UnknownName, match="unknown detector '/detector_fanuc/detec"):
        run_transfer(lab, TransferJob())


def test_nobody_but_judge_and_recorder_hears_the_truth(changed, tmp_path, monkeypatch):
    """Every subscription of a whole run, by whomever and however short."""
    subscribed = []
    heard: dict[str, set[str]] = {}
    subscribe = Bus.subscribe

    def note(self, topic, callback, *, subscriber, role=Role.CONTROLLER):
        def hear(at, message):
            heard.setdefault(subscriber, set()).add(at)
            callback(at, message)

        subscription = subscribe(self, topic, hear, subscriber=subscriber, role=role)
        subscribed.append(subscription)
        return subscription

    monkeypatch.setattr(Bus, "subscribe", note)
    with Lab(changed()) as lab:
        lab.record(tmp_path / "log.mcap")
        assert run_transfer(lab, TransferJob()).done
        truth = {topic for topic, kind in lab.bus.topics.items() if kind.TRUTH}
    assert truth == {"/truth/poses", "/judge/verdict"}
    assert {s.subscriber for s in subscribed} == {"recorder", "execution"}
    for subscription in subscribed:
        assert subscription.role is (Role.RECORDER if subscription.subscriber == "recorder" else Role.CONTROLLER)
        if subscription.role is Role.CONTROLLER:
            assert subscription.topic == "/detector_fanuc/detections"
    assert heard["execution"] == {"/detector_fanuc/detections"}
    assert truth <= heard["recorder"]


def test_controller_believes_the_drawings_and_not_the_truth(aprs):
    """What the robot's controller thinks and what is true differ by the errors of the actual layout."""
    with Lab(aprs, seed=3) as lab:
        for name, arm in lab.robots.items():
            believed, true = arm.tool_in_world, lab.world.tcp_pose(name)
            assert 1e-5 < believed.distance_m(true) < 0.01
            np.testing.assert_array_equal(arm.ring.pose_base_in_world.position, aprs.robots[name].base.xyz_m)
