"""The format of cell files; `Cell` is its validated form.

A cell describes the *nominal* layout, the drawings, and under `actual` how far reality may be from them.
Files use metres and degrees, and every key says so; inside the program angles are radians.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, PrivateAttr, model_validator

from cellwright.catalogue import CHANGERS, FURNITURE, MOBILE_PROFILES, MOBILES, PARTS, ROBOTS, TOOLS, TRAYS
from cellwright.catalogue.model_settings import ModelSettings
from cellwright.cells.actual import Actual, ActualCfg
from cellwright.cells.cameras import CameraCfg
from cellwright.cells.error_sizes import ERROR_SIZES
from cellwright.cells.fields import Angle, Name, PoseCfg, Vector, checked_name
from cellwright.cells.interfaces import CrclCfg, RosCfg, VisionCfg
from cellwright.cells.mobiles import ArenaCfg, MobileCfg, MobileName, RoughnessCfg
from cellwright.cells.part_entries import PartCfg, PopulationCfg
from cellwright.cells.projectors import ProjectorCfg
from cellwright.cells.safety import SafetyCfg
from cellwright.cells.straight_slots import SlotsCfg
from cellwright.cells.targets import CellTargetsCfg
from cellwright.cells.tools import LooseToolCfg
from cellwright.core.config import Cfg, validate
from cellwright.core.errors import UnknownName
from cellwright.core.registry import Registry

__all__ = [
    "Cell",
    "FixtureCfg",
    "PartCfg",
    "PopulationCfg",
    "PoseCfg",
    "RobotCfg",
    "TrayCfg",
    "cell_json_schema",
    "checked_name",
]

Fidelity = Literal["physics", "kinematic"]


class RobotCfg(Cfg):
    """An arm: its model, its place, its fixed tool or tool changer, its start configuration.

    Attributes:
        model: The arm's model.
        base: Its place.
        tool: A tool that stays on its flange.
        changer: A tool changer instead; its tools stand under `tools`.
        home_deg: The joint angles with which it starts; without them, those of its model's figures.
        crcl: Its CRCL server.
        vision: Its vision server; without it there is none.
    """

    model: str
    base: PoseCfg
    tool: str | None = None
    changer: str | None = None
    home_deg: tuple[Angle, ...] = ()
    crcl: CrclCfg = CrclCfg()
    vision: VisionCfg | None = None

    @model_validator(mode="after")
    def _at_home(self) -> Self:
        if not self.home_deg and self.model in ROBOTS:
            home_deg = tuple(np.degrees(ROBOTS.get(self.model).home_rad).tolist())
            object.__setattr__(self, "home_deg", home_deg)
        return self


class FixtureCfg(Cfg):
    """An object that never moves: tables, fences, posts.

    Attributes:
        model: The fixture's model.
        pose: Its place.
    """

    model: str
    pose: PoseCfg


class TrayCfg(Cfg):
    """A tray, loose or clamped.

    Attributes:
        model: The tray's model.
        pose: Its place.
        clamped: Whether it is held fast where it stands, by a weld to what it stands on.
        slots: Clearance and chamfer of its straight slots, where they are other than its model's.
    """

    model: str
    pose: PoseCfg
    clamped: bool = False
    slots: SlotsCfg | None = None


class ViewCfg(Cfg):
    """The viewpoint for pictures of the cell.

    Attributes:
        eye_m: The point from which the picture is taken.
        target_m: The point in the middle of the picture.
    """

    eye_m: Vector
    target_m: Vector


class Cell(Cfg):
    """A whole cell.

    Attributes:
        name: Its name in logs, reports and errors.
        title: Its name for people.
        description: A few sentences about it.
        timestep_s: Step of the physics.
        fidelity: `physics` with contacts and forces, or `kinematic`: arms move as commanded, nothing falls or slips.
        view: The viewpoint for pictures; without it, one from which the work is seen.
        models: Robots, tools, parts and fixtures from files, by the names that the other sections use: a figures file,
            or a description and what it does not say itself.
        plugins: Python files beside the cell's, imported once: they register trays, kit designs, sensors, faults,
            planners and controllers of trials of the user's own.
        robots: The arms.
        mobiles: Robots on wheels: one, or several of a kind under one key.
        arena: Walls for them to drive between; a fixture of the name `arena`.
        floor_roughness: How rough the floor is below robots on wheels, drawn once per seed; pictures do not show it.
        fixtures: Objects that never move.
        tools: Tools that robots with a changer take and leave.
        trays: Parts trays and kit trays.
        parts: Loose parts, one by one.
        populations: Loose parts, several of a kind.
        cameras: What cameras are other than their fixtures' figures say, and cameras that nothing carries.
        projectors: What projectors are other than their fixtures' figures say, and projectors that nothing carries.
        actual: Errors of the real cell against its drawings, or the name of their size: `as_built` or `calibrated`.
        sensors: One mapping each, with `type` naming a registered sensor; those of plugins have keys of their own.
        settle_s: After placing, physics runs until all is at rest, at most so long, before the clock starts.
        safety: Zones, and the guards around them.
        ros: What ROS programs see of it under other names.
        targets: Robots and detectors that are somewhere else, at addresses; the others are simulated.
        variants: Name -> what is different, in the form of the file itself; a key whose value is `null` is left out.
            The variant `launch` of the cell `rovi` is loaded as `rovi@launch`, with errors of a named size as well as
            `rovi@launch@as_built`.
    """

    name: Name
    title: str
    description: str = ""
    timestep_s: Annotated[float, Field(ge=0.0002, le=0.01)] = 0.002
    fidelity: Fidelity = "physics"
    settle_s: Annotated[float, Field(ge=0, le=60)] = 3.0
    view: ViewCfg | None = None
    models: dict[Name, ModelSettings | str] = Field(default_factory=dict)
    plugins: tuple[str, ...] = ()
    robots: dict[Name, RobotCfg] = Field(default_factory=dict)
    mobiles: dict[MobileName, MobileCfg] = Field(default_factory=dict)
    arena: ArenaCfg | None = None
    floor_roughness: tuple[RoughnessCfg, ...] = ()
    fixtures: dict[Name, FixtureCfg] = Field(default_factory=dict)
    tools: dict[Name, LooseToolCfg] = Field(default_factory=dict)
    trays: dict[Name, TrayCfg] = Field(default_factory=dict)
    parts: dict[Name, PartCfg] = Field(default_factory=dict)
    populations: tuple[PopulationCfg, ...] = ()
    cameras: dict[Name, CameraCfg] = Field(default_factory=dict)
    projectors: dict[Name, ProjectorCfg] = Field(default_factory=dict)
    actual: Actual = ActualCfg()
    sensors: tuple[dict[str, Any], ...] = ()
    safety: SafetyCfg | None = None
    ros: RosCfg = RosCfg()
    targets: CellTargetsCfg = CellTargetsCfg()
    variants: dict[Name, dict[str, Any]] = Field(default_factory=dict)
    _file: Path | None = PrivateAttr(default=None)
    _left_out: frozenset[str] = PrivateAttr(default=frozenset())
    _numbers: tuple[int, ...] | None = PrivateAttr(default=None)

    @property
    def file(self) -> Path | None:
        """The file that the cell was read from, if any."""
        return self._file

    def read_from(self, file: Path) -> Self:
        """Returns the same cell, knowing its file."""
        cell = self.model_copy()
        cell._file = file
        return cell

    @property
    def left_out(self) -> set[str]:
        """Names of entries that are invalid and were left out, or in part; empty for a valid cell."""
        return {entry.partition(".")[2] for entry in self._left_out}

    def names_in(self, section: str) -> set[str]:
        """Returns the names in a section of the file, including entries that were left out."""
        wrong = (entry.partition(".") for entry in self._left_out)
        return {*getattr(self, section), *(name for of, _, name in wrong if of == section)}

    @property
    def numbered_populations(self) -> list[tuple[str, PopulationCfg]]:
        """Every population with its place in the file, such as `populations.0`."""
        numbers = range(len(self.populations)) if self._numbers is None else self._numbers
        return [(f"populations.{number}", item) for number, item in zip(numbers, self.populations, strict=True)]

    def without(self, keys: Iterable[str], doubtful: Iterable[str] = ()) -> Cell:
        """Returns the cell without the entries that keys such as `robots.arm.home_deg` are about.

        Args:
            keys: Of what is wrong.
            doubtful: Keys of entries that are gone already, or in part.
        """
        entries = [key.split(".")[:2] for key in keys if "." in key]
        changes: dict[str, Any] = {}
        for section in ("models", "robots", "mobiles", "fixtures", "cameras", "projectors", "tools", "trays", "parts"):
            wrong = {name for of, name in entries if of == section}
            changes[section] = {name: item for name, item in getattr(self, section).items() if name not in wrong}
        kept = [(place, item) for place, item in self.numbered_populations if place.split(".") not in entries]
        cell = self.model_copy(update={**changes, "populations": tuple(item for _, item in kept)})
        cell._left_out = self._left_out | {".".join(entry) for entry in entries} | set(doubtful)
        cell._numbers = tuple(int(place.rpartition(".")[2]) for place, _ in kept)
        return cell

    def variant(self, name: str) -> Cell:
        """Returns the cell with the differences of one of its variants, checked as a whole.

        Args:
            name: One of its own, or a named size of its errors, which every cell has.
        """
        known = {size: {"actual": size} for size in ERROR_SIZES} | dict(self.variants)
        if name not in known:
            raise UnknownName("variant", name, known, self.where)
        return self.changed(known[name], f"{self.where}@{name}")

    def changed(self, differences: Mapping[str, Any], where: str = "") -> Cell:
        """Returns the cell with some differences, written as those of a variant; checked as a whole.

        Args:
            differences: Sections as in a file; what they leave out stays.
            where: Its name in errors.
        """
        old = self.model_dump()
        errors = differences.get("actual")
        if isinstance(errors, Mapping) and "size" in errors:  # says all errors, those before count no more
            del old["actual"]
        cell = validate(_changed(old, dict(differences)), Cell, where or f"{self.where}, changed")
        return cell.read_from(self.file) if self.file else cell

    @property
    def mobile_names(self) -> list[str]:
        """The names of all mobile robots, in the order of the file."""
        return [name for key, cfg in self.mobiles.items() for name in cfg.names(key)]

    def sensor_lines(self) -> list[tuple[str, dict[str, Any]]]:
        """Returns every sensor's line with its place in the file; those of mobile robots once for each robot."""
        lines = [(f"sensors.{i}", line) for i, line in enumerate(self.sensors)]
        for key, cfg in self.mobiles.items():
            for name in cfg.names(key):
                lines += [(f"mobiles.{key}.{place}", {**line, "robot": name}) for place, line in cfg.lines()]
        return lines

    @property
    def where(self) -> str:
        """The cell's name in errors: its file, or its name."""
        return str(self.file) if self.file else self.name


def _changed(old: Any, new: Any) -> Any:
    """Returns old data updated by new; mappings are merged, everything else is replaced, distributions as well."""
    if not (isinstance(old, dict) and isinstance(new, dict)) or "distribution" in old:
        return new
    merged = old | {key: _changed(old.get(key), value) for key, value in new.items()}
    return {key: value for key, value in merged.items() if new.get(key, value) is not None}


def cell_json_schema() -> dict[str, Any]:
    """Returns the format of cell files as a JSON schema, for editors: keys, ranges, and the models of the catalogue."""
    schema = Cell.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    models: dict[str, Registry[Any]] = {
        "RobotCfg.model": ROBOTS,
        "MobileCfg.model": MOBILES,
        "MobileCfg.profile": MOBILE_PROFILES,
        "RobotCfg.tool": TOOLS,
        "RobotCfg.changer": CHANGERS,
        "LooseToolCfg.model": TOOLS,
        "FixtureCfg.model": FURNITURE,
        "TrayCfg.model": TRAYS,
        "PartCfg.model": PARTS,
        "PopulationCfg.model": PARTS,
    }
    for place, registry in models.items():
        kind, _, key = place.partition(".")
        schema["$defs"][kind]["properties"][key]["examples"] = registry.names()
    return schema
