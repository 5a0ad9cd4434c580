"""Runs of orders to pick: Cellwright's own controller in a laboratory, judged by the truth."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

from cellwright.catalogue import FURNITURE
from cellwright.core.errors import BadInput
from cellwright.core.extras import need_extra
from cellwright.drawings.planning_scene import table_area
from cellwright.drawings.prior import Drawings
from cellwright.execution import Recipe
from cellwright.execution.careful_look import PoseSource
from cellwright.interfaces.crcl import CrclInterface
from cellwright.judge import CollisionEvent, DropEvent, Judge
from cellwright.judge.placing import PlaceVerdict, judge_placed
from cellwright.lab import DirectArm
from cellwright.lab.lab import Lab
from cellwright.lab.versions import versions
from cellwright.orders.pick_order import PickOrder
from cellwright.perception.calibration import Calibration
from cellwright.trials.controller_ports import ControllerPorts
from cellwright.trials.lab_ports import lab_ports
from cellwright.trials.pick_controller import PickAccount, PickController
from cellwright.trials.report import TrialStatus
from cellwright.trials.stereo_source import dense_stereo_source

__all__ = ["PickReport", "SourceMaker", "check_pick", "is_drawn_there", "run_pick"]

LIMIT_S = 300.0
REST_S = 1.0  # what was let go, or fell, comes to rest before it is judged
HANDLING = Recipe(settle_s=0.2)  # of objects as heavy as cans: they swing longer than gears
SourceMaker = Callable[[ControllerPorts, PickOrder], PoseSource]
"""Makes what measures the object, from the controller's ports."""


@dataclass(frozen=True, kw_only=True)
class PickReport:
    """The report on a run of an order to pick.

    Attributes:
        order: The order's name.
        cell: Which cell.
        seed: Its seed.
        account: What the controller says.
        verdict: What is so, of the object of that kind that is nearest to the area; None when the cell has none.
        hits: Collisions.
        drops: What fell.
        time_s: How long it took, in simulated time.
        wall_s: The same in real time.
        versions: What the figures depend on.
    """

    order: str
    cell: str
    seed: int
    account: PickAccount
    verdict: PlaceVerdict | None
    hits: tuple[CollisionEvent, ...]
    drops: tuple[DropEvent, ...]
    time_s: float
    wall_s: float
    versions: Mapping[str, str]

    @property
    def status(self) -> TrialStatus:
        """The outcome: the controller's claim compared with the truth."""
        placed = self.verdict is not None and self.verdict.placed
        if self.account.done:
            return TrialStatus.DONE if placed else TrialStatus.FALSE_DONE
        return TrialStatus.PARTIAL if placed else TrialStatus.FAILED

    @property
    def done(self) -> bool:
        """Whether the object is at its place, and the controller says so."""
        return self.status is TrialStatus.DONE

    @property
    def reason(self) -> str:
        """The reason why it is done or not, in one line."""
        truth = (
            "the cell has no such object" if self.verdict is None else f"{self.verdict.thing}: {self.verdict.reason}"
        )
        if self.status is TrialStatus.FALSE_DONE:
            return f"the controller says done, but {truth}"
        return f"{self.account.reason}; {truth}"

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {
            "order": self.order,
            "cell": self.cell,
            "seed": self.seed,
            "status": self.status.value,
            "done": self.done,
            "false_done": self.status is TrialStatus.FALSE_DONE,
            "reason": self.reason,
            "account": self.account.as_dict(),
            "verdict": self.verdict.as_dict() if self.verdict else None,
            "collisions": [asdict(hit) | {"text": str(hit)} for hit in self.hits],
            "drops": [asdict(drop) | {"text": str(drop)} for drop in self.drops],
            "time_s": self.time_s,
            "wall_s": self.wall_s,
            "versions": dict(self.versions),
        }


def is_drawn_there(drawings: Drawings, order: PickOrder) -> bool:
    """Returns whether an object of the kind stands on the pick area by the drawings, or may: its place is not drawn."""
    area = table_area(drawings.fixtures, order.pick_area)
    drawn = [part for part in drawings.layout.parts if part.model == order.model]
    is_scattered = drawings.expected_parts.get(order.part.sku, 0) > len(drawn)
    return is_scattered or any(area.room_m(part.pose_in_world.position) > 0 for part in drawn)


def check_pick(drawings: Drawings, order: PickOrder) -> str:
    """Returns the robot that does an order.

    Raises:
        BadInput: One line: the cell has no such area, no object of that kind, or not one robot.
        MissingExtra: without the optional packages.
    """
    need_extra("an order to pick", "motion", "numba", "toppra")
    for area in (order.pick_area, order.place_area):
        table_area(drawings.fixtures, area)
    if not drawings.expected_parts.get(order.part.sku):
        title, kinds = order.part.title.lower(), ", ".join(drawings.expected_parts) or "none"
        raise BadInput(f"{order.name}: {drawings.cell.where} has no {title} (its parts: {kinds})")
    if len(drawings.cell.robots) != 1:
        robots = ", ".join(drawings.cell.robots) or "none"
        raise BadInput(
            f"{order.name}: an order to pick is for a cell with one robot; {drawings.cell.where} has {robots}"
        )
    return next(iter(drawings.cell.robots))


def run_pick(
    lab: Lab,
    order: PickOrder,
    make_source: SourceMaker = dense_stereo_source,
    on_step: Callable[[str], None] = lambda _name: None,
    drawings: Drawings | None = None,
    calibration: Calibration | None = None,
) -> PickReport:
    """Does an order to pick with Cellwright's own controller, and judges the result by the truth.

    Args:
        lab: A fresh laboratory.
        order: What is wanted.
        make_source: Makes what measures the object; by default dense stereo by the cell's own pair.
        on_step: Is told of every step that begins.
        drawings: What the controller knows; those of the laboratory's cell by default.
        calibration: What was measured of the cell's cameras, in place of what is drawn.

    Raises:
        BadInput: The cell cannot do it at all; nothing was done.
    """
    drawings = drawings or Drawings.of(lab.cell)
    robot = check_pick(drawings, order)
    ports = lab_ports(lab, CrclInterface(lab), drawings=drawings, calibration=calibration)
    controller = PickController(
        order=order,
        drawings=drawings,
        robot=robot,
        arm=DirectArm(lab.robot(robot), lab.clock, HANDLING),
        clock=ports.clock,
        source=make_source(ports, order),
        seed=int(lab.seed),
        on_step=on_step,
    )
    judge = Judge(lab.world, lab.stepper, lab.bus)
    started_s, start_s = perf_counter(), lab.clock.time_s
    account = lab.perform(_limited(lab, controller))
    report = PickReport(
        order=order.name,
        cell=lab.cell.name,
        seed=int(lab.seed),
        account=account,
        verdict=_verdict(lab, order),
        hits=tuple(judge.collisions.hits),
        drops=tuple(judge.drops.drops),
        time_s=lab.clock.time_s - start_s,
        wall_s=perf_counter() - started_s,
        versions=versions(),
    )
    judge.stop()
    return report


async def _limited(lab: Lab, controller: PickController) -> PickAccount:
    """Lets a controller work until the limit; then everything comes to rest."""
    work = asyncio.ensure_future(controller.run())
    limit = asyncio.ensure_future(lab.clock.sleep(LIMIT_S))
    await asyncio.wait({work, limit}, return_when=asyncio.FIRST_COMPLETED)
    limit.cancel()
    if not work.done():
        work.cancel()
        await asyncio.wait({work})
    await lab.clock.sleep(REST_S)
    if work.cancelled():
        why = f"not done after {LIMIT_S:g} s"
        return PickAccount(done=False, reason=why, is_planned=False, grasp="", measurements=(), steps=())
    return work.result()


def _verdict(lab: Lab, order: PickOrder) -> PlaceVerdict | None:
    """Returns the verdict on the object of the kind that comes nearest to what was ordered, on the area as it is."""
    poses = lab.world.layout.fixtures
    true = [(name, FURNITURE.get(cfg.model), poses[name]) for name, cfg in lab.cell.fixtures.items()]
    corners_m = table_area(true, order.place_area).corners_in_world
    things = [name for name, item in lab.world.objects.items() if item.sku == order.part.sku]
    found = [judge_placed(lab.world, thing, corners_m) for thing in things]
    return min(found, key=lambda verdict: (not verdict.placed, verdict.error_m), default=None)
