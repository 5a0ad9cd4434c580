"""Motions: within every limit, exactly there, at rest in the end; lines that are lines."""

import ctypes
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue import ROBOTS
from cellwright.core.errors import BadInput, JobFailed, OutOfRange
from cellwright.core.pose import Pose
from cellwright.motion import (
    ArmKinematics,
    JointLimits,
    JointMove,
    LineMove,
    LineSpeed,
    PathLimits,
    PathMotion,
    Unreachable,
)
from cellwright.motion.path import JointPath
from cellwright.motion.spline import Spline

ARMS = {name: ArmKinematics(ROBOTS.get(name)) for name in ("lr_mate_200id", "sia20f", "ur5")}
arms = pytest.mark.parametrize("arm", ARMS.values(), ids=list(ARMS))
SPEEDS = st.sampled_from([0.02, 0.1, 0.4, 2.0])


def limits(arm: ArmKinematics) -> np.ndarray:
    joints = arm.arm.joints
    return np.array([[j.velocity_limit_radps, j.acceleration_limit_radps2, j.jerk_limit_radps3] for j in joints]).T


def configurations(arm: ArmKinematics) -> st.SearchStrategy[np.ndarray]:
    shares = st.lists(st.floats(0, 1), min_size=len(arm.lower_rad), max_size=len(arm.lower_rad))
    return shares.map(lambda share: arm.lower_rad + np.array(share) * (arm.upper_rad - arm.lower_rad))


def sampled(motion, count: int) -> tuple[np.ndarray, np.ndarray, float]:
    times = np.linspace(0.0, motion.duration_s, count)
    pairs = [motion.at(time_s) for time_s in times]
    return np.array([p for p, _ in pairs]), np.array([v for _, v in pairs]), times[1] - times[0]


@pytest.mark.parametrize("name", list(ARMS))
@given(data=st.data())
@settings(max_examples=40)
def test_a_joint_move_keeps_every_limit(name, data):
    arm = ARMS[name]
    start, goal = data.draw(configurations(arm)), data.draw(configurations(arm))
    speed = data.draw(st.floats(0.01, 1))
    motion = JointMove(arm.arm, start, goal, speed)
    if np.abs(goal - start).max() < 1e-3:
        return
    position, velocity, step_s = sampled(motion, 2001)
    assert position[0] == pytest.approx(start, abs=1e-9)
    assert position[-1] == pytest.approx(goal, abs=1e-9)
    assert velocity[[0, -1]] == pytest.approx(np.zeros((2, len(start))), abs=1e-9)
    acceleration = np.diff(velocity, axis=0) / step_s
    jerk = np.diff(acceleration, axis=0) / step_s
    for derivative, limit in zip((velocity, acceleration, jerk), limits(arm) * speed, strict=True):
        assert (np.abs(derivative) <= limit * 1.001 + 1e-6).all()
    slope = np.diff(position, axis=0) / step_s
    assert np.abs(slope - (velocity[1:] + velocity[:-1]) / 2).max() < limits(arm)[1].max() * step_s


@arms
def test_a_joint_move_uses_one_of_its_limits_and_all_joints_arrive_together(arm):
    start, goal = 0.8 * arm.lower_rad, 0.8 * arm.upper_rad
    motion = JointMove(arm.arm, start, goal)
    _, velocity, _ = sampled(motion, 500)
    assert (np.abs(velocity).max(axis=0) / limits(arm)[0]).max() > 0.99
    before = np.abs(motion.at(motion.duration_s - 0.02)[0] - goal)
    assert (before > 0).all()


@arms
def test_the_end_holds(arm):
    home = np.array(arm.arm.home_rad)
    motion = JointMove(arm.arm, home, home + 0.1)
    position, velocity = motion.at(motion.duration_s + 5.0)
    assert position == pytest.approx(home + 0.1, abs=1e-9)
    assert velocity == pytest.approx(np.zeros(len(home)), abs=1e-9)
    standing = JointMove(arm.arm, home, home)
    assert standing.at(0.0)[0] == pytest.approx(home, abs=1e-9)


@arms
def test_a_goal_beyond_a_limit_is_refused(arm):
    goal = arm.upper_rad.copy()
    goal[1] += 0.01
    low, high = np.degrees([arm.lower_rad[1], arm.upper_rad[1]])
    with pytest.raises(OutOfRange, match=rf"{arm.arm.name} joint_2 is .* deg, allowed {low:.9g} to {high:.9g} deg"):
        JointMove(arm.arm, np.zeros(len(goal)), goal)


@arms
@pytest.mark.parametrize("goal", [[0.0] * 3, [np.nan] * 6, [np.nan] * 7], ids=["too few", "nan", "nan of seven"])
def test_a_goal_that_is_no_configuration_is_refused(arm, goal):
    with pytest.raises(BadInput):
        JointMove(arm.arm, np.zeros(len(arm.lower_rad)), goal)


@pytest.mark.parametrize("speed", [0.0, -0.1, 1.01, np.nan])
def test_a_speed_is_a_fraction(speed):
    arm = ARMS["lr_mate_200id"]
    with pytest.raises(OutOfRange, match="speed is"):
        JointMove(arm.arm, np.zeros(6), np.ones(6) * 0.1, speed)


@pytest.mark.parametrize("field", ["speed_mps", "acceleration_mps2", "jerk_mps3", "turn_radps"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_a_line_speed_is_positive(field, value):
    with pytest.raises(OutOfRange, match=r"(speed|acceleration|jerk|turning) along a straight line is \S+ (m|rad)/s"):
        LineSpeed(**{field: value})


@pytest.mark.parametrize("name", list(ARMS))
@given(data=st.data())
@settings(max_examples=6)
def test_a_line_is_straight_and_keeps_every_limit_of_the_joints(name, data):
    arm = ARMS[name]
    size = len(arm.lower_rad)
    offset = data.draw(st.lists(st.floats(-0.4, 0.4), min_size=size, max_size=size))
    start = np.array(arm.arm.home_rad) + np.array(offset)
    way = data.draw(st.tuples(*[st.floats(-0.15, 0.15)] * 3))
    turn = data.draw(st.tuples(*[st.floats(-0.6, 0.6)] * 3))
    pose = arm.forward(start)
    goal = Pose(pose.position + np.array(way), (pose @ Pose.from_xyz_rpy([0, 0, 0], turn)).quaternion)
    try:
        motion = LineMove(arm, start, goal, LineSpeed(speed_mps=data.draw(SPEEDS)))
    except JobFailed:
        return
    _, fine, fine_s = sampled(motion, 2001)
    acceleration = np.diff(fine, axis=0) / fine_s
    jerk = np.diff(acceleration, axis=0) / fine_s
    for derivative, limit in zip((fine, acceleration, jerk), limits(arm), strict=True):
        assert (np.abs(derivative) <= limit * 1.001 + 1e-4).all()
    position, velocity, step_s = sampled(motion, 120)
    assert velocity[[0, -1]] == pytest.approx(np.zeros((2, size)), abs=1e-6)
    length_m, turn_rad = pose.distance_m(goal), pose.angle_rad(goal)
    for joints in position:
        reached = arm.forward(joints)
        if length_m > 1e-3:
            fraction = (reached.position - pose.position) @ (goal.position - pose.position) / length_m**2
        else:
            fraction = pose.angle_rad(reached) / max(turn_rad, 1e-9)
        wanted = pose.interpolate(goal, float(np.clip(fraction, 0, 1)))
        assert reached.is_close(wanted, tolerance_m=1e-4, tolerance_rad=2e-3)
    assert arm.forward(position[-1]).is_close(goal, tolerance_m=2e-6, tolerance_rad=2e-6)
    middle = (velocity[1:] + velocity[:-1]) / 2
    assert np.abs(np.diff(position, axis=0) / step_s - middle).max() < 0.05 + 0.1 * np.abs(middle).max()


def test_a_line_keeps_its_speed_where_the_joints_allow_it():
    arm = ARMS["lr_mate_200id"]
    start = np.array(arm.arm.home_rad)
    pose = arm.forward(start)
    motion = LineMove(arm, start, Pose(pose.position + np.array([0, 0, -0.2]), pose.quaternion), LineSpeed(0.25))
    points = np.array([arm.forward(q).position for q in sampled(motion, 400)[0]])
    speeds = np.linalg.norm(np.diff(points, axis=0), axis=1) / (motion.duration_s / 399)
    assert speeds.max() == pytest.approx(0.25, rel=0.01)


def test_a_turn_on_the_spot_keeps_its_own_speed():
    arm = ARMS["lr_mate_200id"]
    start = np.array(arm.arm.home_rad)
    goal = arm.forward(start) @ Pose.from_xyz_rpy([0, 0, 0], [0, 0, 1.0])
    motion = LineMove(arm, start, goal, LineSpeed(turn_radps=0.5))
    assert motion.at(motion.duration_s / 2)[1][5] == pytest.approx(-0.5, rel=0.02)


def test_a_line_slows_down_for_a_joint_that_must_hurry():
    """Close past the wrist's singular configuration joint_4 has to swing round; the line waits for it."""
    arm = ARMS["lr_mate_200id"]
    start = np.radians([0.0, 20.0, 10.0, 40.0, -4.0, 0.0])
    goal = arm.forward(np.radians([0.0, 20.0, 10.0, 140.0, -4.0, -100.0]))
    motion = LineMove(arm, start, goal, LineSpeed(1.0, 50.0, 5000.0, turn_radps=4.0))
    _, velocity, step_s = sampled(motion, 4001)
    acceleration = np.diff(velocity, axis=0) / step_s
    jerk = np.diff(acceleration, axis=0) / step_s
    derivatives = zip((velocity, acceleration, jerk), limits(arm), strict=True)
    shares = [np.abs(derivative).max(axis=0) / limit for derivative, limit in derivatives]
    assert 0.5 < np.max(shares) <= 1.001
    assert motion.limits.top_rate * arm.forward(start).angle_rad(goal) < 0.5 * 4.0


@arms
def test_a_motion_may_be_given_its_duration(arm):
    """It is the same motion, played slower."""
    start = np.array(arm.arm.home_rad)
    pose = arm.forward(start)
    down = Pose(pose.position + np.array([0, 0, -0.1]), pose.quaternion)

    def joints(duration_s=None):
        return JointMove(arm.arm, start, start + 0.4, duration_s=duration_s)

    def line(duration_s=None):
        return LineMove(arm, start, down, LineSpeed(), duration_s=duration_s)

    for make in (joints, line):
        quick, slow = make(), make(3.0)
        assert slow.duration_s == pytest.approx(3.0, abs=1e-9)
        for share in np.linspace(0, 1, 11):
            here, there = quick.at(share * quick.duration_s), slow.at(share * 3.0)
            assert there[0] == pytest.approx(here[0], abs=1e-9)
            assert np.asarray(there[1]) * 3.0 == pytest.approx(np.asarray(here[1]) * quick.duration_s, abs=1e-7)
        with pytest.raises(OutOfRange, match=rf"duration of this motion of {arm.arm.name} is .* s, allowed .* s"):
            make(0.9 * quick.duration_s)
        with pytest.raises(OutOfRange):
            make(np.nan)


@given(st.tuples(*[st.floats(-4, 5)] * 3))
def test_the_closed_form_of_a_run_is_the_generators(logarithms):
    path_limits = PathLimits(*(float(np.exp(x)) for x in logarithms))
    arm = ARMS["ur5"].arm
    start = np.array(arm.home_rad)
    tiny = 1e-6 * np.eye(6)[0]  # so short that the joints' own limits do not matter
    motion = PathMotion(arm, JointPath(start, start + tiny), path_limits)
    assert motion.limits == path_limits.within(JointLimits.of(arm), np.abs(tiny)[None], *np.zeros((2, 1, 6)))
    assert motion.duration_s == pytest.approx(path_limits.duration_s, rel=1e-9)


def test_a_spline_goes_through_its_rows_and_is_smooth():
    rows = np.random.default_rng(0).normal(size=(9, 3))
    for count in range(2, 10):
        spline = Spline(rows[:count])
        for number, row in enumerate(rows[:count]):
            assert spline.at(number / (count - 1))[0] == pytest.approx(row, abs=1e-12)
        for number in range(1, count - 1):
            before, after = (spline.at(number / (count - 1) + d) for d in (-1e-9, 1e-9))
            for derivative in range(3):
                assert after[derivative] == pytest.approx(before[derivative], abs=1e-4)
        bounds = [row.max() for row in spline.steepness()]
        dense = [spline.at(f) for f in np.linspace(0, 1, 500)]
        for derivative in (1, 2):
            assert np.abs([sample[derivative] for sample in dense]).max() <= bounds[derivative - 1] * (1 + 1e-9)


def test_a_spline_of_a_cubic_is_that_cubic():
    def cubic(x):
        return np.column_stack([x**3 - x, 2 * x**2 + 1])

    spline = Spline(cubic(np.linspace(0, 1, 8)))
    for x in np.linspace(0, 1, 33):
        assert spline.at(x)[0] == pytest.approx(cubic(np.array([x]))[0], abs=1e-12)


def test_a_line_through_a_singular_configuration_is_refused_or_crossed_on_the_line():
    arm = ARMS["lr_mate_200id"]
    start = np.radians([0.0, 20.0, 10.0, 0.0, -20.0, 0.0])
    pose = arm.forward(start)
    # A tilt of the flange whose way leads close past the straight wrist, not through it.
    goal = pose @ Pose.from_xyz_rpy([0, 0, 0], [0.002, 0.7, 0.0])
    refusal = r"^lr_mate_200id (cannot follow|would have to crawl along) the straight line: .* joint_[46] .* at once"
    with pytest.raises(JobFailed, match=refusal):
        LineMove(arm, start, goal, LineSpeed(turn_radps=2.0))


def test_a_line_to_nowhere_is_refused_before_it_starts():
    arm = ARMS["sia20f"]
    start = np.array(arm.arm.home_rad)
    with pytest.raises(Unreachable, match="out of reach"):
        LineMove(arm, start, Pose.from_xyz_rpy([3.0, 0, 0.5], arm.forward(start).rpy), LineSpeed())


NO_SOCKETS = """
import ctypes, struct, platform
from cellwright.catalogue import ROBOTS
from cellwright.motion import ArmKinematics, JointMove, LineMove, LineSpeed, MotionQueue
number = {"x86_64": 41, "aarch64": 198}[platform.machine()]
code = struct.pack("=HBBI", 0x20, 0, 0, 0) + struct.pack("=HBBI", 0x15, 0, 1, number)
code += struct.pack("=HBBI", 0x06, 0, 0, 0x80000000) + struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
rules = ctypes.create_string_buffer(code)
program = struct.pack("HxxxxxxP", 4, ctypes.addressof(rules))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
if SOCKET: libc.socket(2, 1, 0)
arm = ROBOTS.get("sia20f")
JointMove(arm, arm.home_rad, [0.1] * 7).at(0.1)
kinematics = ArmKinematics(arm)
goal = kinematics.forward(arm.home_rad).interpolate(kinematics.forward([0.1] * 7), 0.05)
line = LineMove(kinematics, arm.home_rad, goal, LineSpeed())
line.at(0.1)
queue = MotionQueue(0.004)
queue.append(line)
for _ in range(10): queue.tick()
queue.stop()
for _ in range(100): queue.tick()
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs the system call filter of Linux")
def test_trajectories_open_no_socket():
    """The library can ask a server for trajectories through several points; ours never may."""

    def run(socket: bool) -> subprocess.CompletedProcess[str]:
        code = textwrap.dedent(NO_SOCKETS).replace("SOCKET", str(socket))
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    if ctypes.CDLL(None).prctl(21, 0, 0, 0, 0) < 0 or "AssertionError" in run(True).stderr:
        pytest.skip("no system call filters here")
    assert run(True).returncode == -31  # SIGSYS: the filter works
    quiet = run(False)
    assert quiet.stdout == "done\n", quiet.stderr
