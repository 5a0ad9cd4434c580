"""`cellwright bench planning`: speed of planning and replanning orders, and of storing beliefs."""

from __future__ import annotations

import random
import tempfile
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import TypeVar

import numpy as np

from cellwright.bench.private_mariadb import private_mariadb
from cellwright.bench.reach_states import reach_request
from cellwright.bench.result import BENCHES, Measurement, MeasurementConditions, MeasurementFailed
from cellwright.core.extras import has_extra
from cellwright.knowledge import Database, fill
from cellwright.knowledge.paper_workstation import paper_workstation
from cellwright.knowledge.pddl import planning_files
from cellwright.knowledge.pose_rate import pose_update_rate
from cellwright.orders import DESIGNS, Order, OrderLine
from cellwright.planning import CellState, PlanRequest, PlanResult, plan, state_after, validate_timed
from cellwright.planning.belief import request_of
from cellwright.planning.state import HeldKind

__all__ = ["planning"]

KIT = "a2b3c3d1e1"
TARGETS: Mapping[str, Mapping[str, float]] = {
    "plan.k100": {"max": 1000},
    "replan.k100_p99_ms": {"max": 20},
    "duo.k100_ms": {"max": 100},
    "duo.k100_ratio": {"max": 1.1},
    "duo.reach_ratio_median": {"max": 1.05},
    "duo.reach_ratio_worst": {"max": 1.3},
    "db.sqlite_pose_updates_per_s": {"min": 25_000},
    "db.mariadb_pose_updates_per_s": {"min": 10_000},
}
_Item = TypeVar("_Item")
DRIVER = "pymysql"
OTHERS = {"fd": ("fast-downward", "up_fast_downward"), "enhsp": ("enhsp", "up_enhsp")}


@BENCHES.register("planning")
def planning(conditions: MeasurementConditions) -> Measurement:
    """Measures kits of ten parts and three tools on the kitting papers' workstation with one robot; `duo` has two."""
    metrics: dict[str, float] = {}
    times = 2 if conditions.quick else 5
    for name, package, extra in (*((*other, "planners") for other in OTHERS.values()), ("MariaDB", DRIVER, "mariadb")):
        if not has_extra(package):
            conditions.say(f"{name} needs an optional package (pip install 'cellwright[{extra}]'): left out")
    for kits in (1, 10, 100):
        conditions.say(f"plans of {kits} kits")
        with _Station(kits) as station:
            metrics[f"plan.k{kits}"] = _fastest_ms(times, lambda station=station: _plan_checked(station))  # type: ignore[misc]
            if kits == 100:
                metrics |= _hundred_kits(station, conditions, times)
    conditions.say("two robots")
    with _Station(100, robots=2, tables=2) as station:
        request = station.request()
        metrics["duo.k100_ms"] = _fastest_ms(times, lambda: plan(request))
        result = _checked(request, plan(request))
        metrics["duo.k100_ratio"] = result.ratio
    ratios = _reach_ratios(conditions)
    metrics["duo.reach_ratio_median"] = float(np.median(ratios))
    metrics["duo.reach_ratio_worst"] = max(ratios)
    return Measurement(metrics | _database_rates(conditions), TARGETS)


def _reach_ratios(conditions: MeasurementConditions) -> list[float]:
    """Returns makespan over the bound in the first random states of two robots of different reach that have a plan."""
    conditions.say("two robots of different reach")
    ratios: list[float] = []
    seed, many = 1000 * conditions.seed, 10 if conditions.quick else 100
    while len(ratios) < many:
        request = reach_request(seed)
        result = plan(request)
        verdict = validate_timed(request, result)
        if not verdict.valid:
            raise MeasurementFailed(result.planner, f"state {seed}: {verdict.reason}")
        ratios += [result.ratio] if result.actions else []
        seed += 1
    return ratios


class _Station:
    """A database of the workstation with so many kits wanted."""

    def __init__(self, kits: int, robots: int = 1, tables: int = 1) -> None:
        self.orders = [Order(KIT, (OrderLine(DESIGNS.get(KIT), kits),))]
        names = [f"robot_{n + 1}" for n in range(robots)]
        self.database = Database()
        fill(self.database, paper_workstation(self.orders, robots=names, tables=tables), [DESIGNS.get(KIT)])

    def request(self) -> PlanRequest:
        return request_of(self.database, self.orders)

    def __enter__(self) -> _Station:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.database.close()


def _plan_checked(station: _Station) -> PlanResult:
    """Plans from beliefs and orders to a checked plan."""
    request = station.request()
    return _checked(request, plan(request))


def _checked(request: PlanRequest, result: PlanResult) -> PlanResult:
    verdict = validate_timed(request, result)
    if not verdict.valid or result.unfinished:
        raise MeasurementFailed(result.planner, verdict.reason or "; ".join(result.reasons))
    return result


def _hundred_kits(station: _Station, conditions: MeasurementConditions, times: int) -> dict[str, float]:
    """Measures with a hundred kits besides: memory, replanning, other planners, planning files."""
    tracemalloc.start()
    result = _plan_checked(station)
    metrics = {"plan.k100_peak_mb": tracemalloc.get_traced_memory()[1] / 1e6, "plan.k100_ratio": result.ratio}
    tracemalloc.stop()
    request = station.request()
    took_ms = _replanning_ms(request, result, conditions)
    metrics["replan.k100_median_ms"] = float(np.median(took_ms))
    metrics["replan.k100_p99_ms"] = float(np.percentile(took_ms, 99))
    for short, (name, package) in OTHERS.items():
        if not has_extra(package):
            continue
        conditions.say(f"100 kits by {name}")
        metrics[f"{short}.k100_ms"], found = _wall_ms(lambda name=name: plan(request, name))  # type: ignore[misc]
        metrics[f"{short}.k100_ratio"] = _checked(request, found).ratio
    metrics["pddl.emit_k100_ms"] = _fastest_ms(times, lambda: planning_files(station.database, station.orders))
    return metrics


def _replanning_ms(request: PlanRequest, result: PlanResult, conditions: MeasurementConditions) -> list[float]:
    """Measures replanning of the whole remaining job, checked, after a part was lost at a random step.

    Each state is planned thrice and the fastest counts: the percentile is over states, not over what else is running.
    """
    conditions.say("plans anew after a lost part")
    rng = random.Random(conditions.seed)
    took_ms = []
    for _ in range(30 if conditions.quick else 200):
        done = rng.randrange(len(result.actions))
        state = _lose_part(state_after(request, result.actions[:done]), rng)

        def again(state: CellState = state) -> PlanResult:
            fresh = PlanRequest(state, request.orders, request.durations, request.iterations)
            return _checked(fresh, plan(fresh))

        took_ms.append(_fastest_ms(3, again))
    return took_ms


def _lose_part(state: CellState, rng: random.Random) -> CellState:
    """Returns the state after a part was dropped: out of a hand, a kit or a parts tray."""
    ways: list[CellState] = []
    for robot in state.robots:
        if robot.hand is not None and robot.hand.kind is HeldKind.PART:
            ways.append(replace(state, robots=_changed(state.robots, robot, replace(robot, hand=None))))
    for kit in state.kits:
        for slot, sku in enumerate(kit.filled):
            if sku is not None and kit.place in state.tables:
                emptied = replace(kit, filled=(*kit.filled[:slot], None, *kit.filled[slot + 1 :]))
                ways.append(replace(state, kits=_changed(state.kits, kit, emptied)))
    spare = [tray for tray in state.parts_trays if tray.count > 0]
    if spare:
        tray = rng.choice(spare)
        fewer = replace(tray, count=tray.count - 1)
        ways.append(replace(state, parts_trays=_changed(state.parts_trays, tray, fewer)))
    return rng.choice(ways) if ways else state


def _changed(items: tuple[_Item, ...], old: _Item, new: _Item) -> tuple[_Item, ...]:
    return tuple(new if item is old else item for item in items)


def _database_rates(conditions: MeasurementConditions) -> dict[str, float]:
    """Measures poses per second into databases."""
    conditions.say("poses into databases")
    seconds = 0.5 if conditions.quick else 3.0
    with tempfile.TemporaryDirectory(prefix="cellwright-") as folder:
        metrics = {"db.sqlite_pose_updates_per_s": pose_update_rate(Path(folder) / "rate.db", seconds)}
    with private_mariadb() as url:
        if url is None:
            conditions.say("MariaDB is not installed: left out")
        elif has_extra(DRIVER):
            metrics["db.mariadb_pose_updates_per_s"] = pose_update_rate(url, seconds)
    return metrics


def _fastest_ms(times: int, work: Callable[[], object]) -> float:
    """Returns the processor time of the fastest of several."""
    took_s = []
    for _ in range(times):
        start_s = process_time()
        work()
        took_s.append(process_time() - start_s)
    return 1000 * min(took_s)


def _wall_ms(work: Callable[[], PlanResult]) -> tuple[float, PlanResult]:
    """Returns wall time and result: other planners run in processes of their own."""
    start_s = perf_counter()
    result = work()
    return 1000 * (perf_counter() - start_s), result
