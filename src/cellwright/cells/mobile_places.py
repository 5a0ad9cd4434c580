"""Start poses of the mobile robots of a cell, and their actual wheels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellwright.catalogue import MOBILE_PROFILES, MOBILES, MobileFigures
from cellwright.cells.actual import draw_error
from cellwright.cells.mobiles import Counters, GridCfg, MobileCfg, RingCfg
from cellwright.cells.schema import Cell
from cellwright.core.config import Number, draw
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import ConfigError
from cellwright.core.pose import Pose
from cellwright.core.rng import RandomStreams

__all__ = ["MobilePlacement", "place_mobiles"]

TRIES = 200  # per scattered robot
LEAST = 0.5  # a wheel, a base or a torque is never drawn smaller than this share of its drawing
LEAST_FRICTION = 0.02
FACING_RAD = {"out": 0.0, "in": np.pi, "along": np.pi / 2}


@dataclass(frozen=True)
class MobilePlacement:
    """A robot on wheels at its start.

    Attributes:
        name: Its name.
        model: Its key in the catalogue.
        pose_in_world: Of its frame.
        wheel_radii_m: Left and right.
        wheel_base_m: Between the wheels.
        wheel_frictions: Of the tyres on the floor, left and right.
        motor_torques_nm: The largest, left and right.
        counters: Which steps its counters count.
    """

    name: str
    model: str
    pose_in_world: Pose
    wheel_radii_m: tuple[float, float]
    wheel_base_m: float
    wheel_frictions: tuple[float, float]
    motor_torques_nm: tuple[float, float]
    counters: Counters


def place_mobiles(
    cell: Cell, streams: RandomStreams, collector: ErrorCollector, *, exact: bool
) -> dict[str, MobilePlacement]:
    """Places all mobile robots, in the order of the file: by the drawings, or with the errors that the seed gives them.

    Robots that find no place are added to `collector` as errors.
    """
    placed = {}
    for key, cfg in cell.mobiles.items():
        figures, starts = MOBILES.get(cfg.model), dict[str, Pose]()
        with collector.collecting():
            if cfg.profile is not None:
                MOBILE_PROFILES.get(cfg.profile, f"{cell.where}: mobiles.{key}.profile")
            starts = dict(zip(cfg.names(key), _poses(cell, key, cfg, figures, streams), strict=True))
            _check_within_walls(cell, key, starts, figures)
        for name, pose in starts.items():
            radii, base = (figures.wheel_radius_m,) * 2, figures.wheel_base_m
            frictions, torques = (figures.wheel_friction,) * 2, (figures.motor_torque_nm,) * 2
            if not exact:
                pose = pose @ draw_error(cell.actual.mobile, streams.stream(f"layout/{name}"))
                rng = streams.stream(f"layout/{name}/wheels")
                radii = _drawn_pair(cell.actual.wheel_radius_m, radii, rng, LEAST * radii[0])
                base = max(base + draw(cell.actual.wheel_base_m, rng), LEAST * base)
                frictions = _drawn_pair(cell.actual.wheel_friction, frictions, rng, LEAST_FRICTION)
                torques = _drawn_pair(cell.actual.motor_torque_nm, torques, rng, LEAST * torques[0])
            placed[name] = MobilePlacement(name, cfg.model, pose, radii, base, frictions, torques, cfg.counters)
    return placed


def _drawn_pair(
    error: Number, drawn: tuple[float, float], rng: np.random.Generator, least: float
) -> tuple[float, float]:
    left, right = (max(value + draw(error, rng), least) for value in drawn)
    return left, right


def _check_within_walls(cell: Cell, key: str, starts: dict[str, Pose], figures: MobileFigures) -> None:
    """Refuses a start in a wall or beyond it; inner walls are checked when the world is built."""
    if cell.arena is None:
        return
    to_arena, room_m = cell.arena.pose.pose.inverse(), np.array(cell.arena.size_m) / 2 - figures.radius_m
    outside = [name for name, pose in starts.items() if (np.abs(to_arena.apply(pose.position)[:2]) > room_m).any()]
    if outside:
        size = " x ".join(f"{length:g}" for length in cell.arena.size_m)
        place = ", ".join(f"{number:.3f}" for number in starts[outside[0]].position[:2])
        more = f" (nor are {len(outside) - 1} more)" if outside[1:] else ""
        problem = f"its robot '{outside[0]}' at ({place}) is not within the walls of the arena, which is {size} m{more}"
        raise ConfigError(cell.where, f"mobiles.{key}", problem)


def _poses(cell: Cell, key: str, cfg: MobileCfg, figures: MobileFigures, streams: RandomStreams) -> list[Pose]:
    count, shape = cfg.count or 1, cfg.arrange
    if shape is None:
        return [cfg.pose.pose]
    if isinstance(shape, GridCfg):
        columns = min(shape.columns or int(np.ceil(np.sqrt(count))), count)
        rows = -(-count // columns)
        row, column = np.divmod(np.arange(count), columns)
        x, y = (column - (columns - 1) / 2) * shape.spacing_m, (row - (rows - 1) / 2) * shape.spacing_m
        yaw = np.full(count, np.radians(shape.yaw_deg))
    elif isinstance(shape, RingCfg):
        angle = 2 * np.pi * np.arange(count) / count
        x, y = shape.radius_m * np.cos(angle), shape.radius_m * np.sin(angle)
        yaw = angle + FACING_RAD[shape.facing]
    else:
        rng = streams.stream(f"layout/{key}/scatter")
        found: list[tuple[float, float]] = []
        for _ in range(count * TRIES):
            here = rng.uniform(-0.5, 0.5, 2) * shape.size_m
            apart = np.hypot(*(np.reshape(found, (-1, 2)) - here).T)
            wall_m = _to_inner_walls_m(cell, cfg.pose.pose.apply([*here, 0.0]))
            if (apart >= 2 * figures.radius_m + shape.gap_m).all() and wall_m >= figures.radius_m + shape.gap_m:
                found.append((float(here[0]), float(here[1])))
            if len(found) == count:
                break
        else:
            problem = f"no room for {count} robots in {shape.size_m[0]:g} x {shape.size_m[1]:g} m; {len(found)} fitted"
            raise ConfigError(cell.where, f"mobiles.{key}.arrange", problem)
        x, y = np.array(found).T
        yaw = rng.uniform(-np.pi, np.pi, count)
    return [cfg.pose.pose @ Pose.from_xyz_rpy([*xy, 0.0], [0.0, 0.0, a]) for *xy, a in zip(x, y, yaw, strict=True)]


def _to_inner_walls_m(cell: Cell, position: np.ndarray) -> float:
    """Returns the distance of a point from the nearest wall inside the arena."""
    if cell.arena is None:
        return np.inf
    here, nearest = cell.arena.pose.pose.inverse().apply(position)[:2], np.inf
    for start, end in np.array(cell.arena.inner_walls_m).reshape(-1, 2, 2):
        length = float(np.hypot(*(end - start)))
        along = (end - start) / length
        ahead, aside = (here - start) @ along, abs(along[0] * (here - start)[1] - along[1] * (here - start)[0])
        beyond = max(abs(ahead - length / 2) - length / 2, 0.0), max(aside - cell.arena.wall_thickness_m / 2, 0.0)
        nearest = min(nearest, float(np.hypot(*beyond)))
    return nearest
