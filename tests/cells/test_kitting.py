"""The kitting workstation: trays lie in their boxes, the work table is free, and the robot gets everywhere."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from cellwright.catalogue import CHANGERS, FURNITURE, ROBOTS, TOOLS, TRAYS, BoxFigures, TrayKind, tray_grasp
from cellwright.catalogue.changer import ToolHolderFigures
from cellwright.cells import load_cell, nominal_layout
from cellwright.core import Pose
from cellwright.motion import ArmKinematics, LineMove, LineSpeed
from cellwright.sim import World

CELL = load_cell("kitting")
LAYOUT = nominal_layout(CELL, 0)
BOXES = {n: box for n, f in CELL.fixtures.items() if isinstance(box := FURNITURE.get(f.model), BoxFigures)}
KIT_TRAYS = {n: t.model for n, t in CELL.trays.items() if TRAYS.get(t.model).kind is TrayKind.KIT}
HOLDERS = [n for n, f in CELL.fixtures.items() if isinstance(FURNITURE.get(f.model), ToolHolderFigures)]
WORK = LAYOUT.fixtures["work_table"] @ Pose.from_xyz_rpy([0.0, 0.0, FURNITURE.get("work_table").top_m])
CHANGER = CHANGERS.get("tool_changer")


def test_every_kit_tray_lies_in_a_box_with_its_like():
    inside = {
        box: [t for t in KIT_TRAYS if figures.holds(LAYOUT.fixtures[box].inverse().apply(_origin(t)))]
        for box, figures in BOXES.items()
    }
    assert inside == {
        "m2l1_tray_box": ["m2l1_tray_1", "m2l1_tray_2"],
        "s2l2_tray_box": ["s2l2_tray_1", "s2l2_tray_2"],
        "kit_box": [],
    }
    for box, trays in inside.items():
        for layer, tray in enumerate(trays):
            x, y, z = BOXES[box].places_xyz_m[0]
            up_m = layer * TRAYS.get(KIT_TRAYS[tray]).thickness_m
            assert LAYOUT.fixtures[box].inverse().apply(_origin(tray)) == pytest.approx([x, y, z + up_m])


def _origin(tray: str) -> np.ndarray:
    return LAYOUT.objects[tray].pose_in_world.position


def test_it_comes_to_rest_as_drawn():
    """Physics settles stacks and seated gears without moving them."""
    world = World(CELL.model_copy(update={"actual": type(CELL.actual)()}), seed=0)
    for name, placed in LAYOUT.objects.items():
        assert world.pose_of(name).distance_m(placed.pose_in_world) < 3e-4, name


@pytest.fixture(scope="module")
def kinematics() -> ArmKinematics:
    return ArmKinematics(ROBOTS.get(CELL.robots["motoman"].model))


def _reaches(kinematics: ArmKinematics, pose: Pose, tool: Pose, up_m: float) -> None:
    """A straight line down to a pose exists, from the configuration above it that is nearest to home."""
    base = LAYOUT.bases["motoman"].inverse()
    above = base @ Pose.from_xyz_rpy([0.0, 0.0, up_m]) @ pose @ tool.inverse()
    start = kinematics.nearest(above, np.radians(CELL.robots["motoman"].home_deg))
    LineMove(kinematics, start, base @ pose, LineSpeed(0.25), tool=tool)


@pytest.mark.parametrize("model", sorted(set(KIT_TRAYS.values())))
def test_the_tray_tool_reaches_every_place_for_a_tray(kinematics, model):
    figures = TOOLS.get("tray_vacuum")
    grip, tool = tray_grasp(TRAYS.get(model), figures), Pose.from_xyz_rpy(CHANGER.tcp_in_flange_m(figures.tcp_xyz_m))
    places = [
        LAYOUT.fixtures[n] @ Pose.from_xyz_rpy(p)
        for n, b in BOXES.items()
        for p in b.places_xyz_m
        if n == "kit_box" or n.split("_")[0] in model
    ]
    assert len(places) == 3
    for place in (WORK, *places):
        pose = place @ Pose.from_xyz_rpy(grip.xyz_m, (pi, 0.0, grip.yaw_rad))
        _reaches(kinematics, pose, tool, 0.12)


def test_the_gripper_reaches_every_gear_and_every_slot(kinematics):
    tool = Pose.from_xyz_rpy(CHANGER.tcp_in_flange_m(TOOLS.get("big_gripper").tcp_xyz_m))
    trays = [(WORK, model) for model in set(KIT_TRAYS.values())]
    trays += [(t.pose_in_world, t.model) for t in LAYOUT.trays if t.name not in KIT_TRAYS]
    for place, model in trays:
        for slot in TRAYS.get(model).slots:
            _reaches(kinematics, place @ Pose.from_xyz_rpy([*slot.xy_m, 0.03], (pi, 0.0, 0.0)), tool, 0.12)


@pytest.mark.parametrize("name", HOLDERS)
def test_tools_get_out_of_their_holders(kinematics, name):
    holder = FURNITURE.get("tool_holder")
    pose = LAYOUT.fixtures[name] @ Pose.from_xyz_rpy(*holder.flange_xyz_rpy(CHANGER))
    _reaches(kinematics, pose, Pose.identity(), 0.25)


def test_the_detector_looks_at_every_tray_the_work_table_and_all_boxes():
    line = next(line for line in CELL.sensors if line["type"] == "logical_detector")
    assert "min_xy_m" not in line, "it reports all that its camera shows"
    camera = FURNITURE.get(CELL.fixtures[line["camera"]].model).cameras[0]
    seen_m = (camera.xyz_m[2] - WORK.position[2]) * np.tan(camera.fov_rad / 2)
    middle = LAYOUT.fixtures[line["camera"]].position[:2]
    spots = [WORK, *(t.pose_in_world for t in LAYOUT.trays), LAYOUT.fixtures["kit_box"]]
    for spot in spots:
        assert (np.abs(spot.position[:2] - middle) < seen_m).all(), "its camera sees that far"
