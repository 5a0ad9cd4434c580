"""One robot at work: what it looks for and holds by belief, and its moves, which always travel above everything."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import tool_grasp_xyz_m
from cellwright.core.pose import Pose
from cellwright.execution.arm import JOINT_SPEED_RADPS, ArmClient, ArmFailed, HandReading, raised, tool_down
from cellwright.execution.arm_capsules import NOTHING, ArmCapsules, held_capsules
from cellwright.execution.detours import Detours
from cellwright.execution.grasps import GraspChoice
from cellwright.execution.holder_way import HolderOffset
from cellwright.execution.pick_place import Hold, PickPlacePhase
from cellwright.execution.robot_hand import RobotHand
from cellwright.execution.settings import Recipe
from cellwright.execution.surface_heights import SurfaceHeights
from cellwright.execution.surroundings import carried, top_m
from cellwright.execution.trays import hold_of
from cellwright.knowledge import Belief, BeliefState, BelievedPart, BelievedSlot, ToolState
from cellwright.knowledge.belief_writer import note_held, note_released
from cellwright.knowledge.held_pose import gripper_figures, hanging_part, hanging_tray
from cellwright.perception import ViewModel

__all__ = ["Manipulator"]

IN_HAND_M = 0.02  # a part this near to the tool's centre point is what the fingers are closed on
DISC_M = 0.050  # how far a held part reaches sideways: what leans hangs lower by some of that
DROPPED_M = 0.05  # standard deviation of where a part lies that was lost on the way
AT_REST_RAD = 0.002
LEANING_RAD = float(np.radians(2.0))
NEAR_M = 0.40  # an arm whose tool is this near to a place is in the way there
NEAR_HOLDER_M = 0.60  # the same for a holder of tools
Array = npt.NDArray[np.float64]
TURNS_RAD = tuple(float(x) for x in np.radians([0.0, 60.0, -60.0, 90.0, -90.0, 120.0, -120.0]))
HANG_M = 0.030  # how far below the tool's centre point a held part reaches


@dataclass
class Manipulator:
    """A robot with what it looks for and what it holds.

    Attributes:
        arm: The robot.
        hand: Its hand.
        belief: What is believed.
        tool: Its end effector, as the database calls it.
        found: The part that was looked for.
        slot: The slot that was looked for.
        grasp: How to take the part that was found; None before that is decided.
        held: The part, the kit tray or the kit in its hand.
        half_turn: Whether its fingers took that part the other way round than its drawing has it.
        goes_to: Where the part in its hand is to be set down; None before that is decided.
        misses: Parts in a row that were not gripped, or lost.
        out_of_service: Why it does not work any more; empty while it does.
        capsules: The room that it takes up; None when its figures are not known.
        view: Is told where it is, for what cameras can see then.
        stands: The room that it takes up where it was told to be last; k x 7.
        busy: Is locked while it does something.
        detours: Takes it round what is in its way; None when the figures of its arm are not known.
        heights: The tables as it has touched them.
        holders: Tool holder -> where it has felt that.
        hang_m: How much higher what it holds hangs in its hand than planned, as far as that was touched.
    """

    arm: ArmClient
    hand: RobotHand
    belief: Belief
    tool: str
    found: str = ""
    slot: BelievedSlot | None = None
    grasp: GraspChoice | None = None
    held: str = ""
    half_turn: bool = False
    goes_to: Pose | None = None
    misses: int = 0
    out_of_service: str = ""
    capsules: ArmCapsules | None = None
    view: ViewModel | None = None
    stands: Array | None = None
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)
    detours: Detours | None = None
    heights: SurfaceHeights = field(default_factory=SurfaceHeights)
    holders: dict[str, HolderOffset] = field(default_factory=dict)
    hang_m: float = 0.0
    _aside_rad: float = 0.0
    _lost: str = ""

    @property
    def name(self) -> str:
        """The name of the robot."""
        return self.arm.name

    @property
    def believed(self) -> BeliefState:
        """The belief state."""
        return self.belief.state

    @property
    def recipe(self) -> Recipe:
        """The recipe for its motions."""
        return self.arm.recipe

    # ------------------------------------------------------------ what it holds

    def report(self) -> ToolState | None:
        """Returns the last reading for predicates; None for a bare flange."""
        known = self.hand.reading
        if known is None or not known.gripper:
            return None
        pose, read_s = known.pose_tool_in_world, self.hand.read_s
        return ToolState(self.name, known.gripper, pose, known.width_m, known.holding, read_s)

    @property
    def carries_tray(self) -> bool:
        """True if it holds a kit tray or a kit, rather than a part or nothing."""
        return bool(self.held) and self.believed.objects[self.held].kind != "Part"

    @property
    def held_sku(self) -> str:
        """The SKU of what it holds; of a kit, that of its tray."""
        return self.believed.objects[self.believed.detected_as(self.held)].sku if self.held else ""

    def note_held(self, part: str) -> None:
        """Stores that it holds a part, a kit tray or a kit."""
        note_held(self.belief, self.tool, part)
        self.held = part
        self.hang_m = 0.0
        self.found = ""

    def note_released(self) -> None:
        """Stores that it holds nothing."""
        note_released(self.belief, self.tool)
        self.held = ""
        self.slot = None

    def note_lost(self) -> None:
        """Stores that it holds nothing any more; what it held lies about below the hand, or where that came from."""
        lost, reading = self.held, self.hand.reading
        self._lost = lost
        below = None if reading is None or self.carries_tray else self.part_in_hand(reading)
        self.note_released()
        if below is not None:
            self.belief.note_placed(lost, below, self.hand.clock.time_s, self.name, DROPPED_M)

    def note_phase(self, phase: PickPlacePhase, thing: str) -> None:
        """Stores what a phase of a pick and place says about the hand."""
        if phase is PickPlacePhase.LIFT:
            self.note_held(thing)
            self.goes_to = None
        elif phase is PickPlacePhase.RETREAT:
            self._note_placed(thing)
            self.note_released()
            self.misses = 0
        elif phase in (PickPlacePhase.MISSED, PickPlacePhase.LOST):
            self.misses += 1
            if phase is PickPlacePhase.LOST:
                self.note_lost()

    def _note_placed(self, thing: str) -> None:
        """Notes where it set down what it held, and what lies on that."""
        believed, tray = self.believed, self.believed.detected_as(thing)
        if self.goes_to is None:
            return
        before = believed.pose(tray).inverse()
        moved = {name: before @ believed.pose(name) for name in sorted(carried(believed) - {tray})}
        on_kit = self.goes_to @ (before @ believed.pose(thing))  # a kit is where its tray is
        now_s = self.hand.clock.time_s
        self.belief.note_placed(thing, on_kit, now_s, self.name)
        for name, offset in moved.items():
            self.belief.note_placed(name, self.goes_to @ offset, now_s, self.name, known="carried")

    def part_in_hand(self, reading: HandReading) -> Pose:
        """Returns the pose of the held part, as it was taken: no camera sees it between the fingers."""
        return reading.pose_tool_in_world @ self.part_in_tool(reading.gripper)

    def part_in_tool(self, tool: str) -> Pose:
        """Returns the pose of the held part in the frame of the tool, whose z axis points down."""
        pose = hanging_part(Pose.identity(), self.believed.part(self.held).figures, tool, self.half_turn)
        return pose if self.hang_m == 0.0 else Pose.from_xyz_rpy([0.0, 0.0, -self.hang_m]) @ pose

    def at_hand(self, reading: HandReading) -> BelievedPart | None:
        """Returns the part between the fingers, by where it is seen; cups carry trays, and no other is near then."""
        figures = gripper_figures(reading.gripper)
        if self.carries_tray or figures is None:
            return None
        point = reading.pose_tool_in_world.position

        def off_m(part: BelievedPart) -> float:
            grasped = part.pose_in_world.apply(tool_grasp_xyz_m(part.figures, figures))
            return float(np.linalg.norm(grasped - point))

        parts = [*self.believed.parts(), *([self.believed.part(self.held)] if self.held else [])]
        near = min(parts, key=off_m, default=None)
        return near if near is not None and off_m(near) <= IN_HAND_M else None

    # ------------------------------------------------------------ what it hides

    def note_motion(self, reading: HandReading, still: bool) -> None:
        """Tells the view where the arm is: when it begins to move, and when it stands still again."""
        joints = reading.joints_rad or self.resting_rad
        if self.capsules is None or not joints:
            return
        if not reading.joints_rad:  # it does not say, so the nearest that has the tool there is taken
            found = self.capsules.configuration(reading.pose_tool_in_world, reading.gripper, joints)
            joints = joints if found is None else tuple(found)
        self.hand.reading = reading
        self.stands = self.capsules_at(joints)
        if self.view is not None:
            self.view.note_arm(self.name, self.hand.clock.time_s, self.stands, still=still)

    def capsules_at(self, joints_rad: npt.ArrayLike) -> Array:
        """Returns the room that it would take up in a configuration, with what it holds."""
        tool = self.hand.reading.gripper if self.hand.reading else ""
        return NOTHING if self.capsules is None else self.capsules.at(joints_rad, tool, self._held_capsules(tool))

    def _held_capsules(self, tool: str) -> Array:
        if not self.held:
            return NOTHING
        sku, pose = self.held_sku, Pose.identity()
        if not self.carries_tray:
            return held_capsules(sku, self.part_in_tool(tool))
        hold = hold_of(sku, tool)
        return NOTHING if hold is None else held_capsules(sku, hanging_tray(pose, hold.grip, pose))

    @property
    def resting_rad(self) -> tuple[float, ...]:
        """The joint angles at rest, turned aside when another robot works there; empty before they are known."""
        rest = self.arm.rest_rad or ()
        return (rest[0] + self._aside_rad, *rest[1:]) if rest else ()

    # ------------------------------------------------------------ moving

    def travel_m(self, lean_rad: float = 0.0) -> float:
        """Returns the height of the tool at which nothing is in the way, whatever it holds and however that leans."""
        hang_m = HANG_M + float(np.sin(lean_rad)) * DISC_M
        return top_m(self.believed, self.name) + hang_m + self.recipe.clearance_m

    @property
    def travel_mps(self) -> float:
        """The speed of travel that the grip allows."""
        if self.carries_tray:
            return self.recipe.carry_mps
        return self.recipe.slow_mps if self.held and self.misses else self.recipe.fast_mps

    async def rise(self) -> None:
        """Moves straight up to the travel height; a tool that leans is set upright there."""
        reading = await self.hand.read()
        pose, lean_rad = reading.pose_tool_in_world, _lean_rad(reading.pose_tool_in_world)
        height_m = self.travel_m(lean_rad)
        if pose.position[2] < height_m - 1e-3:
            pose = raised(pose, height_m)
            await self.arm.move(pose, self.recipe.slow_mps if self.held else self.recipe.fast_mps)
        if lean_rad > LEANING_RAD:
            await self.move_freely(tool_down(pose.position, yaw_rad(pose)), self.recipe.slow_mps)

    async def go_above(self, pose: Pose) -> None:
        """Moves to above a pose, at travel height, with the fingers either way round."""
        await self.rise()
        start = self._start(pose)
        above = raised(start, max(self.travel_m(_lean_rad(pose)), float(start.position[2])))
        await self.move_freely(above, self.travel_mps)

    @property
    def turned_rad(self) -> float:
        """The turn of the fingers about the vertical at the last reading."""
        return yaw_rad(self.hand.reading.pose_tool_in_world) if self.hand.reading else 0.0

    async def approach(self, pose: Pose) -> None:
        """Moves from above a pose to where slow motion begins, on the axis of the tool at that pose."""
        start = self._start(pose)
        reading = await self.hand.read()
        if reading.pose_tool_in_world.position[2] > start.position[2] + 0.005:
            await self.arm.move(start, self.travel_mps)

    async def lift(self, pose: Pose, speed_mps: float) -> None:
        """Moves from a pose to the travel height: straight up with a part, along its own axis without one."""
        lean_rad, start = _lean_rad(pose), self._start(pose)
        if lean_rad > LEANING_RAD and not self.held:
            await self.arm.move(start, speed_mps)
            pose = start
        await self.arm.move(raised(pose, max(self.travel_m(lean_rad), float(start.position[2]))), speed_mps)
        if lean_rad > LEANING_RAD:
            await self.rise()

    def _start(self, pose: Pose) -> Pose:
        """Returns the pose at which slow motion to a pose begins."""
        return pose @ Pose.from_xyz_rpy([0.0, 0.0, -self.recipe.approach_m])

    async def withdraw(self, speed_radps: float = JOINT_SPEED_RADPS) -> None:
        """Moves to the rest position, turned aside if another robot works below it."""
        await self.rise()
        joints, rest = self.hand.reading.joints_rad if self.hand.reading else (), self.resting_rad
        if joints and len(joints) == len(rest) and np.allclose(joints, rest, atol=AT_REST_RAD):
            return
        if self.detours is None or not rest or not await self.detours.go(rest):
            await self.arm.rest(self._aside_rad, speed_radps)

    async def is_near(self, places: Sequence[str]) -> bool:
        """Returns whether the tool stands about where one of the places is."""
        point = (await self.hand.read()).pose_tool_in_world.position[:2]
        return any(np.linalg.norm(at - point) < near_m for at, near_m in self._kept_free(places))

    def _kept_free(self, places: Sequence[str]) -> list[tuple[Array, float]]:
        """Returns points where other robots work with the distances to keep: arms swing widely near a holder."""
        believed = self.believed
        known = [place for place in places if place in believed.tree.index]
        at_holder = {holder.name for holder in believed.of_kind("EndEffectorHolder")}
        return [(believed.pose(name).position[:2], NEAR_HOLDER_M if name in at_holder else NEAR_M) for name in known]

    def keep_from(self, places: Sequence[str]) -> None:
        """Turns the rest position aside from now on, as far as needed to be off these places."""
        kept_free = self._kept_free(places)
        if self.arm.rest_point is None or not kept_free:
            return
        centre = self.believed.pose(self.name).position[:2]
        lever = np.array(self.arm.rest_point)[:2] - centre

        def room_m(turn_rad: float) -> float:
            c, s = np.cos(turn_rad), np.sin(turn_rad)
            stands = centre + np.array([c * lever[0] - s * lever[1], s * lever[0] + c * lever[1]])
            return min(float(np.linalg.norm(stands - point)) - near_m for point, near_m in kept_free)

        self._aside_rad = next((turn for turn in TURNS_RAD if room_m(turn) >= 0.0), max(TURNS_RAD, key=room_m))

    async def go_away(self, places: Sequence[str]) -> None:
        """Moves off these places."""
        self.keep_from(places)
        await self.withdraw()

    async def recover(self) -> str:
        """Recovers after a failure: ends the robot's error, rises, and finds out what is in the hand.

        Returns:
            What was found out; empty when all is as it was believed.
        """
        self.hand.reading = await self.arm.prepare()
        await self.rise()
        reading = await self.hand.read()
        self.found = ""
        self.grasp = None
        self.slot = None
        near = self.at_hand(reading) if reading.holding else None
        if self.held and not reading.holding:
            lost = self.held
            self.note_lost()
            return f"{lost} is not in the hand any more"
        if reading.holding and near is not None and near.name != self.held:
            if self.held:
                self.note_released()
            self.note_held(near.name)
            return f"{near.name} is in the hand"
        if reading.holding and not self.held:
            if self._still_has(reading):
                self.note_held(self._lost)
                return f"{self.held} is in the hand after all"
            missing = [name for name in sorted(self.believed.missing) if self._fits(name, reading)]
            if len(missing) == 1:  # it was taken and not noted, as before a restart
                self.note_held(missing[0])
                return f"{missing[0]} is in the hand: it is seen nowhere else"
            return "something that nobody sees is between the fingers"
        return ""

    def _still_has(self, reading: HandReading) -> bool:
        """Returns whether the part that was taken for lost is between the fingers: by its width, and seen nowhere."""
        return self._fits(self._lost, reading) and self.believed.source(self._lost) == self.name

    def _fits(self, name: str, reading: HandReading) -> bool:
        """Returns whether fingers stand as they would about a part."""
        if self.believed.kind(name) != "Part":
            return False
        hold = Hold.of_part(self.believed.part(name), reading.gripper, self.recipe.grip_tolerance_m)
        return hold.is_held(reading)

    async def move_freely(self, pose: Pose, speed_mps: float) -> None:
        """Moves through free space: along a line, with the fingers either way round, or else by joint motion."""
        half_turn = pose @ Pose.from_xyz_rpy([0.0, 0.0, 0.0], [0.0, 0.0, np.pi])
        attempts = [(pose, True), (half_turn, True), (pose, False)]
        for number, (target, straight) in enumerate(attempts, start=1):
            try:
                if self.detours is None or not await self.detours.go(target, straight=straight):
                    await self.arm.move(target, speed_mps, straight=straight)
                return
            except ArmFailed as error:
                if error.is_lost_robot or number == len(attempts):
                    raise
            await self.arm.prepare()


def _lean_rad(pose_tool: Pose) -> float:
    """Returns the angle between a tool's axis and straight down."""
    return float(np.arccos(np.clip(-pose_tool.rotation_matrix[2, 2], -1.0, 1.0)))


def yaw_rad(pose_tool: Pose) -> float:
    """Returns the turn of the fingers about the vertical."""
    x, y, _ = pose_tool.rotation_matrix[:, 0]
    return float(np.arctan2(y, x))
