"""Mobile robots in cell files: names, arrangements, the errors of real wheels, and what is refused."""

import numpy as np
import pytest

from cellwright.catalogue import MOBILE_PROFILES
from cellwright.cells import Cell, actual_layout, load_cell, nominal_layout
from cellwright.core.config import validate
from cellwright.core.errors import BadInput


def cell_with(mobiles, **more) -> Cell:
    return validate({"name": "yard", "title": "A yard", "mobiles": mobiles, **more}, Cell, "yard.yaml")


def places(arrange, count=4, seed=0, **more):
    cell = cell_with({"ePuck": {"model": "epuck", "count": count, "arrange": arrange, **more}})
    found = nominal_layout(cell, seed).mobiles
    return np.array([[*p.pose_in_world.position[:2], p.pose_in_world.rpy[2]] for p in found.values()])


def test_the_shipped_cell_has_the_start_poses_of_the_drivers_launch_file():
    layout = nominal_layout(load_cell("epucks"), 0)
    assert list(layout.mobiles) == ["ePuck0", "ePuck1", "ePuck2", "ePuck3"]
    assert {tuple(np.round(p.pose_in_world.position[:2], 9)) for p in layout.mobiles.values()} == {
        (x, y) for x in (-0.1, 0.1) for y in (-0.1, 0.1)
    }
    assert {p.wheel_base_m for p in layout.mobiles.values()} == {0.053}


@pytest.mark.parametrize(("variant", "count"), [("one", 1), ("ten", 10), ("fifty", 50)])
def test_variants_have_other_numbers_of_robots_within_their_walls(variant, count):
    cell = load_cell(f"epucks@{variant}")
    layout = nominal_layout(cell, 3)
    assert len(layout.mobiles) == count
    for placed in layout.mobiles.values():
        assert (np.abs(placed.pose_in_world.position[:2]) + 0.04 < np.array(cell.arena.size_m) / 2).all()


def test_the_shipped_cell_with_any_number_of_robots():
    cell = load_cell("epucks").changed({"arena": {"size_m": [1.6, 1.6]}, "mobiles": {"ePuck": {"count": 20}}})
    assert len(nominal_layout(cell, 0).mobiles) == 20
    assert cell.arena.wall_height_m == 0.06
    with pytest.raises(BadInput, match=r"epucks.yaml, changed: mobiles.ePuck.count: should be greater than"):
        load_cell("epucks").changed({"mobiles": {"ePuck": {"count": 0}}})


def test_one_robot_without_a_count_has_its_own_name():
    cell = cell_with({"scout": {"model": "epuck", "pose": {"xyz_m": [1, 2, 0], "rpy_deg": [0, 0, 90]}}})
    placed = nominal_layout(cell, 0).mobiles["scout"]
    assert placed.pose_in_world.position == pytest.approx([1, 2, 0])
    assert placed.pose_in_world.rpy[2] == pytest.approx(np.pi / 2)


def test_a_grid_is_centred_and_keeps_its_spacing():
    found = places({"shape": "grid", "spacing_m": 0.3, "columns": 3, "yaw_deg": 90}, count=6)
    assert found.mean(axis=0) == pytest.approx([0, 0, np.pi / 2])
    assert found[1] - found[0] == pytest.approx([0.3, 0, 0])
    assert found[3] - found[0] == pytest.approx([0, 0.3, 0])


@pytest.mark.parametrize(("facing", "turn"), [("out", 0.0), ("in", np.pi), ("along", np.pi / 2)])
def test_a_ring_is_round_and_faces_as_told(facing, turn):
    found = places({"shape": "ring", "radius_m": 0.4, "facing": facing}, pose={"xyz_m": [1, 0, 0]})
    offset = found[:, :2] - [1, 0]
    assert np.hypot(*offset.T) == pytest.approx(np.full(4, 0.4))
    heading = np.arctan2(offset[:, 1], offset[:, 0]) + turn
    assert np.cos(found[:, 2] - heading) == pytest.approx(np.ones(4))


def test_scattered_robots_keep_clear_of_each_other_and_follow_the_seed():
    arrange = {"shape": "scatter", "size_m": [0.8, 0.8], "gap_m": 0.03}
    found = places(arrange, count=20, seed=5)
    apart = np.hypot(*(found[:, None, :2] - found[None, :, :2]).transpose(2, 0, 1)) + np.eye(20)
    assert apart.min() >= 2 * 0.037 + 0.03
    assert np.array_equal(found, places(arrange, count=20, seed=5))
    assert not np.array_equal(found, places(arrange, count=20, seed=6))


def test_scattered_robots_keep_clear_of_walls_inside():
    arena = {"size_m": [1.2, 0.8], "inner_walls_m": [[[-0.2, -0.4], [-0.2, 0.1]], [[0.0, 0.0], [0.3, 0.2]]]}
    arrange = {"shape": "scatter", "size_m": [0.9, 0.6], "gap_m": 0.01}
    for seed in range(5):
        cell = cell_with({"ePuck": {"model": "epuck", "count": 12, "arrange": arrange}}, arena=arena)
        for placed in nominal_layout(cell, seed).mobiles.values():
            here = placed.pose_in_world.position[:2]
            for start, end in np.array(arena["inner_walls_m"]):
                line = np.linspace(start, end, 200)
                assert np.hypot(*(line - here).T).min() > 0.037 + 0.01 + 0.006 - 0.002


def test_no_room_is_an_error_that_says_how_many_fitted():
    with pytest.raises(BadInput, match=r"yard: mobiles.ePuck.arrange: no room for 40 robots in 0.2 x 0.2 m; \d fitted"):
        places({"shape": "scatter", "size_m": [0.2, 0.2]}, count=40)


def test_real_wheels_differ_from_the_drawings_robot_by_robot_and_seed_by_seed():
    cell = load_cell("epucks@fifty")
    drawn, real, other = (
        layout.mobiles for layout in (nominal_layout(cell, 1), actual_layout(cell, 1), actual_layout(cell, 2))
    )
    radii = np.array([p.wheel_radii_m for p in real.values()])
    bases = np.array([p.wheel_base_m for p in real.values()])
    assert {r for p in drawn.values() for r in p.wheel_radii_m} == {0.020}
    assert 0.00003 < radii.std() < 0.00005
    assert radii.mean() == pytest.approx(0.020, abs=0.00002)
    assert 0.0003 < bases.std() < 0.0007
    assert real["ePuck7"].wheel_radii_m != other["ePuck7"].wheel_radii_m
    again = actual_layout(cell, 1).mobiles
    assert [p.wheel_radii_m for p in real.values()] == [p.wheel_radii_m for p in again.values()]


def test_a_robots_errors_do_not_depend_on_how_many_there_are():
    few, many = (actual_layout(load_cell(f"epucks@{v}"), 4).mobiles["ePuck0"] for v in ("one", "fifty"))
    assert few.wheel_radii_m == many.wheel_radii_m
    assert few.wheel_base_m == many.wheel_base_m


def test_sensor_lines_are_those_of_each_robot():
    lines = load_cell("epucks").changed({"mobiles": {"ePuck": {"profile": None}}}).sensor_lines()
    assert [line["robot"] for _, line in lines] == ["ePuck0", "ePuck1", "ePuck2", "ePuck3"]
    assert {place for place, _ in lines} == {"mobiles.ePuck.sensors.0"}


def test_a_profile_adds_its_sensors_and_a_line_changes_the_one_of_its_type():
    own = {"type": "proximity", "rate_hz": 10, "noise": {"sd": 0.0}}
    cell = load_cell("epucks@one").changed({"mobiles": {"ePuck": {"profile": "epuck2", "sensors": [own]}}})
    lines = {line["type"]: (place, line) for place, line in cell.sensor_lines()}
    assert set(lines) == {"proximity", "ground", "time_of_flight", "battery", "imu", "color_camera"} & set(lines)
    assert {"proximity", "ground", "time_of_flight", "battery", "color_camera"} <= set(lines)
    place, proximity = lines["proximity"]
    assert place == "mobiles.ePuck.sensors.0"
    assert (proximity["rate_hz"], proximity["noise"], proximity["conversion"]) == (10, {"sd": 0.0}, "root")
    assert lines["ground"][0] == "mobiles.ePuck.profile.ground"
    assert lines["color_camera"][1]["rate_hz"] == 0.0
    assert MOBILE_PROFILES.get("epuck2").sensors[0]["rate_hz"] == 30.0  # the catalogue's own line is as before


GRID = {"shape": "grid", "spacing_m": 0.2}


@pytest.mark.parametrize(
    ("mobiles", "more", "message"),
    [
        (
            {"ePuck": {"model": "epuk"}},
            {},
            "mobiles.ePuck.model: unknown mobile robot model 'epuk'; did you mean 'epuck'",
        ),
        (
            {"ePuck": {"model": "epuck", "profile": "epuck1-drive"}},
            {},
            "mobiles.ePuck.profile: unknown profile of mobile robots 'epuck1-drive'; did you mean 'epuck1-driver'",
        ),
        ({"ePuck": {"model": "epuck", "count": 3}}, {}, "mobiles.ePuck: count and arrange belong together"),
        (
            {"ePuck": {"model": "epuck", "count": 0, "arrange": GRID}},
            {},
            "mobiles.ePuck.count: .*greater than or equal to 1",
        ),
        ({"e puck": {"model": "epuck"}}, {}, "a name of mobile robots is a letter and up to 39"),
        (
            {"a": {"model": "epuck", "count": 2, "arrange": {"shape": "star"}}},
            {},
            "mobiles.a.arrange: 'shape' should be one of 'grid', 'ring', 'scatter'",
        ),
        ({"arena": {"model": "epuck"}}, {}, "its robot 'arena' needs a name of its own"),
        (
            {"r": {"model": "epuck", "count": 2, "arrange": GRID}, "r1": {"model": "epuck"}},
            {},
            "mobiles.r1: its robot 'r1' needs a name of its own; mobiles.r has that one",
        ),
        (
            {"floor": {"model": "epuck"}},
            {"fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}}},
            "mobiles.floor: its robot 'floor' needs a name of its own; fixtures has that one",
        ),
        ({}, {"arena": {"size_m": [1, 0]}}, "arena.size_m.1: .*greater than 0"),
        ({}, {"arena": {"size_m": [1, 1], "inner_walls_m": [[[0, 0], [0, 0]]]}}, "inner wall 0 begins where it ends"),
        (
            {"ePuck": {"model": "epuck", "sensors": [{"type": "encoders", "robot": "x", "rate_hz": 5}]}},
            {},
            "leave out the key robot",
        ),
        (
            {"ePuck": {"model": "epuck"}},
            {"actual": {"wheel_radius_m": 3}},
            "wheel_radius_m: should be between -0.1 and 0.1",
        ),
    ],
)
def test_bad_files_are_refused_in_one_line(mobiles, more, message):
    with pytest.raises(BadInput, match=message) as caught:
        nominal_layout(cell_with(mobiles, **more), 0)
    assert "\n" not in str(caught.value)


def test_robots_that_overlap_are_refused():
    from cellwright.sim import World

    cell = cell_with({"ePuck": {"model": "epuck", "count": 2, "arrange": {"shape": "grid", "spacing_m": 0.05}}})
    with pytest.raises(BadInput, match=r"mobiles.ePuck.arrange: 'ePuck\d' and 'ePuck\d' overlap by 24\.\d mm"):
        World(cell, 0)
