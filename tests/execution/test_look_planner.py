"""Looks: where an arm goes so that cameras see what is asked, how long that takes, and what stays unknown."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from cellwright.catalogue import ROBOTS, TOOLS
from cellwright.core.camera import Camera
from cellwright.core.pose import Pose
from cellwright.execution.arm import HandReading, tool_down
from cellwright.execution.arm_capsules import ArmCapsules
from cellwright.execution.look_planner import LookPlanner
from cellwright.execution.look_poses import LookPose, capsules_there
from cellwright.execution.look_questions import ObservationTimeout, Question, SightPoints
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.robot_hand import RobotHand
from cellwright.execution.settings import ExecutionSettings, Recipe
from cellwright.motion.planning.pieces import tool_pieces
from cellwright.perception import DetectorState, DetectorStatus, DetectorView, ViewModel

GRIPPERS = {"fanuc": "aprs_fanuc_gripper", "motoman": "aprs_motoman_gripper"}
MODELS = {"fanuc": "lr_mate_200id", "motoman": "sia20f"}
HOMES_DEG = {"fanuc": [0, 0, 0, 0, -90, 0], "motoman": [0, 0, 0, -100, 0, -80, 0]}
FANUC_EYE, MOTOMAN_EYE = [0.359, -1.157, 1.963], [0.031, -0.690, 2.005]
HIDES_M = 0.06  # what is nearer to the line from the eye to a hand is hidden by it


class LookedAtArm:
    """Is where it was sent to; hides what is below its hand."""

    def __init__(self, cell, name):
        self.cell, self.name, self.recipe, self.waits_for_tool = cell, name, Recipe(), False
        self.capsules = ArmCapsules(ROBOTS.get(MODELS[name]), cell.belief.state.pose(name))
        self.rest_rad = tuple(np.radians(HOMES_DEG[name]))
        self.joints, self.moves, self.on_motion = np.array(self.rest_rad), [], lambda _reading, _still: None
        self.rest_point = tuple(self.tool.position)

    @property
    def tool(self):
        return (
            self.cell.belief.state.pose(self.name)
            @ self.capsules.kinematics.forward(self.joints)
            @ tool_pieces(TOOLS.get(GRIPPERS[self.name]), {})[1]
        )

    def reading(self):
        tool = GRIPPERS[self.name]
        return HandReading(self.tool, tool, 2 * TOOLS.get(tool).open_m, False, tuple(self.joints))

    async def read(self):
        return self.reading()

    async def move(self, pose, speed_mps, *, straight=True):
        found = self.capsules.configuration(pose, GRIPPERS[self.name], self.joints)
        assert found is not None
        self.on_motion(self.reading(), False)
        await self.cell.sleep(0.4)
        self.joints = found
        self.moves.append(self.tool.position)
        self.on_motion(self.reading(), True)

    async def rest(self, aside_rad=0.0, speed_radps=1.0):
        self.on_motion(self.reading(), False)
        await self.cell.sleep(0.8)
        self.joints = np.array(self.rest_rad)
        self.moves.append(self.tool.position)
        self.on_motion(self.reading(), True)


class Scene:
    """Both robots of the cell below one camera, which sees nothing through a hand."""

    def __init__(self, cell, robots=("fanuc",), limit_s=5.0, eye=FANUC_EYE):
        self.cell, self.eye = cell, np.array(eye)
        camera = Camera("eye", Pose.from_xyz_rpy(eye, [0.0, np.pi / 2, 0.0]), 1.6, (2048, 2048))
        self.view = ViewModel({"eye": DetectorView(camera)}, robots)
        self.robots = {}
        for name in robots:
            arm = LookedAtArm(cell, name)
            robot = Manipulator(arm, RobotHand(arm, cell), cell.belief, f"{name}_tool", view=self.view)
            robot.capsules = arm.capsules
            arm.on_motion = robot.note_motion
            robot.note_motion(arm.reading(), True)
            self.robots[name] = robot
        self.looks = LookPlanner(cell.belief, cell, self.robots, self.view, ExecutionSettings(look_limit_s=limit_s))
        show = cell.show

        def honest():
            cell.covered = {name for name in cell.drawn if self.is_below_a_hand(name)}
            show()

        cell.show = honest
        sleep = cell.sleep

        async def shared(duration_s):
            await sleep(duration_s)
            await asyncio.sleep(0)

        cell.sleep = shared

    def is_below_a_hand(self, name):
        at = self.cell.moved.get(name, self.cell.drawn[name])[:3, 3]
        way = at - self.eye
        for robot in self.robots.values():
            hand = robot.arm.tool.position - self.eye
            share = np.clip(hand @ way / (way @ way), 0.0, 1.0)
            if np.linalg.norm(hand - share * way) < HIDES_M:
                return True
        return False

    def stand_above(self, name, thing, up_m=0.12):
        robot = self.robots[name]
        x, y, z = self.cell.drawn[thing][:3, 3]
        there = tool_down(np.array([x, y, z + up_m]))
        robot.arm.joints = robot.capsules.configuration(there, GRIPPERS[name], robot.arm.joints)
        robot.note_motion(robot.arm.reading(), True)

    def look(self, *questions, robots=("fanuc",), toward=None):
        return asyncio.run(self.looks.look(questions, [self.robots[name] for name in robots], toward))


def asked(*names, since_s=0.0, fixed=False):
    return [Question(name, since_s, is_fixed=fixed) for name in names]


@pytest.fixture
def scene(still):
    def make(**options):
        cell = still()
        made = Scene(cell, **options)
        asyncio.run(cell.sleep(0.55))
        return made

    return make


def test_what_was_seen_since_then_is_not_looked_at_again(scene):
    it = scene()
    found = it.look(*asked("fanuc_medium_tray", "medium_gear_1", since_s=0.2))
    assert {q.name for q in found.seen} == {"fanuc_medium_tray", "medium_gear_1"}
    assert it.cell.time_s == pytest.approx(0.55)
    assert it.looks.records == []
    assert it.robots["fanuc"].arm.moves == []


def test_a_look_from_where_it_stands_takes_a_frame(scene):
    it = scene()
    found = it.look(*asked("fanuc_medium_tray", "medium_gear_1", since_s=0.56))
    assert len(found.seen) == 2
    assert it.cell.time_s <= 0.75
    assert it.robots["fanuc"].arm.moves == []
    assert it.looks.records[0].cost_s == pytest.approx(it.cell.time_s - 0.55)


@pytest.mark.slow
def test_an_arm_that_is_in_the_way_turns_aside_once_and_no_farther_than_it_must(scene):
    it = scene()
    it.stand_above("fanuc", "medium_gear_1")
    start = it.robots["fanuc"].arm.tool.position
    found = it.look(*asked("medium_gear_1", "fanuc_medium_tray", since_s=0.56))
    assert {q.name for q in found.seen} == {"fanuc_medium_tray", "medium_gear_1"}
    moves = it.robots["fanuc"].arm.moves
    assert 1 <= len(moves) <= 2
    assert 0.03 < np.linalg.norm(moves[-1] - start) < 0.4
    assert it.looks.records[0].where, "the record says where it looked from"


@pytest.mark.slow
def test_on_the_way_to_the_next_place_is_better_than_elsewhere(scene):
    it = scene()
    it.stand_above("fanuc", "medium_gear_1")
    toward = Pose.from_xyz_rpy(it.cell.drawn["fanuc_small_tray"][:3, 3])
    it.look(*asked("medium_gear_1", since_s=0.56), toward=toward)
    start, end = it.cell.drawn["medium_gear_1"][:2, 3], toward.position[:2]
    stopped = it.robots["fanuc"].arm.moves[-1][:2]
    detour = np.linalg.norm(stopped - start) + np.linalg.norm(end - stopped) - np.linalg.norm(end - start)
    assert detour < 0.10
    assert it.looks.records[0].on_way_s > 0.0
    assert it.looks.records[0].cost_s < it.looks.records[0].end_s - it.looks.records[0].start_s


def test_what_is_in_view_and_not_seen_is_gone(scene):
    it = scene()
    it.cell.hidden.add("medium_gear_2")
    found = it.look(*asked("medium_gear_1", "medium_gear_2", since_s=0.56))
    assert [q.name for q in found.unseen] == ["medium_gear_2"]
    assert it.cell.time_s < 2.0


def test_what_no_pose_brings_into_view_stays_unknown_and_is_not_gone(scene):
    it = scene()
    it.cell.shift("medium_gear_2", x_m=5.0)
    it.cell.drawn["medium_gear_2"][0, 3] += 5.0
    asyncio.run(it.cell.sleep(0.5))
    found = it.look(*asked("medium_gear_2", since_s=it.cell.time_s + 0.01))
    assert [q.name for q in found.hidden] == ["medium_gear_2"]
    assert not found.unseen
    assert it.cell.time_s < 3.0


def test_in_the_dark_nothing_is_gone_and_waiting_ends(scene):
    it = scene()
    it.cell.blind = True
    it.cell.belief.note_detectors({"eye": DetectorStatus(DetectorState.BLIND, "eye saw nothing in 9 frames")}, 1)
    with pytest.raises(ObservationTimeout, match=r"fanuc_medium_tray was not seen for 5\.\d s \(eye sees nothing\)"):
        it.look(*asked("fanuc_medium_tray", since_s=0.56, fixed=True))
    assert it.cell.time_s < 6.5


@pytest.mark.slow
def test_a_tray_that_cannot_be_gone_is_waited_for_until_the_limit(scene):
    it = scene(limit_s=3.0)
    it.cell.hidden.add("fanuc_medium_tray")
    with pytest.raises(ObservationTimeout, match="fanuc_medium_tray was not seen"):
        it.look(*asked("fanuc_medium_tray", since_s=0.56, fixed=True))
    assert 3.5 <= it.cell.time_s < 4.5


@pytest.mark.slow
def test_another_robot_that_has_nothing_to_do_makes_way_and_only_then(scene):
    it = scene(robots=("fanuc", "motoman"), eye=MOTOMAN_EYE)
    it.look(*asked("motoman_medium_tray", since_s=0.56))
    assert it.robots["motoman"].arm.moves == []
    it.stand_above("motoman", "medium_gear_5")
    found = it.look(*asked("medium_gear_5", since_s=it.cell.time_s + 0.01))
    assert [q.name for q in found.seen] == ["medium_gear_5"]
    assert it.robots["motoman"].arm.moves
    assert it.robots["fanuc"].arm.moves == []


@pytest.mark.slow
def test_another_robot_that_works_is_waited_for(scene):
    it = scene(robots=("fanuc", "motoman"), eye=MOTOMAN_EYE)
    it.stand_above("motoman", "medium_gear_5")

    async def work():
        robot = it.robots["motoman"]
        await robot.busy.acquire()
        looking = asyncio.ensure_future(
            it.looks.look(asked("medium_gear_5", since_s=it.cell.time_s + 0.01), [it.robots["fanuc"]])
        )
        for _ in range(20):
            await asyncio.sleep(0)
        assert not looking.done()
        assert it.cell.time_s > 0.9
        assert robot.arm.moves == [], "nobody commands it meanwhile"
        robot.busy.release()
        return await looking

    found = asyncio.run(work())
    assert [q.name for q in found.seen] == ["medium_gear_5"]


def test_what_a_hand_was_near_must_be_seen_again(scene):
    it = scene()
    place = it.cell.drawn["medium_gear_1"][:3, 3]
    assert it.looks.since_s(place) < 0.0
    it.looks.note_touched(place + [0.03, 0.0, 0.2])
    assert it.looks.since_s(place) == pytest.approx(0.55)
    assert it.looks.since_s(place + [0.15, 0.0, 0.0]) < 0.0
    assert it.looks.since_s(place + [0.15, 0.0, 0.0], is_tray=True) == pytest.approx(0.55)


def test_a_camera_whose_frames_do_not_count_has_nothing_in_view(still):
    """Above one camera stands the hand; the other sees past it, but its clock is wrong."""
    cell = still()
    asyncio.run(cell.sleep(0.5))
    scene = Scene(cell)
    scene.stand_above("fanuc", "medium_gear_1")
    eye = scene.view._detectors["eye"]
    beside = Camera("ear", Pose.from_xyz_rpy([1.2, -2.0, 1.9], [0.0, 0.7, 2.2]), 1.6, (2048, 2048))
    view = ViewModel({"eye": eye, "ear": DetectorView(beside)}, ["fanuc"])
    view.note_arm("fanuc", 0.0, scene.robots["fanuc"].stands, still=True)
    sight = SightPoints(cell.belief.state, view)
    question = asked("medium_gear_1")
    assert sight.clear_with(question) == [True]
    cell.belief.note_detectors({"ear": DetectorStatus(DetectorState.CLOCK, "its clock is ahead")}, 0)
    assert sight.clear_with(question) == [False]


def test_frames_are_asked_of_as_few_detectors_as_have_everything_in_view(still):
    cell = still()
    asyncio.run(cell.sleep(0.5))
    scene = Scene(cell)
    wide = scene.view._detectors["eye"]
    narrow = DetectorView(Camera("near", Pose.from_xyz_rpy(FANUC_EYE, [0.0, np.pi / 2, 0.0]), 0.2, (2048, 2048)))
    away = DetectorView(Camera("away", Pose.from_xyz_rpy([9.0, 9.0, 2.0], [0.0, np.pi / 2, 0.0]), 0.5, (2048, 2048)))
    question = asked("medium_gear_1", "small_gear_1")

    def helpful(**detectors):
        view = ViewModel(detectors, ["fanuc"])
        view.note_arm("fanuc", 0.0, scene.robots["fanuc"].stands, still=True)
        return SightPoints(cell.belief.state, view).helpful(question)

    assert helpful(near=narrow, eye=wide, away=away) == ["eye"]
    assert helpful(away=away, eye=wide) == ["eye"]
    assert helpful(away=away) is None  # nothing tells: all are asked
    assert SightPoints(cell.belief.state, None).helpful(question) is None


def test_a_look_asks_for_frames_where_they_are_made_on_demand(scene):
    it, wanted = scene(), []
    it.cell.belief.on_wait = lambda names: wanted.append(list(names))
    it.look(*asked("fanuc_medium_tray", "medium_gear_1", since_s=0.56))
    assert wanted
    assert set(map(tuple, wanted)) == {("eye",)}


def test_an_arm_does_not_fold_upon_itself_to_look(scene):
    """High above home the gripper would touch the forearm."""
    robot = scene().robots["fanuc"]
    home = robot.arm.tool
    options = {
        up_m: LookPose("up", 0.0, Pose(home.position + [0.0, 0.0, up_m], home.quaternion)) for up_m in (0.02, 0.16)
    }
    assert robot.capsules.configuration(options[0.16].pose, GRIPPERS["fanuc"], robot.arm.joints) is not None
    assert {up_m: capsules_there(robot, option) is None for up_m, option in options.items()} == {
        0.02: False,
        0.16: True,
    }
