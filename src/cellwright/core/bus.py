"""The bus: publishing and subscribing to topics, and which roles may see the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from cellwright.core.errors import TruthLeak
from cellwright.core.messages import Message

__all__ = ["Bus", "Role", "Subscription"]

Callback = Callable[[str, Any], None]


class Role(Enum):
    """The role of a subscriber; only the judge and the recorder may see messages that carry truth."""

    CONTROLLER = "controller"
    JUDGE = "judge"
    RECORDER = "recorder"

    @property
    def sees_truth(self) -> bool:
        """Whether messages flagged as truth may reach it."""
        return self is not Role.CONTROLLER


@dataclass(frozen=True, eq=False)
class Subscription:
    """A subscriber's callback on a topic; `topic` None means every topic that its role may see."""

    topic: str | None
    subscriber: str
    role: Role
    callback: Callback


class Bus:
    """Synchronous delivery in the order of subscription: no queues, no threads, nothing to drift.

    A topic carries one message type, declared by its publisher. Subscribing to a topic of truth is
    refused at once, whichever side comes first.
    """

    def __init__(self) -> None:
        self.topics: dict[str, type[Message]] = {}
        self.subscriptions: list[Subscription] = []
        self._callbacks: dict[str, tuple[Callback, ...]] = {}
        self._waited_for: set[str] = set()
        self._demand_watchers: list[Callable[[], None]] = []

    def declare(self, topic: str, message_type: type[Message]) -> None:
        """Announces a topic before its first message."""
        known = self.topics.get(topic, message_type)
        if known is not message_type:
            raise ValueError(f"topic '{topic}' carries {known.__name__}, not {message_type.__name__}")
        for subscription in self.subscriptions:
            if subscription.topic == topic:
                self._check(subscription, message_type)
        self.topics[topic] = message_type
        self._route(topic)

    def subscribe(
        self, topic: str | None, callback: Callback, *, subscriber: str, role: Role = Role.CONTROLLER
    ) -> Subscription:
        """Calls back with (topic, message) for every message; topic None listens to all that the role may see."""
        subscription = Subscription(topic, subscriber, role, callback)
        if topic is not None and topic in self.topics:
            self._check(subscription, self.topics[topic])
        self.subscriptions.append(subscription)
        self._route_all()
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """Ends a subscription; does nothing when it has ended."""
        self.subscriptions = [s for s in self.subscriptions if s is not subscription]
        self._route_all()

    def watch_demand(self, look: Callable[[], None]) -> None:
        """Calls back whenever somebody has begun or ceased to listen: for what is done only while somebody does."""
        self._demand_watchers.append(look)

    def publish(self, topic: str, message: Message) -> None:
        """Delivers a message to all subscribers; one that is unsubscribed meanwhile does not get it any more."""
        if self.topics.get(topic) is not type(message):
            self.declare(topic, type(message))  # refuses another type, which might carry truth
        callbacks = self._callbacks[topic]
        for callback in callbacks:
            if self._callbacks[topic] is callbacks or callback in self._callbacks[topic]:
                callback(topic, message)

    def has_listener(self, topic: str) -> bool:
        """Returns whether a message of that topic has a subscriber: lets publishers skip needless work."""
        return bool(self._callbacks.get(topic))

    def is_waited_for(self, topic: str) -> bool:
        """Returns whether a controller listens to a topic; the judge and the recorder take what comes anyway."""
        return topic in self._waited_for

    def listeners(self, topic: str) -> int:
        """Returns the number of its subscribers."""
        return len(self._callbacks.get(topic, ()))

    def _check(self, subscription: Subscription, message_type: type[Message]) -> None:
        if message_type.TRUTH and not subscription.role.sees_truth:
            raise TruthLeak(subscription.subscriber, str(subscription.topic), message_type.__name__)

    def _route_all(self) -> None:
        for topic in self.topics:
            self._route(topic)
        for look in self._demand_watchers:
            look()

    def _route(self, topic: str) -> None:
        truth = self.topics[topic].TRUTH
        own = [s for s in self.subscriptions if s.topic in (topic, None) and (s.role.sees_truth or not truth)]
        self._callbacks[topic] = tuple(s.callback for s in own)
        (self._waited_for.add if any(s.role is Role.CONTROLLER for s in own) else self._waited_for.discard)(topic)
