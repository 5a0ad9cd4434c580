"""Placement of the parts of a cell: at poses, in slots, in populations over trays and regions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from cellwright.catalogue import PARTS, TRAYS, PartFigures, SlotFigures, TrayFigures, seated_pose
from cellwright.cells.models import own_name
from cellwright.cells.placement import Placement
from cellwright.cells.schema import Cell, PartCfg, PopulationCfg
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import ConfigError, UnknownName
from cellwright.core.pose import Pose
from cellwright.core.rng import RandomStreams

__all__ = ["PartPlacer"]

GAP_M = 0.002  # between scattered parts
TRAY_GAP_M = 0.02  # between a scattered part and a tray's place in the drawings, from which the tray may differ
TRIES = 200  # per scattered part


class PartPlacer:
    """Places the parts of a cell into trays that have been placed.

    Args:
        cell: The cell, its names checked.
        trays: Tray -> where it is.
        streams: Random streams for shuffling and scattering.
        errors: Told of what cannot be placed.
        moved: Returns where a part that is drawn at a pose really is: with the table that it stands on.
    """

    def __init__(
        self,
        cell: Cell,
        trays: dict[str, Placement],
        streams: RandomStreams,
        errors: ErrorCollector,
        moved: Callable[[Pose], Pose],
    ) -> None:
        self._cell = cell
        self._trays = trays
        self._streams = streams
        self._errors = errors
        self._moved = moved
        self._taken: dict[str, str] = {}  # slot -> the part in it
        self._loose: list[Placement] = []  # where they are drawn

    def parts(self) -> Iterator[Placement]:
        """Yields all parts: those with names of their own, then the populations, in the order of the file."""
        cell = self._cell
        for name, cfg in cell.parts.items():
            with self._errors.collecting():
                key, tray = ("pose", "") if cfg.slot is None else ("slot", cfg.slot.partition("/")[0])
                yield Placement(name, cfg.model, self._pose(name, cfg), f"parts.{name}.{key}", tray)
        named = {*cell.robots, *cell.mobile_names, *cell.fixtures, *cell.tools, *cell.trays, *cell.parts}
        counts: dict[str, int] = {}
        for where, population in cell.numbered_populations:
            with self._errors.collecting():
                key = f"{where}.{'region' if population.region else 'trays'}"
                for pose, tray in (self._scatter if population.region else self._fill)(where, population):
                    counts[population.model] = number = counts.get(population.model, 0) + 1
                    name = f"{own_name(population.model)}_{number}"
                    if name in named:
                        problem = f"its part {number} needs the name '{name}', which is taken: rename the other"
                        raise ConfigError(cell.where, where, problem)
                    yield Placement(name, population.model, pose, key, tray)

    def _pose(self, name: str, cfg: PartCfg) -> Pose:
        if cfg.pose is not None:
            self._loose.append(Placement(name, cfg.model, cfg.pose.pose))
            return self._moved(cfg.pose.pose)
        assert cfg.slot is not None
        cell, path = self._cell, f"parts.{name}.slot"
        tray_name, slot_name = cfg.slot.split("/")
        if tray_name not in self._trays:
            raise UnknownName("tray", tray_name, self._cell.names_in("trays"), f"{cell.where}: {path}")
        tray = TRAYS.get(self._trays[tray_name].model)
        slots = {slot.name: slot for slot in tray.slots}
        if slot_name not in slots:
            raise UnknownName(f"slot of {tray_name}", slot_name, slots, f"{cell.where}: {path}")
        if cfg.slot in self._taken:
            free = [name for name in slots if f"{tray_name}/{name}" not in self._taken]
            holds = f"'{cfg.slot}' already holds {self._taken[cfg.slot]}"
            raise ConfigError(cell.where, path, f"{holds} (free: {', '.join(free) or 'none'})")
        part = PARTS.get(cfg.model)
        if slots[slot_name].accepts != part.sku:
            right = ", ".join(slot.name for slot in tray.slots if slot.accepts == part.sku) or "none"
            problem = f"'{cfg.slot}' is for {slots[slot_name].accepts}, not {part.sku} (slots for it: {right})"
            raise ConfigError(cell.where, path, problem)
        self._taken[cfg.slot] = name
        return self._seat(tray_name, tray, slots[slot_name], part)

    def _seat(self, tray_name: str, tray: TrayFigures, slot: SlotFigures, part: PartFigures) -> Pose:
        return self._trays[tray_name].pose_in_world @ seated_pose(tray, slot, part)

    def _fill(self, where: str, population: PopulationCfg) -> Iterator[tuple[Pose, str]]:
        """Yields parts in the free slots of trays, in the trays' own order or shuffled; each with its tray."""
        part = PARTS.get(population.model)
        free: list[tuple[str, TrayFigures, SlotFigures]] = []
        unknown = False
        for tray_name in population.trays:
            if tray_name not in self._trays:
                self._errors.add(
                    UnknownName("tray", tray_name, self._cell.names_in("trays"), f"{self._cell.where}: {where}.trays")
                )
                unknown = True
                continue
            figures = TRAYS.get(self._trays[tray_name].model)
            free += [
                (tray_name, figures, slot)
                for slot in figures.slots
                if slot.accepts == part.sku and f"{tray_name}/{slot.name}" not in self._taken
            ]
        if unknown:
            return
        if len(free) < population.count:
            model = own_name(population.model)
            problem = (
                f"{population.count} of {model} wanted, but only {len(free)} free slots fit; lower count, or add trays"
            )
            raise ConfigError(self._cell.where, where, problem)
        order = np.arange(len(free))
        if population.shuffle:
            self._streams.stream(f"layout/{population.model} in {'+'.join(population.trays)}").shuffle(order)
        for index in order[: population.count]:
            tray_name, figures, slot = free[index]
            self._taken[f"{tray_name}/{slot.name}"] = population.model
            yield self._seat(tray_name, figures, slot, part), tray_name

    def _scatter(self, where: str, population: PopulationCfg) -> Iterator[tuple[Pose, str]]:
        """Yields random places in a region, clear of each other and of trays; an error when there is no room."""
        region, part = population.region, PARTS.get(population.model)
        assert region is not None
        low, high = np.array(region.min_xy_m), np.array(region.max_xy_m)
        rng = self._streams.stream(f"layout/{population.model} in {low.tolist()} to {high.tolist()}")
        found = 0
        for _ in range(population.count * TRIES):
            xyz_m = [*rng.uniform(low, high), region.z_m - part.bottom_m]
            pose = Pose.from_xyz_rpy(xyz_m, [0, 0, rng.uniform(-np.pi, np.pi)])
            if self._is_free(part, pose):
                self._loose.append(Placement("", population.model, pose))
                found += 1
                yield self._moved(pose), ""
            if found == population.count:
                return
        wanted = f"{population.count} of {own_name(population.model)}"
        problem = f"no room for {wanted} in the region; {found} fitted: lower count, or widen the region"
        raise ConfigError(self._cell.where, where, problem)

    def _is_free(self, part: PartFigures, pose: Pose) -> bool:
        """Returns whether a part there is clear of loose parts and trays; by the drawings, so both layouts agree."""
        for placed in self._loose:
            other = PARTS.get(placed.model)
            x, y, z = placed.pose_in_world.position - pose.position
            near = np.hypot(x, y) < part.radius_m + other.radius_m + GAP_M
            if near and -other.height_m < z + other.bottom_m - part.bottom_m < part.height_m:
                return False
        for cfg in self._cell.trays.values():
            tray = TRAYS.get(cfg.model)
            x, y, z = cfg.pose.pose.inverse().apply(pose.position)
            apart_m = np.hypot(max(abs(x) - tray.size_m[0] / 2, 0), max(abs(y) - tray.size_m[1] / 2, 0))
            if apart_m < part.radius_m + TRAY_GAP_M and -part.height_m < z + part.bottom_m < tray.thickness_m:
                return False
        return True
