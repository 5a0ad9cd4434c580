"""The session of a trial: a laboratory with all its interfaces, its orders and its judge."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.messages import CrclCommand, Message, Order
from cellwright.crcl import CRCLCommandInstance, DecodeError, decode
from cellwright.crcl import Message as CrclMessage
from cellwright.drawings.summary import drawings
from cellwright.interfaces.control import ControlInterface
from cellwright.interfaces.crcl import CrclInterface
from cellwright.interfaces.vision import VisionInterface
from cellwright.judge import FaultCfg, Judge, KitVerdict, Recoverability, parse_fault
from cellwright.lab.lab import Lab
from cellwright.orders import KitDesign
from cellwright.trials.fault_records import STILL_MPS, FaultRecorder, speed_mps
from cellwright.trials.oracle_reach import PointReach
from cellwright.trials.orders import OrderBook, OrderedKit, TrialOrder
from cellwright.trials.verdict import FaultRecord

__all__ = ["TrialSession"]

ORDERS_TOPIC = "/orders"
MAX_NOTES = 20
LONGEST_CLAIM = 4096  # characters of a CRCL message that can be a submission
QUESTIONS = (
    '{"ask": "orders"}', '{"ask": "doors"}', '{"ask": "drawings"}', '{"ask": "time"}', '{"submit": ORDER}'
)  # fmt: skip


class TrialSession:
    """A running trial: the laboratory, its interfaces, its orders and its judge.

    Attributes:
        lab: The laboratory.
        book: The orders.
        judge: Sees the truth; nothing that it says reaches an interface.
        crcl: The robots' interfaces.
        vision: The detectors' interfaces.
        control: The interface for orders and submissions.
        said: Unusable messages of controllers, a line each.
        ended: How the trial has ended; empty until then.
    """

    def __init__(
        self, lab: Lab, book: OrderBook, faults: Sequence[FaultCfg] = (), time_limit_s: float | None = None
    ) -> None:
        self.lab, self.book, self._time_limit_s = lab, book, time_limit_s
        self.judge = Judge(lab.world, lab.stepper, lab.bus, lab.sensors, faults)
        self.crcl, self.vision = CrclInterface(lab), VisionInterface(lab)
        self.control, self.ended = ControlInterface(self._answer, self._greeting), ""
        self._fault_recorder = FaultRecorder(lab, "trial")
        self.said: list[str] = []
        self._reach = PointReach(lab)
        self._sequence = 0
        book.on_announce.append(self._announce)
        book.on_submit.append(self._claim)
        for robot in lab.robots:
            lab.bus.subscribe(f"/{robot}/crcl_command", self._hear_command, subscriber=f"trial of {robot}")

    async def open(self, host: str = "127.0.0.1", *, any_port: bool = False, control_port: int = 0) -> dict[str, Any]:
        """Listens on all interfaces; returns their addresses."""
        await self.crcl.start(host, dict.fromkeys(self.crcl.servers, 0) if any_port else None)
        await self.vision.start(host, dict.fromkeys(self.vision.servers, 0) if any_port else None)
        await self.control.start(host, control_port)
        return self.addresses

    def tell_end(self, how: str) -> None:
        """Says on the control interface that the trial is over, also to clients that connect while it is closing."""
        self.ended = how
        self.control.push({"end": how})

    async def close(self) -> None:
        """Ends all connections; motions under way are stopped."""
        await self.control.close()
        await self.vision.close()
        await self.crcl.close()

    @property
    def addresses(self) -> dict[str, Any]:
        """Interface -> HOST:PORT, of CRCL and vision by robot."""
        crcl = {robot: "{}:{}".format(*server.address) for robot, server in self.crcl.servers.items()}
        return {"crcl": crcl, "vision": self.vision.addresses, "control": self.control.address}

    @cached_property
    def drawings(self) -> dict[str, Any]:
        """The prior knowledge of a controller, by the drawings."""
        return drawings(self.lab.cell, self._reach, self._time_limit_s)

    @property
    def faults(self) -> Sequence[FaultRecord]:
        """The applied faults, with the oracle's answers."""
        return self._fault_recorder.records

    @property
    def connected(self) -> int:
        """The number of connections on all interfaces."""
        crcl = sum(server.connections for server in self.crcl.servers.values())
        return crcl + sum(server.clients for server in self.vision.servers.values()) + self.control.clients

    @property
    def still(self) -> bool:
        """True if no robot moves and nothing falls."""
        if any(robot.moving for robot in self.lab.robots.values()):
            return False
        return all(speed_mps(self.lab.world, name) < STILL_MPS for name in self.lab.world.objects)

    @property
    def pending(self) -> Sequence[FaultCfg]:
        """Faults whose moment has not come."""
        return self.judge.faults.pending

    def add_fault(self, fault: str | dict[str, Any]) -> None:
        """Adds a fault; its events are counted from now on."""
        self.judge.faults.add(parse_fault(fault))

    def kits(self) -> dict[OrderedKit, KitVerdict | None]:
        """Returns the verdict on every kit, as it is now."""
        return self.book.assigned(self._judge_kit)

    def update(self) -> None:
        """Announces what is due, and notes which orders are complete and what became of faults."""
        now_s = self.lab.clock.time_s
        kits = self.kits()
        for order in self.book.orders.values():
            verdicts = [kits[kit] for kit in order.kits]
            done = all(verdict is not None and verdict.done for verdict in verdicts)
            order.complete_s = (now_s if order.complete_s is None else order.complete_s) if done else None
        self.book.announce_due(now_s)
        self._fault_recorder.ask(self.recoverable)

    def recoverable(self) -> Recoverability:
        """Returns the oracle's answer about all orders now."""
        trays = {verdict.tray: kit.design for kit, verdict in self.kits().items() if verdict is not None}
        if len(trays) < len(self.book.kits):
            return Recoverability(False, f"{len(self.book.kits)} kits are wanted, there are trays for {len(trays)}")
        return self.judge.recoverable(trays, self._reach)

    def submit(self, name: str, by: str) -> None:
        """Submits an order for a controller; a wrong submission is noted."""
        try:
            self.book.submit(name, self.lab.clock.time_s)
        except BadInput as error:
            self._note(f"{by}: {error}")
            raise

    def _greeting(self) -> list[dict[str, Any]]:
        known = [{"announce": order.as_dict()} for order in self.book.announced]
        return [*known, {"end": self.ended}] if self.ended else known

    def _judge_kit(self, tray: str, design: KitDesign) -> KitVerdict:
        return self.judge.kits({tray: design})[0]

    def _announce(self, order: TrialOrder) -> None:
        counts = Counter(kit.design.name for kit in order.kits)
        header = (self.lab.world.clock.time_ns, self._sequence, "trial")
        message: Message = Order(*header, order.name, tuple(counts), tuple(counts.values()), order.priority)
        self._sequence += 1
        self.lab.bus.publish(ORDERS_TOPIC, message)
        self.control.push({"announce": order.as_dict()})

    def _claim(self, order: TrialOrder) -> None:
        kits = self.kits()
        order.claimed = tuple(verdict for kit in order.kits if (verdict := kits[kit]) is not None)

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
                self.submit(" ".join(words[1:]), topic.split("/")[1])

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        now_s = self.lab.clock.time_s
        if "submit" in asked:
            name = asked["submit"]
            if not isinstance(name, str):
                raise BadInput('what is submitted is an order by its name, as in {"submit": "kit_m2l1"}')
            self.submit(name, "control door")
            return {"submitted": name, "time_s": now_s}
        match asked.get("ask"):
            case "orders":
                return {"orders": [order.as_dict() for order in self.book.announced], "time_s": now_s}
            case "doors":
                return {"doors": self.addresses, "time_s": now_s}
            case "drawings":
                return {"drawings": self.drawings}
            case "time":
                return {"time_s": now_s}
        raise UnknownName("question", str(asked.get("ask", asked))[:80], QUESTIONS)

    def _note(self, text: str) -> None:
        if len(self.said) < MAX_NOTES:
            self.said.append(text)
