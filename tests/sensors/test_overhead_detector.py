"""The overhead detector: what it measures, what it does not, and how it errs; four standard errors are tolerated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.sensors import check_sensor
from cellwright.sensors.pose_noise import LAB_CLUSTERS_M, PoseNoise
from cellwright.sim import World

LINE: dict[str, Any] = {
    "type": "overhead_detector",
    "name": "eye",
    "camera": "camera_fanuc",
    "rate_hz": 10,
    "plane_m": 0.916,
    "max_xy_m": (0.83, -0.86),
    "pull": 0.0,
}
GEAR = "sku_part_medium_gear"


@pytest.fixture(scope="module")
def exact(aprs) -> World:
    """The Fanuc out of the way, cameras where they are drawn."""
    robots = {"robots": {"fanuc": {"home_deg": [0, -30, 0, 0, -90, 0]}}}
    cell = aprs.changed({"actual": {"camera": {"x_m": 0.0, "y_m": 0.0}}, "fidelity": "kinematic", **robots})
    return World(cell, seed=4)


@pytest.fixture
def world(exact):
    start = exact.snapshot()
    yield exact
    exact.restore(start)


@pytest.fixture
def frames(world, sensor_in):
    def look(count: int = 1, in_world: World = world, **changes: Any) -> list[Detections]:
        sensor = sensor_in(in_world, **(LINE | changes))
        return [sensor.sample() for _ in range(count)]

    return look


def row_near(frame: Detections, sku: str, place: Pose, within_m: float = 0.03) -> int:
    rows = [row for row, its in enumerate(frame.skus) if its == sku]
    away = {row: float(np.hypot(*(frame.positions[row] - place.position)[:2])) for row in rows}
    best = min(away, key=away.__getitem__)
    assert away[best] < within_m
    return best


def test_without_noise_upright_things_on_their_table_are_where_they_are(world, frames):
    frame = frames(noise="none")[0]
    assert len(frame.skus) == 15
    for name, item in world.objects.items():
        truth = world.pose_of(name)
        if truth.position[1] > -0.86:
            continue
        row = row_near(frame, item.sku, truth)
        assert frame.positions[row] == pytest.approx(truth.position, abs=2e-4)
        if item.is_tray:
            assert Pose(frame.positions[row], frame.quaternions[row]).rpy[2] == pytest.approx(truth.rpy[2], abs=1e-4)


def test_a_camera_that_looks_from_the_side_tells_the_same_places(aprs, frames):
    """From 40 degrees above the table most of what is seen of a tray is still its upper face."""
    side = {"pose": {"xyz_m": [1.45, -1.157, 1.8], "rpy_deg": [0, 40, 180]}}
    robots = {"robots": {"fanuc": {"home_deg": [0, -30, 0, 0, -90, 0]}}}
    errors = {"actual": {"camera": {"x_m": 0.0, "y_m": 0.0}}}
    world = World(
        aprs.changed({**errors, "fidelity": "kinematic", "cameras": {"side": {**side, "fov_deg": 50}}, **robots})
    )
    frame = frames(in_world=world, camera="side", noise="none")[0]
    trays = [name for name, item in world.objects.items() if item.is_tray and name.startswith("fanuc")]
    assert len(trays) == 5
    for name in trays:
        row = row_near(frame, world.objects[name].sku, world.pose_of(name))
        assert frame.positions[row] == pytest.approx(world.pose_of(name).position, abs=1e-3)


@pytest.mark.parametrize("turn_deg", [90, 180, 237])
def test_a_gear_is_where_it_is_however_it_is_turned(world, frames, turn_deg):
    """Nobody sees how a gear is turned, so its place must not depend on that."""
    spot = world.pose_of("medium_gear_1")
    world.place("medium_gear_1", spot @ Pose.from_xyz_rpy([0, 0, 0], [0, 0, np.radians(turn_deg)]))
    frame = frames(noise="none")[0]
    row = row_near(frame, GEAR, spot, within_m=0.003)
    assert frame.positions[row] == pytest.approx(spot.position, abs=2e-4)


def test_height_tilt_and_the_turn_of_gears_are_not_measured(world, frames):
    """Whatever a thing's height and tilt are, those numbers do not change, and their variances say so."""
    before = frames(noise="none")[0]
    spot = world.pose_of("medium_gear_1")
    world.place("medium_gear_1", spot @ Pose.from_xyz_rpy([0, 0, 0.03], [0.3, 0.2, 1.0]))
    world.place("fanuc_kit_m2l1", world.pose_of("fanuc_kit_m2l1") @ Pose.from_xyz_rpy([0, 0, 0.02], [0.1, -0.1, 0]))
    after = frames(noise="none")[0]
    assert sorted(before.skus) == sorted(after.skus)
    for frame in (before, after):
        assert np.isinf(frame.variances[:, 2:5]).all()
        assert np.isfinite(frame.variances[:, :2]).all()
        assert (frame.quaternions[:, 1:3] == 0.0).all(), "no roll, no pitch"
        gears = [row for row, sku in enumerate(frame.skus) if sku.endswith("_gear")]
        assert np.isinf(frame.variances[gears, 5]).all()
        assert (frame.quaternions[gears] == [1, 0, 0, 0]).all()
    heights = [{(sku, float(z)) for sku, z in zip(f.skus, f.positions[:, 2], strict=True)} for f in (before, after)]
    assert heights[0] == heights[1]
    assert len(heights[0]) == len({sku for sku, _ in heights[0]}), "one height for each class"


@pytest.mark.parametrize("up_m", [0.02, 0.1, -0.05])
def test_what_is_not_at_its_usual_height_is_seen_beside_its_place(world, frames, up_m):
    """Its line of sight is the same: away from the foot of the camera when it is higher, by the ratio of heights."""
    spot = Pose.from_xyz_rpy([0.60, -1.35, 0.95])
    world.place("medium_gear_1", spot)
    low = frames(noise="none")[0]
    world.place("medium_gear_1", Pose.from_xyz_rpy([0.60, -1.35, 0.95 + up_m]))
    high = frames(noise="none")[0]
    first, second = (frame.positions[row_near(frame, GEAR, spot, 0.1)] for frame in (low, high))
    eye = world.layout.cameras["camera_fanuc"].pose_in_world.position
    top_m = 0.95 + 0.0186  # about: its disc
    expected = eye[:2] + (first[:2] - eye[:2]) * (eye[2] - top_m) / (eye[2] - top_m - up_m)
    assert second[:2] == pytest.approx(expected, abs=0.003)
    assert np.hypot(*(second - first)[:2]) > abs(up_m) * 0.2


def test_another_table_in_the_picture_may_have_a_height_of_its_own(aprs, sensor_in):
    actual = {"camera": {"x_m": 0.0, "y_m": 0.0}}
    cell = aprs.changed(
        {"actual": actual, "fidelity": "kinematic", "robots": {"motoman": {"home_deg": [90] + [0] * 6}}}
    )
    world = World(cell, seed=4)
    shared = {"height_m": 0.890, "min_xy_m": (-0.55, -0.84), "max_xy_m": (0.55, -0.42)}
    line = LINE | {"max_xy_m": (100, 100), "noise": "none"}
    plain, knowing = (sensor_in(world, **(line | extra)).sample() for extra in ({}, {"planes": [shared]}))
    truth = world.pose_of("motoman_small_tray")
    errors = [f.positions[row_near(f, "sku_small_gear_vessel", truth)] - truth.position for f in (plain, knowing)]
    assert np.hypot(*errors[0][:2]) > 0.005
    assert np.abs(errors[1]).max() < 0.0003


def test_a_camera_that_is_mounted_off_its_drawing_shifts_turns_and_scales_what_is_seen(aprs, sensor_in):
    """Places are told as if it were where it is drawn, by which it is calibrated."""
    errors = {"x_m": 0.004, "y_m": -0.002, "z_m": 0.010, "yaw_deg": 0.5}
    robots = {"fanuc": {"home_deg": [0, -30, 0, 0, -90, 0]}}
    world = World(aprs.changed({"actual": {"camera": errors}, "fidelity": "kinematic", "robots": robots}), seed=4)
    frame = sensor_in(world, **(LINE | {"noise": "none"})).sample()
    drawn = world.calibrated_cameras["camera_fanuc"].pose_in_world.position
    turn = np.radians(-0.5)
    for name in ("fanuc_kit_m2l1", "fanuc_small_tray"):
        truth, sku = world.pose_of(name), world.objects[name].sku
        row = row_near(frame, sku, truth)
        off = (truth.position - drawn - [0.004, -0.002, 0.010])[:2] * (drawn[2] - 0.933) / (drawn[2] + 0.010 - 0.933)
        expected = drawn[:2] + [
            off[0] * np.cos(turn) - off[1] * np.sin(turn),
            off[0] * np.sin(turn) + off[1] * np.cos(turn),
        ]
        assert frame.positions[row, :2] == pytest.approx(expected, abs=3e-4)
        assert np.hypot(*(frame.positions[row] - truth.position)[:2]) > 0.002
        yaw = Pose(frame.positions[row], frame.quaternions[row]).rpy[2]
        assert yaw == pytest.approx(truth.rpy[2] + turn, abs=1e-4)


def shifts_of(aprs, sensor_in, **errors: dict[str, float]) -> dict[str, tuple[Pose, Pose]]:
    """Tray -> where it is, and where it is seen, without any other error."""
    robots = {"fanuc": {"home_deg": [0, -30, 0, 0, -90, 0]}}
    cell = aprs.changed({"actual": {"size": None}, "fidelity": "kinematic", "robots": robots})
    world = World(cell.changed({"actual": errors}), seed=4)
    frame = sensor_in(world, **(LINE | {"noise": "none"})).sample()
    found = {}
    for name in ("fanuc_kit_m2l1", "fanuc_small_tray", "fanuc_medium_tray"):
        truth = world.pose_of(name)
        row = row_near(frame, world.objects[name].sku, truth)
        found[name] = truth, Pose(frame.positions[row], frame.quaternions[row])
    return found


@pytest.mark.parametrize(("key", "axis", "sign"), [("roll_deg", 1, -1), ("pitch_deg", 0, 1)])
def test_a_camera_that_is_tilted_sees_everything_aside(aprs, sensor_in, key, axis, sign):
    """By the tangent of 0.3 degrees, from upper faces 1.030 m below it: 5.4 mm, more of it away from the middle."""
    eye = np.array([0.359, -1.157, 1.963])
    for name, (truth, seen) in shifts_of(aprs, sensor_in, camera={key: 0.3}).items():
        shift = (seen.position - truth.position)[:2]
        slope = (truth.position - eye)[axis] / (eye[2] - 0.933)
        expected = (eye[2] - 0.933) * (np.tan(np.arctan(slope) + sign * np.radians(0.3)) - slope)
        assert shift[axis] == pytest.approx(expected, rel=0.02), name
        assert abs(shift[axis]) == pytest.approx(0.0054, rel=0.12)
        assert abs(shift[1 - axis]) < 0.0005


def test_a_camera_that_is_tilted_sees_what_is_aside_turned(aprs, sensor_in):
    """A tilted picture of a plane is a trapezoid: edges across the tilt converge, by the offset times the tangent."""
    for truth, seen in shifts_of(aprs, sensor_in, camera={"pitch_deg": 0.3}).values():
        slope = (truth.position[1] + 1.157) / (1.963 - 0.933)
        assert seen.rpy[2] == pytest.approx(slope * np.radians(0.3), abs=1e-4)


def test_a_lens_error_shifts_what_is_far_from_the_middle_outwards(aprs, sensor_in):
    """By 8 px at the edge, 1024 px from the middle, and the third power of the distance from it."""
    eye, focal_px = np.array([0.359, -1.157, 1.963]), 1024 / np.tan(0.837 / 2)
    for truth, seen in shifts_of(aprs, sensor_in, lens={"edge_px": 8.0}).values():
        way = (truth.position - eye)[:2]
        away_px = focal_px * np.hypot(*way) / (eye[2] - 0.933)
        outwards_m = 8.0 * (away_px / 1024) ** 3 * (eye[2] - 0.933) / focal_px
        expected = outwards_m * way / np.hypot(*way)
        assert (seen.position - truth.position)[:2] == pytest.approx(expected, abs=1e-4)
    for truth, seen in shifts_of(aprs, sensor_in, lens={"centre_column_px": 5.0, "centre_row_px": 2.0}).values():
        expected = np.array([5.0, -2.0]) * (eye[2] - 0.933) / focal_px
        assert (seen.position - truth.position)[:2] == pytest.approx(expected, abs=2e-5)


def test_noise_is_the_laboratorys(world, frames):
    truth = world.pose_of("fanuc_kit_m2l1")
    seen = frames(800)
    found = []
    for frame in seen:
        row = row_near(frame, "sku_kit_m2l1_vessel", truth)
        yaw = Pose(frame.positions[row], frame.quaternions[row]).rpy[2]
        found.append([*frame.positions[row, :2], yaw])
    sd = np.array([0.00028, 0.00033, np.radians(0.3)])
    assert (np.abs(np.std(found, axis=0) / sd - 1) < 4 / np.sqrt(2 * len(found))).all()
    assert seen[0].variances[row_near(seen[0], "sku_kit_m2l1_vessel", truth), [0, 1, 5]] == pytest.approx(sd**2)


def test_clusters_have_the_same_moments_and_are_three(frames):
    noise = PoseNoise([*LAB_CLUSTERS_M], [1.0, 1.0])
    drawn = noise.draw(np.random.default_rng(1), 20000)
    assert np.sqrt(noise.variances) == pytest.approx([0.00028, 0.00033], abs=1e-6)
    assert drawn.std(axis=0) == pytest.approx([0.00028, 0.00033], rel=0.03)
    assert np.abs(drawn.mean(axis=0)).max() < 1e-5
    counts, _ = np.histogram(drawn[:, 0], bins=np.linspace(-0.0006, 0.0006, 25))
    peaks = [k for k in range(1, 23) if counts[k] > counts[k - 1] and counts[k] > counts[k + 1]]
    assert len(peaks) == 3
    assert frames(noise="clusters")[0].variances[0, 0] == pytest.approx(0.00028**2, rel=0.01)


def test_a_hidden_thing_is_not_reported_and_one_partly_hidden_errs_and_says_so(world, frames):
    truth = world.pose_of("fanuc_kit_m2l1")
    lid = "fanuc_kit_s2l2"  # 220 x 166 mm, over one side of the other, then over all of it
    world.place(lid, truth @ Pose.from_xyz_rpy([0.155, 0.0, 0.05]))
    partly, whole = (frames(noise="none", pull=pull)[0] for pull in (0.1, 0.0))
    row, as_is = (row_near(frame, "sku_kit_m2l1_vessel", truth) for frame in (partly, whole))
    off_m = partly.positions[row] - whole.positions[as_is]
    assert -0.006 < off_m[0] < -0.0005, "pulled to what is seen of it"
    assert np.sqrt(partly.variances[row, 0]) > abs(off_m[0]) / 3
    world.place(lid, truth @ Pose.from_xyz_rpy([0.0, 0.0, 0.05]))
    assert "sku_kit_m2l1_vessel" not in frames(noise="none")[0].skus


def test_an_arm_over_a_tray_hides_it_and_a_held_gear_is_hidden_by_its_gripper(world, frames):
    arm = world.robots["fanuc"]
    assert frames()[0].skus.count(GEAR) == 4
    world.data.qpos[arm.qpos] = np.radians([0, 0, 0, 0, -90, 0])
    hand = world.tcp_pose("fanuc").position
    world.place("medium_gear_1", Pose.from_xyz_rpy([hand[0], hand[1], hand[2] - 0.027]))
    frame = frames()[0]
    assert frame.skus.count(GEAR) == 3, "the three in the tray"
    assert all(np.hypot(*(place - hand)[:2]) > 0.02 for place in frame.positions)
    world.data.qpos[arm.qpos] = np.radians([15, 45, -35, 0, -55, 0])
    over = frames()[0]
    assert over.skus.count(GEAR) < 3
    assert "sku_medium_gear_vessel" not in over.skus


def test_misses_false_detections_wrong_classes_and_flips_come_as_often_as_configured(world, frames):
    count = 400
    plain = frames(1, noise="none")[0]
    missing = sum(len(plain.skus) - len(frame.skus) for frame in frames(count, miss=0.1))
    assert missing / (count * 15) == pytest.approx(0.1, abs=4 * np.sqrt(0.09 / count / 15))
    extra = sum(len(frame.skus) - len(plain.skus) for frame in frames(count, false_detection=0.3))
    assert 0.15 * count < extra <= count * 0.3 * 1.25, "some would be out of its field"
    wrong = [frame for frame in frames(count, wrong_class=0.05) if sorted(frame.skus) != sorted(plain.skus)]
    assert len(wrong) / count == pytest.approx(1 - 0.95**15, abs=0.11)
    assert all(len(frame.skus) == len(plain.skus) for frame in wrong)
    truth = world.pose_of("fanuc_kit_m2l1")
    turned = 0
    for frame in frames(count, flip=0.2):
        row = row_near(frame, "sku_kit_m2l1_vessel", truth)
        turn = Pose(frame.positions[row], frame.quaternions[row]).rpy[2] - truth.rpy[2]
        turned += bool(np.cos(turn) < 0)
    assert turned / count == pytest.approx(0.2, abs=4 * np.sqrt(0.16 / count))


def test_a_lasting_bias_stays_and_is_another_for_each_object(world, frames):
    truth = {name: world.pose_of(name) for name in ("medium_gear_1", "medium_gear_2")}
    runs = [frames(2, noise="none", bias_sd_m=0.002) for _ in range(2)]
    offs = [
        [frame.positions[row_near(frame, GEAR, pose)] - pose.position for frame in run for pose in truth.values()]
        for run in runs
    ]
    first, second = np.array(offs[0][:2]), np.array(offs[0][2:])
    assert first[:, :2] == pytest.approx(second[:, :2])
    assert np.abs(first[0, :2] - first[1, :2]).max() > 1e-4
    assert np.abs(first[:, :2]).max() > 2e-4


def test_it_keeps_the_contract_of_sensors(aprs):
    world = World(aprs.model_copy(update={"settle_s": 0.5}), seed=1)
    line = LINE | {"noise": "clusters", "miss": 0.1, "false_detection": 0.3, "wrong_class": 0.1, "flip": 0.1}
    assert check_sensor(line, world) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"camera": "camera_fanuk"}, "did you mean 'camera_fanuc'"),
        ({"rate_hz": 31}, "camera_fanuc takes 30 pictures per second"),
        ({"noise": {"z_m": 0.1}}, "unknown key 'z_m'"),
        ({"noise": "some"}, "none"),
        ({"miss": 1.0}, "less than 1"),
        ({"min_share": 0}, "greater than 0"),
        ({"planes": [{"height_m": 1, "min_xy_m": [0, 0], "max_xy_m": [0, 1]}]}, "min_xy_m must be below max_xy_m"),
    ],
)
def test_mistakes_in_its_line_are_told(world, sensor_in, changes, words):
    with pytest.raises(Exception, match=words):
        sensor_in(world, **(LINE | changes))
