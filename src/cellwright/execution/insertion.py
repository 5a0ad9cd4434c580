"""Inserting a held plug into a straight slot by the forces at the wrist, in short steps that any CRCL server can do.

Each step is a MoveTo of some tenths of a millimetre under guards; before it, the forces and torques of the status
say where the plug is held up. The hand complies: it gives way sideways and turns about the plug's bottom, and pushes no
harder than fingers hold. Where that meets the rim, the plug is leaned, lowered with its low edge inside the slot, moved
on until that edge meets the wall, and set upright.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.execution.arm import HandReading
from cellwright.execution.async_clock import AsyncClock
from cellwright.execution.failure import FailureKind, StepFailed

__all__ = ["ContactWrench", "Inserter", "Insertion", "StepArm", "contact_wrench"]

Array = npt.NDArray[np.float64]

PUSH_N = 3.0  # along the slot; fingers hold 8 N by friction
SIDE_MPS_PER_N, TURN_RADPS_PER_NM = 0.0015, 0.6
MOST_MPS, MOST_RADPS = 0.005, 0.05
GUARD_N = 3.0  # change of a force within one step that stops it
STEP_S = 0.08  # what a step takes at least; longer ones are not made up for by larger steps
TARE_READINGS, TARE_S = 5, 0.02
START_M = 0.002  # above the rim, where compliance begins
DOWN_MPS = 0.03  # to there
SEATED_M = 0.0003  # a plug that is so near to its floor by the joints is there, if it pushes
FLOOR_M, FLOOR_MPS = 0.0012, 0.001  # before the floor the hand is slower
FLOOR_N, FLOOR_TOUCHES = 1.5, 2  # so often what does not give way is felt before it counts as the floor
BACK_MPS = 0.002  # away from what is pushed too hard
HEIGHT_M = 0.0020  # by which the floor may be higher or lower than it is believed to be
STUCK_S, STUCK_M = 0.9, 0.0001  # a plug that has not come down by more in that time is stuck
LEAN_RAD, BACK_M = float(np.radians(7.0)), 0.0045
LEANING_N, FORWARD_N, UPRIGHT_N = 2.0, 1.5, 1.0
FORWARD_MPS, FORWARD_M, UPRIGHT_S = 0.004, 0.012, 2.0
MOST_S = 25.0
UP = np.array([0.0, 0.0, 1.0])


class StepArm(Protocol):
    """A robot that feels forces at its wrist and moves in small steps."""

    @property
    def name(self) -> str:
        """The robot's name."""

    async def read(self) -> HandReading:
        """Returns its state, with the forces at its wrist."""

    async def step(self, pose_tool_in_world: Pose, speed_mps: float, limit_n: float) -> HandReading:
        """Moves to a pose nearby until a force has changed so much; returns its state then."""


@dataclass(frozen=True)
class ContactWrench:
    """Force and torque of a contact on a held plug in the world's directions, about the plug's bottom."""

    force_n: Array
    torque_nm: Array


@dataclass(frozen=True)
class Tare:
    """The readings of a wrist in free air.

    Attributes:
        weight_n: The reported force, in the world's directions: the weight of tool and plug, with the sensor's sign.
        torque_nm: The reported torque, in the flange's directions.
    """

    weight_n: Array
    torque_nm: Array


def contact_wrench(reading: HandReading, tare: Tare, bottom_in_flange_m: Array) -> ContactWrench:
    """Returns what a contact exerts on the plug, by the wrist's readings in contact and before.

    What hangs at the wrist pulls it down, whichever sign a sensor reports with: by that the sign is known. The weight
    turns with the tool.

    Args:
        reading: In contact.
        tare: In free air, with the same things in the hand.
        bottom_in_flange_m: The middle of the plug's underside.
    """
    assert reading.wrench is not None
    turn, sign = reading.pose_tool_in_world.rotation_matrix, 1.0 if tare.weight_n[2] <= 0.0 else -1.0
    force = sign * (np.array(reading.wrench[:3]) - turn.T @ tare.weight_n)
    torque = sign * (np.array(reading.wrench[3:]) - tare.torque_nm) - np.cross(bottom_in_flange_m, force)
    return ContactWrench(turn @ force, turn @ torque)


@dataclass(frozen=True)
class Insertion:
    """The course of an insertion that succeeded.

    Attributes:
        how: The ways that were tried, in their order: `comply`, `tilt`.
        duration_s: Its time.
        depth_m: The depth below the rim by the joints, when the plug met the floor.
        push_n: The force with which it stood on it.
    """

    how: tuple[str, ...]
    duration_s: float
    depth_m: float
    push_n: float


@dataclass
class Inserter:
    """Inserts one plug into one slot.

    Attributes:
        arm: The robot.
        clock: Time.
        bottom_in_tool_m: The middle of the plug's underside.
        bottom_in_flange_m: The same seen from the flange, where forces are measured.
        radius_m: Of the plug.
        seat_m: The middle of the slot's floor in the world, as it is believed to be.
        depth_m: Of the slot.
        where: The slot, for reasons.
    """

    arm: StepArm
    clock: AsyncClock
    bottom_in_tool_m: Array
    bottom_in_flange_m: Array
    radius_m: float
    seat_m: Array
    depth_m: float
    where: str
    tare: Tare = field(init=False)
    reading: HandReading = field(init=False)
    felt: ContactWrench = field(init=False)
    most_n: float = 0.0

    async def insert(self, over: Pose, error_m: float, capture_m: float) -> Insertion:
        """Inserts the plug; the hand ends where the plug stands on the floor.

        Args:
            over: The pose of the tool with the plug upright in the slot, as that is believed to be.
            error_m: How far beside that the slot may be.
            capture_m: How far beside it chamfers centre the plug.

        Raises:
            StepFailed: It did not go in; the reason names the depth and the force. The plug is out of the slot then.
        """
        begun_s, how = self.clock.time_s, list[str]()
        await self._lift_to(over, self.depth_m + START_M)
        await self._take_tare()
        ways = ["comply"] if error_m <= capture_m else []
        ways += ["tilt"] * 3
        forward = over.rotation_matrix[:, 0] * [1.0, 1.0, 0.0]
        jammed_m = 0.0
        for number, way in enumerate(ways):
            how.append(way)
            if number:
                await self._lift_to(over, self.depth_m + START_M)
            if way == "tilt":
                turn = np.pi / 2 * how.count("tilt")
                await self._tilt(Pose.exp([0, 0, 0, 0, 0, turn]).apply(forward / np.linalg.norm(forward)))
            if await self._comply(begun_s + MOST_S):
                return Insertion(tuple(how), self.clock.time_s - begun_s, self.depth_now_m, float(self.felt.force_n[2]))
            jammed_m = max(jammed_m, self.depth_now_m)
            if self.clock.time_s > begun_s + MOST_S:
                break
        push_n, side_n = float(self.felt.force_n[2]), float(np.hypot(*self.felt.force_n[:2]))
        await self._lift_to(over, self.depth_m + START_M)
        at = "on the rim" if jammed_m < 0.002 else f"at {jammed_m * 1000:.1f} of {self.depth_m * 1000:.1f} mm"
        felt = f"{push_n:.1f} N along and {side_n:.1f} N across"
        why = f"{self.where}: the plug jammed {at} with {felt} ({', '.join(how)})"
        raise StepFailed(FailureKind.BLOCKED, why)

    # ------------------------------------------------------------ where it is

    @property
    def bottom_m(self) -> Array:
        """The middle of the plug's underside in the world, by the joints."""
        return np.asarray(self.reading.pose_tool_in_world.apply(self.bottom_in_tool_m))

    @property
    def depth_now_m(self) -> float:
        """The depth of that below the rim."""
        return float(self.seat_m[2] + self.depth_m - self.bottom_m[2])

    # ------------------------------------------------------------ motions

    async def _lift_to(self, over: Pose, above_m: float) -> None:
        """Moves to above the slot's floor, upright: straight up from within the slot, down from higher above."""
        self.reading = await self.arm.read()
        here = self.reading.pose_tool_in_world
        goal = Pose(over.position + above_m * UP, over.quaternion)
        if here.position[2] < goal.position[2]:
            up = Pose(np.array([*here.position[:2], goal.position[2]]), here.quaternion)
            self.reading = await self.arm.step(up, DOWN_MPS, 8 * GUARD_N)
        self.reading = await self.arm.step(goal, DOWN_MPS, 3 * GUARD_N)

    async def _measured(self) -> Array:
        """Returns the mean of some new reports of the wrist, while the arm stands."""
        rows, count = list[tuple[float, ...]](), self.reading.wrench_count
        for _ in range(4 * TARE_READINGS):
            self.reading = await self.arm.read()
            if self.reading.wrench is not None and self.reading.wrench_count != count:
                rows.append(self.reading.wrench)
                count = self.reading.wrench_count
            if len(rows) == TARE_READINGS:
                break
            await self.clock.sleep(TARE_S)
        if not rows:
            raise StepFailed(FailureKind.UNABLE, f"{self.arm.name} reports no forces at its wrist")
        return np.asarray(np.mean(rows, axis=0))

    async def _take_tare(self) -> None:
        """Measures what the wrist feels in free air."""
        wrench = await self._measured()
        self.tare = Tare(self.reading.pose_tool_in_world.rotation_matrix @ wrench[:3], wrench[3:])
        self._take(self.reading)

    def _take(self, reading: HandReading) -> None:
        self.reading, self.felt = reading, contact_wrench(reading, self.tare, self.bottom_in_flange_m)
        self.most_n = max(self.most_n, float(np.linalg.norm(self.felt.force_n)))

    async def _step(self, velocity_mps: Array, spin_radps: Array, pivot_m: Array | None = None) -> None:
        """Moves for one step at a velocity, and turns about a point: the plug's bottom by default."""
        move = _shortened(velocity_mps, MOST_MPS) * STEP_S
        turn = Pose.exp([0.0, 0.0, 0.0, *(_shortened(spin_radps, MOST_RADPS * 2) * STEP_S)])
        pivot = self.bottom_m if pivot_m is None else pivot_m
        here = self.reading.pose_tool_in_world
        there = Pose(turn.apply(here.position - pivot) + pivot + move, (turn @ here).quaternion)
        self._take(await self.arm.step(there, 0.05, GUARD_N))

    async def _comply(self, until_s: float) -> bool:
        """Gives way to all forces but the push along the slot; returns whether the plug stands on the floor."""
        best_m, best_s, met = -np.inf, self.clock.time_s, 0
        while self.clock.time_s < until_s:
            force, torque = self.felt.force_n, self.felt.torque_nm
            depth_m, push_n = self.depth_now_m, float(force[2])
            if depth_m > best_m + STUCK_M:
                best_m, best_s, met = depth_m, self.clock.time_s, 0
            left_m = self.depth_m - depth_m
            met += push_n > FLOOR_N
            if met and (left_m < SEATED_M or (left_m < HEIGHT_M and met >= FLOOR_TOUCHES)):
                return True
            if self.clock.time_s > best_s + STUCK_S:
                return False
            most_mps = FLOOR_MPS if left_m < FLOOR_M else MOST_MPS
            down_mps = np.clip(SIDE_MPS_PER_N * (PUSH_N - push_n), -BACK_MPS, most_mps)
            velocity = np.array([*(SIDE_MPS_PER_N * force[:2]), -down_mps])
            await self._step(velocity, TURN_RADPS_PER_NM * torque * [1.0, 1.0, 0.0])
        return False

    async def _tilt(self, forward: Array) -> None:
        """Leans the plug, finds the wall with its low edge, and sets it upright in the slot.

        Args:
            forward: The direction in which its edge is low.
        """
        axis = np.cross(UP, forward)
        here = self.reading.pose_tool_in_world
        bottom = self.bottom_m
        lean = Pose.exp([0.0, 0.0, 0.0, *(LEAN_RAD * axis)])
        bottom_there = bottom - BACK_M * forward + self.radius_m * np.sin(LEAN_RAD) * UP
        leaned = Pose(lean.apply(here.position - bottom) + bottom_there, (lean @ here).quaternion)
        self._take(await self.arm.step(leaned, DOWN_MPS, 3 * GUARD_N))
        upright = self.tare
        leaning = replace(upright, torque_nm=(await self._measured())[3:])
        self.tare = leaning
        self._take(self.reading)
        until_s = self.clock.time_s + 6.0
        while self.felt.force_n[2] < LEANING_N and self.clock.time_s < until_s:
            side = SIDE_MPS_PER_N * (self.felt.force_n @ axis) * axis
            await self._step(side - 0.004 * UP, np.zeros(3))
        way_m, start = 0.0, self.bottom_m
        while -(self.felt.force_n @ forward) < FORWARD_N and way_m < FORWARD_M and self.clock.time_s < until_s:
            push = SIDE_MPS_PER_N * (LEANING_N - self.felt.force_n[2])
            side = SIDE_MPS_PER_N * (self.felt.force_n @ axis) * axis
            await self._step(FORWARD_MPS * forward + side - push * UP, np.zeros(3))
            way_m = float((self.bottom_m - start) @ forward)
        rate = LEAN_RAD / UPRIGHT_S
        for number in range(round(UPRIGHT_S / STEP_S)):
            share = 1.0 - number * STEP_S / UPRIGHT_S
            torque_nm = share * leaning.torque_nm + (1 - share) * upright.torque_nm
            self.tare = replace(upright, torque_nm=torque_nm)
            push = SIDE_MPS_PER_N * (LEANING_N - self.felt.force_n[2])
            press = SIDE_MPS_PER_N * (UPRIGHT_N + self.felt.force_n @ forward)
            side = SIDE_MPS_PER_N * (self.felt.force_n @ axis) * axis
            low = Pose.exp([0.0, 0.0, 0.0, *(LEAN_RAD * share * axis)]).apply(self.radius_m * forward)
            await self._step(press * forward + side - push * UP, -rate * axis, self.bottom_m + low)
        self.tare = upright
        self._take(self.reading)


def _shortened(vector: Array, most: float) -> Array:
    length = float(np.linalg.norm(vector))
    return vector if length <= most else vector * (most / length)
