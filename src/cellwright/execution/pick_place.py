"""Picking up and setting down: one sequence for fingers and cups, over CRCL or in process, along any way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from cellwright.catalogue import PARTS, GearFigures, PartFigures, part_grasp
from cellwright.core.pose import Pose
from cellwright.execution.arm import Arm, HandReading, raised
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.robot_hand import RobotHand
from cellwright.knowledge import BelievedPart
from cellwright.knowledge.held_pose import gripper_figures
from cellwright.motion import Motion
from cellwright.motion.grasps import Grasp

__all__ = ["Hold", "PathArm", "PickPlace", "PickPlacePhase", "PlannedWay", "StraightWay", "Way"]


class PickPlacePhase(StrEnum):
    """The phases of a pick and place in their order, and the two ways in which one ends early."""

    APPROACH = "approach"
    REACH = "reach"
    GRASP = "grasp"
    LIFT = "lift"
    """The object is held from here on."""
    CARRY = "carry"
    LOWER = "lower"
    RELEASE = "release"
    RETREAT = "retreat"
    """The object is held no more."""
    MISSED = "missed"
    LOST = "lost"


@dataclass(frozen=True)
class Hold:
    """The state of a hand that holds an object.

    Attributes:
        thing: The object's name.
        width_m: Between the fingers; None when any will do, and for cups.
        tolerance_m: By how much the width may differ.
        sku: The kind of object, whose mass may have been learned.
        mass_kg: Its mass; None when it is not weighed.
        others_kg: Kind -> mass of what might be in the hand instead.
    """

    thing: str
    width_m: float | None = None
    tolerance_m: float = 0.0
    sku: str = ""
    mass_kg: float | None = None
    others_kg: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of_part(cls, part: BelievedPart, gripper: str, tolerance_m: float) -> Hold:
        """Returns the hold of a part as the catalogue has it for a gripper."""
        figures = part.figures
        width_m = part_grasp(figures, gripper_figures(gripper)).width_m
        others_kg = {each.name: each.mass_kg for each in map(PARTS.get, PARTS) if _kind(each) == _kind(figures)}
        return cls(part.name, width_m, tolerance_m, part.sku, figures.mass_kg, others_kg)

    def is_held(self, reading: HandReading) -> bool:
        """Returns whether a hand holds it."""
        is_wide = self.width_m is None or abs(reading.width_m - self.width_m) <= self.tolerance_m
        return reading.holding and is_wide

    def is_dropped(self, reading: HandReading) -> bool:
        """Returns whether a hand on its way has it no more, by one report: fingers may seem to tremble in that."""
        return not reading.holding if self.width_m is None else abs(reading.width_m - self.width_m) > self.tolerance_m

    def missed(self, reading: HandReading) -> str:
        """Returns the reason why a grasp was none."""
        if self.width_m is None:
            return f"{reading.gripper} finds no hold on {self.thing}"
        closed_mm, wanted_mm = reading.width_m * 1000, self.width_m * 1000
        return f"the fingers closed to {closed_mm:.1f} mm, {self.thing} gives {wanted_mm:.1f} mm"

    def lost(self, reading: HandReading, when: str) -> str:
        """Returns the reason why it counts as lost."""
        state = "no hold is felt" if self.width_m is None else f"the fingers stand at {reading.width_m * 1000:.1f} mm"
        return f"{self.thing} was lost {when}: {state}"


def _kind(part: PartFigures) -> tuple[type, bool]:
    """Returns the kind of parts that are taken for one another: gears of a cell have all cones, or all plugs."""
    return type(part), isinstance(part, GearFigures) and part.is_plug


class Way(Protocol):
    """The motions of a robot to where it takes an object or sets it down, and away from there."""

    async def travel(self) -> None:
        """Moves through free space to near the place."""

    async def approach(self) -> None:
        """Moves to where slow motion begins."""

    async def reach(self) -> None:
        """Moves the last distance, slowly."""

    async def leave(self, *, laden: bool) -> None:
        """Moves away, with the object or without."""


@dataclass
class PickPlace:
    """Picks up and sets down with one hand, and checks at every stage that it holds what it should.

    Attributes:
        hand: The hand.
        on_phase: Is told of every phase that begins, with the object's name.
        missed: What the hand felt when it missed something last.
    """

    hand: RobotHand
    on_phase: Callable[[PickPlacePhase, str], None] = lambda _phase, _thing: None
    missed: HandReading | None = None

    async def pick(self, way: Way, hold: Hold) -> HandReading:
        """Takes an object and lifts it; returns what the hand felt when it had closed.

        Raises:
            StepFailed: Something was in the way, or it was missed, or lost on the way up; after a contact or a miss the
                hand is open and off the place.
        """
        hand, thing = self.hand, hold.thing
        self.on_phase(PickPlacePhase.APPROACH, thing)
        await hand.release()
        await way.travel()
        await way.approach()
        self.on_phase(PickPlacePhase.REACH, thing)
        await self._reach(way, thing, laden=False)
        self.on_phase(PickPlacePhase.GRASP, thing)
        reading = await hand.grasp()
        if not hold.is_held(reading):
            self.missed = reading
            self.on_phase(PickPlacePhase.MISSED, thing)
            await hand.release()
            await way.leave(laden=False)
            raise StepFailed(FailureKind.MISSED, hold.missed(reading), thing)
        self.on_phase(PickPlacePhase.LIFT, thing)
        await way.leave(laden=True)
        hand.scale.begin(laden=True)
        await self._check(hold, "while it was lifted")
        return reading

    async def place(self, way: Way, hold: Hold) -> None:
        """Carries a held object to its place, sets it down and leaves it.

        Raises:
            StepFailed: It was lost before it was there, or something was in the way: then the hand is off the place. Or
                what hangs in the hand does not weigh what it should: then nothing was moved.
        """
        hand, thing = self.hand, hold.thing
        await self._check(hold, "before it was carried")
        await self._weigh(hold)
        self.on_phase(PickPlacePhase.CARRY, thing)
        try:
            await way.travel()
        except StepFailed as failure:
            if failure.kind is FailureKind.LOST:
                self.on_phase(PickPlacePhase.LOST, thing)
            raise
        await self._check(hold, "on the way")
        await way.approach()
        self.on_phase(PickPlacePhase.LOWER, thing)
        await self._reach(way, thing, laden=True)
        await self._check(hold, "on the way down")
        self.on_phase(PickPlacePhase.RELEASE, thing)
        await hand.settle()
        await hand.release()
        self.on_phase(PickPlacePhase.RETREAT, thing)
        await hand.settle_open()
        await way.leave(laden=False)

    async def _reach(self, way: Way, thing: str, *, laden: bool) -> None:
        """Moves the last distance; a hand that something stopped before moves away again."""
        try:
            await way.reach()
        except StepFailed as failure:
            failure.part = failure.part or thing
            if failure.kind is FailureKind.BLOCKED:
                await way.leave(laden=laden)
            raise

    async def _weigh(self, hold: Hold) -> None:
        """Checks the weight of what is held, as far as that was measured.

        A mass other than drawn is a reason to stop and to think again. What is found so twice is believed, rather than
        the drawing: what it is that was set down, the detectors tell.
        """
        mass_kg, known = hold.mass_kg, self.hand.scale.known_kg
        if mass_kg is None:
            return
        learned_kg = known.get(hold.sku, mass_kg)
        found = await self.hand.weigh(learned_kg)
        if found is None or found.is_like(learned_kg) or found.is_like(mass_kg):
            self.hand.scale.is_proven |= found is not None and not found.is_like(0.0)
            return
        is_nothing = found.is_nothing(mass_kg, hold.others_kg)
        if is_nothing and not self.hand.scale.is_proven:
            return  # the fingers have it, and the wrist has never weighed anything
        reason = found.reason(hold.thing, mass_kg, hold.others_kg)
        if is_nothing:
            self.on_phase(PickPlacePhase.LOST, hold.thing)
            await self.hand.release()  # closed fingers would go on feeling something that nobody knows
            raise StepFailed(FailureKind.LOST, reason, hold.thing)
        known[hold.sku] = found.mass_kg
        raise StepFailed(FailureKind.WEIGHT, reason, hold.thing)

    async def _check(self, hold: Hold, when: str) -> None:
        reading = await self.hand.read()
        if not hold.is_held(reading):
            self.on_phase(PickPlacePhase.LOST, hold.thing)
            raise StepFailed(FailureKind.LOST, hold.lost(reading, when), hold.thing)


@dataclass(frozen=True)
class StraightWay:
    """The way in an uncluttered cell: any path to before the place, a straight line to it, another one away from it.

    Attributes:
        arm: The robot; its recipe has the speeds.
        at: The pose of the tool in the world at which the hand closes or opens.
        before: Where the line to it begins.
        after: Where the line away from it ends.
        back: The same when an object was to be taken and was not; `after` when not given.
        is_level: Whether the way to before the place is a line too, so that what hangs from the tool does not swing.
    """

    arm: Arm
    at: Pose
    before: Pose
    after: Pose
    back: Pose | None = None
    is_level: bool = False

    @classmethod
    def from_above(cls, arm: Arm, at: Pose, *, is_level: bool = False) -> StraightWay:
        """Returns the way straight down to a pose and up again, as far as the recipe says."""
        above = raised(at, float(at.position[2]) + arm.recipe.approach_m)
        return cls(arm, at, above, above, is_level=is_level)

    @classmethod
    def to_pick(cls, arm: Arm, grasp: Grasp, pose_part: Pose) -> StraightWay:
        """Returns the way to a grasp of a part, and up with it."""
        before = pose_part @ grasp.pose_approach
        return cls(arm, pose_part @ grasp.pose_tcp, before, pose_part @ grasp.pose_retreat, before)

    @classmethod
    def to_place(cls, arm: Arm, grasp: Grasp, pose_part: Pose) -> StraightWay:
        """Returns the way of a part that is held so down to a place, and of the hand away from it."""
        released = raised(pose_part, float(pose_part.position[2]) + arm.recipe.release_m)
        at, above = released @ grasp.pose_tcp, released @ grasp.pose_retreat
        return cls(arm, at, above, released @ grasp.pose_approach)

    async def travel(self) -> None:
        """Moves to where the line begins."""
        await self.arm.move(self.before, self.arm.recipe.fast_mps, straight=self.is_level)

    async def approach(self) -> None:
        """Does nothing: it is there."""

    async def reach(self) -> None:
        """Moves along the line."""
        await self.arm.move(self.at, self.arm.recipe.slow_mps)

    async def leave(self, *, laden: bool) -> None:
        """Moves away."""
        await self.arm.move(self.after if laden or self.back is None else self.back, self.arm.recipe.fast_mps)


class PathArm(Protocol):
    """A robot that follows joint angles over time."""

    async def follow(self, motion: Motion) -> None:
        """Follows a motion from where the arm stands."""


@dataclass(frozen=True)
class PlannedWay:
    """A way along motions that were planned before.

    Attributes:
        arm: The robot.
        to: Through free space, one motion after the other.
        down: The last distance.
        away: Afterwards.
        back: Instead of `away` when an object was to be taken and was not; the same when not given.
    """

    arm: PathArm
    to: Sequence[Motion]
    down: Motion
    away: Motion
    back: Motion | None = None

    async def travel(self) -> None:
        """Follows the motions through free space."""
        for motion in self.to:
            await self.arm.follow(motion)

    async def approach(self) -> None:
        """Does nothing: it is there."""

    async def reach(self) -> None:
        """Follows the line to the place."""
        await self.arm.follow(self.down)

    async def leave(self, *, laden: bool) -> None:
        """Follows the line away from it."""
        await self.arm.follow(self.away if laden or self.back is None else self.back)
