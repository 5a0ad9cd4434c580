"""Inserting by force: what a contact exerts is read from a wrist of any sign, and the hand gives way to it."""

import asyncio
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.catalogue import PARTS
from cellwright.core.pose import Pose
from cellwright.execution.arm import HandReading, tool_down
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.insertion import PUSH_N, Inserter, Tare, contact_wrench
from cellwright.execution.insertion_way import straight_fit

BOTTOM_M, FLANGE_M = np.array([0.0, 0.0, 0.027]), np.array([0.0, 0.0, 0.172])
DEPTH_M, PLAY_M, CHAMFER_M, RADIUS_M = 0.0115, 0.0002, 0.0015, 0.016
WEIGHT_N = 8.0
small = st.floats(-0.2, 0.2)
forces = st.floats(-10.0, 10.0)


def felt(pose, force_n, sign=1.0):
    """What a wrist reports when a force acts on the middle of the plug's underside, in the world's directions."""
    turn = pose.rotation_matrix
    contact = turn.T @ np.asarray(force_n)
    weight = turn.T @ np.array([0.0, 0.0, -WEIGHT_N])
    return tuple(float(x) for x in sign * np.array([*(contact + weight), *np.cross(FLANGE_M, contact)]))


@given(st.tuples(small, small, st.floats(-3, 3)), st.tuples(forces, forces, forces), st.sampled_from([1.0, -1.0]))
def test_a_contact_is_read_from_a_wrist_of_either_sign_however_the_hand_leans(rpy, force_n, sign):
    lean = Pose.from_xyz_rpy([0, 0, 0], rpy)
    pose = lean @ tool_down(np.zeros(3))
    reading = HandReading(pose, "", 0.008, True, (), felt(pose, force_n, sign), 1)
    told = contact_wrench(reading, Tare(np.array([0.0, 0.0, -sign * WEIGHT_N]), np.zeros(3)), FLANGE_M)
    assert told.force_n == pytest.approx(force_n, abs=1e-9)
    assert told.torque_nm == pytest.approx(np.zeros(3), abs=1e-9)


@dataclass
class SpringArm:
    """An arm and a slot as springs: chamfers of 45 degrees, straight walls, a floor, a rim; also the clock."""

    offset_m: float
    floor_m: float = 0.0
    name: str = "arm"
    sign: float = 1.0
    time_s: float = 0.0
    stiffness: float = 15e3
    most_n: float = 0.0
    pose: Pose = field(default_factory=lambda: tool_down(BOTTOM_M + [0.0, 0.0, 0.06]))

    async def sleep(self, duration_s: float) -> None:
        self.time_s += duration_s

    async def read(self) -> HandReading:
        count = int(self.time_s * 50)
        return HandReading(self.pose, "", 0.008, True, (), felt(self.pose, self.force_n(), self.sign), count)

    async def step(self, pose_tool_in_world: Pose, speed_mps: float, limit_n: float) -> HandReading:
        self.time_s += 0.09
        self.pose = pose_tool_in_world
        self.most_n = max(self.most_n, float(np.linalg.norm(self.force_n())))
        return await self.read()

    def force_n(self):
        bottom = self.pose.apply(BOTTOM_M) - [self.offset_m, 0.0, 0.0]
        depth_m, aside_m = DEPTH_M - bottom[2], float(np.hypot(*bottom[:2]))
        force = np.zeros(3)
        if depth_m <= 0:
            return force
        if aside_m > PLAY_M / 2 + CHAMFER_M:
            return np.array([0.0, 0.0, self.stiffness * depth_m])
        inwards = -np.array([*bottom[:2], 0.0]) / max(aside_m, 1e-9)
        over_m = aside_m - PLAY_M / 2 - max(CHAMFER_M - depth_m, 0.0)
        if over_m > 0:
            slope = np.array([0.0, 0.0, 1.0]) * (depth_m < CHAMFER_M)
            force += self.stiffness * over_m * (inwards + slope) / np.linalg.norm(inwards + slope)
        return force + [0.0, 0.0, self.stiffness * max(depth_m - DEPTH_M + self.floor_m, 0.0)]


def inserted(arm, error_m=0.001):
    work = Inserter(arm, arm, BOTTOM_M, FLANGE_M, RADIUS_M, np.zeros(3), DEPTH_M, "slot_1 of kit")
    return asyncio.run(work.insert(tool_down(BOTTOM_M), error_m, CHAMFER_M)), work


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("offset_mm", [0.0, 0.4, 1.2])
def test_a_plug_within_its_chamfers_is_centred_by_giving_way(offset_mm, sign):
    arm = SpringArm(offset_mm / 1000, sign=sign)
    done, work = inserted(arm)
    assert done.how == ("comply",)
    assert done.depth_m == pytest.approx(DEPTH_M, abs=5e-4)
    assert work.bottom_m[0] == pytest.approx(arm.offset_m, abs=PLAY_M / 2 + 2e-4)
    assert arm.most_n < 3 * PUSH_N
    assert done.duration_s < 8.0


@pytest.mark.parametrize("floor_mm", [-1.5, 1.5])
def test_a_floor_that_is_not_as_high_as_believed_is_known_by_its_force(floor_mm):
    done, _ = inserted(SpringArm(0.0, floor_m=floor_mm / 1000))
    assert done.depth_m == pytest.approx(DEPTH_M - floor_mm / 1000, abs=5e-4)
    assert done.push_n > 1.0


def test_a_plug_that_stays_on_the_rim_is_reported_with_what_was_felt_and_lifted_out():
    arm = SpringArm(0.008)
    with pytest.raises(
        StepFailed, match=r"slot_1 of kit: the plug jammed on the rim with \d+\.\d N along .*comply, tilt"
    ) as no:
        inserted(arm)
    assert no.value.kind is FailureKind.BLOCKED
    assert arm.pose.apply(BOTTOM_M)[2] > DEPTH_M
    assert arm.time_s < 60.0


def test_a_place_that_is_known_worse_than_chamfers_catch_is_not_tried_by_giving_way_alone():
    with pytest.raises(StepFailed, match=r"\(tilt, tilt"):
        inserted(SpringArm(0.008), error_m=0.004)


def test_only_plugs_and_straight_slots_are_inserted():
    plug, gear = PARTS.get("medium_plug_gear"), PARTS.get("medium_gear")
    fit = straight_fit("sku_kit_m2l1_plug_vessel", "slot_1", plug)
    assert fit is not None
    assert fit.depth_m == pytest.approx(DEPTH_M)
    assert fit.radius_m == pytest.approx(RADIUS_M)
    assert fit.capture_m == pytest.approx(0.0015)
    assert straight_fit("sku_kit_m2l1_vessel", "slot_1", gear) is None
    assert straight_fit("sku_kit_m2l1_plug_vessel", "slot_1", gear) is None
    assert straight_fit("no_tray", "slot_1", plug) is None
