"""A scene resolved into collision bodies: which pairs of them can touch, and the convex pieces of each.

Both checkers are made from this, so they cannot disagree about what is checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from cellwright.core.pose import Pose
from cellwright.core.ring import KinematicRing
from cellwright.motion.planning.pieces import ConvexPiece, arm_pieces, shape_pieces, tool_pieces
from cellwright.motion.planning.scene import TOOL, Scene

__all__ = ["CollisionBodies", "CollisionBody"]

WORLD = 0


@dataclass(frozen=True, eq=False)
class CollisionBody:
    """One named rigid body.

    Attributes:
        name: As in the scene.
        frame: The number of the joint that moves it, from 1, or 0 when nothing does.
        pieces: Its solids, in the frame of that joint's link, or in the world.
        chain: Its place in the robot: 0 for the base, then the links, the tool, the held object; none for obstacles.
    """

    name: str
    frame: int
    pieces: tuple[ConvexPiece, ...]
    chain: int | None = None


class CollisionBodies:
    """All collision bodies of a scene and the pairs of them that must not touch.

    Attributes:
        scene: The scene that was resolved.
        bodies: Base and links, tool, held object, obstacles.
        ring: Base and tool centre point, as the scene has them.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        robot = scene.robot
        joints = len(robot.arm.joints)
        pieces = arm_pieces(robot.arm)
        flange = Pose.from_xyz_rpy(robot.arm.flange_xyz_m, robot.arm.flange_rpy_rad)
        base = tuple(piece.moved(robot.pose_base_in_world) for piece in pieces.get(robot.links[0], []))
        bodies = [CollisionBody(robot.links[0], WORLD, base, 0)]
        for number, link in enumerate(robot.links[1:], start=1):
            bodies.append(CollisionBody(link, number, tuple(pieces.get(link, [])), number))
        pose_tool_in_flange = Pose.identity()
        if robot.tool:
            solids, pose_tool_in_flange = tool_pieces(robot.tool, robot.tool_joints)
            bodies.append(CollisionBody(TOOL, joints, _moved(solids, flange), joints + 1))
        if scene.held:
            place = flange @ pose_tool_in_flange @ scene.held.pose_in_tool
            bodies.append(
                CollisionBody(scene.held.name, joints, _moved(shape_pieces(scene.held.shape), place), joints + 2)
            )
        for obstacle in scene.obstacles:
            bodies.append(
                CollisionBody(obstacle.name, WORLD, _moved(shape_pieces(obstacle.shape), obstacle.pose_in_world), None)
            )
        self.bodies = tuple(bodies)
        self.ring = KinematicRing(robot.pose_base_in_world, pose_tool_in_flange)
        self.pose_flange_in_link = flange

    @cached_property
    def pairs(self) -> tuple[tuple[CollisionBody, CollisionBody], ...]:
        """The pairs that must not touch, the one nearer to the hand first."""
        found = [
            (b, a) if b.chain is not None else (a, b) for a, b in combinations(self.bodies, 2) if self._checked(a, b)
        ]
        return tuple(sorted(found, key=lambda pair: -(pair[0].chain or 0)))

    def _checked(self, a: CollisionBody, b: CollisionBody) -> bool:
        """Returns whether a pair is checked; neighbours in the chain, and tool and last link but one, may touch."""
        if a.frame == b.frame or frozenset((a.name, b.name)) in self.scene.allowed:
            return False
        if a.chain is None or b.chain is None:
            return True
        last = len(self.scene.robot.arm.joints)
        reach = 2 if max(a.chain, b.chain) == last + 1 else 1
        return abs(a.chain - b.chain) > reach


def _moved(pieces: Sequence[ConvexPiece], pose: Pose) -> tuple[ConvexPiece, ...]:
    return tuple(piece.moved(pose) for piece in pieces)
