"""One order in a laboratory that is partly somewhere else, as a job for another process; its outcome as one row."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cellwright.cells import CellTargetsCfg
from cellwright.core.errors import CellwrightError
from cellwright.core.messages import ActionEvent
from cellwright.core.rng import RandomStreams
from cellwright.experiments.experiment import DataTable
from cellwright.experiments.real_cell import RealCell
from cellwright.hybrid import LabTargets
from cellwright.lab import Lab
from cellwright.orders import find_order
from cellwright.record import TwinComparison, compare_twins, read_log
from cellwright.trials.run import RunCfg, run_order

__all__ = ["ACTIONS_OF_A_KIT", "HybridJob", "HybridRow", "run_hybrid", "table_of_hybrid"]

CELL, REAL, KIT = "aprs", "aprs@calibrated", "kit_m2l1"
ACTIONS_OF_A_KIT = 14
PACE = 2.0  # both cells hurry: what takes time on the way takes twice as much of it
REGIONS_M = {"fanuc": ((-0.6, -1.7, 0.5), (0.7, -0.88, 2.0)), "motoman": ((-0.7, -0.88, 0.5), (0.9, 0.6, 2.0))}
"""Robot -> two corners of the box in which it works; the cameras see more than that."""
TRIES = 4  # for a switch that is refused, each at another boundary


@dataclass(frozen=True)
class HybridJob:
    """One run: which robots are external, each with its detector, and after how many actions all are switched back."""

    name: str
    seed: int
    external: tuple[str, ...]
    quantity: int = 1
    switch_after: int | None = None
    shadow: bool = False
    pace: float = PACE
    real: str = REAL


@dataclass(frozen=True, kw_only=True)
class HybridRow:
    """The outcome of one run.

    Attributes:
        name: The kind of run.
        seed: The layout here; the real cell has one of its own.
        kits: How many kits were ordered.
        done: How many are complete by the truth of the world that their robot was in at the end.
        claimed: Whether the controller says that all are done.
        switched: Whether it was switched, where it should be.
        sim_s: The simulated duration.
        slip: The share of wall time that slipped.
        held_s: For how long external robots were held.
        joint_rad_p95: The largest difference of a joint between robot and twin, of 95 in 100 reports.
        lag_s_p95: By how much the twin was late, in 95 of 100 stretches of motion.
        time_ratio: The simulated duration of commands as a share of the external one, in shadow mode.
        outcome_agreement: The share of commands that ended alike, in shadow mode.
        commands: The number of those commands.
        reason: One line.
    """

    name: str
    seed: int
    kits: int
    done: int = 0
    claimed: bool = False
    switched: bool = False
    sim_s: float = float("nan")
    slip: float = float("nan")
    held_s: float = 0.0
    joint_rad_p95: float = float("nan")
    lag_s_p95: float = float("nan")
    time_ratio: float = float("nan")
    outcome_agreement: float = float("nan")
    commands: int = 0
    reason: str = ""

    @property
    def false_done(self) -> bool:
        """Whether the controller said that all is done, and it was not."""
        return self.claimed and self.done < self.kits


def run_hybrid(job: HybridJob) -> HybridRow:
    """Runs the job beside a real cell in a process of its own, with its own seed."""
    real_seed = int(RandomStreams(job.seed).stream("real cell").integers(2**31))
    try:
        with RealCell(job.real, real_seed, job.pace) as real, tempfile.TemporaryDirectory() as folder:
            return _run(job, real, Path(folder) / "log.mcap")
    except CellwrightError as error:
        return HybridRow(name=job.name, seed=job.seed, kits=job.quantity, reason=str(error))


def _run(job: HybridJob, real: RealCell, log: Path) -> HybridRow:
    is_all = len(job.external) == len(REGIONS_M)
    robots: dict[str, Any] = {robot: {"at": real.crcl[robot], "shadow": job.shadow} for robot in job.external}
    detectors: dict[str, Any] = {
        f"detector_{robot}": {"at": real.vision[f"detector_{robot}"], "region_m": None if is_all else REGIONS_M[robot]}
        for robot in job.external
    }
    targets = CellTargetsCfg.model_validate({"robots": robots, "detectors": detectors})
    with Lab.from_cell(CELL, job.seed, pace=job.pace) as lab:
        recorder = lab.record(log)
        switch = _Switch(lab, job.switch_after)
        cfg = RunCfg(targets=targets, on_targets=switch.begin)
        report = run_order(lab, [find_order(KIT, job.quantity)], cfg)
        found = switch.targets
        assert found is not None
        external = [] if switch.is_made else list(job.external)
        verdicts = [
            (kit.done, kit.reason)
            if not any(kit.tray.startswith(robot) for robot in external)
            else real.judge(kit.tray, KIT)
            for kit in report.kits
        ]
        recorder.close()
        twins = compare_twins(read_log(log))
        failed = [reason for done, reason in verdicts if not done]
        return HybridRow(
            name=job.name,
            seed=job.seed,
            kits=job.quantity,
            done=sum(done for done, _ in verdicts),
            claimed=bool(report.account and report.account.done),
            switched=switch.is_made,
            sim_s=report.time_s,
            slip=found.gate.slip_of_all,
            held_s=found.gate.held_s,
            **_of_twins(twins),
            reason="; ".join([*failed, report.reason] if failed else failed),
        )


class _Switch:
    """Switches everything back to simulated after so many actions; one that is refused is tried again."""

    def __init__(self, lab: Lab, after: int | None) -> None:
        self.is_made = False
        self.targets: LabTargets | None = None
        self._lab, self._left, self._tries = lab, after, TRIES
        self._switching: asyncio.Task[None] | None = None

    def begin(self, targets: LabTargets) -> None:
        """Is given the targets before they are connected."""
        self.targets = targets
        if self._left is not None:
            self._lab.bus.subscribe("/execution/actions", self._hear, subscriber="experiment")

    def _hear(self, _topic: str, event: ActionEvent) -> None:
        if event.phase != "end" or self._left is None:
            return
        self._left -= 1
        is_free = self._switching is None or self._switching.done()
        if self._left <= 0 and self._tries and is_free and not self.is_made:
            self._tries -= 1
            self._switching = self._lab.loop.create_task(self._switch())

    async def _switch(self) -> None:
        targets = self.targets
        assert targets is not None
        await targets.take(CellTargetsCfg())
        self.is_made = not any(target.cfg.is_external for target in targets.robots.values())


def _of_twins(twins: list[TwinComparison]) -> dict[str, Any]:
    """Returns the worst of all twins."""

    def most(name: str) -> float:
        return max((value for twin in twins if (value := getattr(twin, name)) is not None), default=float("nan"))

    return {
        "joint_rad_p95": most("joint_rad_p95"),
        "lag_s_p95": most("lag_s_p95"),
        "time_ratio": most("time_ratio"),
        "outcome_agreement": most("outcome_agreement"),
        "commands": sum(twin.commands for twin in twins),
    }


def table_of_hybrid(rows: list[HybridRow]) -> DataTable:
    """Returns all rows as a table."""
    names = [field.name for field in fields(HybridRow)]
    return DataTable(names, [[getattr(row, name) for name in names] for row in rows])
