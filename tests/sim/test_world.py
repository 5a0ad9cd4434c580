"""A world: built from a cell, at rest, as the layout says, and found wrong when it is."""

import numpy as np
import pytest

from cellwright.cells import Cell
from cellwright.core.errors import BadInput, ConfigError, SimulationError
from cellwright.core.pose import Pose
from cellwright.sim import World
from cellwright.sim.contacts import body_contacts, deepest_overlap


def test_robots_start_at_home_beyond_their_joint_zeros(lab_world):
    for name, robot in lab_world.robots.items():
        home = np.radians(lab_world.cell.robots[name].home_deg) + lab_world.layout.joint_zeros_rad[name]
        assert lab_world.data.qpos[robot.qpos] == pytest.approx(home, abs=2e-4)
        assert lab_world.data.ctrl[robot.ctrl_position] == pytest.approx(home, abs=1e-12)
        assert lab_world.data.qpos[robot.gripper.qpos] == pytest.approx([robot.gripper.figures.open_m] * 2, abs=1e-4)


def test_everything_sleeps_where_it_was_placed_and_the_clock_is_at_zero(lab_world):
    asleep = np.asarray(lab_world.data.tree_asleep)
    for name, item in lab_world.objects.items():
        assert asleep[lab_world.model.body_treeid[item.body]] >= 0, name
        placed = lab_world.layout.objects[name].pose_in_world
        assert placed.distance_m(lab_world.pose_of(name)) < 2e-4, name
        assert placed.angle_rad(lab_world.pose_of(name)) < np.radians(0.2), name
    assert lab_world.clock.tick == 0
    assert lab_world.data.time == 0.0


def test_bodies_stand_where_the_actual_layout_says(lab_world):
    for name, pose in lab_world.layout.bases.items():
        body = lab_world.data.body(f"{name}/base")
        assert Pose(body.xpos, body.xquat).is_close(pose, tolerance_m=1e-9, tolerance_rad=1e-7)
    for name, pose in lab_world.layout.fixtures.items():
        assert lab_world.data.body(f"{name}/furniture").xpos == pytest.approx(pose.position, abs=1e-12)


def test_nothing_drifts_while_nobody_acts(lab_world):
    objects = np.concatenate([np.arange(o.qpos, o.qpos + 7) for o in lab_world.objects.values()])
    before = lab_world.data.qpos[objects].tobytes()
    lab_world.engine.step(1000)
    assert lab_world.data.qpos[objects].tobytes() == before


def test_settling_later_does_not_touch_the_clock(bench):
    world = World(bench)
    world.engine.step(10)
    world.clock.tick = 10
    world.place("gear", Pose.from_xyz_rpy([0.3, -0.35, 0.02]))
    assert world.settle(3.0)
    assert world.clock.tick == 10
    assert world.data.time == pytest.approx(0.02)


def test_a_cell_that_never_rests_says_so(make_bench):
    """A gear on its rim at the edge of falling rolls on: settling gives up after its time."""
    rolling = {"gear": {"model": "large_gear", "pose": {"xyz_m": [0.3, 0.35, 0.5]}}}
    world = World(make_bench(parts=rolling, settle_s=0.1))
    assert np.asarray(world.data.tree_asleep)[world.model.body_treeid[world.objects["gear"].body]] < 0
    assert world.pose_of("gear").position[2] > 0.1


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ({"a": [0.3, 0.35, 0], "b": [0.32, 0.35, 0]}, ("a", "b")),
        ({"a": [0.3, 0.35, 0], "b": [0.3, 0.35, 0]}, ("a", "b")),
        ({"a": [0.3, 0.35, -0.004]}, ("floor", "a")),
        ({"a": [0.45, 0.12, 0.002]}, ("supply", "a")),
    ],
    ids=["two gears", "one in the other", "in the floor", "in a tray"],
)
def test_placements_that_overlap_are_refused_with_names_and_depth(make_bench, parts, names):
    gears = {name: {"model": "medium_gear", "pose": {"xyz_m": xyz}} for name, xyz in parts.items()}
    with pytest.raises(ConfigError, match=r"^bench: parts\.a\.pose: '.*' and '.*' overlap by \d+\.\d mm ") as caught:
        World(make_bench(parts=gears))
    assert caught.value.exit_code == 2
    for name in names:
        assert f"'{name}'" in str(caught.value)


def test_a_robot_in_a_table_is_refused(make_bench):
    table = {"model": "shared_table", "pose": {"xyz_m": [0.4, 0, -0.2]}}
    with pytest.raises(ConfigError, match=r"'(table|arm/[a-z_/0-9]+)' and '(table|arm/[a-z_/0-9]+)' overlap"):
        World(make_bench(fixtures={"table": table}, trays={}, parts={}))


def test_a_trace_of_overlap_is_allowed(make_bench):
    gears = {"a": {"model": "medium_gear", "pose": {"xyz_m": [0.3, 0.35, -0.0005]}}}
    world = World(make_bench(parts=gears))
    assert world.pose_of("a").position[2] == pytest.approx(0, abs=1e-4)


def test_the_deepest_of_several_overlaps_is_named(bench):
    world = World(bench)
    world.place("gear", Pose.from_xyz_rpy([0.3, -0.35, -0.002]))
    world.place("large", Pose.from_xyz_rpy([0.1, -0.45, -0.005]))
    overlap = deepest_overlap(world.model, world.data)
    assert {overlap.first, overlap.second} == {"floor", "large"}
    assert overlap.depth_m == pytest.approx(0.005, abs=3e-4)
    mine = deepest_overlap(world.model, world.data, world.objects["gear"].body)
    assert {mine.first, mine.second} == {"floor", "gear"}
    assert deepest_overlap(world.model, world.data, world.robots["arm"].base_body) is None


def test_touches_carry_the_weight(bench):
    world = World(bench)
    world.place("large", world.pose_of("large"))
    world.engine.step(5)
    found = {(t.first, t.second): t.force_n for t in body_contacts(world.model, world.data)}
    assert found["floor", "large"] == pytest.approx(world.objects["large"].figures.mass_kg * 9.81, rel=0.02)


def test_unknown_names_are_one_line_with_choices(lab_world):
    with pytest.raises(BadInput, match=r"aprs\.yaml: unknown robot 'fanuk'; did you mean 'fanuc'\?"):
        lab_world.robot("fanuk")
    with pytest.raises(BadInput, match=r"unknown object 'medium_gear_9'; did you mean 'medium_gear_\d'\?"):
        lab_world.object("medium_gear_9")
    with pytest.raises(BadInput, match="unknown robot"):
        lab_world.tcp_pose("nobody")


def test_an_empty_cell_is_a_world_too():
    world = World(Cell(name="empty", title="Nothing"))
    world.engine.step(10)
    assert world.objects == {}
    assert world.settle(1.0)


def test_a_robot_without_a_tool_is_measured_at_its_flange(make_bench):
    robot = {"model": "lr_mate_200id", "base": {"xyz_m": [0, 0, 0]}, "home_deg": [0, 0, 0, 0, -90, 0]}
    world = World(make_bench(robots={"arm": robot}))
    assert world.robots["arm"].gripper is None
    assert world.tcp_pose("arm").position == pytest.approx([0.385, 0, 0.615], abs=1e-3)


def test_the_same_seed_gives_the_same_bytes(aprs):
    def run() -> bytes:
        world = World(aprs, seed=4)
        arm = world.robots["motoman"]
        world.data.ctrl[arm.ctrl_position] += 0.3
        world.engine.step(1000)
        return world.data.qpos.tobytes() + world.data.qvel.tobytes() + world.data.qacc.tobytes()

    assert run() == run()


def test_looking_does_not_disturb(bench):
    def run(look: bool) -> bytes:
        world = World(bench, seed=1)
        world.data.ctrl[world.robots["arm"].ctrl_position] += 0.4
        world.place("gear", Pose.from_xyz_rpy([0.3, -0.35, 0.03], [0.4, 0, 0]))
        for _ in range(200):
            world.engine.step(2)
            if look:
                world.tcp_pose("arm")
                world.pose_of("gear")
                body_contacts(world.model, world.data)
        return world.data.qpos.tobytes()

    assert run(True) == run(False)


@pytest.mark.parametrize("what", ["qpos", "qvel"])
def test_physics_that_diverged_is_an_error_that_names_a_body(bench, what, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    world = World(bench)
    world.engine.step(25)
    item = world.objects["other"]
    getattr(world.data, what)[item.qpos if what == "qpos" else item.dof] = np.nan
    body = "other" if what == "qpos" else ".*"
    with pytest.raises(SimulationError, match=rf"^physics diverged after 0\.050 s, first seen at body '{body}'$"):
        world.engine.step(25)
    assert list(tmp_path.iterdir()) == []  # MuJoCo's own log file
    assert capfd.readouterr().err == ""


def test_a_force_beyond_all_measure_is_an_error(bench):
    world = World(bench)
    world.data.xfrc_applied[world.objects["gear"].body, 0] = 1e12
    with pytest.raises(SimulationError, match=r"^physics diverged after 0\.000 s"):
        world.engine.step(50)


def test_a_command_that_is_not_a_number_is_an_error(bench):
    world = World(bench)
    world.data.ctrl[world.robots["arm"].ctrl_position[2]] = np.nan
    with pytest.raises(SimulationError, match=r"^a command that is not a number after .*'arm/joint_3'$"):
        world.engine.step(2)


def test_a_world_goes_back_from_before_it_diverged(bench):
    world = World(bench)
    start = world.snapshot()
    world.data.qvel[world.objects["gear"].dof] = np.inf
    with pytest.raises(SimulationError):
        world.engine.step(10)
    world.restore(start)
    world.engine.step(10)
    assert world.data.time == pytest.approx(0.02)


def test_a_laboratory_stops_when_physics_diverges(open_lab, bench):
    lab = open_lab(bench)
    lab.advance(0.2)
    lab.world.data.qvel[lab.world.objects["gear"].dof] = np.inf
    with pytest.raises(SimulationError, match=r"^physics diverged after 0\.2"):
        lab.advance(0.5)
    assert lab.world.clock.time_s < 0.3


def test_scattered_parts_lie_still_where_they_were_scattered(make_bench):
    region = {"min_xy_m": [-0.6, 0.4], "max_xy_m": [0.6, 1.0], "z_m": 0.0}
    populations = [{"model": model, "count": 5, "region": region} for model in ("small_gear", "large_gear")]
    world = World(make_bench(populations=populations), seed=9)
    for name, placement in world.layout.objects.items():
        assert placement.pose_in_world.distance_m(world.pose_of(name)) < 2e-4, name
