"""A client of the rosbridge server: what it subscribes to, and what waits for it to be read."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from typing import Any

import cbor2
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from cellwright.interfaces.ros.plain import PlainMessages, as_json

__all__ = ["LEVELS", "Compression", "Outgoing", "RosbridgeClient", "TopicSubscription"]

LEVELS = ("none", "error", "warning", "info")
QUEUE_MESSAGES = 1000  # that wait for one subscription, where the client names no other number
QUEUE_BYTES = 8 * 2**20  # of messages that wait for one client
ANSWERS_BYTES = 16 * 2**20  # of answers and status messages that wait; a client that asks for more is cut off
STALL_S = 10.0  # of wall time in which a client takes nothing of what waits, until it is cut off


class Compression(StrEnum):
    """The forms in which a client may have messages."""

    NONE = "none"
    """JSON."""
    CBOR = "cbor"
    """Fields in CBOR."""
    CBOR_RAW = "cbor-raw"
    """A time and the bytes of ROS in CBOR, for clients that read those by the text of the type."""


class Outgoing:
    """A message on its way to clients, encoded once in each form that one of them wants, and not before."""

    __slots__ = ("_cdr", "_forms", "_ros_type", "_time_ns", "size")

    def __init__(self, ros_type: str, cdr: bytes, time_ns: int) -> None:
        self._ros_type = ros_type
        self._cdr = cdr
        self._time_ns = time_ns
        self._forms: dict[Any, str | bytes] = {}
        self.size = len(cdr)

    def packet(self, topic: str, plain: PlainMessages, compression: Compression) -> str | bytes:
        """Returns the `publish` operation, with the topic as the client has spelt it."""
        key = topic, plain, compression
        if key not in self._forms:
            body = self._body(plain, compression)
            if isinstance(body, bytes):
                head = b"\xa3" + b"".join(map(cbor2.dumps, ("op", "publish", "topic", topic, "msg")))
                self._forms[key] = head + body
            else:
                self._forms[key] = f'{{"op": "publish", "topic": {as_json(topic)}, "msg": {body}}}'
        return self._forms[key]

    def _body(self, plain: PlainMessages, compression: Compression) -> str | bytes:
        key = plain, compression
        if key not in self._forms:
            if compression is Compression.CBOR_RAW:
                self._forms[key] = plain.cbor_raw(self._ros_type, self._cdr, self._time_ns)
            else:
                encode = plain.cbor if compression is Compression.CBOR else plain.json
                self._forms[key] = encode(self._ros_type, self._cdr)
        return self._forms[key]


class TopicSubscription:
    """A client's subscription of a topic; several of one client, with ids of their own, are one.

    Attributes:
        topic: The topic.
        spelt: The same as the client has spelt it.
        dropped: Messages that the client missed because it reads too slowly.
        told: How many of them it was told.

    Args:
        topic: The topic.
        spelt: As the client spells it.
        send: Has the next of `waiting` sent.
    """

    def __init__(self, topic: str, spelt: str, send: Callable[[TopicSubscription], None]) -> None:
        self.topic = topic
        self.spelt = spelt
        self.waiting: deque[Outgoing] = deque()
        self.dropped = self.told = 0
        self._send = send
        self._wishes: dict[str, tuple[float, int, Compression]] = {}
        self._held: deque[Outgoing] = deque()
        self._due_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def wish(self, number: str, throttle_s: float, queue_length: int, compression: Compression) -> None:
        """Takes the wishes of one of its ids; the strictest count."""
        self._wishes[number] = throttle_s, queue_length, compression
        self._decide()

    def has_room(self, number: str, most: int) -> bool:
        """Returns whether it may take the wishes of that id, too."""
        return number in self._wishes or len(self._wishes) < most

    def withdraw(self, number: str | None) -> bool:
        """Forgets an id, or all; returns whether none is left."""
        self._wishes = {} if number is None else {key: wish for key, wish in self._wishes.items() if key != number}
        self._decide()
        return not self._wishes

    def _decide(self) -> None:
        wishes = self._wishes.values()
        self._throttle_s = min((throttle_s for throttle_s, _, _ in wishes), default=0.0)
        self._queue_length = min((length for _, length, _ in wishes if length), default=0)
        self.limit = self._queue_length or QUEUE_MESSAGES
        forms = {compression for _, _, compression in wishes} or {Compression.NONE}
        self.compression = forms.pop() if len(forms) == 1 else Compression.CBOR
        self._held = deque(self._held, self._queue_length or None)

    def offer(self, message: Outgoing) -> Outgoing | None:
        """Takes a message; returns it when it is to be sent now, as far as throttling goes."""
        if not self._throttle_s:
            return message
        now_s = time.monotonic()
        is_due = now_s >= self._due_s and not self._held
        if is_due:
            self._due_s = now_s + self._throttle_s
            return message
        if self._queue_length:  # else what comes too soon is left out
            if len(self._held) == self._held.maxlen:
                self.dropped += 1
            self._held.append(message)
            self._wait_for_turn(now_s)
        return None

    def close(self) -> None:
        """Ends it; what waits is not sent."""
        if self._timer is not None:
            self._timer.cancel()
        self.waiting.clear()
        self._held.clear()

    def take_held(self) -> Outgoing | None:
        """Returns the message whose turn has come."""
        self._timer = None
        if not self._held:
            return None
        message = self._held.popleft()
        now_s = time.monotonic()
        self._due_s = now_s + self._throttle_s
        if self._held:
            self._wait_for_turn(now_s)
        return message

    def _wait_for_turn(self, now_s: float) -> None:
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(0.0, self._due_s - now_s), self._send, self)


class RosbridgeClient:
    """Sends a client what it wants, as fast as it reads and no faster; nobody waits for it.

    Attributes:
        number: Its number, which no other client gets.
        name: Its address.
        plain: Messages as the client's generation of ROS names them.
        level: Which status messages it wants.
        is_admitted: Whether it may do more than authenticate.
        is_cut_off: Whether its connection was ended; what it sent before is not taken any more.
        subscriptions: Topic -> subscription.
        advertised: Topic -> type, of what it publishes.
        latched: Topics whose last message is kept for those that subscribe later.
        services: Name -> type, of those that it offers.
        calls: Calls that it has made and that are not answered.
    """

    _numbers = itertools.count(1)

    def __init__(self, connection: ServerConnection, plain: PlainMessages, *, is_admitted: bool) -> None:
        self.number = next(self._numbers)
        host, port = (connection.remote_address or ("", 0))[:2]
        self.name = f"{host}:{port}"
        self.plain = plain
        self.level = 1
        self.is_admitted = is_admitted
        self.is_cut_off = False
        self.subscriptions: dict[str, TopicSubscription] = {}
        self.advertised: dict[str, str] = {}
        self.latched: set[str] = set()
        self.services: dict[str, str] = {}
        self.calls = 0
        self._connection = connection
        self._answers: deque[str | bytes] = deque()
        self._answers_bytes = self._waiting_bytes = 0
        self._turns: deque[TopicSubscription] = deque()
        self._has_work = asyncio.Event()
        self._sending_since_s: float | None = None

    @property
    def is_stalled(self) -> bool:
        """Whether it has taken nothing for so long that it is to be cut off."""
        since_s = self._sending_since_s
        return since_s is not None and time.monotonic() - since_s > STALL_S

    @property
    def waiting(self) -> int:
        """The number of messages that wait for it."""
        return len(self._turns)

    def abort(self) -> None:
        """Cuts it off, without a goodbye for which it would have to read."""
        self._connection.transport.abort()

    def answer(self, content: dict[str, Any]) -> bool:
        """Sends an answer; returns False when so much waits that the client has to be cut off."""
        text = as_json(content)
        self._answers.append(text)
        self._answers_bytes += len(text)
        self._has_work.set()
        return self._answers_bytes <= ANSWERS_BYTES

    def status(self, level: str, text: str, asked_by: Any = None) -> bool:
        """Sends a status message, if the client wants those of that level."""
        if LEVELS.index(level) > self.level:
            return True
        about = {"id": asked_by} if isinstance(asked_by, str) else {}
        return self.answer({"op": "status", "level": level, "msg": text, **about})

    def offer(self, topic: str, message: Outgoing) -> None:
        """Takes a message of a topic; when the client reads too slowly, the oldest that waits is dropped for it."""
        subscription = self.subscriptions[topic]
        if (due := subscription.offer(message)) is not None:
            self._queue(subscription, due)

    def subscribe(self, topic: str, spelt: str) -> TopicSubscription:
        """Returns the subscription of a topic, a new one if it has none."""
        if topic not in self.subscriptions:
            self.subscriptions[topic] = TopicSubscription(topic, spelt, self._release)
        return self.subscriptions[topic]

    def unsubscribe(self, topic: str) -> None:
        """Ends a subscription."""
        subscription = self.subscriptions.pop(topic)
        self._waiting_bytes -= sum(message.size for message in subscription.waiting)
        subscription.close()
        self._turns = deque(turn for turn in self._turns if turn is not subscription)

    async def send(self) -> None:
        """Sends what waits, until cancelled or until the client has gone."""
        try:
            while True:
                if (packet := self._next()) is None:
                    self._has_work.clear()
                    await self._has_work.wait()
                    continue
                self._sending_since_s = time.monotonic()
                await self._connection.send(packet)
                self._sending_since_s = None
        except ConnectionClosed:
            pass

    def _next(self) -> str | bytes | None:
        if self._answers:
            answer = self._answers.popleft()
            self._answers_bytes -= len(answer)
            return answer
        while self._turns:
            subscription = self._turns.popleft()
            if subscription.waiting:
                message = subscription.waiting.popleft()
                self._waiting_bytes -= message.size
                return message.packet(subscription.spelt, self.plain, subscription.compression)
        return None

    def _release(self, subscription: TopicSubscription) -> None:
        if (message := subscription.take_held()) is not None:
            self._queue(subscription, message)

    def _queue(self, subscription: TopicSubscription, message: Outgoing) -> None:
        waiting = subscription.waiting
        waiting.append(message)
        self._waiting_bytes += message.size
        has_dropped = False
        while len(waiting) > subscription.limit or (self._waiting_bytes > QUEUE_BYTES and len(waiting) > 1):
            self._waiting_bytes -= waiting.popleft().size
            subscription.dropped += 1
            has_dropped = True
        if not has_dropped:
            self._turns.append(subscription)
            self._has_work.set()
