"""The cell of e-pucks as a laboratory: repeatable, recorded, gone back to, looked at."""

import hashlib
from collections import Counter

import numpy as np
import pytest

from cellwright.cells import Cell, load_cell
from cellwright.checks.cell import check_cell
from cellwright.core.config import validate
from cellwright.core.pose import Pose
from cellwright.lab import Lab
from cellwright.record import Log
from cellwright.sim import World
from cellwright.viewing.eyes import eye_of


def drive_about(lab: Lab, seconds: int, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(seconds):
        for robot in lab.mobiles.values():
            robot.drive(*rng.uniform(-6, 6, 2))
        lab.advance(1.0)


def record(path, seed):
    with Lab.from_cell("epucks", seed) as lab:
        lab.record(path)
        drive_about(lab, 4)
        state = lab.world.data.qpos.tobytes()
    return hashlib.sha256(path.read_bytes()).hexdigest(), state


@pytest.mark.slow
def test_same_seed_same_bytes(tmp_path):
    first, again, other = (record(tmp_path / f"{i}.mcap", seed) for i, seed in enumerate((5, 5, 6)))
    assert first == again
    assert first != other


def test_the_log_holds_encoders_odometry_and_the_truth(tmp_path):
    path = tmp_path / "run.mcap"
    record(path, 1)
    log = Log(path)
    counts = {name: topic.count for name, topic in log.topics.items()}
    for number in range(4):
        assert counts[f"/ePuck{number}/encoders"] == 100
        assert counts[f"/ePuck{number}/odom"] == 100
    assert counts["/truth/poses"] > 50


@pytest.mark.parametrize("fidelity", ["physics", "kinematic"])
def test_going_back_gives_the_same_messages_again(fidelity):
    with Lab.from_cell("epucks", 2, fidelity=fidelity) as lab:
        heard = []
        lab.bus.subscribe(None, lambda topic, message: heard.append((topic, repr(message))), subscriber="test")
        drive_about(lab, 2)
        lab.mobiles["ePuck2"].set_led(1)
        moment = lab.snapshot()  # in the middle of driving: motors keep what they were told
        runs = []
        for _ in range(2):
            heard.clear()
            lab.advance(1.0)
            runs.append((list(heard), lab.world.data.qpos.tobytes(), lab.mobiles["ePuck2"].leds))
            lab.mobiles["ePuck2"].set_led(1, False)
            drive_about(lab, 1, seed=9)
            lab.restore(moment)
        counted = Counter(topic.partition("/")[2].partition("/")[2].rstrip("01234567") for topic, _ in runs[0][0])
        ranges = counted.pop("proximity")
        assert counted == {"odom": 100, "encoders": 100, "imu": 4 * 21}
        assert ranges == 4 * 21 * 9  # eight ranges and all of them in one, every 12 steps of 4 ms
        assert runs[0] == runs[1]


def test_robots_drive_on_when_something_is_put_in_their_way():
    with Lab.from_cell("epucks@one", 0) as lab:
        robot = lab.mobiles["ePuck0"]
        robot.drive(5, 5)
        lab.advance(0.5)
        lab.world.add("block", "cube", Pose.from_xyz_rpy([0.2, 0.0, 0.041]))
        lab.advance(3.0)
        assert robot.commanded_radps[0] > 4.9
        assert lab.world.pose_of("ePuck0").position[0] == pytest.approx(0.2 - 0.04 - 0.037, abs=0.002)
        assert robot.odometry.x_m > 0.1


@pytest.mark.parametrize("fidelity", ["physics", "kinematic"])
def test_a_robot_that_is_carried_away_does_not_notice(fidelity):
    with Lab.from_cell("epucks@one", 0, fidelity=fidelity) as lab:
        robot = lab.mobiles["ePuck0"]
        robot.drive(4, 4)
        lab.advance(1.0)
        robot.stop()
        lab.advance(1.0)
        steps, believed = robot.steps, robot.odometry
        lab.world.place("ePuck0", Pose.from_xyz_rpy([0.3, -0.3, 0.0], [0, 0, 1.0]))
        lab.advance(1.0)
        assert lab.world.pose_of("ePuck0").position[:2] == pytest.approx([0.3, -0.3], abs=0.001)
        assert np.abs(np.subtract(robot.steps, steps)).max() <= 1
        assert robot.odometry.x_m == pytest.approx(believed.x_m, abs=0.0002)
        robot.drive(4, 4)
        lab.advance(1.0)
        ahead = lab.world.pose_of("ePuck0").position[:2] - [0.3, -0.3]
        assert np.arctan2(ahead[1], ahead[0]) == pytest.approx(1.0, abs=0.02)


def test_robots_push_each_other():
    with Lab.from_cell("epucks", 0) as lab:
        lab.mobiles["ePuck0"].drive(6, 6)
        lab.advance(3.0)
        assert lab.world.pose_of("ePuck1").position[0] > 0.11


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["epucks", "epucks@maze"])
def test_the_cell_passes_its_check(cell):
    findings = check_cell(load_cell(cell), 3)
    assert all(finding.ok for finding in findings), findings
    assert {"drives", "sensor ePuck0 encoders"} <= {finding.check for finding in findings}


def test_lamps_show_in_pictures():
    with Lab.from_cell("epucks@one", 0) as lab:

        def glowing():
            model, _ = lab.world.appearance.now()
            return {model.material(i).name for i in range(model.nmat) if model.mat_emission[i] > 0}

        assert glowing() == set()
        lab.mobiles["ePuck0"].set_led(2)
        lab.mobiles["ePuck0"].set_led(8)
        assert glowing() == {"ePuck0/led2", "ePuck0/led8", "ePuck0/clear"}
        lab.mobiles["ePuck0"].set_leds([False] * 10)
        assert glowing() == set()


def test_fifty_robots_can_be_drawn():
    one, four = (World(load_cell(cell), 0).appearance.now()[0] for cell in ("epucks@one", "epucks"))
    assert one.nmat + 49 * (four.nmat - one.nmat) / 3 < 999  # what OpenGL takes
    rims = [four.geom_matid[four.geom(f"ePuck{number}/body_ring").id] for number in (0, 3)]
    lamps = [four.geom_matid[four.geom(f"ePuck{number}/body_led3").id] for number in (0, 3)]
    assert (len(set(rims)), len(set(lamps))) == (1, 2)


def test_robots_on_wheels_drive_beside_an_arm():
    """In a cell with an arm physics is set up for gripping; wheels must roll as truly there."""
    mixed = load_cell("rovi").model_dump() | {
        "name": "mixed",
        "actual": {},
        "parts": {},
        "sensors": [],
        "variants": {},
        "mobiles": {"scout": {"model": "epuck", "pose": {"xyz_m": [2.0, 0.0, 0.0]}}},
    }
    with Lab(validate(mixed, Cell, "mixed"), 0) as lab:
        robot = lab.mobile("scout")
        robot.drive(-3, 3)
        goal = lab.robot("ur5").joints_rad + np.radians([10, -5, 0, 0, 0, 0])
        lab.perform(lab.robot("ur5").move_joints(goal, speed=0.5))
        left, right = robot.steps
        turn = (right - left) * robot.figures.step_rad * 0.02 / 0.053
        assert lab.robot("ur5").joints_rad == pytest.approx(goal, abs=0.002)
        assert turn > 0.5
        assert lab.world.pose_of("scout").rpy[2] == pytest.approx(turn, abs=0.0024 + 0.002 * turn)


@pytest.mark.slow
def test_the_camera_of_a_robot_is_looked_through_by_its_name_and_films_when_told():
    cell = load_cell("epucks").changed({"mobiles": {"ePuck": {"camera_hz": 2.5}}})
    with Lab(cell, 1) as lab:
        dark = lab.picture("ePuck0").array.astype(int)
        lab.mobile("ePuck1").set_led(8)  # its body glows green before ePuck0
        brighter = lab.picture("ePuck0").array.astype(int) - dark
        assert dark.shape == (39, 52, 3)
        assert (brighter[..., 1] - brighter[..., 0] > 30).sum() > 20
        frustum = eye_of(lab.world, "ePuck0", 4 / 3).frustum()
        np.testing.assert_allclose(frustum.eye_in_world_m, lab.world.pose_of("ePuck0").apply([0.030, 0.0, 0.028]))
        films = []
        lab.bus.subscribe("/ePuck0/image_raw", lambda _, image: films.append(image), subscriber="test")
        lab.advance(2.0)
        assert [film.pixels.shape for film in films] == [(39, 52, 3)] * 5
