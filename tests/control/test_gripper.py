"""Grippers: widths, and what is between the fingers."""

import mujoco
import numpy as np
import pytest

from cellwright.control import GraspStatus
from cellwright.control.control_block import make_block
from cellwright.core.errors import BadInput, JobFailed, OutOfRange
from cellwright.core.pose import Pose

ARM = {"model": "lr_mate_200id", "base": {"xyz_m": [0, 0, 0]}, "home_deg": [0, 0, 0, 0, -90, 0]}


@pytest.mark.parametrize("fidelity", ["physics", "kinematic"])
@pytest.mark.parametrize(
    ("tool", "open_m", "closed_m"),
    [
        ("aprs_fanuc_gripper", 0.020, 0.002),
        ("aprs_motoman_gripper", 0.060, 0.0046),
        ("robotiq_2f_85", 0.085, 0.00161),
    ],
)
def test_it_opens_and_closes_to_the_widths_of_its_figures(open_lab, tool, open_m, closed_m, fidelity):
    lab = open_lab(robots={"arm": {**ARM, "tool": tool}}, fidelity=fidelity)
    arm = lab.robots["arm"]
    assert lab.perform(arm.gripper.close()) == pytest.approx(closed_m, abs=2e-4)
    assert lab.perform(arm.gripper.open()) == pytest.approx(open_m, abs=2e-4)
    lab.advance(1.0)
    assert lab.perform(arm.gripper.close()) == pytest.approx(closed_m, abs=2e-4)


@pytest.mark.parametrize("fidelity", ["physics", "kinematic"])
def test_closing_takes_its_time(open_lab, fidelity):
    lab = open_lab(fidelity=fidelity)
    lab.perform(lab.robots["arm"].gripper.close())
    assert 0.3 <= lab.clock.time_s < 0.6


def test_a_robot_without_a_gripper_says_so(open_lab):
    lab = open_lab(robots={"arm": ARM})
    with pytest.raises(JobFailed, match=r"^arm has no gripper$"):
        lab.robots["arm"].gripper.open()


def test_fingers_stay_closed_while_the_arm_swings(lab):
    arm = lab.robots["arm"]
    lab.perform(arm.gripper.close())
    lab.perform(arm.move_joints([1.0, 0.2, 0.1, 0.5, -1.0, 1.0]))
    tool = lab.world.robots["arm"].gripper
    assert lab.world.data.qpos[tool.qpos].sum() == pytest.approx(0.002, abs=3e-4)


@pytest.fixture
def strong(open_lab):
    """An arm whose gripper can be told how hard to press."""
    return open_lab(robots={"arm": {**ARM, "tool": "wsg_50"}})


@pytest.mark.parametrize("force_n", [None, 5.0, 80.0])
def test_it_moves_to_a_width(strong, force_n):
    arm = strong.robots["arm"]
    grasp = strong.perform(arm.move_gripper(0.040, force_n))
    assert grasp.status is GraspStatus.REACHED
    assert grasp.reason.endswith("mm, nothing in the way")
    assert grasp.width_m == pytest.approx(0.040, abs=8e-4)
    assert not arm.gripper.holding
    assert strong.perform(arm.move_gripper(0.100, force_n)).status is GraspStatus.REACHED


@pytest.mark.parametrize("width_m", [0.0, 0.1, np.nan, np.inf])
def test_widths_that_it_does_not_have_are_refused(lab, width_m):
    with pytest.raises(OutOfRange, match=r"arm gripper width is .* allowed 0\.002 to 0\.02 m"):
        lab.perform(lab.robots["arm"].move_gripper(width_m))


@pytest.mark.parametrize("force_n", [-1.0, 1e6, np.nan])
def test_forces_that_it_does_not_have_are_refused(lab, force_n):
    with pytest.raises(OutOfRange, match=r"arm gripper force is .* N$"):
        lab.perform(lab.robots["arm"].move_gripper(0.01, force_n))


def test_a_kinematic_gripper_has_no_force(open_lab):
    lab = open_lab(fidelity="kinematic")
    with pytest.raises(BadInput, match="fidelity 'physics'"):
        lab.perform(lab.robots["arm"].move_gripper(0.01, 5.0))


def test_one_movement_at_a_time(lab):
    arm = lab.robots["arm"]

    async def work() -> None:
        task = lab.loop.create_task(arm.gripper.close())
        await lab.clock.sleep(0.05)
        with pytest.raises(JobFailed, match="arm gripper is already moving"):
            await arm.gripper.open()
        await task

    lab.perform(work())


def pad_forces_n(lab) -> list[float]:
    """How hard each pad presses."""
    world, forces, buffer = lab.world, [0.0, 0.0], np.zeros(6)
    for i in range(world.data.ncon):
        for pad, side in world.robots["arm"].gripper.pads.items():
            if pad in world.data.contact[i].geom:
                mujoco.mj_contactForce(world.model, world.data, i, buffer)
                forces[side] += buffer[0]
    return forces


def test_a_gear_is_held_with_the_force_asked_for(strong):
    """A gear put between the fingers: held at its width, with either force, and the reason says so."""
    lab = strong
    arm, world = lab.robots["arm"], lab.world
    tcp = world.tcp_pose("arm")
    world.add("gear", "medium_gear", Pose(np.array([0.0, 0.0, 3.0]), np.array([1.0, 0, 0, 0])))
    figures = world.objects["gear"].figures
    upright = Pose.from_xyz_rpy(tcp.position - [0, 0, figures.grasp_height_m])
    world.model.opt.gravity[:] = 0.0
    for force_n in (20.0, 60.0):
        lab.perform(arm.gripper.open())
        world.place("gear", upright)
        grasp = lab.perform(arm.move_gripper(0.004, force_n))
        assert grasp.status is GraspStatus.HOLDING
        assert grasp.width_m == pytest.approx(0.0746, abs=5e-4)  # pads as wide as these meet the gear's teeth
        assert grasp.reason.endswith("mm on the way to 4.0 mm")
        assert arm.gripper.holding
        assert pad_forces_n(lab) == pytest.approx([force_n] * 2, rel=0.1)
        with pytest.raises(JobFailed, match=r"^arm gripper already holds something \d+\.\d mm wide$"):
            lab.perform(arm.move_gripper(0.004))
        world.place("gear", Pose(np.array([0.0, 0.0, 3.0]), np.array([1.0, 0, 0, 0])))


def test_controllers_reckon_with_the_knuckles_of_a_linkage(open_lab):
    robot = open_lab(robots={"arm": {**ARM, "tool": "robotiq_2f_85"}}).world.robots["arm"]
    loaded, bare = (make_block(robot, Pose.identity(), with_tool=tool)[0]["masses"][5] for tool in (True, False))
    assert loaded - bare == pytest.approx(0.9206)


def test_a_force_outlives_a_model_that_is_built_anew(strong):
    arm, world = strong.robots["arm"], strong.world
    strong.perform(arm.move_gripper(0.080, 8.0))
    world.add("gear", "medium_gear", Pose(np.array([0.0, 0.0, 3.0]), np.array([1.0, 0, 0, 0])))
    assert world.model.actuator_forcerange[world.robots["arm"].gripper.actuator].tolist() == [-16.0, 16.0]


def test_fingers_on_their_way_hold_nothing_yet(strong):
    """Neither before the first step nor while something slows them down."""
    arm = strong.robots["arm"]

    async def work() -> list[bool]:
        task = strong.loop.create_task(arm.move_gripper(0.004, 5.0))
        seen = []
        while not task.done():
            await strong.clock.sleep(0.0)
            seen.append(arm.gripper.holding)
            await strong.clock.sleep(0.002)
        return seen

    seen = strong.perform(work())
    assert len(seen) > 50
    assert not any(seen)


@pytest.mark.parametrize("force_n", [5.0, 80.0])
def test_closing_takes_as_long_with_any_force(strong, force_n):
    arm = strong.robots["arm"]
    start_s = strong.clock.time_s
    strong.perform(arm.move_gripper(0.002, force_n))
    assert strong.clock.time_s - start_s == pytest.approx(0.050 / 0.210, abs=0.1)


def test_a_drive_that_a_user_has_changed_stays_changed(strong):
    """In the model: through movements with a force, and through a model that is built anew."""
    arm, world = strong.robots["arm"], strong.world
    tool = world.robots["arm"].gripper
    usual_n, usual_npm = (
        world.model.actuator_forcerange[tool.actuator, 1],
        world.model.actuator_gainprm[tool.actuator, 0],
    )
    world.model.actuator_forcerange[tool.actuator] *= 0.5
    world.model.actuator_gainprm[tool.actuator, 0] *= 2.0
    strong.perform(arm.move_gripper(0.080, 8.0))
    share = 8.0 / tool.figures.grip_force_n
    assert world.model.actuator_forcerange[tool.actuator, 1] == pytest.approx(0.5 * share * usual_n)
    assert world.model.actuator_gainprm[tool.actuator, 0] == pytest.approx(2.0 * share * usual_npm)
    world.add("gear", "medium_gear", Pose(np.array([0.0, 0.0, 3.0]), np.array([1.0, 0, 0, 0])))
    strong.perform(arm.move_gripper(0.060))
    assert world.model.actuator_forcerange[tool.actuator, 1] == pytest.approx(0.5 * usual_n)
    assert world.model.actuator_biasprm[tool.actuator, 1] == pytest.approx(-2.0 * usual_npm)
