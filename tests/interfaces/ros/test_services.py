"""Services change the world and time, say what they did, and refuse what cannot be."""

import numpy as np
import pytest
from tests.interfaces.ros.graph_rig import NO_POSE, GraphRig

from cellwright import Lab
from cellwright.control import NotReady
from cellwright.core.errors import BadInput


def pose(x, y, z, w=1.0):
    return {"position": {"x": x, "y": y, "z": z}, "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": w}}


@pytest.fixture
def rig():
    with Lab.from_cell("rovi", seed=1) as lab:
        yield GraphRig(lab)


@pytest.fixture(scope="module")
def kept():
    with Lab.from_cell("rovi", seed=1) as lab:
        yield GraphRig(lab)


def test_time_is_paused_stepped_and_goes_on(kept):
    lab = kept.lab

    async def work():
        with pytest.raises(BadInput, match="call pause first"):
            await kept.call("/cellwright/step", duration_s=1.0)
        await kept.call("/cellwright/pause")
        begin_s = lab.clock.time_s
        assert lab.loop.pacing.is_paused
        assert (await kept.call("/cellwright/info"))["is_paused"]
        await kept.call("/cellwright/step", duration_s=0.5)
        half_s = lab.clock.time_s
        await kept.call("/cellwright/step", duration_s=0.0)
        one_s = lab.clock.time_s
        assert lab.loop.pacing.is_paused
        for wrong in (-1.0, np.nan):
            with pytest.raises(BadInput):
                await kept.call("/cellwright/step", duration_s=wrong)
        await kept.call("/cellwright/resume")
        return begin_s, half_s, one_s

    begin_s, half_s, one_s = lab.perform(work())
    assert half_s == pytest.approx(begin_s + 0.5, abs=1e-9)
    assert one_s == pytest.approx(half_s + lab.cell.timestep_s, abs=1e-9)
    assert not lab.loop.pacing.is_paused


def test_info_says_what_cell_this_is_and_nothing_that_only_the_truth_knows(kept):
    before = kept.lab.perform(kept.call("/cellwright/info"))
    assert (before["cell"], before["seed"], before["robots"]) == ("rovi", 1, ["ur5"])
    assert before["objects"] == ["bottle", "can", "mug", "crate"]
    kept.lab.perform(kept.call("/cellwright/remove", name="mug"))
    after = kept.lab.perform(kept.call("/cellwright/info"))
    assert after["objects"] == before["objects"]
    kept.lab.perform(kept.call("/cellwright/spawn", name="mug", model="", pose=NO_POSE, clamped=False))
    assert np.allclose(kept.lab.world.pose_of("mug").position, kept.lab.nominal.objects["mug"].pose_in_world.position)


def test_objects_are_placed_by_their_names(kept):
    world = kept.lab.world
    kept.lab.perform(kept.call("/cellwright/place", name="bottle", pose=pose(0.15, 1.05, 0.751)))
    assert np.allclose(world.pose_of("bottle").position, [0.15, 1.05, 0.751], atol=1e-3)
    kept.lab.perform(kept.call("/cellwright/place", name="bottle", pose=NO_POSE))
    assert np.allclose(world.pose_of("bottle").position, [0.40, 1.05, 0.75], atol=1e-3)


@pytest.mark.parametrize(
    ("service", "request_of", "why"),
    [
        ("place", {"name": "cup", "pose": pose(0, 0, 0)}, "unknown object 'cup'.*bottle"),
        ("place", {"name": "mug", "pose": pose(np.nan, 0, 0)}, "not finite"),
        ("place", {"name": "mug", "pose": pose(1e300, 0, 0)}, r"position.x.*1e\+300.*1000"),
        ("place", {"name": "mug", "pose": pose(1, 0, 0, w=0.0)}, "needs an orientation"),
        ("place", {"name": "mug", "pose": pose(1, 0, 0, w=2.0)}, "length 2"),
        ("place", {"name": "mug", "pose": pose(0.40, 1.05, 0.78)}, "cannot place 'mug' there: .*'bottle'.* overlap"),
        ("remove", {"name": "cup"}, "unknown object 'cup'"),
        ("spawn", {"name": "cup", "model": "", "pose": NO_POSE, "clamped": False}, "another one needs a model"),
        ("spawn", {"name": "cup", "model": "mug", "pose": NO_POSE, "clamped": False}, "say where it is to be"),
        ("spawn", {"name": "mug", "model": "mug", "pose": pose(0, 0, 3), "clamped": False}, "the name is taken"),
        ("spawn", {"name": "a b", "model": "mug", "pose": pose(0, 0, 3), "clamped": False}, "cannot add 'a b'"),
        ("spawn", {"name": "cup", "model": "tea", "pose": pose(0, 0, 3), "clamped": False}, "unknown tray or part"),
        ("fault", {"fault": "nonsense"}, "unknown kind of fault 'nonsense'"),
        ("fault", {"fault": "push:part=cup"}, "cup"),
        ("fault", {"fault": "push:by=3"}, "by"),
    ],
)
def test_what_cannot_be_is_refused(kept, service, request_of, why):
    with pytest.raises(BadInput, match=why):
        kept.lab.perform(kept.call(f"/cellwright/{service}", **request_of))


def test_a_fault_without_a_moment_happens_now(rig):
    before = rig.lab.world.pose_of("bottle").position
    answer = rig.lab.perform(rig.call("/cellwright/fault", fault="push:part=bottle,by_mm=40"))
    assert answer["success"]
    rig.lab.advance(0.5)
    moved_m = np.linalg.norm(rig.lab.world.pose_of("bottle").position - before)
    assert moved_m == pytest.approx(0.04, abs=0.002)
    rig.lab.perform(rig.call("/cellwright/fault", fault="push:part=mug,by_mm=20,at=1000"))
    rig.lab.advance(0.1)
    rig.lab.perform(rig.call("/cellwright/fault", fault="remove:part=can"))
    rig.lab.advance(0.1)
    assert "can" not in rig.lab.world.objects


def test_reset_puts_everything_back_while_time_goes_on(rig):
    lab = rig.lab
    robot, world = lab.robot("ur5"), lab.world
    began = {name: world.pose_of(name).position.copy() for name in world.objects}
    home = robot.joints_rad

    async def work():
        rig.send("/ur5/joint_command", rig.joints(["joint_1"], [robot.home_rad[0] - 0.5]))
        rig.send("/ur5/gripper_command", rig.make("control_msgs/msg/GripperCommand", position=0.02))
        lab.projector("stereo").switch(True)
        await rig.call("/cellwright/remove", name="can")
        await rig.call("/cellwright/place", name="mug", pose=pose(0.6, 0.4, 0.75))
        await rig.call("/cellwright/spawn", name="second", model="mug", pose=pose(0.2, 0.4, 0.75), clamped=False)
        await lab.clock.sleep(1.0)
        before_s = lab.clock.time_s
        await rig.call("/cellwright/reset")
        return before_s

    before_s = lab.perform(work())
    assert lab.clock.time_s >= before_s >= 1.0
    assert set(world.objects) == set(began)
    for name, position in began.items():
        assert np.allclose(world.pose_of(name).position, position, atol=1e-6)
    assert np.allclose(robot.joints_rad, home, atol=1e-6)
    assert not lab.projector("stereo").is_on
    lab.advance(0.5)
    assert np.allclose(robot.joints_rad, home, atol=1e-4)
    assert robot.gripper.width_m == pytest.approx(robot.gripper.width_limits_m[1], abs=1e-3)
    for name, position in began.items():
        assert np.allclose(world.pose_of(name).position, position, atol=1e-3)
    lab.perform(robot.move_joints(home + 0.05))  # and it works as before
    assert np.allclose(robot.joints_rad, home + 0.05, atol=2e-3)


def test_reset_stops_a_motion_under_way(rig):
    lab, robot = rig.lab, rig.lab.robot("ur5")

    async def work():
        import asyncio

        moving = asyncio.ensure_future(robot.move_joints(robot.home_rad - 0.6))
        await lab.clock.sleep(0.3)
        await rig.call("/cellwright/reset")
        return (await asyncio.gather(moving, return_exceptions=True))[0]

    ended = lab.perform(work())
    assert "the cell is reset" in str(ended)
    assert np.allclose(robot.joints_rad, robot.home_rad, atol=1e-3)


def test_reset_in_a_pause_stops_what_moves_and_pauses_again(rig):
    lab, robot = rig.lab, rig.lab.robot("ur5")
    home = robot.joints_rad

    async def work():
        rig.send("/ur5/joint_command", rig.joints(["joint_1"], [home[0] - 0.6]))
        await lab.clock.sleep(0.3)
        await rig.call("/cellwright/pause")
        answer = await rig.call("/cellwright/reset")
        is_paused = lab.loop.pacing.is_paused
        await rig.call("/cellwright/resume")
        return answer, is_paused

    answer, is_paused = lab.perform(work())
    assert answer["success"]
    assert is_paused
    assert np.allclose(robot.joints_rad, home, atol=1e-6)


def test_what_broke_a_curtain_is_gone_after_reset_and_the_button_unlocks_the_arm(rig):
    lab, robot = rig.lab, rig.lab.robot("ur5")
    home = robot.joints_rad

    async def work():
        await rig.call("/cellwright/place", name="bottle", pose=pose(0.4, -0.75, 0.5))  # in the light curtain
        await lab.clock.sleep(0.05)
        with pytest.raises(BadInput, match="curtain_front open"):
            await rig.call("/safety/reset")
        await rig.call("/cellwright/place", name="bottle", pose=pose(0.4, 1.05, 0.76))
        await lab.clock.sleep(0.05)
        with pytest.raises(BadInput, match="locked by safety"):
            await rig.call("/ur5/reset")
        assert (await rig.call("/safety/reset"))["success"]
        robot.require_unlocked()
        await rig.call("/cellwright/place", name="bottle", pose=pose(0.4, -0.75, 0.5))
        await lab.clock.sleep(0.05)
        with pytest.raises(NotReady, match="locked by safety"):
            robot.require_unlocked()
        await rig.call("/cellwright/reset")
        await robot.move_joints(home + 0.05)

    lab.perform(work())
    assert np.allclose(robot.joints_rad, home + 0.05, atol=2e-3)


def test_reset_ends_faults_and_others_can_be_set(rig):
    lab = rig.lab
    frames = []
    lab.bus.subscribe("/detector_pick/detections", lambda _, m: frames.append(m), subscriber="test")
    for fault in ("blackout:detector=detector_pick,for_s=1000", "remove:part=bottle,at=6"):
        lab.perform(rig.call("/cellwright/fault", fault=fault))
    lab.advance(1.0)
    frames.clear()
    lab.advance(1.0)
    assert frames == []
    lab.perform(rig.call("/cellwright/reset"))
    lab.advance(6.0)
    assert frames
    assert "bottle" in lab.world.objects
    lab.perform(rig.call("/cellwright/fault", fault="remove:part=bottle"))
    lab.advance(0.1)
    assert "bottle" not in lab.world.objects


def test_mobile_robots_are_placed_too():
    with Lab.from_cell("epucks") as lab:
        own = GraphRig(lab)
        name = next(iter(lab.mobiles))
        begin = lab.world.pose_of(name).position.copy()
        lab.mobile(name).move(0.1, 0.0)
        lab.advance(1.0)
        assert np.linalg.norm(lab.world.pose_of(name).position - begin) > 0.05
        lab.perform(own.call("/cellwright/reset"))
        lab.advance(0.5)
        assert np.linalg.norm(lab.world.pose_of(name).position - begin) < 0.003
        with pytest.raises(BadInput, match=r"unknown object 'ePuck9'.*ePuck0, ePuck1"):
            lab.perform(own.call("/cellwright/place", name="ePuck9", pose=NO_POSE))
