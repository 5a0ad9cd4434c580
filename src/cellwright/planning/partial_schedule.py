"""A schedule in the making: which tasks a robot could take on next, and taking one on."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from cellwright.planning.booking import Booking
from cellwright.planning.hands import put_down_part
from cellwright.planning.perturbation import NO_PERTURBATION, Perturbation
from cellwright.planning.planner import KitJob
from cellwright.planning.resources import RobotSchedule, Supply
from cellwright.planning.work import Work

__all__ = ["PartialSchedule", "Task", "TaskKind"]


class TaskKind(IntEnum):
    """The kinds of tasks; the lower, the more others wait for it."""

    CLEAR = 0
    LAY = 1
    PASS = 2
    CORRECT = 3
    FILL = 4


class Task(NamedTuple):
    """Something a robot can do, ordered by when it can start and how much others wait for it."""

    start_s: float
    kind: TaskKind
    number: int
    table: str
    sku: str = ""
    job: KitJob | None = None


class PartialSchedule:
    """Kits on tables and kits that wait for one, with everything booked so far.

    Args:
        work: The work to be done.
        booking: Everything booked so far.
        waiting: Kits that have no tray yet.
        own_first: Robots work first at kits that others do not reach.
        perturbation: The deviation from the best guesses.
    """

    def __init__(
        self,
        work: Work,
        booking: Booking,
        waiting: list[KitJob],
        own_first: bool = False,
        perturbation: Perturbation = NO_PERTURBATION,
    ) -> None:
        self.work = work
        self.booking = booking
        self.waiting = waiting
        d = work.request.durations
        self._to_place_s = d.part_s - d.place_part_s
        self._place_s = d.place_part_s
        self._take_kit_s = d.take_kit_s
        self._alike = len({arm.reach for arm in booking.arms}) == 1
        self.perturbation = perturbation
        self.log: list[tuple[int, str, TaskKind, str, str, str]] = []  # robot, tool, kind, kit, table, SKU
        self._others = dict.fromkeys(work.request.state.tables, 0)
        if own_first:
            self._others = {place: sum(place in arm.reach for arm in booking.arms) for place in self._others}

    def changes(self, arm: RobotSchedule, allowed: frozenset[str]) -> list[tuple[str, float]]:
        """Returns the tools that the robot could have on instead, and when."""
        booking, d = self.booking, self.booking.durations
        if arm.tool is not None and booking.empty_holder(arm) is None:
            return []
        ready_s = arm.time_s + (d.detach_s if arm.tool else 0.0)
        found = []
        for holder, tool in booking.holders.items():
            if tool is not None and holder in arm.reach and tool in allowed:
                found.append((tool, max(ready_s, booking.free_s.get(tool, 0.0)) + d.attach_s))
        return found

    @property
    def done(self) -> bool:
        """True if nothing is left to do."""
        return not self.booking.kits and not self.waiting

    def tasks(self, arm: RobotSchedule, tool: str, from_s: float) -> list[Task]:
        """Returns the possible tasks with a tool from a time on; what others have not planned does not count."""
        booking, handles, reach = self.booking, self.booking.handles[tool], arm.reach
        found = []
        for number, kit in enumerate(booking.kits.values()):
            place = kit.place
            if place not in reach:
                continue
            if not kit.missing and not kit.wrong:
                if not kit.fixed and kit.job.design.tray_sku in handles and booking.outlet(arm):
                    start_s = booking.zone_free_s(place, max(from_s, kit.full_s), self._take_kit_s)
                    found.append(Task(start_s, TaskKind.CLEAR, number, place))
                continue
            start_s = max(from_s, kit.ready_s)
            there_s = start_s + self._to_place_s
            start_s += booking.zone_free_s(place, there_s, self._place_s) - there_s
            for sku, _ in kit.wrong:
                if sku in handles and booking.takes_part(arm, sku):
                    found.append(Task(start_s, TaskKind.CORRECT, number, place, sku))
                    break
            for sku in kit.missing:
                if sku in handles and (since_s := booking.source_s(arm, sku)) is not None:
                    found.append(Task(max(start_s, since_s), TaskKind.FILL, number, place, sku))
                    break
        if not self._alike:
            found += self._passes(arm, handles, from_s)
        lay = self._lay(arm, handles, from_s) if self.waiting else None
        return [*found, lay] if lay else found

    def _passes(self, arm: RobotSchedule, handles: frozenset[str], from_s: float) -> list[Task]:
        """Returns handovers of parts that this robot reaches, for kits that only others reach and cannot fill."""
        booking, found = self.booking, []
        short: dict[str, int] = {}
        for number, kit in enumerate(booking.kits.values()):
            if kit.place in arm.reach:
                continue
            for sku, lacking in kit.missing.items():
                if sku not in handles:
                    continue
                short[sku] = short.get(sku, 0) + lacking
                if self.way(arm, kit.place, sku, short[sku]):
                    found.append(Task(max(from_s, kit.ready_s), TaskKind.PASS, number, kit.place, sku))
        return found

    def way(self, arm: RobotSchedule, place: str, sku: str, lacking: int) -> tuple[Supply, Supply] | None:
        """Returns the tray with a part that others lack at a place, and the tray in which this robot hands it over."""
        booking = self.booking
        helpers = [one for one in booking.arms if place in one.reach and booking.can_handle(one, sku)]
        trays = booking.parts.get(sku, ())
        theirs = [tray for tray in trays if any(tray.name in one.reach for one in helpers)]
        if not helpers or sum(tray.count for tray in theirs) >= lacking:
            return None
        own = [tray for tray in trays if tray.count > 0 and tray.name in arm.reach and tray not in theirs]
        between = [tray for tray in theirs if tray.name in arm.reach and tray.count < tray.capacity]
        return (own[0], between[0]) if own and between else None

    def first(self, arm: RobotSchedule, tool: str, from_s: float) -> tuple[float, Task] | None:
        """Returns the task that starts first; of those the one for which others wait, then one only this robot can do.

        The task comes with its start, to which the perturbation may add something.
        """
        delay_s, others = self.perturbation.delay_s, self._others
        return min(
            ((task.start_s + delay_s(), task) for task in self.tasks(arm, tool, from_s)),
            key=lambda one: (one[0], one[1].kind, others[one[1].table], one[1].number),
            default=None,
        )

    def _lay(self, arm: RobotSchedule, handles: frozenset[str], from_s: float) -> Task | None:
        """Returns the most urgent kit tray that can be laid, on the table that is free first."""
        booking = self.booking
        tried: set[str] = set()
        for job in self.waiting:
            design = job.design
            if design.name in tried:
                continue
            tried.add(design.name)
            if design.tray_sku not in handles or not booking.stack(arm, design.tray_sku):
                continue
            tables = self.work.tables_of[design.name]
            free = [table for table in tables if table not in booking.taken and table in arm.reach]
            if free:
                table = min(free, key=lambda name: booking.free_s.get(name, 0.0))
                return Task(max(from_s, booking.free_s.get(table, 0.0)), TaskKind.LAY, 0, table, "", job)
        return None

    def do(self, arm: RobotSchedule, task: Task) -> bool:
        """Carries a task out with the tool on the robot; False when it is not possible any more."""
        name = task.job.name if task.job else self.booking.kits[task.table].job.name
        done = self._do(arm, task)
        if done:
            self.log.append((self.booking.arms.index(arm), arm.tool or "", task.kind, name, task.table, task.sku))
        return done

    def _do(self, arm: RobotSchedule, task: Task) -> bool:
        booking = self.booking
        if task.job is not None:
            stack = booking.stack(arm, task.job.design.tray_sku)
            if stack is None:
                return False
            self.waiting.remove(task.job)
            booking.lay(arm, task.job, task.table, stack)
            return True
        kit = booking.kits[task.table]
        if task.kind is TaskKind.CLEAR:
            outlet = booking.outlet(arm)
            if outlet is not None:
                booking.clear(arm, kit, outlet)
            return outlet is not None
        if task.kind is TaskKind.PASS:
            way = self.way(arm, task.table, task.sku, sum(k.missing.get(task.sku, 0) for k in booking.kits.values()))
            if way is None:
                return False
            booking.fetch_part(arm, kit, task.sku, way[0])
            booking.put_back(arm, task.sku, way[1])
            return True
        if task.kind is TaskKind.CORRECT:
            booking.remove_part(arm, kit, task.sku)
            put_down_part(booking, arm, task.sku)
        else:
            tray = booking.source(arm, task.sku, task.table)
            if tray is None:
                return False
            booking.move_part(arm, kit, task.sku, tray)
        self.close_full()
        return True

    def close_full(self) -> None:
        """Removes full kits that stay where they are: they need nothing more."""
        kits = self.booking.kits
        for kit in [kit for kit in kits.values() if kit.fixed and not kit.missing and not kit.wrong]:
            del kits[kit.place]
