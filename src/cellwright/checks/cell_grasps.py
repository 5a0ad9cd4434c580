"""Conformance of tools and parts: which tool takes which part, at which height, and why another does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cellwright.catalogue import CHANGERS, TOOLS, GripperFigures, PartFigures, VacuumFigures
from cellwright.catalogue.tools import ToolFigures
from cellwright.cells import Layout, own_name
from cellwright.checks.finding import Finding
from cellwright.core.pose import Pose
from cellwright.core.ring import KinematicRing
from cellwright.drawings.reach import WristRange
from cellwright.motion import ArmKinematics, Grasp, GraspKind, find_grasps
from cellwright.sim import World

__all__ = ["RobotTool", "check_grasps", "hands_of"]

APPROACH_M = 0.05  # how far before a part the tool must get, too, as the executor comes
TURNS = 8  # of a tool about a round part's axis; any of them will do
YAWS_RAD = tuple(np.radians([0.0, 90.0, 45.0, -45.0]).tolist())


@dataclass(frozen=True, eq=False, kw_only=True)
class RobotTool:
    """A robot with one of the tools that it may have.

    Attributes:
        robot: The robot's name.
        tool: Its name in the cell.
        figures: Of the tool; None of a bare flange.
        handles: Models of the parts that the cell means it for; None for all.
        ring: The transforms of base and tool.
        home_rad: The joint angles at which the arm starts.
        known: Part -> its grasps, once they were asked for.
    """

    robot: str
    tool: str
    figures: ToolFigures | None
    handles: Sequence[str] | None
    kinematics: ArmKinematics
    stretch: WristRange
    ring: KinematicRing
    home_rad: np.ndarray
    known: dict[str, tuple[Grasp, ...]] = field(default_factory=dict, repr=False)

    def ways(self, part: PartFigures) -> list[tuple[Pose, Pose]]:
        """Returns poses of the tool in the part's frame, taking it and before, best first; none if it cannot."""
        if self.handles is not None and part.name not in self.handles:
            return []
        if self.figures is None:  # a flange takes nothing; it should get there all the same
            return [_down(part.grasp_xyz_m, yaw_rad) for yaw_rad in YAWS_RAD]
        if isinstance(self.figures, VacuumFigures):
            top = (0.0, 0.0, part.bottom_m + part.height_m)
            return [_down(top, yaw_rad) for yaw_rad in YAWS_RAD] if self.figures.fits(part) else []
        return [(grasp.pose_tcp, grasp.pose_approach) for grasp in self.grasps(part) if grasp.possible]

    def grasps(self, part: PartFigures) -> tuple[Grasp, ...]:
        """Returns all grasps of a gripper, from above first, the impossible ones last."""
        if not isinstance(self.figures, GripperFigures):
            return ()
        if part.name not in self.known:
            self.known[part.name] = _grasps(part, self.figures)
        return self.known[part.name]

    def reached(self, points: Mapping[str, tuple[PartFigures, Pose]]) -> set[str]:
        """Returns the parts, by their names and places, that it can take where they are."""
        waiting = {name: self.ways(part) for name, (part, _) in points.items()}
        found: set[str] = set()
        for turn in range(max(map(len, waiting.values()), default=0)):
            names = [name for name, ways in waiting.items() if turn < len(ways) and name not in found]
            poses = [
                self.ring.flange_for_tool(points[name][1] @ pose) for name in names for pose in waiting[name][turn]
            ]
            near = [not self.stretch.too_far(pose) for pose in poses]
            targets = [pose for pose, is_near in zip(poses, near, strict=True) if is_near]
            solved = iter(self.kinematics.inverse_of_many(targets, self.home_rad))
            there = [is_near and len(next(solved)) > 0 for is_near in near]
            found |= {name for name, at, before in zip(names, there[::2], there[1::2], strict=True) if at and before}
        return found

    def why_not(self, part: PartFigures) -> str:
        """Returns the reasons against taking a part with it."""
        if self.handles is not None and part.name not in self.handles:
            return f"the cell means it for {', '.join(self.handles)}"
        if self.figures is None:
            return "it has no tool"
        if not isinstance(self.figures, GripperFigures):
            return "it is not flat enough on top, or too heavy for the cup"
        reasons = {grasp.kind: grasp.reason for grasp in reversed(self.grasps(part))}
        names = {GraspKind.TOP: "above", GraspKind.SIDE: "the side"}
        return "; ".join(f"from {names[kind]} {reason}" for kind, reason in reasons.items())


def hands_of(world: World, nominal: Layout) -> list[RobotTool]:
    """Returns every robot with every tool that it may have, by the drawings."""
    found = []
    for name, robot in world.robots.items():
        cfg = world.cell.robots[name]
        kinematics, stretch = ArmKinematics(robot.figures), WristRange(robot.figures)
        tools: list[tuple[str, ToolFigures | None, Sequence[str] | None]] = [(robot.tool_name, None, None)]
        end = Pose.identity()
        if cfg.changer is not None:
            changer = CHANGERS.get(cfg.changer)
            end = Pose.from_xyz_rpy(changer.coupling_in_flange_m) @ Pose.from_xyz_rpy([0, 0, changer.coupling_height_m])
            loose = world.cell.tools.items()
            tools = [(tool, TOOLS.get(item.model), item.handles) for tool, item in loose] or tools
        elif robot.hand is not None:
            tools = [(robot.tool_name, robot.hand.figures, None)]
        for tool, figures, handles in tools:
            tip = end if figures is None else end @ Pose.from_xyz_rpy(figures.tcp_xyz_m)
            ring = KinematicRing(nominal.bases[name], tip)
            found.append(
                RobotTool(
                    robot=name,
                    tool=tool,
                    figures=figures,
                    handles=handles,
                    kinematics=kinematics,
                    stretch=stretch,
                    ring=ring,
                    home_rad=np.radians(cfg.home_deg),
                )
            )
    return found


def check_grasps(world: World, hands: Iterable[RobotTool]) -> list[Finding]:
    """Checks that each kind of part can be taken by some tool; says at which height and how wide."""
    armed = [hand for hand in hands if hand.figures is not None]
    parts = {p.figures.name: p.figures for p in world.objects.values() if isinstance(p.figures, PartFigures)}
    return [_check_part(part, armed) for part in parts.values()] if armed else []


def _check_part(part: PartFigures, hands: Sequence[RobotTool]) -> Finding:
    told: list[str] = []
    values: dict[str, float] = {}
    check = f"grasp {own_name(part.name)}"
    for hand in hands:
        best = next((grasp for grasp in hand.grasps(part) if grasp.possible), None)
        who = f"{hand.robot} with {hand.tool}"
        if best is not None and hand.ways(part):
            height_m = float(best.pose_tcp.position[2]) - part.bottom_m
            side = "" if best.kind is GraspKind.TOP else " from the side"
            told.append(f"{who}{side} at {1000 * height_m:.1f} mm, {1000 * best.width_m:.1f} mm wide, {best.reason}")
            values |= {f"{hand.robot}.{hand.tool}.height_m": height_m}
            values |= {f"{hand.robot}.{hand.tool}.width_m": best.width_m}
        elif hand.ways(part):
            told.append(f"{who} on its top")
    if told:
        return Finding(check, True, "; ".join(told), values)
    why = "; ".join(f"{hand.robot} with {hand.tool}: {hand.why_not(part)}" for hand in hands)
    fitting = ", ".join(_takers(part)) or "none of the catalogue does"
    remedy = f"give a robot a tool that takes it ({fitting}), or the part something to hold it by"
    return Finding(check, False, f"no tool takes it: {why}", values, remedy)


def _takers(part: PartFigures) -> list[str]:
    """Returns tools of the catalogue that take a part."""
    grippers = {name: tool for name in TOOLS if isinstance(tool := TOOLS.get(name), GripperFigures)}
    cups = [name for name in TOOLS if isinstance(tool := TOOLS.get(name), VacuumFigures) and tool.fits(part)]
    able = [name for name, tool in grippers.items() if any(g.possible for g in _grasps(part, tool))] + cups
    return list(dict.fromkeys(own_name(name) for name in able))


def _grasps(part: PartFigures, tool: GripperFigures) -> tuple[Grasp, ...]:
    found = find_grasps(part, tool, turns=TURNS, approach_m=APPROACH_M, impossible_too=True)

    def rank(grasp: Grasp) -> tuple[bool, bool, float]:
        """Returns the sort key of a grasp: of impossible ones the nearest to possible comes first."""
        return not grasp.possible, grasp.kind is not GraspKind.TOP, 0.0 if grasp.possible else -grasp.clearance_m

    return tuple(sorted(found, key=rank))


def _down(point_m: Sequence[float], yaw_rad: float) -> tuple[Pose, Pose]:
    """Returns the tool at a point and before, pointing down."""
    pose = Pose.from_xyz_rpy(point_m, [np.pi, 0.0, yaw_rad])
    return pose, pose @ Pose.from_xyz_rpy([0.0, 0.0, -APPROACH_M])
