"""Bench `kitting`: speed of whole kits, overhead of each action, start-up, a second robot, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time

import numpy as np

from cellwright.bench.calibrating import calibrate_timed
from cellwright.bench.replay import CapturingEngine, replay
from cellwright.bench.result import BENCHES, Measurement, MeasurementConditions, MeasurementFailed
from cellwright.bench.start_up import first_motion_s, help_s
from cellwright.experiments.kitting_tight import TightJob, insert_all
from cellwright.lab import Lab
from cellwright.orders import DESIGNS, Order, OrderLine
from cellwright.sim import TickOrder, World
from cellwright.trials import Report

__all__ = ["kitting"]

CELL = "aprs"
RATE_HZ = 50.0
MOVING_RADPS = 0.01
TWO_KITS = Order("two_kits", (OrderLine(DESIGNS.get("kit_m2l1"), 1), OrderLine(DESIGNS.get("kit_s2l2"), 1)))


@dataclass(frozen=True)
class TimedRun:
    """A run and its cost.

    Attributes:
        report: The report of the run.
        cpu_s: All of it, but for compiling the world.
        overhead_s: The time outside the simulation: plans, predicates, database, CRCL, tracking. Nothing waits
            in it, so on a machine that has nothing else to do it is wall time.
        raw_s: A plain loop of physics steps that replays the same rows of control.
        both_moving: Share of the time in which every arm turned.
    """

    report: Report
    cpu_s: float
    overhead_s: float
    raw_s: float
    both_moving: float

    @property
    def seconds(self) -> float:
        """The simulated seconds."""
        return self.report.time_s

    @property
    def parts_per_min(self) -> float:
        """The parts seated per minute."""
        seated = sum(seating.seated for kit in self.report.kits for seating in kit.seatings)
        return 60.0 * seated / self.seconds


@BENCHES.register("kitting")
def kitting(conditions: MeasurementConditions) -> Measurement:
    """Measures one kit with one robot several times; two kits with one robot and with both; a calibration."""
    seeds = [conditions.seed + number for number in range(1 if conditions.quick else 5)]
    run_timed(conditions.seed, "kit_m2l1")  # tables, kernels and caches are warm from here on
    conditions.say("one kit")
    kits = [run_timed(seed, "kit_m2l1") for seed in seeds]
    conditions.say("two kits, one robot and both")
    pairs = [(run_timed(seed, TWO_KITS, ["fanuc"]), run_timed(seed, TWO_KITS)) for seed in seeds[:3]]
    conditions.say("calibration")
    calibrations = [calibrate_timed(seed) for seed in seeds[:3]]
    conditions.say("plugs into straight slots")
    inserts_s = insert_times_s(seeds[:3])
    conditions.say("start-up")
    repeats = range(1 if conditions.quick else 5)
    metrics = {
        "kit_m2l1.real_time_factor": median(run.seconds / run.cpu_s for run in kits),
        "kit_m2l1.sim_s": median(run.seconds for run in kits),
        "look.share": median(run.report.order.look_share for run in kits),
        "kit_m2l1.actions": median(len(run.report.order.actions) for run in kits),
        "action.overhead_ms": median(1e3 * run.overhead_s / max(len(run.report.order.actions), 1) for run in kits),
        "kit_m2l1.to_raw": median(run.raw_s / run.cpu_s for run in kits),
        "insert.time_s": median(inserts_s),
        "setup_s": median(first_motion_s() for _ in repeats),
        "help_s": median(max(help_s(), help_s("run")) for _ in repeats),
        "calibrate.sim_s": median(run.seconds for run in calibrations),
        "calibrate.wall_s": median(run.wall_s for run in calibrations),
        "two_robots.parts_per_min": median(both.parts_per_min for _, both in pairs),
        "two_robots.parts_per_min_ratio": median(both.parts_per_min / one.parts_per_min for one, both in pairs),
        "two_robots.both_moving": median(both.both_moving for _, both in pairs),
    }
    targets = {
        "kit_m2l1.real_time_factor": {"min": 10.0},
        "kit_m2l1.to_raw": {"min": 0.6},
        "look.share": {"max": 0.15},
        "action.overhead_ms": {"max": 40.0},
        "setup_s": {"max": 1.5},
        "help_s": {"max": 0.4},
        "two_robots.parts_per_min_ratio": {"min": 1.2},
        "insert.time_s": {"max": 10.0},
    }
    return Measurement(metrics, targets)


def insert_times_s(seeds: Sequence[int]) -> list[float]:
    """Returns the simulated times in which plugs are carried and inserted by force, with 0.5 mm of clearance.

    Raises:
        MeasurementFailed: One was not seated.
    """
    inserts = [insert for seed in seeds for insert in insert_all(TightJob("c05", True, seed, "fanuc"))]
    for insert in inserts:
        if not insert.seated:
            raise MeasurementFailed("inserts", f"seed {insert.seed}: {insert.part} was not seated: {insert.reason}")
    return [insert.time_s for insert in inserts]


def run_timed(seed: int, order: str | Order, robots: Sequence[str] | None = None) -> TimedRun:
    """Runs an order.

    Raises:
        MeasurementFailed: It was not done: an order that fails is soon over.
    """
    with Lab.from_cell(CELL, seed) as lab:
        simulating_s = 0.0
        both = all_turns = 0
        advance = lab.stepper.advance

        def timed(until_tick: int, enough_tick: int | None = None) -> None:
            nonlocal simulating_s
            start_s = process_time()
            advance(until_tick, enough_tick)
            simulating_s += process_time() - start_s

        def watch() -> None:
            nonlocal both, all_turns
            all_turns += 1
            both += all(abs(robot.velocity_radps).max() > MOVING_RADPS for robot in lab.robots.values())

        raw = World(lab.cell, seed)
        engine = CapturingEngine(lab.world.engine, lab.world.data)
        lab.stepper.engine = engine
        lab.stepper.advance = timed  # type: ignore[method-assign]
        lab.stepper.every(lab.world.clock.period_ticks(RATE_HZ), watch, order=TickOrder.RECORD, name="bench")
        start_s = process_time()
        report = lab.run(order, robots=robots)
        cpu_s = process_time() - start_s
        start_s = process_time()
        replay(raw.engine.step, raw.data, engine.segment)
        raw_s = process_time() - start_s
        if not np.array_equal(raw.data.qpos, lab.world.data.qpos):
            raise MeasurementFailed("kitting", f"seed {seed}: the raw replay ended in another state than the run")
    if not report.done:
        raise MeasurementFailed("kitting", f"seed {seed}: {report.status}: {report.reason}")
    return TimedRun(report, cpu_s, cpu_s - simulating_s, raw_s, both / max(all_turns, 1))
