"""The interfaces of a trial for controllers outside: CRCL, vision, and orders and submissions as lines of JSON."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.messages import CrclCommand
from cellwright.crcl import CRCLCommandInstance, DecodeError, decode
from cellwright.crcl import Message as CrclMessage
from cellwright.drawings.summary import drawings
from cellwright.hybrid import TARGET_QUESTIONS, TargetsControl
from cellwright.interfaces.control import ControlInterface
from cellwright.interfaces.usartruth import UsarTruthInterface
from cellwright.interfaces.vision import VisionInterface
from cellwright.trials.trial import Trial

__all__ = ["ClockPause", "TrialInterfaces"]

POLL_S = 0.01
LONGEST_CLAIM = 4096  # characters of a CRCL message that can be a submission
QUESTIONS = (
    '{"ask": "orders"}', '{"ask": "addresses"}', '{"ask": "drawings"}', '{"ask": "time"}', '{"submit": ORDER}'
)  # fmt: skip


class TrialInterfaces:
    """All interfaces of a trial, which gets them; nothing of the truth goes out to a controller.

    Attributes:
        vision: The detectors' interfaces.
        control: The interface for orders and submissions.
        usartruth: True poses for a test that asked for them; no controller is told its address, and the report says
            that it was on.
        ended: How the trial has ended; empty until then.
    """

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self.ended = ""
        self.vision = VisionInterface(trial.lab)
        self.usartruth: UsarTruthInterface | None = None
        self.control = ControlInterface(self._answer, self._greeting)
        self._targets = None if trial.targets is None else TargetsControl(trial.targets, self.control.push)
        trial.interfaces = self
        trial.book.on_announce.append(lambda order: self.control.push({"announce": order.as_dict()}))
        for robot in trial.lab.robots:
            trial.lab.bus.subscribe(f"/{robot}/crcl_command", self._hear_command, subscriber=f"trial of {robot}")

    async def open(self, host: str = "127.0.0.1", *, any_port: bool = False, control_port: int = 0) -> dict[str, Any]:
        """Listens on all interfaces; returns their addresses."""
        crcl = self._trial.crcl
        await crcl.start(host, dict.fromkeys(crcl.servers, 0) if any_port else None)
        await self.vision.start(host, dict.fromkeys(self.vision.servers, 0) if any_port else None)
        await self.control.start(host, control_port)
        return self.addresses

    async def tell_truth(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Serves true poses to tests, also when the trial is over; nobody else is told the address it returns."""
        self.usartruth = await UsarTruthInterface(self._trial.lab).start(host, port)
        return self.usartruth.address

    def tell_end(self, how: str) -> None:
        """Says on the control interface that the trial is over, also to clients that connect while it is closing."""
        self.ended = how
        self.control.push({"end": how})

    async def close(self) -> None:
        """Ends all connections; motions under way are stopped."""
        await self.control.close()
        await self.vision.close()
        await self._trial.crcl.close()

    @property
    def addresses(self) -> dict[str, Any]:
        """Interface -> HOST:PORT, of CRCL and vision by robot."""
        crcl = {robot: "{}:{}".format(*server.address) for robot, server in self._trial.crcl.servers.items()}
        return {"crcl": crcl, "vision": self.vision.addresses, "control": self.control.address}

    @cached_property
    def drawings(self) -> dict[str, Any]:
        """The prior knowledge of a controller, by the drawings."""
        return drawings(self._trial.lab.cell, self._trial.reach, self._trial.cfg.time_limit_s)

    @property
    def connected(self) -> int:
        """The number of connections on all interfaces."""
        crcl = sum(server.connections for server in self._trial.crcl.servers.values())
        return crcl + sum(server.clients for server in self.vision.servers.values()) + self.control.clients

    @property
    def notes(self) -> list[str]:
        """Lines for the report: clients that misbehaved, and that the truth was served."""
        flood = f"{self.control.flooded} clients of the control interface were disconnected: they said too much"
        told = [] if self.usartruth is None else [self.usartruth.note]
        return [flood, *told] if self.control.flooded else told

    def _greeting(self) -> list[dict[str, Any]]:
        known = [{"announce": order.as_dict()} for order in self._trial.book.announced]
        return [*known, {"end": self.ended}] if self.ended else known

    def _hear_command(self, topic: str, command: CrclCommand) -> None:
        """Submits by a CRCL Message `submit NAME`, for controllers that speak only CRCL."""
        if len(command.document) > LONGEST_CLAIM or "MessageType" not in command.document:
            return
        try:
            said = decode(command.document.encode(), CRCLCommandInstance).crcl_command
        except DecodeError:
            return
        words = said.message.split() if isinstance(said, CrclMessage) else []
        if words[:1] == ["submit"]:
            with contextlib.suppress(BadInput):  # noted, and there is no answer to send
                self._trial.submit(" ".join(words[1:]), topic.split("/")[1])

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        now_s = self._trial.lab.clock.time_s
        if self._targets is not None and self._targets.knows(asked):
            return self._targets.answer(asked)
        if "submit" in asked:
            name = asked["submit"]
            if not isinstance(name, str):
                raise BadInput('what is submitted is an order by its name, as in {"submit": "kit_m2l1"}')
            self._trial.submit(name, "control interface")
            return {"submitted": name, "time_s": now_s}
        match asked.get("ask"):
            case "orders":
                return {"orders": [order.as_dict() for order in self._trial.book.announced], "time_s": now_s}
            case "addresses" | "doors" as what:  # the second was its name before
                return {what: self.addresses, "time_s": now_s}
            case "drawings":
                return {"drawings": self.drawings}
            case "time":
                return {"time_s": now_s}
        known = QUESTIONS if self._targets is None else (*QUESTIONS, *TARGET_QUESTIONS)
        raise UnknownName("question", str(asked.get("ask", asked))[:80], known)


class ClockPause:
    """Stops the simulation clock of the running loop while sockets go on being served.

    So the time that a controller takes to start is not part of its trial, and a fault at 5 s comes 5 s after it began.
    """

    def __init__(self) -> None:
        self._released = threading.Event()

    def release(self) -> None:
        """Lets time go on; may be called from any thread, and more than once."""
        self._released.set()

    async def until(self, wanted: Callable[[], bool], within_s: float | None = None) -> bool:
        """Waits until something is so, or `release` is called; False when it is not so within that real time.

        Args:
            wanted: Asked from another thread, again and again; must only look.
            within_s: Real time; for ever when None.
        """
        self._released.clear()

        def watch() -> bool:
            end_s = None if within_s is None else time.monotonic() + within_s
            while not wanted():
                if self._released.wait(POLL_S):
                    return True
                if end_s is not None and time.monotonic() > end_s:
                    return False
            return True

        try:
            return await asyncio.get_running_loop().run_in_executor(None, watch)
        finally:
            self.release()  # a cancelled wait leaves no thread behind
