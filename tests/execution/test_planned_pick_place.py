"""A pick and place planned in a believed scene, and given to an arm that only writes down what it is told."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import numpy as np
import pytest

from cellwright.catalogue import PARTS, ROBOTS, TOOLS
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.execution import (
    HandReading,
    PickPlacePlanner,
    PickPlaceSettings,
    PlannedPickPlace,
    Recipe,
    RobotHand,
    StandingPart,
)
from cellwright.execution.pick_plan import MOST_PLACES_ALIKE, PLACE_TURNS
from cellwright.motion.grasps import GraspKind
from cellwright.motion.planning import Box, CatalogueModel, ExactChecker, Obstacle, Scene, SceneRobot

pytestmark = pytest.mark.slow

pytest.importorskip("numba", reason="not installed: pip install 'cellwright[motion]'")
pytest.importorskip("toppra", reason="not installed: pip install 'cellwright[motion]'")

BOTTLE = PARTS.get("bottle")
HOME = np.array(ROBOTS.get("ur5").home_rad)
HERE, THERE = Pose.from_xyz_rpy([0.45, 0.30, 0.0]), Pose.from_xyz_rpy([0.45, -0.30, 0.0])
WALL = Obstacle("wall", Box((0.5, 0.04, 0.30)), Pose.from_xyz_rpy([0.5, 0.0, 0.15]))
TABLE = Obstacle("table", Box((1.6, 1.6, 0.04)), Pose.from_xyz_rpy([0, 0, -0.02]))
MOTIONS = ("approach", "reach", "lift", "carry", "lower", "retreat", "withdraw")


def scene(tool="wsg_50") -> Scene:
    """A UR5 on a plinth before a wall."""
    return Scene(
        SceneRobot(ROBOTS.get("ur5"), Pose.from_xyz_rpy([0, 0, 0.01]), tool and TOOLS.get(tool)), (TABLE, WALL)
    )


@pytest.fixture(scope="module")
def planner() -> PickPlacePlanner:
    return PickPlacePlanner(scene(), BOTTLE, "table")


@pytest.fixture(scope="module")
def plan(planner):
    return planner.plan(HOME, HERE, THERE, seed=3)


def states(motion) -> np.ndarray:
    return np.array([motion.at(time_s)[0] for time_s in np.arange(0.0, motion.duration_s + 0.02, 0.02)])


def tool_at_end(planner, motion) -> Pose:
    return planner.carrying.ring.tool_in_world(planner.carrying.kinematics.forward(states(motion)[-1]))


def test_each_motion_begins_where_the_last_one_ends(plan):
    here = HOME
    for name in MOTIONS:
        rows = states(getattr(plan, name))
        assert rows[0] == pytest.approx(here, abs=1e-6), name
        here = rows[-1]
    assert here == pytest.approx(HOME, abs=1e-6)
    assert plan.duration_s == pytest.approx(sum(getattr(plan, name).duration_s for name in MOTIONS))


def test_the_hand_closes_at_the_part_and_opens_at_its_place(planner, plan):
    assert tool_at_end(planner, plan.reach).is_close(HERE @ plan.grasp.pose_tcp, tolerance_m=1e-5, tolerance_rad=1e-5)
    released = tool_at_end(planner, plan.lower)
    assert released.position == pytest.approx(THERE.position + [0, 0, 0.1015], abs=1e-5)
    assert released.rotation_matrix[:, 1] == pytest.approx([0, 0, -1], abs=1e-6), "level, the bottle upright"
    assert tool_at_end(planner, plan.lift).position[2] == pytest.approx(0.15, abs=1e-5)
    assert states(plan.back_off)[0] == pytest.approx(states(plan.reach)[-1], abs=1e-6)
    assert states(plan.back_off)[-1] == pytest.approx(states(plan.reach)[0], abs=1e-4)


def test_nothing_is_touched_on_the_way(planner, plan):
    """By a checker of its own: with the bottle where it stands, or in the hand, at every moment of every motion."""
    here, there = (
        ExactChecker(planner._open.with_obstacles([Obstacle("bottle", CatalogueModel(BOTTLE), pose)]))
        for pose in (HERE, THERE)
    )
    laden = planner.carrying.exact
    for name, checker in (("approach", here), ("reach", here), ("carry", laden), ("withdraw", there)):
        assert checker.first_blocked(states(getattr(plan, name))) is None, name
    assert there.first_blocked(states(plan.retreat)) is None
    assert laden.first_blocked(states(plan.lift)[8:]) is None, "off the table"


def test_the_part_stays_upright(planner, plan):
    tools = [planner.carrying.kinematics.forward(joints).rotation_matrix for joints in states(plan.carry)]
    tilts = np.degrees([np.arccos(np.clip(-tool[2, 1], -1, 1)) for tool in tools])
    assert tilts.max() <= np.degrees(planner.settings.tilt_rad) + 0.2


@pytest.mark.long
def test_the_same_seed_gives_the_same_motions(planner, plan):
    again = planner.plan(HOME, HERE, THERE, seed=3)
    for name in MOTIONS:
        assert np.array_equal(states(getattr(plan, name)), states(getattr(again, name))), name


@pytest.mark.parametrize(
    ("here", "there", "why"),
    [
        (Pose.from_xyz_rpy([1.5, 0, 0]), THERE, "no side of the bottle can be reached"),
        (HERE, Pose.from_xyz_rpy([0.5, 0.0, 0.0]), "the bottle cannot be carried to its place: nowhere to set it down"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_moves(planner, here, there, why):
    with pytest.raises(JobFailed, match=why):
        planner.plan(HOME, here, there)


def test_a_robot_without_a_gripper_is_refused():
    with pytest.raises(BadInput, match="ur5 has none"):
        PickPlacePlanner(scene(tool=None), BOTTLE, "table")


def test_what_does_not_fit_between_the_jaws_is_refused():
    with pytest.raises(JobFailed, match=r"no grasp of a .* from the side"):
        PickPlacePlanner(scene(), PARTS.get("large_gear"), "table")


def test_what_would_swing_beside_the_hand_is_refused():
    with pytest.raises(BadInput, match="a crate is taken beside its axis"):
        PickPlacePlanner(scene(), PARTS.get("crate"), "table", PickPlaceSettings(kind=GraspKind.TOP))


def test_a_part_that_is_not_round_keeps_its_turn_in_the_hand():
    """A mug by its body: where it stands in the end follows from how it was taken, and no finger is on its handle."""
    mug = PARTS.get("mug")
    made = PickPlacePlanner(scene(), mug, "table")
    here = Pose.from_xyz_rpy(HERE.position, (0, 0, 2.0))
    plan = made.plan(HOME, here, THERE, seed=1)
    assert tool_at_end(made, plan.reach).is_close(here @ plan.grasp.pose_tcp, tolerance_m=1e-5, tolerance_rad=1e-5)
    stands = tool_at_end(made, plan.lower) @ plan.grasp.pose_tcp.inverse()
    assert stands.position == pytest.approx(THERE.position + [0, 0, made.settings.release_m], abs=1e-5)
    assert stands.rotation_matrix[2, 2] == pytest.approx(1.0, abs=1e-9), "upright"
    turn = float(stands.rpy[2]) / (2 * np.pi / PLACE_TURNS)
    assert turn == pytest.approx(round(turn), abs=1e-4)
    for name, pose in (("approach", here), ("retreat", Pose(THERE.position, stands.quaternion))):
        standing = Obstacle("mug", CatalogueModel(mug), pose)
        assert ExactChecker(made._open.with_obstacles([standing])).first_blocked(states(getattr(plan, name))) is None


def test_places_are_offered_in_several_postures_of_the_arm(planner, plan):
    places = planner.places(planner.open_planner(THERE), THERE, plan.lift.at(plan.lift.duration_s)[0])
    alike = [sum(other.is_alike(one.at_rad) for other in places) for one in places]
    assert len(places) > MOST_PLACES_ALIKE, "one posture alone may be one that a way does not lead to"
    assert any(not places[0].is_alike(one.at_rad) for one in places)
    assert len({tuple(np.round(one.at_rad, 6)) for one in places}) == len(places)
    assert min(alike) <= MOST_PLACES_ALIKE


def test_a_mug_whose_handle_may_be_before_or_behind_is_taken_so_that_it_does_not_matter():
    mug, here = PARTS.get("mug"), Pose.from_xyz_rpy(HERE.position, (0, 0, 2.0))
    made = PickPlacePlanner(scene(), mug, "table")
    plan = made.plan(HOME, here, THERE, seed=1, other_turns_rad=(np.pi - 0.3, np.pi, np.pi + 0.3))
    for turn in (0.0, np.pi - 0.3, np.pi, np.pi + 0.3):
        standing = Obstacle("mug", CatalogueModel(mug), here @ Pose.from_xyz_rpy((0, 0, 0), (0, 0, turn)))
        checker = ExactChecker(made._open.with_obstacles([standing]))
        assert checker.first_blocked(states(plan.approach)) is None
        assert checker.first_blocked(states(plan.reach)) is None
    with pytest.raises(JobFailed, match="no side of the mug"):
        made.plan(HOME, here, THERE, seed=1, other_turns_rad=np.arange(0.0, 6.3, 0.2).tolist())


def test_an_inclined_gripper_comes_over_what_stands_beside_the_part():
    """A low wall all about the bottle keeps every level hand away; one from above it passes."""
    sides = [(0.13, 0.0, 0.02, 0.28), (-0.13, 0.0, 0.02, 0.28), (0.0, 0.13, 0.28, 0.02), (0.0, -0.13, 0.28, 0.02)]
    x, y, _ = HERE.position
    about = [
        Obstacle(f"side_{number}", Box((wide, deep, 0.10)), Pose.from_xyz_rpy([x + dx, y + dy, 0.05]))
        for number, (dx, dy, wide, deep) in enumerate(sides)
    ]
    walled = scene().with_obstacles(about)
    with pytest.raises(JobFailed, match="no side of the bottle can be reached"):
        PickPlacePlanner(walled, BOTTLE, "table").plan(HOME, HERE, THERE)
    inclined = PickPlacePlanner(walled, BOTTLE, "table", PickPlaceSettings(pitch_rad=float(np.radians(30.0))))
    plan = inclined.plan(HOME, HERE, THERE)
    assert "inclined by 30 deg" in plan.grasp_text


@dataclass
class Notebook:
    """An arm and a clock."""

    held_m: float = 0.08
    lines: list[object] = field(default_factory=list)
    time_s: float = 0.0
    width_m: float = 0.102
    recipe: Recipe = field(default_factory=Recipe)
    waits_for_tool: bool = True

    async def follow(self, motion) -> None:
        self.lines.append(motion)
        self.time_s += motion.duration_s

    async def set_tool(self, setting: float) -> HandReading:
        self.lines.append(setting)
        self.width_m = 0.102 if setting else self.held_m
        return await self.read()

    async def read(self) -> HandReading:
        return HandReading(HERE, "wsg_50", self.width_m, 0.0021 < self.width_m < 0.102)

    async def dwell(self, duration_s: float) -> None:
        self.time_s += duration_s

    sleep = dwell


@dataclass
class Remembered:
    """A planner that has planned already."""

    made: PickPlacePlanner
    plan_made: object
    asked: list[Pose] = field(default_factory=list)

    def plan(self, _start, pose_part, _place, _seed, _turns):
        self.asked.append(pose_part)
        return self.plan_made

    def __getattr__(self, name):
        return getattr(self.made, name)


def work(planner, plan, **arm) -> PlannedPickPlace:
    notebook = Notebook(**arm)

    async def look() -> StandingPart:
        await notebook.sleep(0.5)
        return StandingPart(HERE)

    return PlannedPickPlace(RobotHand(notebook, notebook), notebook, look, Remembered(planner, plan), THERE, HOME)


def test_it_takes_carries_and_sets_down(planner, plan):
    job = work(planner, plan)
    asyncio.run(job.run())
    expected = [1.0, plan.approach, plan.reach, 0.0, plan.lift, plan.carry, plan.lower, 1.0]
    assert job.arm.lines == [*expected, plan.retreat, plan.withdraw]
    assert job.planner.asked == [HERE]
    phases = ["approach", "reach", "grasp", "lift", "carry", "lower", "release", "retreat"]
    assert [step.name for step in job.steps] == ["look", "plan", *phases, "withdraw"]
    assert all(step.start_s < step.end_s for step in job.steps)
    assert job.steps[0].end_s == 0.5
    assert job.steps[1].end_s == 1.5, "planning takes time"
    assert job.steps[-1].end_s == job.arm.time_s


@pytest.mark.parametrize("held_m", [0.002, 0.047, 0.085])
def test_an_empty_hand_is_not_lifted(planner, plan, held_m):
    job = work(planner, plan, held_m=held_m)
    with pytest.raises(JobFailed, match=r"the fingers closed to .* mm, bottle gives 80.0 mm"):
        asyncio.run(job.run())
    assert plan.lift not in job.arm.lines
    assert job.arm.lines[-3:] == [1.0, plan.back_off, plan.give_up], "it leaves the way it came"
    assert states(plan.give_up)[-1] == pytest.approx(HOME, abs=1e-6)
    assert job.steps[-1].end_s == job.arm.time_s


def test_after_a_miss_it_is_looked_and_planned_again(planner, plan):
    job = work(planner, plan, held_m=0.002)
    job.attempts = 2
    release = job.arm.follow

    async def follow(motion) -> None:
        await release(motion)
        if motion is plan.give_up:
            job.arm.held_m = 0.08  # the second time it is there

    job.arm.follow = follow
    asyncio.run(job.run())
    assert [step.name for step in job.steps].count("look") == 2
    assert job.arm.lines.count(plan.give_up) == 1
    assert job.arm.lines[-1] is plan.withdraw


def test_another_planner_is_asked_when_the_first_finds_no_way(planner, plan):
    class Stuck(Remembered):
        def plan(self, *_asked):
            raise JobFailed("no way from the side")

    job = work(planner, plan)
    second = job.planner
    job.planner, job.other_planners = Stuck(planner, plan), (lambda: second,)
    asyncio.run(job.run())
    assert second.asked == [HERE]
    job.other_planners, job.steps = (lambda: Stuck(planner, plan),), []
    with pytest.raises(JobFailed, match=r"^no way from the side$"):
        asyncio.run(job.run())
