"""The one definition of seated, by the true state."""

from dataclasses import replace

import numpy as np
import pytest

from cellwright.catalogue import PARTS, TRAYS, seated_pose
from cellwright.cells import Cell
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.judge import judge_slot
from cellwright.sim import World

KIT, GEAR = TRAYS.get("kit_m2l1_tray"), PARTS.get("medium_gear")
SEAT = seated_pose(KIT, KIT.slots[0], GEAR)


@pytest.fixture(scope="module")
def _world() -> World:
    return World(
        Cell.model_validate(
            {
                "name": "kits",
                "title": "A kit tray, turned",
                "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}},
                "trays": {"kit": {"model": "kit_m2l1_tray", "pose": {"xyz_m": [0.4, 0.2, 0], "rpy_deg": [0, 0, 130]}}},
                "parts": {
                    "gear": {"model": "medium_gear", "slot": "kit/slot_1"},
                    "spare": {"model": "medium_gear", "pose": {"xyz_m": [1, 1, 0]}},
                    "large": {"model": "large_gear", "pose": {"xyz_m": [1, 1.5, 0]}},
                    "small": {"model": "small_gear", "pose": {"xyz_m": [1, 2, 0]}},
                },
            }
        )
    )


@pytest.fixture
def world(_world):
    start = _world.snapshot()
    yield _world
    _world.restore(start)


def put(world, part: str, pose_in_kit: Pose) -> None:
    world.place(part, world.pose_of("kit") @ pose_in_kit)


def test_a_gear_that_has_settled_in_its_slot_is_seated(world):
    verdict = judge_slot(world, "kit/slot_1")
    assert verdict.seated
    assert verdict.part == "gear"
    assert verdict.slot == "kit/slot_1"
    assert verdict.centre_error_m < 1e-4
    assert verdict.tilt_rad < np.radians(0.2)
    assert abs(verdict.height_error_m) < 1e-4
    assert "off centre" in verdict.reason


def test_an_empty_slot_is_empty(world):
    verdict = judge_slot(world, "kit/slot_2")
    assert (verdict.seated, verdict.part, verdict.reason) == (False, "", "the slot is empty")
    assert np.isnan(verdict.centre_error_m)


@pytest.mark.parametrize(
    ("pose", "reason"),
    [
        (SEAT @ Pose.from_xyz_rpy([0, 0, 0], [np.radians(1.9), 0, 0]), None),
        (SEAT @ Pose.from_xyz_rpy([0, 0, 0], [np.radians(2.1), 0, 0]), "tilted by 2.1 deg (limit 2 deg)"),
        (SEAT @ Pose.from_xyz_rpy([0, 0, 0], [np.pi, 0, 0]), "tilted by 180.0 deg"),
        (SEAT @ Pose.from_xyz_rpy([0.0009, 0, 0]), None),
        (SEAT @ Pose.from_xyz_rpy([0, 0.0011, 0]), "1.10 mm off centre (limit 1 mm)"),
        (SEAT @ Pose.from_xyz_rpy([0, 0, 0.0009]), None),
        (SEAT @ Pose.from_xyz_rpy([0, 0, 0.0015]), "1.5 mm above its seat"),
        (SEAT @ Pose.from_xyz_rpy([0, 0, -0.002]), "2.0 mm below its seat"),
        (SEAT @ Pose.from_xyz_rpy([0, 0, 0], [0, 0, 2.5]), None),
    ],
    ids=["tilt ok", "tilted", "upside down", "centre ok", "off centre", "height ok", "high", "sunk", "turned"],
)
def test_the_limits_are_a_millimetre_and_two_degrees(world, pose, reason):
    put(world, "gear", pose)
    verdict = judge_slot(world, "kit/slot_1")
    assert verdict.seated == (reason is None), verdict.reason
    assert (reason or "off centre") in verdict.reason


def test_several_problems_are_all_named(world):
    put(world, "gear", SEAT @ Pose.from_xyz_rpy([0.003, 0, 0.02], [0.3, 0, 0]))
    reason = judge_slot(world, "kit/slot_1").reason
    assert all(words in reason for words in ("off centre", "tilted", "above its seat"))
    assert "\n" not in reason


def test_the_wrong_part_is_not_seated(world):
    world.place("gear", Pose.from_xyz_rpy([2, 2, 0]))
    put(world, "small", Pose.from_xyz_rpy([*KIT.slots[0].xy_m, 0.006]))
    world.settle(2.0)
    verdict = judge_slot(world, "kit/slot_1")
    assert not verdict.seated
    assert verdict.part == "small"
    assert "it is a sku_part_small_gear, the slot is for a sku_part_medium_gear" in verdict.reason


def test_a_gear_that_moves_is_not_seated_yet(world):
    gear = world.objects["gear"]
    world.data.qvel[gear.dof + 2] = 0.05
    assert "still moving at 50 mm/s" in judge_slot(world, "kit/slot_1").reason
    world.data.qvel[gear.dof : gear.dof + 6] = [0, 0, 0, 0, 0, 3.0]
    assert "172 deg/s" in judge_slot(world, "kit/slot_1").reason


def test_a_gear_held_above_does_not_unseat_the_one_below(world):
    put(world, "spare", SEAT @ Pose.from_xyz_rpy([0, 0, 0.08]))
    verdict = judge_slot(world, "kit/slot_1")
    assert verdict.part == "gear"
    assert verdict.seated


def test_a_gear_held_above_an_empty_slot_is_not_seated(world):
    put(world, "spare", Pose.from_xyz_rpy([*KIT.slots[1].xy_m, 0.06]))
    verdict = judge_slot(world, "kit/slot_2")
    assert not verdict.seated
    assert "above its seat" in verdict.reason
    put(world, "spare", Pose.from_xyz_rpy([*KIT.slots[1].xy_m, 0.5]))
    assert judge_slot(world, "kit/slot_2").reason == "the slot is empty"


def test_it_is_judged_in_the_trays_own_frame(world):
    """A tray that stands askew carries its gear with it."""
    pose = Pose.from_xyz_rpy([0.1, -0.3, 0.2], [0.4, 0.2, 1.0])
    world.place("kit", pose)
    put(world, "gear", SEAT)
    assert judge_slot(world, "kit/slot_1").seated


def test_physics_and_verdict_agree_on_a_gear_that_jams(world):
    put(world, "gear", SEAT @ Pose.from_xyz_rpy([0.012, 0, 0.02]))
    world.settle(3.0)
    assert not judge_slot(world, "kit/slot_1").seated
    put(world, "gear", SEAT @ Pose.from_xyz_rpy([0.0005, 0.0005, 0.002]))
    world.settle(3.0)
    assert judge_slot(world, "kit/slot_1").seated


@pytest.mark.parametrize(
    ("slot", "problem"),
    [
        ("kit/slot_4", "unknown slot of kit 'slot_4'"),
        ("kit", "unknown slot of kit ''"),
        ("kid/slot_1", "did you mean 'kit'"),
        ("gear/slot_1", "'gear' is not a tray"),
    ],
)
def test_a_slot_that_is_none_is_one_line(world, slot, problem):
    with pytest.raises(BadInput) as caught:
        judge_slot(world, slot)
    assert problem in str(caught.value)


@pytest.fixture(scope="module")
def cubes() -> World:
    """A tray with slots for cubes, whose origin is their middle."""
    slots = tuple(replace(s, accepts="sku_cube", bottom_radius_m=0.058, top_radius_m=0.060) for s in KIT.slots[2:])
    tray = replace(KIT, name="cube_tray", sku="sku_cube_tray", slots=slots, size_m=(0.25, 0.25))
    TRAYS.add("cube_tray", tray)
    cell = {
        "name": "cubes",
        "title": "A cube in a tray, turned",
        "trays": {"kit": {"model": "cube_tray", "pose": {"xyz_m": [0.4, 0.2, 0], "rpy_deg": [0, 0, 130]}}},
        "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}},
        "parts": {"cube": {"model": "cube", "slot": "kit/slot_3"}},
    }
    return World(Cell.model_validate(cell))


def test_a_part_that_is_no_gear_and_has_settled_on_the_floor_of_its_slot_is_seated(cubes):
    verdict = judge_slot(cubes, "kit/slot_3")
    assert (verdict.part, verdict.seated) == ("cube", True)
    assert verdict.height_error_m == pytest.approx(-0.0001, abs=5e-5)  # the floor that is touched is so much lower


@pytest.mark.parametrize(
    ("offset_mm", "tilt_deg", "reason"),
    [
        ((0.7, 0, 0.5), 0, "0.70 mm off centre, tilt 0.00 deg"),
        ((5, 0, 0), 0, "5.00 mm off centre (limit 1 mm)"),
        ((0, 0, 13), 0, "13.0 mm above its seat (limit 1 mm)"),
        ((0, 0, -5), 0, "5.0 mm below its seat (limit 1 mm)"),
        ((0, 0, 0), 90, "tilted by 90.0 deg (limit 2 deg)"),
    ],
)
def test_a_part_that_is_no_gear_is_held_to_the_same_limits(cubes, offset_mm, tilt_deg, reason):
    tray = cubes.objects["kit"].figures
    seat = seated_pose(tray, tray.slots[0], PARTS.get("cube"))
    put(cubes, "cube", Pose.from_xyz_rpy(np.array(offset_mm) / 1000) @ seat @ tilted(tilt_deg))
    verdict = judge_slot(cubes, "kit/slot_3")
    assert verdict.reason == reason
    assert verdict.seated == ("limit" not in reason)


def tilted(deg: float) -> Pose:
    return Pose.from_xyz_rpy([0, 0, 0], [np.radians(deg), 0, 0])


@pytest.mark.parametrize(
    ("xyz_mm", "lean_deg", "problem"),
    [
        ((0.0, 0.0, 0.0), 0.0, ""),
        ((0.24, 0.0, 0.1), 0.0, ""),
        ((0.45, 0.0, 0.0), 0.0, "off centre (limit 0.35 mm)"),
        ((0.0, 0.0, 0.8), 0.0, "above its seat (limit 0.5 mm)"),
        ((0.0, 0.0, 0.2), 3.0, "tilted"),
    ],
)
def test_a_plug_is_seated_on_the_floor_of_its_slot_within_the_clearance(xyz_mm, lean_deg, problem):
    tray = {"model": "kit_m2l1_plug_tray", "pose": {"xyz_m": [0.4, 0.2, 0.0]}, "clamped": True}
    parts = {"plug": {"model": "medium_plug_gear", "slot": "kit/slot_1"}}
    world = World(Cell.model_validate({"name": "kits", "title": "", "trays": {"kit": tray}, "parts": parts}))
    plug, kit = PARTS.get("medium_plug_gear"), TRAYS.get("kit_m2l1_plug_tray")
    off = Pose.from_xyz_rpy(np.array(xyz_mm) / 1000, [np.radians(lean_deg), 0, 0])
    put(world, "plug", seated_pose(kit, kit.slots[0], plug) @ off)
    verdict = judge_slot(world, "kit/slot_1")
    assert verdict.seated == (not problem)
    assert problem in verdict.reason
