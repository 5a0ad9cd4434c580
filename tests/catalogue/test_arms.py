"""The catalogue's arms and grippers: every figure has a source, every inertia is that of a real body."""

from __future__ import annotations

import numpy as np
import pytest

from cellwright.catalogue.arms import ArmFigures
from cellwright.catalogue.grippers import GRIPPERS, GripperFigures
from cellwright.catalogue.lr_mate_200id import LR_MATE_200ID
from cellwright.catalogue.sia20f import SIA20F

ARMS = pytest.mark.parametrize("arm", [LR_MATE_200ID, SIA20F], ids=lambda a: a.name)
TOOLS = pytest.mark.parametrize("gripper", GRIPPERS.values(), ids=lambda g: g.name)


@ARMS
def test_every_figure_has_a_source(arm: ArmFigures) -> None:
    assert arm.unsourced() == []
    assert all(text.strip() for text in arm.sources.values())


@TOOLS
def test_every_figure_of_a_gripper_has_a_source(gripper: GripperFigures) -> None:
    assert gripper.unsourced() == []


def test_a_missing_source_of_a_joint_is_noticed() -> None:
    sources = {key: text for key, text in SIA20F.sources.items() if key != "joints.effort_limit_nm"}
    incomplete = ArmFigures(**{**vars(SIA20F), "sources": sources})
    assert incomplete.unsourced() == ["joints.effort_limit_nm"]


@ARMS
def test_link_inertias_are_physical(arm: ArmFigures) -> None:
    for link in arm.links:
        x, y, z = link.inertia_diagonal_kgm2
        assert link.mass_kg > 0
        assert min(x, y, z) > 0, link.name
        assert x < y + z, link.name
        assert y < x + z, link.name
        assert z < x + y, link.name


@ARMS
def test_links_add_up_to_the_arm(arm: ArmFigures) -> None:
    assert sum(link.mass_kg for link in arm.links) == pytest.approx(arm.mass_kg, rel=0.01)
    assert [link.name for link in arm.links] == ["base", *(f"link_{k + 1}" for k in range(len(arm.joints)))]
    assert [joint.name for joint in arm.joints] == [f"joint_{k + 1}" for k in range(len(arm.joints))]


@ARMS
def test_limits_and_home_pose_make_sense(arm: ArmFigures) -> None:
    for joint, home in zip(arm.joints, arm.home_rad, strict=True):
        low, high = joint.position_limits_rad
        assert low < home < high
        assert np.linalg.norm(joint.axis) == pytest.approx(1.0)
        ramps = joint.velocity_limit_radps / joint.acceleration_limit_radps2
        assert 0.2 < ramps < 1.0
        assert joint.jerk_limit_radps3 > joint.acceleration_limit_radps2


@ARMS
def test_gains_follow_from_the_named_quantities(arm: ArmFigures) -> None:
    rows = zip(arm.joints, arm.stiffness_nm_per_rad, arm.damping_nms_per_rad, arm.natural_frequency_hz, strict=True)
    for joint, kp, kv, frequency in rows:
        inertia = joint.armature_kgm2 + joint.driven_inertia_kgm2
        assert kp == pytest.approx(inertia * (2 * np.pi * frequency) ** 2)
        assert kv == pytest.approx(2 * arm.servo_damping_ratio * np.sqrt(kp * inertia))
        step_torque = kp * joint.velocity_limit_radps * arm.servo_period_s
        assert step_torque == pytest.approx(arm.servo_effort_share * joint.effort_limit_nm)
        assert 5.0 < frequency < 40.0


@TOOLS
def test_a_gripper_stalls_on_the_peg_of_a_gear(gripper: GripperFigures) -> None:
    peg_radius_m = 0.004
    assert gripper.closed_m < peg_radius_m < gripper.open_m
    assert gripper.stiffness_npm * (peg_radius_m - gripper.closed_m) > gripper.drive_force_n
    assert gripper.drive_force_n == 2 * gripper.grip_force_n
