"""Which slots of which trays a robot reaches with its tool: asked of its inverse kinematics, by the drawings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cellwright.catalogue import ROBOTS, TOOLS, ArmFigures, GripperFigures, part_of_sku
from cellwright.cells import RobotCfg
from cellwright.core.pose import Pose
from cellwright.knowledge.tray_layout import SlotPlace
from cellwright.motion import ArmKinematics, Grasp, GraspKind, find_grasps
from cellwright.motion.chain import SerialChain

__all__ = ["APPROACH_M", "SlotReach", "top_grasps"]

APPROACH_M = 0.10  # how far above a part the tool must get, too
TURNS = 12  # of the tool about a round part's axis; any of them will do


def top_grasps(sku: str, tool: GripperFigures) -> list[Grasp]:
    """How the tool can take a part from above, best first; none when it cannot."""
    found = find_grasps(part_of_sku(sku), tool, turns=TURNS, approach_m=APPROACH_M)
    return [grasp for grasp in found if grasp.kind is GraspKind.TOP]


class SlotReach:
    """What one robot reaches."""

    def __init__(self, robot: RobotCfg, base: Pose) -> None:
        self._kinematics = ArmKinematics(ROBOTS.get(robot.model))
        self._stretch = _Stretch(ROBOTS.get(robot.model))
        self._home_rad = np.radians(robot.home_deg)
        self._tool = None if robot.tool is None else TOOLS.get(robot.tool)
        self._world_in_base = base.inverse()
        self._flange_in_tcp = Pose.from_xyz_rpy(self._tool.tcp_xyz_m if self._tool else (0.0, 0.0, 0.0)).inverse()
        self._grasps: dict[str, list[Grasp]] = {}

    def grasps(self, sku: str) -> list[Grasp]:
        """Those from above with the robot's tool."""
        if sku not in self._grasps:
            self._grasps[sku] = [] if self._tool is None else top_grasps(sku, self._tool)
        return self._grasps[sku]

    def reached(self, trays: Sequence[tuple[Pose, Iterable[SlotPlace]]]) -> list[bool]:
        """Of each tray, whether the tool gets to the part in every slot, and to the approach above it.

        A slot for which the tool has no grasp does not count against a tray; a tray without any other is not reached.
        The turns of the tool are tried one after the other, for all slots at once: the first is mostly enough.
        """
        waiting: dict[tuple[int, int], list[tuple[Pose, Pose]]] = {}
        for number, (pose_tray, slots) in enumerate(trays):
            for index, slot in enumerate(slots):
                pose_part = pose_tray @ slot.pose_part_in_tray
                waiting[number, index] = [
                    (self._flange(pose_part @ grasp.pose_tcp), self._flange(pose_part @ grasp.pose_approach))
                    for grasp in self.grasps(slot.sku)
                ]
        waiting = {key: ways for key, ways in waiting.items() if ways}
        possible = {number for number, _ in waiting}
        far = {key[0] for key, ways in waiting.items() if all(any(map(self._stretch.too_far, way)) for way in ways)}
        waiting = {key: ways for key, ways in waiting.items() if key[0] not in far}
        possible -= far
        while waiting:
            keys = list(waiting)
            poses = [pose for key in keys for pose in waiting[key].pop(0)]
            found = self._kinematics.inverse_of_many(poses, self._home_rad)
            for key, at, above in zip(keys, found[::2], found[1::2], strict=True):
                if len(at) and len(above):
                    waiting.pop(key, None)
                elif (
                    key in waiting and not waiting[key]
                ):  # no turn is left: the tray is out of reach, and its other slots do not matter
                    possible.discard(key[0])
                    waiting = {other: ways for other, ways in waiting.items() if other[0] != key[0]}
        return [number in possible for number in range(len(trays))]

    def _flange(self, pose_tcp_in_world: Pose) -> Pose:
        return self._world_in_base @ pose_tcp_in_world @ self._flange_in_tcp


class _Stretch:
    """How far the wrist gets at most: a search for what is plainly too far away takes longest."""

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

    def too_far(self, pose_flange_in_base: Pose) -> bool:
        wrist = pose_flange_in_base.apply(-self._hand_in_flange)
        return float(np.linalg.norm(wrist - self._shoulder)) > self._length_m
