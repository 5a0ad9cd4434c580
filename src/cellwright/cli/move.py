"""`cellwright move`: one robot of a simulated cell, by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Annotated

import numpy as np
import typer

from cellwright.catalogue import ROBOTS
from cellwright.cells import cell_hints
from cellwright.cli.numbers import numbers
from cellwright.cli.output import print_json, say, table, tell_hints
from cellwright.control import RobotController
from cellwright.core.errors import BadInput, OutOfRange, UnknownName
from cellwright.core.pose import Pose
from cellwright.lab import Lab
from cellwright.lab.cell_file import read_cell
from cellwright.motion import LineSpeed
from cellwright.sim import TickOrder

__all__ = ["move"]

WATCH_HZ = 250.0


def move(
    cell: Annotated[str, typer.Argument(help="A cell's name, or a YAML file.")],
    robot: Annotated[str | None, typer.Option(help="The robot to move; the cell's first by default.")] = None,
    joints_deg: Annotated[str | None, typer.Option(help="Joint angles in degrees: a,b,c,...")] = None,
    to: Annotated[
        str | None, typer.Option(help="Tool pose in the cell: x,y,z in m, or x,y,z,r,p,y with angles in degrees.")
    ] = None,
    home: Annotated[bool, typer.Option("--home", help="To where the cell starts.")] = False,
    straight: Annotated[bool, typer.Option("--straight", help="The tool along a straight line; with --to.")] = False,
    speed: Annotated[float, typer.Option(help="Fraction of the full speed, above 0 and up to 1.")] = 0.5,
    seed: Annotated[int, typer.Option(help="Decides the actual layout.")] = 0,
    fidelity: Annotated[str | None, typer.Option(help="physics or kinematic; the cell's own by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> int:
    """Moves one robot; prints joints and tool before and after, how far it is off, and how long it took.

    With x,y,z alone the tool keeps its orientation.
    """
    loaded = read_cell(cell)
    if sum((joints_deg is not None, to is not None, home)) != 1:
        raise BadInput("give one goal: --joints-deg, --to or --home")
    if straight and to is None:
        raise BadInput("--straight needs a pose to go to: --to x,y,z[,r,p,y]")
    if not 0 < speed <= 1:
        raise OutOfRange("speed", speed, 0, 1)
    if not loaded.robots:
        raise BadInput(f"{loaded.where}: the cell has no robot; add one under robots")
    name = robot or next(iter(loaded.robots))
    if name not in loaded.robots:
        raise UnknownName("robot", name, loaded.robots, loaded.where)
    count = len(ROBOTS.get(loaded.robots[name].model).joints)
    angles = numbers("--joints-deg", joints_deg, (count,)) if joints_deg is not None else None
    target = numbers("--to", to, (3, 6)) if to is not None else None
    tell_hints(cell_hints(loaded))
    with Lab.from_cell(loaded, seed, fidelity=fidelity) as lab:
        arm = lab.robot(name)
        pose = _pose(arm, target) if target is not None else None
        before, start_s = _state(arm), lab.world.clock.time_s
        with _watch(lab, name) as following:
            if angles is not None:
                lab.perform(arm.move_joints(np.radians(angles), speed))
            elif pose is None:
                lab.perform(arm.move_home(speed))
            elif straight:
                full = LineSpeed()
                line = LineSpeed(*(speed * getattr(full, field.name) for field in fields(full)))
                lab.perform(arm.move_tool_straight(pose, line))
            else:
                lab.perform(arm.move_tool(pose, speed))
        duration_s = lab.world.clock.time_s - start_s
        after, reached = _state(arm), arm.tool_in_world
    report = {
        "cell": cell, "robot": name, "seed": seed, "duration_s": duration_s, "before": before, "after": after,
        "following_error_deg": following.worst_deg, "end_error_deg": following.last_deg,
        "position_error_mm": 1000 * reached.distance_m(pose) if pose is not None else None,
        "rotation_error_deg": float(np.degrees(reached.angle_rad(pose))) if pose is not None else None,
    }  # fmt: skip
    if as_json:
        print_json(report)
        return 0
    names = [joint.name for joint in ROBOTS.get(loaded.robots[name].model).joints]
    rows = []
    for key, labels, unit, places in (
        ("joints_deg", names, "deg", 3),
        ("tool_xyz_m", ["tool x", "tool y", "tool z"], "m", 5),
        ("tool_rpy_deg", ["tool roll", "tool pitch", "tool yaw"], "deg", 3),
    ):
        pairs = zip(labels, before[key], after[key], strict=True)
        rows += [(label, *(f"{value:.{places}f}" for value in values), unit) for label, *values in pairs]
    table(f"{name} in {loaded.name}, seed {seed}", ["", "before [-]", "after [-]", ""], rows, markup=False)
    off = f", the tool {report['position_error_mm']:.3f} mm off its goal" if pose is not None else ""
    on_way, at_end = following.worst_deg, following.last_deg
    say(f"moved in {duration_s:.3f} s; joints at most {on_way:.3f} deg behind, {at_end:.4f} deg in the end{off}")
    return 0


@dataclass
class _TrackingError:
    """The tracking error of the joints: at most, and in the end."""

    worst_deg: float = 0.0
    last_deg: float = 0.0


@contextmanager
def _watch(lab: Lab, robot: str) -> Iterator[_TrackingError]:
    """Measures the tracking error of a robot's joints while it moves."""
    seen, world = _TrackingError(), lab.world
    index = world.robot(robot)

    def look() -> None:
        error_rad = world.data.qpos[index.qpos] - world.data.ctrl[index.ctrl_position]
        seen.last_deg = float(np.degrees(np.abs(error_rad).max()))
        seen.worst_deg = max(seen.worst_deg, seen.last_deg)

    # After the physics and before the next set-point: what is seen is the error, not the set-point's own step.
    ticking = lab.stepper.every(
        world.clock.period_ticks(WATCH_HZ), look, order=TickOrder.SENSOR, name="following error"
    )
    try:
        yield seen
    finally:
        look()
        ticking.cancel()


def _pose(arm: RobotController, target: list[float]) -> Pose:
    if len(target) == 3:
        return Pose(np.array(target), arm.tool_in_world.quaternion)
    return Pose.from_xyz_rpy(target[:3], np.radians(target[3:]))


def _state(arm: RobotController) -> dict[str, list[float]]:
    """Returns joints and tool as the controller believes: encoders, and the nominal arm behind them."""
    pose = arm.tool_in_world
    return {
        "joints_deg": np.degrees(arm.joints_rad).tolist(),
        "tool_xyz_m": pose.position.tolist(),
        "tool_rpy_deg": np.degrees(pose.rpy).tolist(),
    }
