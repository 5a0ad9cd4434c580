"""A kit counts where it was ordered, with nothing on it, level and at rest: in real worlds, settled."""

import numpy as np
import pytest

from cellwright.catalogue import seated_height_m
from cellwright.cells import Cell, load_cell
from cellwright.core.pose import Pose
from cellwright.judge import judge_kit
from cellwright.judge.boxes import boxes_of
from cellwright.judge.support import TOUCH_M, geoms_of, nearest_m
from cellwright.orders import DESIGNS
from cellwright.sim import World

TRAY, DESIGN = "fanuc_kit_m2l1", DESIGNS.get("kit_m2l1")
RIGHT = {"slot_1": "medium_gear_1", "slot_2": "medium_gear_2", "slot_3": "large_gear_1"}
CELL = {
    "name": "mine",
    "title": "A bench",
    "settle_s": 3.0,
    "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0.0, 0.0, 0.0]}}},
    "populations": [
        {"model": "medium_gear", "count": 2, "trays": ["kit"]},
        {"model": "large_gear", "count": 1, "trays": ["kit"]},
    ],
}


def failed(world, tray=TRAY):
    verdict = judge_kit(world, tray, DESIGN)
    found = {item.name: item.reason for item in verdict.items if not item.passed}
    assert verdict.done is not bool(found), "one item is enough"
    return found


def carry(world, pose):
    """Moves the kit as it is, with its parts."""
    back = world.pose_of(TRAY).inverse()
    for name in (TRAY, *RIGHT.values()):
        world.place(name, pose @ back @ world.pose_of(name))


def moved(world, x_m=0.0, y_m=0.0, z_m=0.0):
    pose = world.pose_of(TRAY)
    return Pose(pose.position + [x_m, y_m, z_m], pose.quaternion)


@pytest.fixture
def kit(stand):
    stand.fill(RIGHT)
    assert not failed(stand.world)
    return stand


def test_another_tray_on_top_spoils_it_and_one_beside_it_flush_does_not(kit):
    world, other = kit.world, "fanuc_kit_s2l2"
    half_m = np.array([world.objects[name].figures.size_m for name in (TRAY, other)]) / 2
    for gap_m, turn_deg in ((0.0003, 0.0), (0.0001, -2.0), (0.0, 2.0)):
        turn_rad = np.radians(turn_deg)
        away_m = half_m[0, 1] + half_m[1, 1] / np.cos(turn_rad) + half_m[0, 0] * abs(np.tan(turn_rad)) + gap_m
        world.place(other, world.pose_of(TRAY) @ Pose.from_xyz_rpy([0.0, -away_m, 0.0], [0.0, 0.0, turn_rad]))
        kit.lab.advance(0.3)
        assert nearest_m(world, *(geoms_of(world, [world.objects[n].body]) for n in (TRAY, other)), 0.01) < TOUCH_M
        assert not failed(world)
    world.place(other, world.pose_of(TRAY) @ Pose.from_xyz_rpy([0.0, 0.0, 0.052]))
    kit.lab.advance(1.0)
    assert failed(world)["extras"] == "fanuc_kit_s2l2 on the tray"


def test_a_gear_that_leans_on_its_edge_spoils_it(kit):
    world, half_m = kit.world, kit.world.objects[TRAY].figures.size_m[0] / 2
    for beside_m, spoilt in ((0.040, []), (0.020, ["extras"])):
        world.place("medium_gear_3", world.pose_of(TRAY) @ Pose.from_xyz_rpy([half_m + beside_m, 0.0, 0.03]))
        kit.lab.advance(0.6)
        x, _, z = (world.pose_of(TRAY).inverse() @ world.pose_of("medium_gear_3")).position
        assert (x > half_m, z < 0.01) == (True, True), "its middle is beside the tray, its foot on the table"
        assert list(failed(world)) == spoilt
    assert failed(world)["extras"] == "medium_gear_3 on the tray"


@pytest.mark.parametrize(
    ("xyz_m", "where"),
    [
        ((1.2, 1.5, 0.0005), "on the floor, not on fanuc_cart"),
        ((0.25, -0.62, 0.9005), "on shared_table, not on fanuc_cart"),
    ],
)
def test_on_the_floor_and_on_another_table_it_does_not_count(kit, xyz_m, where):
    kit.world.place("motoman_kit_s2l2", Pose.from_xyz_rpy([2.0, 2.0, 0.001]))
    carry(kit.world, Pose.from_xyz_rpy(xyz_m))
    kit.lab.advance(1.0)
    assert failed(kit.world) == {"on its table": where}


def test_anywhere_on_its_own_table_it_does(kit):
    carry(kit.world, moved(kit.world, 0.03, 0.02, 0.0005) @ Pose.from_xyz_rpy([0, 0, 0], [0, 0, 0.2]))
    kit.lab.advance(0.6)
    assert not failed(kit.world)


def test_in_mid_air_it_does_not_count_though_nothing_moves(kit):
    carry(kit.world, moved(kit.world, z_m=0.2))
    assert failed(kit.world) == {"on its table": "in mid-air, 200 mm above fanuc_cart"}


def test_on_a_part_it_stands_neither_on_its_table_nor_level(kit):
    kit.world.place("small_gear_1", Pose.from_xyz_rpy(kit.position(TRAY) + [0.05, 0.0, 0.0005]))
    carry(kit.world, moved(kit.world, z_m=0.045))
    kit.lab.advance(1.0)
    found = failed(kit.world)
    assert found["on its table"] == "it stands on small_gear_1, not on fanuc_cart"
    assert "(limit 2 deg)" in found["level"]


def test_on_the_rim_of_another_tray_it_stands_neither_on_its_table_nor_level(kit):
    pose = kit.world.pose_of(TRAY) @ Pose.from_xyz_rpy([0.0, -0.06, 0.06])
    carry(kit.world, pose)
    kit.lab.advance(1.2)
    found = failed(kit.world)
    assert found["on its table"] == "it stands on fanuc_kit_s2l2, not on fanuc_cart"
    assert "(limit 2 deg)" in found["level"]


def test_a_tray_that_still_moves_is_not_done(kit):
    item = kit.world.objects[TRAY]
    kit.world.data.qvel[item.dof] = 0.05
    assert failed(kit.world) == {"at rest": "still moving at 50 mm/s and 0 deg/s (limits 10 mm/s and 11 deg/s)"}
    kit.world.data.qvel[item.dof : item.dof + 6] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.5]
    assert list(failed(kit.world)) == ["at rest"]


def test_an_arm_that_touches_it_is_not_clear(kit):
    world, model = kit.world, kit.world.model
    link = next(g for g in range(model.ngeom) if model.body(model.geom_bodyid[g]).name == "fanuc/link_3")
    carry(world, Pose(world.data.geom_xpos[link], [1, 0, 0, 0]))
    assert failed(world)["tool clear"] == "fanuc's arm is 0.0 mm from the kit (limit 10 mm)"


def bare(tray_xyz_m, fixtures=(), **changes):
    """A cell of one's own with one kit tray and nothing in it, as it is drawn."""
    places = {name: {"model": model, "pose": {"xyz_m": xyz_m, "rpy_deg": rpy}} for name, model, xyz_m, rpy in fixtures}
    trays = {"kit": {"model": "kit_m2l1_tray", "pose": {"xyz_m": tray_xyz_m}}}
    cell = {"name": "mine", "title": "Bare", "settle_s": 0.0, "fixtures": places, "trays": trays} | changes
    return World(Cell.model_validate(cell), 0)


FLOOR = ("floor", "floor", (0.0, 0.0, 0.0), (0, 0, 0))
BENCH = ("bench", "work_table", (0.0, 0.0, 0.0), (0, 0, 0))


def where(world, tray="kit"):
    item = judge_kit(world, tray, DESIGN).items[-1]
    return item.passed, item.reason


def test_a_tray_that_is_drawn_in_mid_air_is_there_where_nothing_falls_only():
    assert where(bare((0, 0, 0.99), [FLOOR, BENCH])) == (False, "in mid-air, 100 mm above bench")
    assert where(bare((0, 0, 0.99), [FLOOR, BENCH], fidelity="kinematic")) == (True, "where it is drawn, above bench")
    assert where(bare((0, 0, 0.99))) == (False, "in mid-air, above nothing")


def test_a_tray_that_is_drawn_over_an_edge_belongs_on_the_table_and_not_on_the_floor():
    world = bare((0, 0.2, 0.89), [FLOOR, BENCH])
    assert where(world) == (True, "on bench")
    world.place("kit", Pose.from_xyz_rpy([1.0, 1.0, 0.0]))
    assert where(world) == (False, "on the floor, not on bench")


def test_on_a_tray_that_it_was_not_drawn_on_it_does_not_count_wherever_that_is():
    world = bare((0, 0, 0.89), [FLOOR, BENCH])
    world.add("low", "kit_m2l1_tray", Pose.from_xyz_rpy([1.0, 1.0, 0.0]))
    world.place("kit", Pose.from_xyz_rpy([1.0, 1.0, 0.017]))
    assert where(world) == (False, "it stands on low, not on bench")
    world.place("kit", Pose.from_xyz_rpy([0.0, 0.0, 0.89]))
    world.add("top", "kit_m2l1_tray", Pose.from_xyz_rpy([0.0, 0.0, 0.907]))
    assert where(world, "top") == (True, "on bench")
    world.place("top", Pose.from_xyz_rpy([0.0, 0.0, 0.89]))
    world.place("kit", Pose.from_xyz_rpy([0.0, 0.0, 0.907]))
    assert where(world) == (False, "it stands on top, not on bench"), "the stack is turned over"


def test_upside_down_it_is_neither_level_nor_filled():
    world = bare((0, 0, 0.89), [FLOOR, BENCH])
    world.place("kit", Pose.from_xyz_rpy([0.0, 0.0, 0.907], [np.pi, 0.0, 0.0]))
    assert failed(world, "kit")["level"] == "tilted by 180.0 deg (limit 2 deg)"


def test_a_mobile_robot_that_stands_on_it_spoils_it():
    world = bare((0, 0, 0), [FLOOR], mobiles={"puck": {"model": "epuck", "pose": {"xyz_m": [0.0, 0.0, 0.0171]}}})
    assert failed(world, "kit")["extras"] == "puck on the tray"


def test_level_in_a_box_is_as_the_box_stands():
    box = ("box", "kit_box", (0.0, 0.0, 0.0), (3, 0, 0))
    world = bare((1, 1, 0), [FLOOR, box])
    for tilt_deg, level in ((3.0, True), (0.0, False)):
        world.place("kit", Pose.from_xyz_rpy([0.122, 0.0, 0.005], np.radians([tilt_deg, 0.0, 0.0])))
        found = {item.name: item.passed for item in judge_kit(world, "kit", DESIGN).items}
        assert (found["level"], found["in its box"]) == (level, True)


def bench(tilt_deg=0.0, tray_deg=0.0):
    """A cell of one's own, without robots: a kit that somebody has filled, on a table that may be inclined."""
    table = {"model": "work_table", "pose": {"xyz_m": [0.0, 0.0, 0.0], "rpy_deg": [tilt_deg, 0.0, 0.0]}}
    up = Pose.from_xyz_rpy([0.0, 0.0, 0.0], [np.radians(tilt_deg), 0.0, 0.0]).apply([0.0, 0.0, 0.8935])
    tray = {"model": "kit_m2l1_tray", "pose": {"xyz_m": up.tolist(), "rpy_deg": [tray_deg, 0.0, 0.0]}}
    fixtures = {**CELL["fixtures"], "bench": table}
    return World(Cell.model_validate(CELL | {"fixtures": fixtures, "trays": {"kit": tray}}), 0)


def test_level_is_as_the_drawings_have_it():
    assert not failed(bench(), "kit")
    assert not failed(bench(1.5), "kit")
    assert failed(bench(3.0), "kit") == {"level": "tilted by 3.0 deg (limit 2 deg)"}
    assert not failed(bench(3.0, 3.0), "kit"), "a table that is meant to be inclined"


def test_kits_in_cells_without_forces_count():
    world = World(load_cell("aprs").model_copy(update={"fidelity": "kinematic"}), 1)
    figures = world.objects[TRAY].figures
    for slot, part in zip(figures.slots, RIGHT.values(), strict=True):
        height_m = seated_height_m(figures, slot, world.objects[part].figures)
        world.place(part, world.pose_of(TRAY) @ Pose.from_xyz_rpy([*slot.xy_m, height_m]))
    assert not failed(world)
    carry(world, moved(world, z_m=0.1))
    assert list(failed(world)) == ["on its table"]


def test_a_tray_that_was_added_belongs_where_it_was_added_and_one_of_a_stack_on_its_stack():
    world = bench()
    world.add("second", "kit_m2l1_tray", Pose.from_xyz_rpy([0.8, 0.8, 0.0005]))
    world.settle(1.0)
    assert "on its table" not in failed(world, "second")
    world.place("second", Pose.from_xyz_rpy([0.0, 0.0, 0.95]))
    assert "on its table" in failed(world, "second")
    stacked = World(load_cell("kitting").model_copy(update={"fixtures": without(load_cell("kitting"), "kit_box")}), 0)
    places = [judge_kit(stacked, f"m2l1_tray_{number}", DESIGN).items[-1] for number in (1, 2)]
    assert [(item.passed, item.reason) for item in places] == [(True, "on m2l1_tray_box")] * 2
    for z_m, reason in ((0.89, "on work_table"), (0.0, "on the floor, not on m2l1_tray_box")):
        stacked.place("m2l1_tray_2", Pose.from_xyz_rpy([0.0, -0.65 - (z_m == 0.0), z_m]))
        assert judge_kit(stacked, "m2l1_tray_2", DESIGN).items[-1].reason == reason
    stacked.place("m2l1_tray_2", stacked.pose_of("s2l2_tray_2") @ Pose.from_xyz_rpy([0, 0, 0.0172]))
    assert failed(stacked, "m2l1_tray_2")["on its table"] == "it stands on s2l2_tray_2, not on m2l1_tray_box"


def without(cell, name):
    return {fixture: cfg for fixture, cfg in cell.fixtures.items() if fixture != name}


def real_world(name, seed=2, **errors):
    """A cell that is drawn level and really is not, without any other error."""
    return World(load_cell(name).changed({"actual": {"size": None}}).changed({"actual": errors}), seed)


@pytest.mark.parametrize(("tilt_deg", "is_level"), [(0.5, True), (1.7, True), (2.3, False)])
def test_on_a_table_that_is_not_where_it_is_drawn_a_kit_counts_as_long_as_it_is_level(tilt_deg, is_level):
    """The table's lean is the kit's, whatever the table: what comes next takes parts from straight above."""
    world = real_world("aprs", table={"x_m": 0.02, "z_m": -0.015, "pitch_deg": tilt_deg})
    for tray in (TRAY, "motoman_kit_s2l2"):
        found = failed(world, tray)
        assert ("level" not in found) is is_level
        assert not {"on its table", "at rest"} & set(found)
    if not is_level:
        assert found["level"] == "tilted by 2.3 deg (limit 2 deg)"


def test_a_tray_that_was_put_down_tilted_and_fell_flat_is_level():
    world = real_world("aprs", tray={"roll_deg": 3.0})
    assert "level" not in failed(world)


def test_boxes_are_found_where_they_are_and_trays_in_them_too():
    error = {"x_m": 0.03, "y_m": -0.02, "z_m": 0.01, "roll_deg": 1.0, "yaw_deg": 3.0}
    world = real_world("kitting", box=error, table={"z_m": -0.02, "pitch_deg": 0.5})
    boxes = boxes_of(world)
    for tray in ("m2l1_tray_1", "m2l1_tray_2", "s2l2_tray_2"):
        assert boxes.placement(world, tray, boxes.supplies).stands
    place = world.layout.fixtures["kit_box"] @ Pose.from_xyz_rpy(boxes.outlets["kit_box"].places_xyz_m[0])
    world.place("m2l1_tray_2", place @ Pose.from_xyz_rpy([0, 0, 0.001]))
    world.settle(2.0)
    found = {item.name: item for item in judge_kit(world, "m2l1_tray_2", DESIGN).items}
    assert found["in its box"].passed, found["in its box"].reason
    assert found["level"].passed
    assert "tilted by 1." in found["level"].reason, "as boxes are drawn level"
