"""One gear from slot to slot: held by friction alone, failing with a reason, seeing nothing but detections."""

from __future__ import annotations

import numpy as np
import pytest

from cellwright.bench.gear_transfer import GearTransfer, transfer_gear
from cellwright.core import Bus, Role
from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose
from cellwright.lab import DirectArm, Lab

pytestmark = pytest.mark.slow

AWAY = Pose.from_xyz_rpy([5, 5, 0])
KIT, SLOT = "fanuc_kit_m2l1", "fanuc_kit_m2l1/slot_1"


@pytest.mark.parametrize(
    ("seed", "robot", "source", "target"),
    [
        (1, "fanuc", "fanuc_medium_tray/slot_1", "fanuc_kit_m2l1/slot_1"),
        pytest.param(2, "fanuc", "fanuc_medium_tray/slot_2", "fanuc_kit_m2l1/slot_2", marks=pytest.mark.long),
        (3, "fanuc", "fanuc_large_tray/slot_1", "fanuc_kit_m2l1/slot_3"),
        (4, "fanuc", "fanuc_small_tray/slot_2", "fanuc_kit_s2l2/slot_2"),
        (5, "motoman", "motoman_medium_tray/slot_1", "motoman_kit_m2l1/slot_2"),
        (6, "motoman", "motoman_small_tray/slot_1", "motoman_kit_s2l2/slot_1"),
    ],
)
def test_a_gear_is_seated_by_friction_alone(aprs, seed, robot, source, target):
    """Both robots, all three gears; every seed is another reality."""
    with Lab(aprs, seed) as lab:
        outcome = transfer_gear(lab, robot, source, target)
        assert outcome.done, outcome.reason
        assert outcome.seating.centre_error_m < 0.001
        assert outcome.seating.slot == target


def fails(lab: Lab) -> str:
    with lab:
        outcome = transfer_gear(lab)
    assert not outcome.done
    return outcome.reason


def test_no_tray_in_view(changed):
    lab = Lab(changed())
    lab.world.place(KIT, AWAY)
    assert fails(lab) == "fanuc_kit_m2l1 is not in view (slot: the slot is empty)"


def test_supply_is_empty(changed, aprs):
    lab = Lab(changed(populations=[p.model_dump() for p in aprs.populations if p.model != "medium_gear"]))
    assert "no gear is seen in fanuc_medium_tray/slot_1" in fails(lab)


@pytest.mark.parametrize("fidelity", ["kinematic", "physics"])
def test_a_gear_that_is_gone_when_the_fingers_close(changed, fidelity):
    with Lab(changed(fidelity=fidelity)) as lab:

        def take_away(phase: str, _gear: str) -> None:
            if phase == "reach":
                lab.world.place("medium_gear_1", AWAY)

        arm = DirectArm(lab.robot("fanuc"), lab.clock)
        failure = lab.perform(GearTransfer(lab, arm, "fanuc_medium_tray/slot_1", SLOT, take_away).run())
        at_m = arm.robot.tool_in_world.position[2]
        assert lab.perform(lab.robot("fanuc").gripper.open()) == pytest.approx(0.020, abs=2e-4)
    assert "the fingers closed to 2." in failure
    assert "gives 8.0 mm" in failure
    assert at_m > 0.98, "it left the tray"


def test_a_kit_that_moves_away_while_the_gear_is_on_its_way(changed):
    with Lab(changed()) as lab:

        def move(phase: str, _gear: str) -> None:
            if phase == "carry":
                lab.world.place(KIT, Pose.from_xyz_rpy([0.36, -1.06, 0.916]))

        arm = DirectArm(lab.robot("fanuc"), lab.clock)
        lab.perform(GearTransfer(lab, arm, "fanuc_medium_tray/slot_1", SLOT, move).run())
        gear = lab.world.pose_of("medium_gear_1")
        assert gear.distance_m(lab.world.pose_of(KIT)) > 0.05


def test_a_slot_out_of_reach(changed, aprs):
    trays = aprs.model_dump()["trays"]
    trays[KIT]["pose"]["xyz_m"] = (0.78, -1.0, 0.916)
    assert "fanuc cannot reach" in fails(Lab(changed(trays=trays)))


def test_a_slot_that_the_tray_does_not_have(changed):
    with Lab(changed()) as lab, pytest.raises(UnknownName, match="unknown slot of fanuc_kit_m2l1 'slot_9'"):
        transfer_gear(lab, target=f"{KIT}/slot_9")


def test_nobody_but_judge_and_recorder_hears_the_truth(changed, tmp_path, monkeypatch):
    """Every subscription of a whole job, by whomever and however short."""
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
        assert transfer_gear(lab).done
        truth = {topic for topic, kind in lab.bus.topics.items() if kind.TRUTH}
    assert truth == {"/truth/joints", "/truth/looks", "/truth/poses"}
    assert {s.subscriber for s in subscribed} == {"recorder", "perception"}
    for subscription in subscribed:
        assert subscription.role is (Role.RECORDER if subscription.subscriber == "recorder" else Role.CONTROLLER)
    assert heard["perception"] == {"/detector_fanuc/detections"}
    assert truth <= heard["recorder"]


def test_the_controller_believes_the_drawings_and_not_the_truth(aprs):
    """What the robot's controller thinks and what is true differ by the errors of the actual layout."""
    with Lab(aprs, seed=3) as lab:
        for name, arm in lab.robots.items():
            believed, true = arm.tool_in_world, lab.world.tcp_pose(name)
            assert 1e-5 < believed.distance_m(true) < 0.01
            np.testing.assert_array_equal(arm.ring.pose_base_in_world.position, aprs.robots[name].base.xyz_m)
