"""From a cell to poses: the nominal layout of the drawings, and an actual one drawn from the seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from cellwright.catalogue import (
    FURNITURE,
    PARTS,
    ROBOTS,
    TOOLS,
    TRAYS,
    GearFigures,
    SlotFigures,
    TrayFigures,
    seated_height_m,
)
from cellwright.cells.schema import Cell, ObjectCfg, PopulationCfg, PoseErrorCfg
from cellwright.core.config import draw
from cellwright.core.errors import ConfigError, UnknownName
from cellwright.core.pose import Pose
from cellwright.core.rng import Streams

__all__ = ["Layout", "Placement", "actual_layout", "nominal_layout"]


@dataclass(frozen=True)
class Placement:
    """A loose object: its name, its model, its pose in the world."""

    name: str
    model: str
    pose_in_world: Pose


@dataclass(frozen=True)
class Layout:
    """Where everything is: by the drawings, or in fact.

    Attributes:
        bases: Robot -> pose of its base in the world.
        tools: Robot -> error of its tool's mounting, in the flange frame.
        joint_zeros_rad: Robot -> how far each joint really is beyond what its encoder says.
        fixtures: Fixture -> pose in the world.
        camera_errors: Fixture -> how far what it sees is shifted; identity unless it carries a camera.
        trays: Trays, in the order of the file.
        parts: Parts, in the order of the file, populations last.
    """

    bases: dict[str, Pose]
    tools: dict[str, Pose]
    joint_zeros_rad: dict[str, np.ndarray]
    fixtures: dict[str, Pose]
    camera_errors: dict[str, Pose]
    trays: tuple[Placement, ...]
    parts: tuple[Placement, ...]
    objects: dict[str, Placement] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "objects", {p.name: p for p in (*self.trays, *self.parts)})


def nominal_layout(cell: Cell, seed: int) -> Layout:
    """The drawings; the seed only decides what the cell leaves to it (shuffled and scattered populations)."""
    return _lay_out(cell, Streams(seed), exact=True)


def actual_layout(cell: Cell, seed: int) -> Layout:
    """One draw of reality: every error of the cell's `actual` section, from streams named after the objects."""
    return _lay_out(cell, Streams(seed), exact=False)


def _lay_out(cell: Cell, streams: Streams, *, exact: bool) -> Layout:
    _check_names(cell)

    def erred(pose: Pose, errors: PoseErrorCfg, name: str) -> Pose:
        return pose if exact else pose @ _draw_error(errors, streams.stream(f"layout/{name}"))

    actual = cell.actual
    trays = []
    for name, cfg in cell.trays.items():
        if cfg.pose is None:
            raise ConfigError(cell.where, f"trays.{name}", "a tray needs a pose; trays cannot lie in slots")
        trays.append(Placement(name, cfg.model, erred(cfg.pose.pose, actual.tray, name)))
    zeros = {}
    for name, robot in cell.robots.items():
        count = len(ROBOTS.get(robot.model).joints)
        rng = streams.stream(f"layout/{name}/joint_zero")
        zeros[name] = np.zeros(count) if exact else np.radians([draw(actual.joint_zero_deg, rng) for _ in range(count)])
    return Layout(
        bases={n: erred(r.base.pose, actual.robot_base, n) for n, r in cell.robots.items()},
        tools={n: erred(Pose.identity(), actual.tool, f"{n}/tool") for n in cell.robots},
        joint_zeros_rad=zeros,
        fixtures={n: f.pose.pose for n, f in cell.fixtures.items()},
        camera_errors={
            n: erred(Pose.identity(), actual.camera, n)
            for n, f in cell.fixtures.items()
            if FURNITURE.get(f.model).has_camera
        },
        trays=tuple(trays),
        parts=tuple(_parts(cell, {t.name: t for t in trays}, streams)),
    )


def _draw_error(errors: PoseErrorCfg, rng: np.random.Generator) -> Pose:
    xyz = [draw(errors.x_m, rng), draw(errors.y_m, rng), draw(errors.z_m, rng)]
    return Pose.from_xyz_rpy(xyz, [0, 0, np.radians(draw(errors.yaw_deg, rng))])


def _check_names(cell: Cell) -> None:
    """Every model exists, every start configuration fits its arm, no name is used twice."""
    used: dict[str, str] = {}
    for section in ("robots", "fixtures", "trays", "parts"):
        for name in getattr(cell, section):
            if name in used:
                raise ConfigError(cell.where, f"{section}.{name}", f"the name is taken by {used[name]}.{name}")
            used[name] = section
    for name, robot in cell.robots.items():
        arm = ROBOTS.get(robot.model, f"{cell.where}: robots.{name}.model")
        if robot.tool is not None:
            TOOLS.get(robot.tool, f"{cell.where}: robots.{name}.tool")
        if len(robot.home_deg) != len(arm.joints):
            problem = f"{robot.model} has {len(arm.joints)} joints, got {len(robot.home_deg)} angles"
            raise ConfigError(cell.where, f"robots.{name}.home_deg", problem)
        for joint, angle_deg in zip(arm.joints, robot.home_deg, strict=True):
            low, high = np.degrees(joint.position_limits_rad)
            if not low <= angle_deg <= high:
                problem = f"{joint.name} at {angle_deg:g} deg is outside {low:.1f} to {high:.1f} deg"
                raise ConfigError(cell.where, f"robots.{name}.home_deg", problem)
    for name, fixture in cell.fixtures.items():
        FURNITURE.get(fixture.model, f"{cell.where}: fixtures.{name}.model")
    for name, tray in cell.trays.items():
        TRAYS.get(tray.model, f"{cell.where}: trays.{name}.model")
    for name, part in cell.parts.items():
        PARTS.get(part.model, f"{cell.where}: parts.{name}.model")
    for i, population in enumerate(cell.populations):
        PARTS.get(population.model, f"{cell.where}: populations.{i}.model")


def _parts(cell: Cell, trays: dict[str, Placement], streams: Streams) -> Iterator[Placement]:
    taken: dict[str, str] = {}
    for name, cfg in cell.parts.items():
        yield Placement(name, cfg.model, _part_pose(cell, name, cfg, trays, taken))
    counts: dict[str, int] = {}
    for i, population in enumerate(cell.populations):
        where = f"populations.{i}"
        poses = list(
            _scatter(cell, where, population, streams)
            if population.region
            else _fill(cell, where, population, trays, taken, streams)
        )
        for pose in poses:
            counts[population.model] = counts.get(population.model, 0) + 1
            name = f"{population.model}_{counts[population.model]}"
            if name in cell.parts:
                raise ConfigError(cell.where, f"parts.{name}", f"the name is needed by {where}; choose another")
            yield Placement(name, population.model, pose)


def _part_pose(cell: Cell, name: str, cfg: ObjectCfg, trays: dict[str, Placement], taken: dict[str, str]) -> Pose:
    if cfg.pose is not None:
        return cfg.pose.pose
    assert cfg.slot is not None
    where = f"{cell.where}: parts.{name}.slot"
    tray_name, slot_name = cfg.slot.split("/")
    if tray_name not in trays:
        raise UnknownName("tray", tray_name, trays, where)
    tray = TRAYS.get(trays[tray_name].model)
    slots = {slot.name: slot for slot in tray.slots}
    if slot_name not in slots:
        raise UnknownName(f"slot of {tray_name}", slot_name, slots, where)
    if cfg.slot in taken:
        raise ConfigError(cell.where, f"parts.{name}.slot", f"'{cfg.slot}' already holds {taken[cfg.slot]}")
    part = PARTS.get(cfg.model)
    if slots[slot_name].accepts != part.sku:
        problem = f"'{cfg.slot}' is for {slots[slot_name].accepts}, not {part.sku}"
        raise ConfigError(cell.where, f"parts.{name}.slot", problem)
    taken[cfg.slot] = name
    return trays[tray_name].pose_in_world @ _seat(tray, slots[slot_name], part)


def _seat(tray: TrayFigures, slot: SlotFigures, part: GearFigures) -> Pose:
    """A seated part's pose in its tray."""
    return Pose.from_xyz_rpy([*slot.xy_m, seated_height_m(tray, slot, part)])


def _fill(
    cell: Cell,
    where: str,
    population: PopulationCfg,
    trays: dict[str, Placement],
    taken: dict[str, str],
    streams: Streams,
) -> Iterator[Pose]:
    part: GearFigures = PARTS.get(population.model)
    free: list[tuple[str, TrayFigures, SlotFigures]] = []
    for tray_name in population.trays:
        if tray_name not in trays:
            raise UnknownName("tray", tray_name, trays, f"{cell.where}: {where}.trays")
        figures = TRAYS.get(trays[tray_name].model)
        free += [
            (tray_name, figures, slot)
            for slot in figures.slots
            if slot.accepts == part.sku and f"{tray_name}/{slot.name}" not in taken
        ]
    if len(free) < population.count:
        problem = f"{population.count} of {population.model} wanted, but only {len(free)} free slots fit"
        raise ConfigError(cell.where, where, problem)
    order = np.arange(len(free))
    if population.shuffle:
        streams.stream(f"layout/{where}").shuffle(order)
    for index in order[: population.count]:
        tray_name, figures, slot = free[index]
        taken[f"{tray_name}/{slot.name}"] = population.model
        yield trays[tray_name].pose_in_world @ _seat(figures, slot, part)


def _scatter(cell: Cell, where: str, population: PopulationCfg, streams: Streams) -> Iterator[Pose]:
    """Parts at random places of a region, no two closer than their size; gives up with a reason when it is full."""
    region = population.region
    assert region is not None
    rng = streams.stream(f"layout/{where}")
    gap_m = 2 * PARTS.get(population.model).tip_radius_m + 0.002
    low, high = np.array(region.min_xy_m), np.array(region.max_xy_m)
    chosen: list[np.ndarray] = []
    for _ in range(population.count * 200):
        xy = rng.uniform(low, high)
        if all(np.linalg.norm(xy - other) >= gap_m for other in chosen):
            chosen.append(xy)
            yield Pose.from_xyz_rpy([*xy, region.z_m], [0, 0, rng.uniform(-np.pi, np.pi)])
        if len(chosen) == population.count:
            return
    problem = f"no room for {population.count} of {population.model} in the region; {len(chosen)} fitted"
    raise ConfigError(cell.where, where, problem)
