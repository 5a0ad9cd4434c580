"""Reach of robots and their tools over slots and trays: by inverse kinematics and the drawings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import CHANGERS, ROBOTS, ArmFigures, gripper_model, part_of_sku
from cellwright.cells import RobotCfg
from cellwright.core.pose import Pose
from cellwright.knowledge.tray_layout import SlotPlace
from cellwright.motion import ArmKinematics, Grasp, GraspKind, find_grasps
from cellwright.motion.chain import SerialChain

__all__ = ["APPROACH_M", "SlotReach", "WristRange", "top_grasps"]

Array = npt.NDArray[np.float64]

APPROACH_M = 0.10  # how far above a part the tool must get, too
TURNS = 12  # of the tool about a round part's axis; any of them will do


MOST_ANSWERS = 64
_ANSWERS: dict[tuple[object, ...], tuple[bool, ...]] = {}
"""By everything that they follow from: every laboratory of a cell asks the same of its drawings."""


@lru_cache(maxsize=MOST_ANSWERS)
def top_grasps(sku: str, tool: str) -> tuple[Grasp, ...]:
    """Returns grasps of a part from above by a tool of the catalogue, best first; none when it cannot take it."""
    found = find_grasps(part_of_sku(sku), gripper_model(tool), turns=TURNS, approach_m=APPROACH_M)
    return tuple(grasp for grasp in found if grasp.kind is GraspKind.TOP)


class SlotReach:
    """The slots that one robot reaches."""

    def __init__(self, robot: RobotCfg, base: Pose) -> None:
        self._kinematics = ArmKinematics(ROBOTS.get(robot.model))
        self._stretch = WristRange(ROBOTS.get(robot.model))
        self._home_rad = np.radians(robot.home_deg)
        self._tool = robot.tool
        self._world_in_base = base.inverse()
        tcp_xyz_m = (0.0, 0.0, 0.0) if robot.tool is None else gripper_model(robot.tool).tcp_xyz_m
        if robot.tool is not None and robot.changer is not None:
            tcp_xyz_m = CHANGERS.get(robot.changer).tcp_in_flange_m(tcp_xyz_m)
        self._flange_in_tcp = Pose.from_xyz_rpy(tcp_xyz_m).inverse()
        self._of = (robot.model, robot.tool, robot.changer, tuple(robot.home_deg), _bytes(base))

    def grasps(self, sku: str) -> tuple[Grasp, ...]:
        """Returns the grasps from above with the robot's tool."""
        return () if self._tool is None else top_grasps(sku, self._tool)

    def reached(self, trays: Sequence[tuple[Pose, Sequence[SlotPlace]]]) -> list[bool]:
        """Returns for each tray whether the tool reaches the part in every slot, and the approach above it.

        A slot for which the tool has no grasp does not count against a tray; a tray without any other is not reached.
        The turns of the tool are tried one after the other, for all slots at once: the first is mostly enough.
        """
        places = tuple((_bytes(p), tuple((s.sku, _bytes(s.pose_part_in_tray)) for s in slots)) for p, slots in trays)
        question = (*self._of, places)
        if question not in _ANSWERS:
            if len(_ANSWERS) >= MOST_ANSWERS:
                _ANSWERS.clear()
            _ANSWERS[question] = self._search(trays)
        return list(_ANSWERS[question])

    def _search(self, trays: Sequence[tuple[Pose, Sequence[SlotPlace]]]) -> tuple[bool, ...]:
        waiting: dict[tuple[int, int], _FlangePoses] = {}
        for number, (pose_tray, slots) in enumerate(trays):
            for index, slot in enumerate(slots):
                if grasps := self.grasps(slot.sku):
                    waiting[number, index] = _FlangePoses(self._flange, pose_tray @ slot.pose_part_in_tray, grasps)
        possible = {number for number, _ in waiting}
        far = {key[0] for key, ways in waiting.items() if all(any(map(self._stretch.too_far, way)) for way in ways)}
        waiting = {key: ways for key, ways in waiting.items() if key[0] not in far}
        possible -= far
        while waiting:
            keys = list(waiting)
            poses = [pose for key in keys for pose in waiting[key].next()]
            found = self._kinematics.inverse_of_many(poses, self._home_rad)
            for key, at, above in zip(keys, found[::2], found[1::2], strict=True):
                if len(at) and len(above):
                    waiting.pop(key, None)
                elif key in waiting and waiting[key].at_end:
                    # No turn is left: the tray is out of reach, and its other slots do not matter.
                    possible.discard(key[0])
                    waiting = {other: ways for other, ways in waiting.items() if other[0] != key[0]}
        return tuple(number in possible for number in range(len(trays)))

    def _flange(self, pose_tcp_in_world: Pose) -> Pose:
        return self._world_in_base @ pose_tcp_in_world @ self._flange_in_tcp


def _bytes(pose: Pose) -> bytes:
    return pose.position.tobytes() + pose.quaternion.tobytes()


class _FlangePoses:
    """Flange poses for each grasp of one part, at it and above, computed on demand."""

    def __init__(self, flange: Callable[[Pose], Pose], pose_part: Pose, grasps: Sequence[Grasp]) -> None:
        self._flange = flange
        self._pose_part = pose_part
        self._grasps = grasps
        self._known: list[tuple[Pose, Pose]] = []
        self._next = 0

    def __iter__(self) -> Iterator[tuple[Pose, Pose]]:
        return (self._way(number) for number in range(len(self._grasps)))

    def next(self) -> tuple[Pose, Pose]:
        """Returns the next one to try."""
        self._next += 1
        return self._way(self._next - 1)

    @property
    def at_end(self) -> bool:
        """True if all were tried."""
        return self._next >= len(self._grasps)

    def _way(self, number: int) -> tuple[Pose, Pose]:
        while len(self._known) <= number:
            grasp = self._grasps[len(self._known)]
            at, above = self._pose_part @ grasp.pose_tcp, self._pose_part @ grasp.pose_approach
            self._known.append((self._flange(at), self._flange(above)))
        return self._known[number]


class WristRange:
    """The largest distance of the wrist: an IK search for what is plainly too far away takes longest."""

    def __init__(self, arm: ArmFigures) -> None:
        chain = SerialChain(arm)
        origins = np.cumsum(chain.offsets, axis=0)
        up = chain.axes[0]
        self._shoulder = origins[0] + up * (up @ (origins[1] - origins[0]))
        self._length_m = float(np.linalg.norm(origins[1] - self._shoulder))
        straight = np.zeros(3)
        for axis, offset in zip(chain.axes[1:-2], chain.offsets[2:-2], strict=True):
            if np.linalg.norm(np.cross(axis, offset)) > 1e-9:  # else the joint turns the link about itself
                self._length_m += float(np.linalg.norm(straight))
                straight = np.zeros(3)
            straight = straight + offset
        self._length_m += float(np.linalg.norm(straight))
        # Behind the last but one joint only the last one turns: the wrist stays in place when it is on that axis.
        hand = origins[-1] - origins[-3]
        beside = hand - chain.axes[-1] * (chain.axes[-1] @ hand)
        self._hand_in_flange = chain.flange_rotation.T @ (hand - beside)
        self._length_m += float(np.linalg.norm(beside))

    def is_beyond(self, point_in_base_m: Array, hand_m: float) -> bool:
        """Returns whether a point is farther away than the tip of a hand of some length gets, however it points."""
        most_m = self._length_m + float(np.linalg.norm(self._hand_in_flange)) + hand_m
        return float(np.linalg.norm(point_in_base_m - self._shoulder)) > most_m

    def too_far(self, pose_flange_in_base: Pose) -> bool:
        """Returns whether the wrist would have to be farther away than it ever gets."""
        wrist = pose_flange_in_base.apply(-self._hand_in_flange)
        return float(np.linalg.norm(wrist - self._shoulder)) > self._length_m
