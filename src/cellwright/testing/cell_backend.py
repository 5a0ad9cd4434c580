"""The backend of a cell under test: answers about its interfaces, its kits and past events."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from cellwright.core.config import validate
from cellwright.core.errors import BadInput, JobFailed, UnknownName
from cellwright.lab.lab import Lab
from cellwright.trials.cfg import EXTERNAL, TrialCfg, TrialOrderCfg
from cellwright.trials.controllers import TRIAL_CONTROLLERS
from cellwright.trials.judging import find_kits, find_part
from cellwright.trials.orders import OrderBook
from cellwright.trials.page import FILES, draw_end, report_json, save_report, write_report
from cellwright.trials.report import Ending, Report
from cellwright.trials.run_note import note_trial
from cellwright.trials.trial import Trial, TrialEnd
from cellwright.trials.trial_file import trial_hints
from cellwright.trials.trial_interfaces import ClockPause, TrialInterfaces

__all__ = ["CellBackend"]

LOOK_S = 0.1
IDLE_S = 1.0  # nothing has moved, and no client is connected, for so long: nothing will change
WHERE = "cell.start"
QUESTIONS = (
    "fault",
    "state",
    "time",
    "drawings",
    "wait",
    "run",
    "verdict",
    "kit",
    "part",
    "collisions",
    "picture",
    "save",
)


@dataclass
class CellBackend:
    """A trial that answers a test's questions; time stands still between them while no client is connected.

    Attributes:
        cfg: What was asked for.
        trial: The trial.
        interfaces: For controllers outside.
        folder: For the evidence.
        end_log: Ends the log.
        view: HOST:PORT of the live page; empty for none.
        tells_truth: Whether the test may ask for true poses.
        notes: What a test is told besides answers: that there is no live page.
    """

    __test__ = False  # pytest: this is no test

    cfg: TrialCfg
    trial: Trial
    interfaces: TrialInterfaces
    folder: Path
    end_log: Callable[[], object]
    view: str = ""
    tells_truth: bool = False
    notes: list[str] = field(default_factory=list)
    _pause: ClockPause = field(default_factory=ClockPause)
    _waiting: int = 0
    _end: TrialEnd = (Ending.INTERRUPTED, "by the test")
    _closed: bool = False
    _began_s: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, asked: dict[str, Any]) -> Self:
        """Returns a backend from the arguments of `cell.start`."""
        folder, is_paced = Path(asked.pop("folder")), asked.pop("is_paced", False)
        view, tells_truth = asked.pop("view", ""), asked.pop("usartruth", False)
        asked["trial"] = _trial_name(asked.pop("name"))
        cfg = validate(asked | {"impossible": "note"}, TrialCfg, WHERE)
        pace = cfg.pace if is_paced or cfg.controller == EXTERNAL else None
        lab = Lab.from_cell(cfg.cell, cfg.seed, pace=pace, source=cfg.source)
        book = OrderBook.of(cfg.orders, lab.cell, WHERE)
        trial = Trial(lab, cfg, book)
        return cls(cfg, trial, TrialInterfaces(trial), folder, lab.record(folder / "log.mcap").close, view, tells_truth)

    def __post_init__(self) -> None:
        """Notes the parts and what is possible before anything happens."""
        self._possible = self.trial.recoverable()
        self._parts = [name for name, item in self.trial.lab.world.objects.items() if not item.is_tray]

    async def open(self) -> dict[str, Any]:
        """Opens the interfaces, for controllers outside; their addresses, and hints about what was asked for."""
        self.trial.look()
        interfaces = await self.interfaces.open(any_port=True) if self.cfg.controller == EXTERNAL else {}
        if self.tells_truth:
            interfaces["usartruth"] = await self.interfaces.tell_truth()
        return {**interfaces, "notes": self.notes, "hints": trial_hints(self.cfg, self.trial.lab.cell, self._possible)}

    async def turn(self) -> None:
        """Lets time go on while a client is connected or a test waits, until orders or time limit end the trial."""
        clock = self.trial.lab.clock
        while True:
            await self._pause.until(lambda: self._waiting > 0 or self._working)
            before_s = clock.time_s
            await clock.sleep(LOOK_S)
            end = self.trial.look(clock.time_s - before_s if self._open else 0.0)
            if end is not None and self._open:
                self._closed = True
                self._end = end
                await self.trial.close(end[0])

    @property
    def _open(self) -> bool:
        return self.cfg.controller == EXTERNAL and not self._closed

    @property
    def _working(self) -> bool:
        """True if a controller is connected, or was and has submitted everything before time could go on."""
        return self._open and (self.interfaces.connected > 0 or self.trial.submitted)

    async def answer(self, what: str, arguments: dict[str, Any]) -> Any:
        """Returns the answer to one question."""
        if what not in QUESTIONS:
            raise UnknownName("question", what, QUESTIONS)
        return await getattr(self, f"_{what}")(**arguments)

    async def _fault(self, fault: str | dict[str, Any]) -> None:
        self.trial.add_fault(fault)

    async def _state(self) -> dict[str, Any]:
        """Returns the state that `run_controller` watches; `ended` is empty while the interfaces are open."""
        ended = self._end[0].value if self._closed else ""
        return {"connected": self.interfaces.connected, "ended": ended}

    async def _time(self) -> float:
        return self.trial.lab.clock.time_s

    async def _drawings(self) -> dict[str, Any]:
        return self.interfaces.drawings

    async def _wait(self, duration_s: float) -> None:
        await self._until(lambda: False, duration_s, even_idle=True)

    async def _run(self, order: str | None = None) -> dict[str, Any]:
        if self.cfg.controller == EXTERNAL:
            raise BadInput("run is for a controller inside: start the cell with its name as controller=...")
        if order is not None:
            cell, asked = self.trial.lab.cell, [TrialOrderCfg(order=order)]
            self.trial.book.orders = OrderBook.of(asked, cell, "cell.run").orders
            self._possible = self.trial.recoverable()
        self._waiting += 1
        self._pause.release()
        try:
            self._end = await self.trial.inside(TRIAL_CONTROLLERS.get(self.cfg.controller))
        finally:
            self._waiting -= 1
        return await self._verdict()

    async def _verdict(self) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(report_json(self._report()))
        return made

    async def _kit(self, name: str, wanted: bool, within_s: float, **_: Any) -> dict[str, Any]:
        def done() -> bool:
            kits = find_kits(self.trial, name)
            return (bool(kits) and all(kit.done for kit in kits)) is wanted

        why = await self._until(done, within_s)
        kits = [kit.as_dict() for kit in find_kits(self.trial, name)]
        return {"ok": done(), "why": why, "kits": kits, **self._happened()}

    async def _part(self, name: str, slot: str, wanted: bool, within_s: float, **_: Any) -> dict[str, Any]:
        def there() -> bool:
            return find_part(self.trial, name, slot, self._parts)[0] is wanted

        why = await self._until(there, within_s)
        return {
            "ok": there(),
            "why": why,
            "reason": find_part(self.trial, name, slot, self._parts)[1],
            **self._happened(),
        }

    async def _collisions(self) -> list[str]:
        return [str(hit) for hit in self.trial.judge.collisions.hits]

    async def _picture(self, file: str) -> float:
        """Draws the world as it is; the time of it."""
        said: list[str] = []
        if draw_end(self.trial.lab.world, Path(file), said.append) is None:
            raise JobFailed(said[-1])
        return self.trial.lab.clock.time_s

    async def _save(
        self, picture: str | None = None, draws: bool = True, failure: str = "", command: str = ""
    ) -> list[str]:
        """Writes log and report, with a picture of this moment that there is already, or one that is drawn."""
        report = self._report()
        note_trial(self.trial.lab, report, self.cfg, None, self.cfg.controller, failure=failure, command=command)
        self.end_log()
        if picture is None and draws:
            save_report(report, self.trial.lab.world, self.folder)
        else:
            write_report(report, self.folder, Path(picture) if picture else None)
        return [str(path) for name in FILES.values() if (path := self.folder / name).exists()]

    def _report(self) -> Report:
        wall_s = time.monotonic() - self._began_s
        return self.trial.report(self._end, self.cfg.controller, wall_s=wall_s, possible=self._possible)

    def _happened(self) -> dict[str, Any]:
        lines = [str(record) for record in self.trial.watcher.records]
        lines += [f"fault {fault}: its moment has not come" for fault in self.trial.not_applied]
        lines += [str(event) for event in (*self.trial.judge.drops.drops, *self.trial.judge.collisions.hits)]
        return {"time_s": self.trial.lab.clock.time_s, "happened": lines}

    async def _until(self, wanted: Callable[[], bool], within_s: float, *, even_idle: bool = False) -> str:
        """Lets time go on until something is so, can no more be so, or that time is over; says which."""
        clock, idle_s = self.trial.lab.clock, 0.0
        end_s = clock.time_s + within_s
        self._waiting += 1
        self._pause.release()
        try:
            while not wanted():
                left_s = end_s - clock.time_s
                if left_s <= 0:
                    return f"waited for {within_s:g} s" if within_s else "now"
                idle_s = idle_s + LOOK_S if self._idle else 0.0
                if idle_s > IDLE_S and not even_idle:
                    return "nobody is connected, and nothing moves any more"
                await clock.sleep(min(LOOK_S, left_s))
            return "it is so"
        finally:
            self._waiting -= 1

    @property
    def _idle(self) -> bool:
        due = any(fault.at is not None for fault in self.trial.judge.faults.pending)
        return not due and (self._closed or not self.interfaces.connected) and self.trial.still


def _trial_name(test: str) -> str:
    """Returns a test's name as a trial may have it: `test_b[x y]` is `test_b-x-y`."""
    plain = re.sub(r"[^A-Za-z0-9_.]+", "-", test).strip("-")
    return (plain if plain[:1].isalpha() else f"test-{plain}")[:80]
