"""Small kits in the APRS laboratory, built by our own controller, judged by the truth; and its belief without a lab."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest

import cellwright as cw
from cellwright.cells import load_cell
from cellwright.core.messages import Tracks
from cellwright.drawings.database import designs_for
from cellwright.drawings.workstation import workstation_of
from cellwright.execution import ExecutionSettings, RecoveryMode
from cellwright.judge import parse_fault
from cellwright.knowledge import Belief, Database, Workstation, WorldModel, fill, records
from cellwright.orders import KitDesign, Order, OrderLine
from cellwright.trials import Report, RunCfg, run_order

SKUS = {"s": "sku_part_small_gear", "m": "sku_part_medium_gear", "l": "sku_part_large_gear"}
TRAYS = {"m": "sku_kit_m2l1_vessel", "s": "sku_kit_s2l2_vessel"}


def small_kit(letters: str) -> Order:
    """An order for one kit of these gears, such as `m` or `ml`."""
    tray = TRAYS["m" if "m" in letters else "s"]
    parts = {SKUS[letter]: letters.count(letter) for letter in dict.fromkeys(letters)}
    return Order(f"order_{letters}", (OrderLine(KitDesign.of(f"kit_{letters}", tray, parts), 1),))


def build(
    orders: str | Sequence[Order],
    *faults: str,
    recovery: str = "full",
    robots: tuple[str, ...] = ("fanuc",),
    seed: int = 0,
    prepare: Callable[[cw.Lab], None] = lambda _lab: None,
    **settings: float,
) -> Report:
    """Builds kits in a fresh laboratory with physics; whatever goes wrong, nobody may say done when it is not.

    `prepare` may change the world before anybody looks at it.
    """
    wanted = [small_kit(orders)] if isinstance(orders, str) else list(orders)
    chosen = ExecutionSettings(recovery=RecoveryMode(recovery), **settings)  # type: ignore[arg-type]
    with cw.Lab.from_cell("aprs", seed) as lab:
        prepare(lab)
        report = run_order(lab, wanted, RunCfg(robots, chosen, tuple(parse_fault(fault) for fault in faults)))
    complete = all(kit.done for kit in report.kits)
    assert complete or not report.order.done, f"said done, but {[kit.reason for kit in report.kits]}"
    return report


class StillCell:
    """Belief about the APRS cell, and a clock: whoever waits sees a frame every tenth of a second.

    Attributes:
        moved: Object -> where it is shown instead of where the drawings have it.
        hidden: Objects that are not shown: a tracker has given them up.
        covered: Objects that are not in the frame, and are followed all the same: something is before them.
        blind: Whether nothing is shown at all.
    """

    def __init__(self, orders: Sequence[Order]) -> None:
        database = Database("sqlite://")
        fill(database, _workstation(), designs_for(orders))
        self.belief = Belief(WorldModel(database))
        tree = self.belief.world_model.tree
        things = [thing for thing in self.belief.state.objects.values() if thing.sku and thing.name in tree.index]
        self.drawn = {thing.name: tree.in_world[tree.index[thing.name]].copy() for thing in things}
        with database.session() as session:
            slots = records.Slot.all(session)
            self.slots = {slot.slot_part.name: slot.name for slot in slots if slot.slot_part is not None}
        self.skus = {thing.name: thing.sku for thing in things}
        self.moved: dict[str, np.ndarray] = {}
        self.hidden: set[str] = set()
        self.covered: set[str] = set()
        self.blind = False
        self.time_s = 0.0
        self._frames = 0

    async def sleep(self, duration_s: float) -> None:
        until_s = self.time_s + duration_s
        while (self._frames + 1) * 0.1 <= until_s:
            self._frames += 1
            self.time_s = self._frames * 0.1
            if not self.blind:
                self.show()
        self.time_s = until_s

    def show(self) -> None:
        """A frame, of what stands where by now."""
        names = [name for name in self.drawn if name not in self.hidden]
        slots = tuple("" if name in self.moved else self.slots.get(name, "") for name in names)
        poses = [cw.Pose.from_matrix(self.moved.get(name, self.drawn[name])) for name in names]
        self.belief.take(
            Tracks(
                round(self.time_s * 1e9), self._frames, "eye",
                identities=tuple(names), skus=tuple(self.skus[name] for name in names),
                positions=np.array([pose.position for pose in poses]),
                quaternions=np.array([pose.quaternion for pose in poses]),
                variances=np.full((len(names), 6), 1e-8),
                ages_s=np.array([1.0 * (name in self.covered) for name in names]), slots=slots,
            )
        )  # fmt: skip

    def shift(self, name: str, x_m: float = 0.0, y_m: float = 0.0, z_m: float = 0.0) -> None:
        """Shows an object elsewhere from now on."""
        self.moved[name] = self.drawn[name].copy()
        self.moved[name][:3, 3] += [x_m, y_m, z_m]


@cache
def _workstation() -> Workstation:
    """By the drawings; to find out what the robots reach takes longer than all the rest."""
    return workstation_of(load_cell("aprs"))


@pytest.fixture
def still() -> Callable[..., StillCell]:
    return lambda *orders: StillCell(orders or (small_kit("mml"),))
