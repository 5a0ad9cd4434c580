"""The process of the rosbridge server: version 2 of the protocol, over WebSocket, for any number of clients."""

from __future__ import annotations

import asyncio
import errno
import itertools
import json
import logging
import os
import re
import socket
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

import cbor2
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from cellwright.core.errors import BadInput
from cellwright.interfaces.ros.node import CALL_S, LabNode, run_node
from cellwright.interfaces.ros.plain import PlainMessages
from cellwright.interfaces.ros.rosapi import NODE, ROSAPI, SERVER, RosApi, resolved
from cellwright.interfaces.ros.rosbridge_client import LEVELS, STALL_S, Compression, Outgoing, RosbridgeClient
from cellwright.interfaces.ros.rosbridge_gate import TOKEN_VARIABLE, RosbridgeGate

__all__ = ["RosbridgeNode", "main"]

MAX_MESSAGE_BYTES = 8 * 2**20
MAX_CLIENTS, MAX_NAMES, MAX_CALLS = 100, 1000, 100  # the latter two per client
MAX_KEPT_BYTES = 16 * 2**20  # of the last messages on a client's latched topics
MAX_RATE_HZ = 2000  # messages of a client in a second
MAX_TEXT = 200  # letters of what is told of something wrong
BUFFER_BYTES = 2**18  # of a connection, in the kernel: what a client does not read is to be noticed
TURN_S = 0.005  # for which one client's messages are taken before others have their turn
WATCH_S = 1.0
AUTH_S = 10.0  # until a client has to have said its token
NAME = re.compile(r"/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*")
MAX_NAME = 256
TRANSFORMS = ("/tf", "/tf_static")  # which many nodes publish; the laboratory's other topics are its own
SHARING_TAGS = (25, 28, 29, 256)  # of CBOR: with them a short message means an endless one
TOO_BIG = 1009

Operation = Callable[["RosbridgeNode", RosbridgeClient, Mapping[str, Any]], None]


class RosbridgeNode(LabNode):
    """Serves clients: their topics and services among each other, and those of the laboratory.

    Attributes:
        refused: What was refused -> how often.
        unheard: Topic that nobody takes -> how many messages were dropped.

    Args:
        reader: From the laboratory.
        writer: To it.
        description: Its graph.
        host: The address that it listens on.
        listening: The socket, which listens already.
        token: What a client must say first, if anything.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        description: dict[str, Any],
        *,
        host: str,
        listening: socket.socket,
        token: str | None,
    ) -> None:
        super().__init__(reader, writer, description)
        self._listening = listening
        self._gate = RosbridgeGate(host, token)
        self._plain = {generation: PlainMessages(self.types, generation) for generation in (1, 2)}
        self._clients: dict[int, RosbridgeClient] = {}
        self.parameters.setdefault("/use_sim_time", True)
        self._rosapi = RosApi(self)
        self._offers: dict[str, RosbridgeClient] = {}
        self._waiting: dict[str, tuple[RosbridgeClient, asyncio.Future[Any]]] = {}
        self._ids = itertools.count(1)
        self._kept: dict[str, tuple[RosbridgeClient, Outgoing]] = {}
        self._subscribers: dict[str, dict[int, RosbridgeClient]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.refused: Counter[str] = Counter()
        self.unheard: Counter[str] = Counter()  # messages of a topic that nobody takes

    # ------------------------------------------------------------ the laboratory

    def deliver(self, topic: str, cdr: bytes) -> None:
        """Gives a message of the laboratory to the clients that subscribe to its topic."""
        self._spread(topic, Outgoing(self.published[topic], cdr, self.time_ns))

    def refuse(self, sender: int, topic: str, reason: str) -> None:
        """Tells a client that the laboratory has refused its message."""
        if client := self._clients.get(sender):
            self._answered(client, client.status("error", f"{topic}: {reason}"))

    def _spread(self, topic: str, message: Outgoing) -> None:
        for client in self._subscribers.get(topic, {}).values():
            client.offer(topic, message)

    # ------------------------------------------------------------ what there is

    def topic_types(self) -> dict[str, str]:
        """Returns all topics and their types."""
        advertised = {topic: kind for client in self._clients.values() for topic, kind in client.advertised.items()}
        return {**advertised, **self.subscribed, **self.published}

    def service_types(self) -> dict[str, str]:
        """Returns all services and their types."""
        offered = {name: client.services[name] for name, client in self._offers.items()}
        return {**offered, **self.services, **{name: f"rosapi/srv/{api.type_name}" for name, api in ROSAPI.items()}}

    def publishers(self, topic: str) -> list[str]:
        """Returns the nodes that publish a topic."""
        by_clients = any(topic in client.advertised for client in self._clients.values())
        return [*([NODE] if topic in self.published else []), *([SERVER] if by_clients else [])]

    def subscribers(self, topic: str) -> list[str]:
        """Returns the nodes that subscribe to a topic."""
        return [*([NODE] if topic in self.subscribed else []), *([SERVER] if self._subscribers.get(topic) else [])]

    def provider(self, service: str) -> str:
        """Returns the node that offers a service; empty when none does."""
        return NODE if service in self.services else SERVER if service in (ROSAPI | self._offers) else ""

    def _type_of(self, topic: str) -> str | None:
        known: str | None = self.published.get(topic) or self.subscribed.get(topic)
        if known is not None:
            return known
        types = (client.advertised[topic] for client in self._clients.values() if topic in client.advertised)
        return next(types, None)

    # ------------------------------------------------------------ clients

    async def listen(self) -> None:
        """Serves until cancelled."""

        def answer(connection: ServerConnection, request: Request) -> Response | None:
            if (why := self._refusal(request)) is None:
                return None
            self._count("a connection", why)
            return connection.respond(HTTPStatus.FORBIDDEN, f"{why}\n")

        async with serve(
            self._serve,
            sock=self._listening,
            process_request=answer,
            max_size=MAX_MESSAGE_BYTES,
            max_queue=16,
            compression=None,
            ping_timeout=60,
            server_header=None,
        ):
            await self._watch()

    async def _watch(self) -> None:
        """Cuts off clients that take nothing; tells of what others missed."""
        while True:
            await asyncio.sleep(WATCH_S)
            for client in list(self._clients.values()):
                for subscription in client.subscriptions.values():
                    if subscription.dropped >= max(1, 2 * subscription.told):
                        subscription.told = subscription.dropped
                        what = f"{subscription.dropped} messages on {subscription.topic} are dropped so far"
                        self.tell(f"client {client.name} reads too slowly: {what}")
                        self._answered(client, client.status("warning", f"this client reads too slowly: {what}"))
                if client.is_stalled:
                    self._cut_off(client, f"it has taken nothing for {STALL_S:g} s")

    def _refusal(self, request: Request) -> str | None:
        """Returns why a connection is not taken; None when it is."""
        if len(self._clients) >= MAX_CLIENTS:
            return f"{MAX_CLIENTS} clients are connected already"
        headers = request.headers
        try:
            return self._gate.refusal(request.path, headers.get("Host", ""), headers.get("Origin"))
        except (ValueError, LookupError):
            return "the address of this request is none"

    async def _serve(self, connection: ServerConnection) -> None:
        """Serves one client until it goes."""
        with suppress(OSError):
            connection.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
        target = connection.request.path if connection.request else ""
        generation = int(parse_qs(urlsplit(target).query).get("ros", ["1"])[-1])
        client = RosbridgeClient(connection, self._plain[generation], is_admitted=self._gate.admits(target))
        self._clients[client.number] = client
        tasks = [asyncio.ensure_future(work) for work in (client.send(), self._hear(client, connection))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._forget(client)
            for task in tasks:
                task.cancel()
            for result in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(result, Exception):
                    self._count("failure", f"client {client.name}: {type(result).__name__}: {result}")

    async def _hear(self, client: RosbridgeClient, connection: ServerConnection) -> None:
        """Does what a client asks for."""
        turn_s = second_s = time.monotonic()
        in_second = 0
        try:
            if not client.is_admitted:
                async with asyncio.timeout(AUTH_S):
                    self.take(client, await connection.recv())
            if not client.is_admitted:
                await connection.close(1008, "this server needs its token first")
                return
            async for raw in connection:
                now_s = time.monotonic()
                if now_s - second_s >= 1.0:
                    second_s, in_second = now_s, 0
                in_second += 1
                if client.is_cut_off:
                    return
                if in_second <= MAX_RATE_HZ:
                    self.take(client, raw)
                elif in_second == MAX_RATE_HZ + 1:
                    self._complain(client, "rate", f"more than {MAX_RATE_HZ} messages in a second are dropped", None)
                else:
                    self._count("rate", f"client {client.name}: more than {MAX_RATE_HZ} messages in a second")
                if time.monotonic() - turn_s > TURN_S:
                    await asyncio.sleep(0)
                    turn_s = time.monotonic()
        except TimeoutError:
            self._count("token", f"client {client.name} has said none in {AUTH_S:g} s")
            await connection.close(1008, "this server needs its token first")
        except ConnectionClosed as closed:
            if closed.sent is not None and closed.sent.code == TOO_BIG:
                self._count("a message", f"client {client.name} sent more than {MAX_MESSAGE_BYTES} bytes at once")

    def _forget(self, client: RosbridgeClient) -> None:
        """Takes away all that a client had."""
        self._clients.pop(client.number, None)
        for topic in client.subscriptions:
            self._unlink(client, topic)
        for topic in client.subscriptions.copy():
            client.unsubscribe(topic)
        for topic in client.latched:
            self._unlatch(client, topic)
        for service in client.services:
            if self._offers.get(service) is client:
                del self._offers[service]
        for provider, future in list(self._waiting.values()):
            if provider is client and not future.done():
                future.set_exception(BadInput("the client that offers this service has gone"))
        self._tell_wanted()

    def _cut_off(self, client: RosbridgeClient, why: str) -> None:
        if not client.is_cut_off:
            client.is_cut_off = True
            self._count("a client is cut off", f"{client.name}: {why}")
            client.abort()

    # ------------------------------------------------------------ operations

    def take(self, client: RosbridgeClient, raw: str | bytes) -> None:
        """Does an operation; what is wrong with it is told to the client, and counted."""
        asked_by: Any = None
        what = "an operation"
        try:
            asked = _decoded(raw)
            asked_by, op = asked.get("id"), asked.get("op")
            if not isinstance(op, str) or op not in OPERATIONS:
                known = ", ".join(OPERATIONS)
                raise BadInput(f"unknown operation {_short(op)}; operations: {known}")
            what = op
            if not client.is_admitted and op != "auth":
                raise BadInput("this server needs its token first, as ?token=... in the address or by auth")
            OPERATIONS[op](self, client, asked)
        except BadInput as error:
            self._complain(client, what, str(error), asked_by)
        except Exception as error:  # what somebody sends must not end the server
            self._complain(client, what, f"it cannot be done: {type(error).__name__}: {error}", asked_by)

    def _advertise(self, client: RosbridgeClient, asked: Mapping[str, Any]) -> None:
        topic = self._open_topic(asked)
        ros_type = self._agreed(topic, _text(asked, "type"))
        if topic not in client.advertised and len(client.advertised) >= MAX_NAMES:
            raise BadInput(f"a client advertises at most {MAX_NAMES} topics")
        client.advertised[topic] = ros_type
        if asked.get("latch") is True:
            client.latched.add(topic)

    def _unadvertise(self, client: RosbridgeClient, asked: Mapping[str, Any]) -> None:
        topic = _named(asked, "topic")
        if client.advertised.pop(topic, None) is None:
            raise BadInput(f"this client does not advertise {topic}")
        if topic in client.latched:
            client.latched.discard(topic)
            self._unlatch(client, topic)

    def _publish(self, client: RosbridgeClient, asked: Mapping[str, Any]) -> None:
        topic = self._open_topic(asked)
        ros_type = client.advertised.get(topic) or self._type_of(topic)
        if ros_type is None:
            raise BadInput(f"the type of {topic} is not known: advertise it first")
        cdr = client.plain.cdr(ros_type, asked.get("msg", {}))
        if topic not in client.advertised and len(client.advertised) < MAX_NAMES:
            client.advertised[topic] = ros_type
        message = Outgoing(ros_type, cdr, self.time_ns)
        if topic in client.latched or asked.get("latch") is True:
            self._keep(client, topic, message)
        self._spread(topic, message)
        if topic in self.subscribed:
            self.publish(topic, cdr, client.number)
        elif not self._subscribers.get(topic) and topic not in client.latched:
            self._tell_unheard(client, topic)

    def _tell_unheard(self, client: RosbridgeClient, topic: str) -> None:
        """Counts what nobody takes, as of a robot that there is not; says so at every power of two."""
        self.unheard[topic] += 1
        count = self.unheard[topic]
        if count & (count - 1):
            return
        near = get_close_matches(topic, self.subscribed, n=1)
        problem = f"nobody takes {topic}" + (f"; did you mean {near[0]}?" if near else "")
        self.tell(f"dropped: client {client.name}: {problem}" + ("" if count == 1 else f" ({count} times)"))
        self._answered(client, client.status("warning", problem))

    def _subscribe(self, client: RosbridgeClient, asked: Mapping[str, Any]) -> None:
        topic = _named(asked, "topic")
        if asked.get("type") not in (None, "", "*"):
            self._agreed(topic, _text(asked, "type"))
        throttle_ms = _whole(asked, "throttle_rate")
        queue_length = _whole(asked, "queue_length")
        try:
            compression = Compression(asked.get("compression") or "none")
        except ValueError:
            known, given, compression = ", ".join(Compression), _short(asked["compression"]), Compression.NONE
            problem = f"compression {given} is not offered, {topic} is sent without; there are {known}"
            self._complain(client, "compression", problem, asked.get("id"))
        if topic not in client.subscriptions and len(client.subscriptions) >= MAX_NAMES:
            raise BadInput(f"a client has at most {MAX_NAMES} subscriptions")
        is_new = topic not in client.subscriptions
        subscription = client.subscribe(topic, asked["topic"])
        if not subscription.has_room(_id(asked), MAX_NAMES):
            raise BadInput(f"a client has at most {MAX_NAMES} ids for one topic")
        subscription.wish(_id(asked), throttle_ms / 1e3, queue_length, compression)
        if not is_new:
            return
        self._subscribers.setdefault(topic, {})[client.number] = client
        self._tell_wanted()
        if topic in self.latched:
            client.offer(topic, Outgoing(self.published[topic], self.latched[topic], self.time_ns))
        if topic in self._kept:
            client.offer(topic, self._kept[topic][1])
        if self._type_of(topic) is None:
            self._answered(client, client.status("warning", f"{topic} is published by nobody yet", asked.get("id")))

    def _unsubscribe(self, client: RosbridgeClient, asked: Mapping[str, Any]) -> None:
        topic = _named(asked, "topic")
        if topic not in client.subscriptions:
            raise BadInput(f"this client does not subscribe to {topic}")
        if client.subscriptions[topic].withdraw(_id(asked) or None):
            client.unsubscribe(topic)
            self._unlink(client, topic)
            self._tell_wanted()

    def _set_level(self, client: RosbridgeClient, asked: Mapping[str, Any]) -> None:
        if asked.get("level") not in LEVELS:
            raise BadInput(f"a level is {', '.join(LEVELS)}, not {_short(asked.get('level'))}")
        client.level = LEVELS.index(asked["level"])

    def _auth(self, client: RosbridgeClient, asked: Mapping[str, Any]) -> None:
        """Admits a client that says the token."""
        if not client.is_admitted:
            self._gate.check(asked)
            client.is_admitted = True

    # ------------------------------------------------------------ services

    def _advertise_service(self, client: RosbridgeClient, asked: Mapping[str, Any]) -> None:
        service = _named(asked, "service")
        if service in self.services or service in ROSAPI or self._offers.get(service, client) is not client:
            raise BadInput(f"service {service} is offered by another")
        if service not in client.services and len(client.services) >= MAX_NAMES:
            raise BadInput(f"a client offers at most {MAX_NAMES} services")
        package, _, rest = _named(asked, "type")[1:].partition("/")
        client.services[service] = f"{package}/srv/{rest.rpartition('/')[2]}"
        self._offers[service] = client

    def _unadvertise_service(self, client: RosbridgeClient, asked: Mapping[str, Any]) -> None:
        service = _named(asked, "service")
        if client.services.pop(service, None) is None:
            raise BadInput(f"this client does not offer {service}")
        del self._offers[service]

    def _call_service(self, client: RosbridgeClient, asked: Mapping[str, Any]) -> None:
        if client.calls >= MAX_CALLS:
            raise BadInput(f"{MAX_CALLS} calls of this client are not answered yet")
        client.calls += 1
        task = asyncio.get_running_loop().create_task(self._answer_call(client, asked))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer_call(self, client: RosbridgeClient, asked: Mapping[str, Any]) -> None:
        answer = {"op": "service_response", "service": asked.get("service"), "result": True}
        if isinstance(asked.get("id"), str):
            answer["id"] = asked["id"]
        try:
            answer["values"] = await self._called(client, _named(asked, "service"), asked)
        except BadInput as error:
            answer |= {"values": str(error), "result": False}
        except Exception as error:
            answer |= {"values": f"it cannot be done: {type(error).__name__}: {error}", "result": False}
        finally:
            client.calls -= 1
        if client.number in self._clients:
            self._answered(client, client.answer(answer))

    async def _called(self, client: RosbridgeClient, service: str, asked: Mapping[str, Any]) -> Any:
        """Returns the response of a service, whoever offers it.

        Raises:
            BadInput: There is none, or it refuses.
        """
        arguments = asked.get("args") or {}
        if service in ROSAPI:
            return self._rosapi.answer(service, client.plain, arguments)
        if service in self.services:
            request = client.plain.request(self.services[service], arguments)
            return client.plain.response(self.services[service], await self.call(service, request))
        if (provider := self._offers.get(service)) is None:
            known = sorted({*self.services, *self._offers})
            raise BadInput(f"there is no service {service}; services: {', '.join(known) or 'none'}, and rosapi's")
        number = f"call:{service}:{next(self._ids)}"
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = provider, future
        call = {"op": "call_service", "id": number, "service": service, "args": arguments}
        self._answered(provider, provider.answer(call))
        timeout = asked.get("timeout")
        is_limited = isinstance(timeout, int | float) and not isinstance(timeout, bool) and 0 < timeout < CALL_S
        try:
            return await asyncio.wait_for(future, timeout if is_limited else CALL_S)
        except TimeoutError:
            raise BadInput(f"service {service} did not answer in time") from None
        finally:
            self._waiting.pop(number, None)

    def _service_response(self, client: RosbridgeClient, asked: Mapping[str, Any]) -> None:
        provider, future = self._waiting.get(str(asked.get("id")), (None, None))
        if provider is not client or future is None:
            raise BadInput(f"nobody waits for the response {_short(asked.get('id'))} of this client")
        if future.done():
            return
        if asked.get("result", True) is False:
            future.set_exception(BadInput(f"the service failed: {_short(asked.get('values'))}"))
        else:
            future.set_result(asked.get("values") or {})

    # ------------------------------------------------------------ parts

    def _agreed(self, topic: str, name: str) -> str:
        """Returns the type of a name, which must be that of the topic."""
        ros_type = self._plain[1].known(name)
        if (known := self._type_of(topic)) not in (None, ros_type):
            raise BadInput(f"{topic} has type {self._plain[1].name(str(known))}, not {_short(name)}")
        return ros_type

    def _open_topic(self, asked: Mapping[str, Any]) -> str:
        """Returns the topic on which a client is to publish: any but those of which the laboratory is the source."""
        topic = _named(asked, "topic")
        if topic in self.published and topic not in self.subscribed and topic not in TRANSFORMS:
            raise BadInput(f"{topic} is published by the laboratory alone")
        return topic

    def _tell_wanted(self) -> None:
        self.want({topic for topic, clients in self._subscribers.items() if clients and topic in self.published})

    def _unlink(self, client: RosbridgeClient, topic: str) -> None:
        clients = self._subscribers.get(topic, {})
        clients.pop(client.number, None)
        if not clients:
            self._subscribers.pop(topic, None)

    def _keep(self, client: RosbridgeClient, topic: str, message: Outgoing) -> None:
        """Keeps the last message of a latched topic, as long as all of a client's are no more than they may be."""
        others = sum(kept.size for name, (by, kept) in self._kept.items() if by is client and name != topic)
        if others + message.size > MAX_KEPT_BYTES:
            raise BadInput(f"the last messages of a client's latched topics have at most {MAX_KEPT_BYTES} bytes")
        client.latched.add(topic)
        self._kept[topic] = client, message

    def _unlatch(self, client: RosbridgeClient, topic: str) -> None:
        if topic in self._kept and self._kept[topic][0] is client:
            del self._kept[topic]

    def _answered(self, client: RosbridgeClient, is_fine: bool) -> None:
        if not is_fine and client.number in self._clients:
            self._cut_off(client, "it does not read the answers that it asks for")

    def _complain(self, client: RosbridgeClient, what: str, problem: str, asked_by: Any) -> None:
        """Tells a client what is wrong with what it sent, and counts it."""
        text = problem if len(problem) <= MAX_TEXT * 5 else f"{problem[: MAX_TEXT * 5]}..."
        self._answered(client, client.status("error", f"{what}: {text}", asked_by))
        self._count(what, f"client {client.name}: {text}")

    def _count(self, what: str, problem: str) -> None:
        """Counts what was refused; the user is told at every power of two."""
        self.refused[what] += 1
        count = self.refused[what]
        if count & (count - 1) == 0:
            text = problem if len(problem) <= MAX_TEXT else f"{problem[:MAX_TEXT]}..."
            self.tell(f"refused: {what}: {text}" if count == 1 else f"refused: {what}: {text} ({count} times)")


OPERATIONS: dict[str, Operation] = {
    "advertise": RosbridgeNode._advertise,
    "unadvertise": RosbridgeNode._unadvertise,
    "publish": RosbridgeNode._publish,
    "subscribe": RosbridgeNode._subscribe,
    "unsubscribe": RosbridgeNode._unsubscribe,
    "call_service": RosbridgeNode._call_service,
    "advertise_service": RosbridgeNode._advertise_service,
    "unadvertise_service": RosbridgeNode._unadvertise_service,
    "service_response": RosbridgeNode._service_response,
    "set_level": RosbridgeNode._set_level,
    "auth": RosbridgeNode._auth,
}


def _refuse_sharing(_decoder: Any) -> Any:
    raise ValueError("shared values are not taken")


NO_SHARING: Any = dict.fromkeys(SHARING_TAGS, _refuse_sharing)


def _decoded(raw: str | bytes) -> Mapping[str, Any]:
    """Returns the operation in a message: JSON, or CBOR in a binary one."""
    try:
        asked = json.loads(raw) if isinstance(raw, str) else cbor2.loads(raw, semantic_decoders=NO_SHARING)
    except Exception as error:
        form = "JSON" if isinstance(raw, str) else "CBOR"
        raise BadInput(f"is no {form}: {_short(str(error) or type(error).__name__)}") from None
    if not isinstance(asked, Mapping):
        raise BadInput("is no object with the field op")
    return asked


def _text(asked: Mapping[str, Any], key: str) -> str:
    value = asked.get(key)
    if not isinstance(value, str) or not value:
        raise BadInput(f"{key} is text, not {_short(value)}")
    return value


def _named(asked: Mapping[str, Any], key: str) -> str:
    """Returns the name of a topic or service, with a slash before it."""
    name = _text(asked, key)
    if len(name) > MAX_NAME or not NAME.fullmatch(name):
        raise BadInput(f"{key} {_short(name)} is no name: letters, digits, _ and / are, at most {MAX_NAME}")
    return resolved(name)


def _whole(asked: Mapping[str, Any], key: str) -> int:
    value = asked.get(key) or 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e9:
        raise BadInput(f"{key} is a number from 0, not {_short(value)}")
    return int(value)


def _id(asked: Mapping[str, Any]) -> str:
    value = asked.get("id")
    return value[:MAX_NAME] if isinstance(value, str) else ""


def _short(value: Any) -> str:
    """Returns a short text of what somebody sent."""
    try:
        text = value if isinstance(value, str) else json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    text = text.encode("ascii", "backslashreplace").decode()
    return f"'{text[:60]}...'" if len(text) > 60 else f"'{text}'"


def main(handle: str, host: str, port: str, parent: str) -> None:
    """Serves until the laboratory ends.

    Args:
        handle: The file descriptor of the link.
        host: The address to listen on.
        port: Its port.
        parent: The number of the laboratory's process.
    """
    logging.disable(logging.CRITICAL)  # what clients do wrong is counted, and not told on the user's terminal
    token = os.environ.get(TOKEN_VARIABLE) or None

    async def open_first() -> tuple[dict[str, Any], Any]:
        try:
            listening = _listening(host, int(port))
        except OSError as error:
            reason = error.strerror or str(error)
            if error.errno == errno.EADDRINUSE:
                reason = "the port is taken; name another one, or take a free one with --bridge rosbridge=0"
            return {"error": f"rosbridge cannot listen on {host}:{port}: {reason}"}, None
        taken = listening.getsockname()[1]
        name = f"[{host}]" if ":" in host else socket.gethostname() if host == "0.0.0.0" else host
        address = f"ws://{name}:{taken}" + ("" if token is None else f"/?token={token}")
        return {"address": address, "arguments": [host, str(taken)]}, listening

    def make(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, description: dict[str, Any], listening: Any
    ) -> RosbridgeNode:
        return RosbridgeNode(reader, writer, description, host=host, listening=listening, token=token)

    run_node(handle, parent, open_first, make, RosbridgeNode.listen)


def _listening(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(MAX_CLIENTS)
    except OSError:
        listening.close()
        raise
    return listening
