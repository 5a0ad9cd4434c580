"""The backend of a cell under test: answers about its interfaces, its kits and past events."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from cellwright.core.config import validate
from cellwright.core.errors import BadInput, UnknownName
from cellwright.lab.lab import Lab
from cellwright.trials.cfg import TrialCfg, TrialOrderCfg
from cellwright.trials.clock_pause import ClockPause
from cellwright.trials.end import TrialEnd, close_session, trial_hints
from cellwright.trials.judging import VerdictInputs, fault_text, find_kits, find_part, make_verdict
from cellwright.trials.orders import OrderBook
from cellwright.trials.report import save_trial, trial_json
from cellwright.trials.session import TrialSession
from cellwright.trials.trial import EXTERNAL, TrialRun
from cellwright.trials.verdict import Ending, TrialVerdict

__all__ = ["CellBackend"]

LOOK_S = 0.1
IDLE_S = 1.0  # nothing has moved, and no client is connected, for so long: nothing will change
WHERE = "cell.start"
QUESTIONS = ("fault", "state", "time", "drawings", "wait", "run", "verdict", "kit", "part", "collisions", "save")


@dataclass
class CellBackend:
    """A session that answers a test's questions; time stands still between them while no client is connected.

    Attributes:
        cfg: What was asked for.
        session: The laboratory with its interfaces.
        folder: For the evidence.
        end_log: Ends the log.
    """

    __test__ = False  # pytest: this is no test

    cfg: TrialCfg
    session: TrialSession
    folder: Path
    end_log: Callable[[], object]
    _pause: ClockPause = field(default_factory=ClockPause)
    _waiting: int = 0
    _ending: tuple[Ending, str] = (Ending.INTERRUPTED, "by the test")
    _closed: bool = False
    _began_s: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, asked: dict[str, Any]) -> Self:
        """Returns a backend from the arguments of `cell.start`."""
        folder = Path(asked.pop("folder"))
        asked["trial"] = asked.pop("name")[:80]
        cfg = validate(asked | {"impossible": "note"}, TrialCfg, WHERE)
        lab = Lab.from_cell(cfg.cell, cfg.seed, pace=cfg.pace if cfg.controller == EXTERNAL else None)
        book = OrderBook.of(cfg.orders, lab.cell, cfg.seed, WHERE)
        session = TrialSession(lab, book, cfg.faults, cfg.time_limit_s)
        return cls(cfg, session, folder, lab.record(folder / "log.mcap").close)

    def __post_init__(self) -> None:
        """Notes the parts and what is possible before anything happens."""
        self._end = TrialEnd(self.cfg, self.session)
        self._possible = self.session.recoverable()
        self._parts = [name for name, item in self.session.lab.world.objects.items() if not item.is_tray]

    async def open(self) -> dict[str, Any]:
        """Opens the interfaces, for controllers outside; their addresses, and hints about what was asked for."""
        self.session.update()
        interfaces = await self.session.open(any_port=True) if self.cfg.controller == EXTERNAL else {}
        return {**interfaces, "hints": trial_hints(self.cfg, self.session.lab.cell, self._possible)}

    async def turn(self) -> None:
        """Lets time go on while a client is connected or a test waits, until orders or time limit end the trial."""
        session = self.session
        while True:
            await self._pause.until(lambda: self._waiting > 0 or self._working)
            before_s = session.lab.clock.time_s
            await session.lab.clock.sleep(LOOK_S)
            session.update()
            reached = self._end.reached(session.lab.clock.time_s - before_s) if self._open else None
            if reached is not None:
                self._closed, self._ending = True, reached
                await close_session(session, reached[0])

    @property
    def _open(self) -> bool:
        return self.cfg.controller == EXTERNAL and not self._closed

    @property
    def _working(self) -> bool:
        """True if a controller is connected, or was and has submitted everything before time could go on."""
        return self._open and (self.session.connected > 0 or self._end.submitted)

    async def answer(self, what: str, arguments: dict[str, Any]) -> Any:
        """Returns the answer to one question."""
        if what not in QUESTIONS:
            raise UnknownName("question", what, QUESTIONS)
        return await getattr(self, f"_{what}")(**arguments)

    async def _fault(self, fault: str | dict[str, Any]) -> None:
        self.session.add_fault(fault)

    async def _state(self) -> dict[str, Any]:
        """Returns the state that `run_controller` watches; `ended` is empty while the interfaces are open."""
        ended = self._ending[0].value if self._closed else ""
        return {"connected": self.session.connected, "ended": ended}

    async def _time(self) -> float:
        return self.session.lab.clock.time_s

    async def _drawings(self) -> dict[str, Any]:
        return self.session.drawings

    async def _wait(self, duration_s: float) -> None:
        await self._until(lambda: False, duration_s, even_idle=True)

    async def _run(self, order: str | None = None) -> dict[str, Any]:
        if self.cfg.controller == EXTERNAL:
            raise BadInput("run is for a controller inside: start the cell with its name as controller=...")
        if order is not None:
            cell, asked = self.session.lab.cell, [TrialOrderCfg(order=order)]
            self.session.book.orders = OrderBook.of(asked, cell, self.cfg.seed, "cell.run").orders
            self._possible = self.session.recoverable()
        self._waiting += 1
        self._pause.release()
        try:
            self._ending = await TrialRun(self.cfg, self.session, self.cfg.controller).internal()
        finally:
            self._waiting -= 1
        return await self._verdict()

    async def _verdict(self) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(trial_json(self._judged()))
        return made

    async def _kit(self, name: str, wanted: bool, within_s: float, **_: Any) -> dict[str, Any]:
        def done() -> bool:
            kits = find_kits(self.session, name)
            return (bool(kits) and all(kit.done for kit in kits)) is wanted

        why = await self._until(done, within_s)
        kits = [kit.as_dict() for kit in find_kits(self.session, name)]
        return {"ok": done(), "why": why, "kits": kits, **self._happened()}

    async def _part(self, name: str, slot: str, wanted: bool, within_s: float, **_: Any) -> dict[str, Any]:
        def there() -> bool:
            return find_part(self.session, name, slot, self._parts)[0] is wanted

        why = await self._until(there, within_s)
        return {
            "ok": there(),
            "why": why,
            "reason": find_part(self.session, name, slot, self._parts)[1],
            **self._happened(),
        }

    async def _collisions(self) -> list[str]:
        return [str(hit) for hit in self.session.judge.collisions.hits]

    async def _save(self) -> list[str]:
        self.end_log()
        files = save_trial(self._judged(), self.session.lab.world, self.folder)
        return [str(path) for path in files.values()]

    def _judged(self) -> TrialVerdict:
        facts = VerdictInputs(self.cfg.trial, self.cfg.controller, self.cfg.time_limit_s)
        wall_s = time.monotonic() - self._began_s
        return make_verdict(self.session, facts, self._ending, wall_s=wall_s, possible=self._possible)

    def _happened(self) -> dict[str, Any]:
        lines = [str(record) for record in self.session.faults]
        lines += [f"fault {fault_text(fault)}: its moment has not come" for fault in self.session.pending]
        lines += [str(event) for event in (*self.session.judge.drops.drops, *self.session.judge.collisions.hits)]
        return {"time_s": self.session.lab.clock.time_s, "happened": lines}

    async def _until(self, wanted: Callable[[], bool], within_s: float, *, even_idle: bool = False) -> str:
        """Lets time go on until something is so, can no more be so, or that time is over; says which."""
        clock, idle_s = self.session.lab.clock, 0.0
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
        due = any(fault.at is not None for fault in self.session.pending)
        return not due and (self._closed or not self.session.connected) and self.session.still
