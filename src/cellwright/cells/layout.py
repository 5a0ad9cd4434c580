"""From a cell to poses: the nominal layout of the drawings, and an actual one drawn from the seed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cellwright.catalogue import ROBOTS
from cellwright.cells.actual import PoseErrorCfg, draw_error, draw_lens
from cellwright.cells.cameras import place_cameras
from cellwright.cells.errors import CellConfigErrors
from cellwright.cells.mobile_places import MobilePlacement, place_mobiles
from cellwright.cells.names import check_names
from cellwright.cells.parts import PartPlacer
from cellwright.cells.placement import Placement
from cellwright.cells.projectors import place_projectors
from cellwright.cells.schema import Cell
from cellwright.cells.standing import Standing, drawn_trays, place_fixtures, place_trays
from cellwright.core.camera import Camera, LensError
from cellwright.core.config import draw
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.pose import Pose
from cellwright.core.projector import Projector
from cellwright.core.rng import RandomStreams

__all__ = ["Layout", "actual_layout", "nominal_layout"]


@dataclass(frozen=True)
class Layout:
    """The layout of a cell: where everything is, by the drawings or in fact.

    Attributes:
        bases: Robot -> pose of its base in the world.
        tools: Robot -> error of its tool's mounting, in the flange frame.
        joint_zeros_rad: Robot -> how far each joint really is beyond what its encoder says.
        backlash_rad: Robot -> the whole play of each joint's gear.
        fixtures: Fixture -> pose in the world, by the drawings or in fact.
        cameras: Camera -> its pose, as calibrated or in fact, its field of view, resolution and rate.
        projectors: Projector -> where it is, and what light it throws.
        trays: Trays, in the order of the file.
        parts: Parts, in the order of the file, populations last.
        mobiles: Mobile robot -> where it starts, and the wheels that it has.
    """

    bases: dict[str, Pose]
    tools: dict[str, Pose]
    joint_zeros_rad: dict[str, np.ndarray]
    backlash_rad: dict[str, np.ndarray]
    fixtures: dict[str, Pose]
    cameras: dict[str, Camera]
    projectors: dict[str, Projector]
    trays: tuple[Placement, ...]
    parts: tuple[Placement, ...]
    mobiles: dict[str, MobilePlacement]
    objects: dict[str, Placement] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "objects", {p.name: p for p in (*self.trays, *self.parts)})


def nominal_layout(cell: Cell, seed: int) -> Layout:
    """Returns the layout of the drawings; the seed only decides shuffled and scattered populations."""
    return _lay_out(cell, RandomStreams(seed), exact=True)


def actual_layout(cell: Cell, seed: int) -> Layout:
    """Returns one sample of reality: the errors of the section `actual`, from streams named after the objects."""
    return _lay_out(cell, RandomStreams(seed), exact=False)


def _lay_out(cell: Cell, streams: RandomStreams, *, exact: bool) -> Layout:
    """Returns the layout of a whole cell.

    Raises:
        CellConfigErrors: All that is wrong; what stands in no wrong entry is placed to see whether it can be.
    """
    collector = ErrorCollector(cell.left_out)
    with collector.collecting():
        check_names(cell)
    rest = cell.without(collector.paths) if collector.paths else cell
    placing = ErrorCollector(rest.left_out)
    layout = _placed(rest, streams, placing, exact=exact)
    collector.found += placing.found
    if collector.found:
        raise CellConfigErrors(collector.sorted_errors(), rest.without(placing.paths))
    return layout


def _placed(cell: Cell, streams: RandomStreams, collector: ErrorCollector, *, exact: bool) -> Layout:
    """Returns the layout of all entries whose models exist; those without are added to `collector`."""

    def error_of(errors: PoseErrorCfg, name: str) -> Pose:
        return draw_error(errors, streams.stream(f"layout/{name}"))

    def with_error(pose: Pose, errors: PoseErrorCfg, name: str) -> Pose:
        return pose if exact else pose @ error_of(errors, name)

    def camera_error(name: str) -> Pose:
        return with_error(Pose.identity(), actual.camera, name)

    def lens_of(name: str) -> LensError | None:
        return None if exact else draw_lens(actual.lens, streams.stream(f"layout/{name}/lens"))

    actual = cell.actual
    cameras = place_cameras(cell, camera_error, lens_of, collector)
    drawn = {name: fixture.pose.pose for name, fixture in cell.fixtures.items()}
    fixtures = drawn if exact else place_fixtures(cell, error_of)
    standing = Standing(cell, fixtures)
    trays = drawn_trays(cell) if exact else place_trays(cell, standing, error_of)
    zeros, plays = {}, {}
    for name, robot in cell.robots.items():
        count = len(ROBOTS.get(robot.model).joints)
        rng = streams.stream(f"layout/{name}/joint_zero")
        zeros[name] = np.zeros(count) if exact else np.radians([draw(actual.joint_zero_deg, rng) for _ in range(count)])
        rng = streams.stream(f"layout/{name}/backlash")
        each = actual.backlash_deg if isinstance(actual.backlash_deg, tuple) else (actual.backlash_deg,) * count
        plays[name] = np.zeros(count) if exact else np.radians([abs(draw(play, rng)) for play in each])
    return Layout(
        bases={n: with_error(r.base.pose, actual.robot_base, n) for n, r in cell.robots.items()},
        tools={n: with_error(Pose.identity(), actual.tool, f"{n}/tool") for n in cell.robots},
        joint_zeros_rad=zeros,
        backlash_rad=plays,
        fixtures=fixtures,
        cameras=cameras,
        projectors=place_projectors(cell, cameras, collector),
        trays=tuple(trays),
        parts=tuple(PartPlacer(cell, {t.name: t for t in trays}, streams, collector, standing.moved).parts()),
        mobiles=place_mobiles(cell, streams, collector, exact=exact),
    )
