"""The bus: order, types, and above all that no controller ever sees the truth."""

from dataclasses import dataclass

import numpy as np
import pytest

from cellwright.core import Bus, Role
from cellwright.core.errors import TruthLeak
from cellwright.core.messages import FaultEvent, Message, Verdict, WorldTruth


@dataclass(slots=True)
class Reading(Message):
    value: float = 0.0


@dataclass(slots=True)
class Other(Message):
    value: float = 0.0


TRUTHS = [
    WorldTruth(
        0,
        0,
        "sim",
        names=(),
        positions=np.zeros((0, 3)),
        quaternions=np.zeros((0, 4)),
        contact_pairs=(),
        contact_forces=np.zeros(0),
    ),
    FaultEvent(0, 0, "judge", fault="drop", subject="gear", detail=""),
    Verdict(0, 0, "judge", items=(), passed=(), reasons=(), score=0.0),
]


class Listener:
    def __init__(self):
        self.got = []

    def __call__(self, topic, message):
        self.got.append((topic, message))

    @property
    def topics(self):
        return [topic for topic, _ in self.got]


def test_delivers_in_the_order_of_subscription():
    bus, order = Bus(), []
    for name in "abc":
        bus.subscribe("/x", lambda *_, name=name: order.append(name), subscriber=name)
    bus.subscribe("/y", lambda *_: order.append("never"), subscriber="y")
    bus.publish("/x", Reading(0, 0, "s"))
    bus.publish("/x", Reading(1, 1, "s"))
    assert order == ["a", "b", "c"] * 2


def test_hands_over_the_message_itself():
    bus, listener = Bus(), Listener()
    bus.subscribe("/x", listener, subscriber="a")
    message = Reading(5, 1, "s", 2.5)
    bus.publish("/x", message)
    assert listener.got[0][1] is message


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda m: type(m).__name__)
def test_a_controller_is_refused_a_declared_topic_of_truth(truth):
    bus, listener = Bus(), Listener()
    bus.declare("/truth", type(truth))
    with pytest.raises(TruthLeak, match=rf"'planner'.*'/truth'.*{type(truth).__name__}"):
        bus.subscribe("/truth", listener, subscriber="planner")
    bus.publish("/truth", truth)
    assert not listener.got
    assert not bus.subscriptions


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda m: type(m).__name__)
def test_a_controller_who_came_first_is_refused_when_the_truth_comes(truth):
    bus, listener = Bus(), Listener()
    early = bus.subscribe("/truth", listener, subscriber="planner")
    with pytest.raises(TruthLeak):
        bus.declare("/truth", type(truth))
    for _ in range(2):  # and not only the first time
        with pytest.raises(TruthLeak):
            bus.publish("/truth", truth)
        bus.subscribe("/x", listener, subscriber="somebody")
    assert not listener.got
    bus.unsubscribe(early)
    bus.publish("/truth", truth)
    assert not listener.got


def test_a_controller_who_listens_to_everything_gets_everything_but_the_truth():
    bus, controller, judge, recorder = Bus(), Listener(), Listener(), Listener()
    bus.subscribe(None, controller, subscriber="early")
    bus.subscribe(None, judge, subscriber="judge", role=Role.JUDGE)
    for number, truth in enumerate(TRUTHS):
        bus.publish(f"/truth/{number}", truth)
    bus.publish("/x", Reading(0, 0, "s"))
    late = Listener()
    bus.subscribe(None, late, subscriber="late")
    bus.subscribe(None, recorder, subscriber="recorder", role=Role.RECORDER)
    for number, truth in enumerate(TRUTHS):
        bus.publish(f"/truth/{number}", truth)
    bus.publish("/x", Reading(1, 1, "s"))
    assert controller.topics == ["/x", "/x"]
    assert late.topics == ["/x"]
    assert recorder.topics == ["/truth/0", "/truth/1", "/truth/2", "/x"]
    assert judge.topics == recorder.topics * 2


def test_truth_cannot_be_smuggled_in_on_a_topic_of_another_type():
    bus, listener = Bus(), Listener()
    bus.declare("/x", Reading)
    bus.subscribe("/x", listener, subscriber="planner")
    with pytest.raises(ValueError, match="'/x' carries Reading, not FaultEvent"):
        bus.publish("/x", TRUTHS[1])
    assert not listener.got


def test_a_topic_carries_one_type():
    bus = Bus()
    bus.publish("/x", Reading(0, 0, "s"))
    for attempt in (lambda: bus.publish("/x", Other(0, 0, "s")), lambda: bus.declare("/x", Other)):
        with pytest.raises(ValueError, match="'/x' carries Reading, not Other"):
            attempt()
    bus.declare("/x", Reading)
    assert bus.topics == {"/x": Reading}


def test_unsubscribing_while_delivering():
    bus, order = Bus(), []
    subscriptions = {}

    def first(_topic, _message):
        order.append("first")
        bus.unsubscribe(subscriptions["first"])
        bus.unsubscribe(subscriptions["third"])
        bus.unsubscribe(subscriptions["third"])  # harmless

    subscriptions["first"] = bus.subscribe("/x", first, subscriber="1")
    subscriptions["second"] = bus.subscribe("/x", lambda *_: order.append("second"), subscriber="2")
    subscriptions["third"] = bus.subscribe("/x", lambda *_: order.append("third"), subscriber="3")
    bus.publish("/x", Reading(0, 0, "s"))
    assert order == ["first", "second"]  # who has been sent away gets nothing, who stays is not skipped
    bus.publish("/x", Reading(0, 0, "s"))
    assert order == ["first", "second", "second"]


def test_subscribing_while_delivering_counts_from_the_next_message():
    bus, late = Bus(), Listener()
    bus.subscribe("/x", lambda *_: late.got or bus.subscribe("/x", late, subscriber="late"), subscriber="1")
    bus.publish("/x", Reading(0, 0, "s"))
    assert late.got == []
    bus.publish("/x", Reading(1, 1, "s"))
    assert [message.sequence for _, message in late.got] == [1]


def test_publishing_while_delivering_goes_depth_first():
    bus, listener = Bus(), Listener()
    bus.subscribe("/x", lambda *_: bus.publish("/y", Reading(0, 1, "s")), subscriber="relay")
    bus.subscribe(None, listener, subscriber="all")
    bus.publish("/x", Reading(0, 0, "s"))
    assert listener.topics == ["/y", "/x"]


def test_has_listener():
    bus = Bus()
    bus.declare("/x", Reading)
    bus.declare("/truth", WorldTruth)
    assert not bus.has_listener("/x")
    assert not bus.has_listener("/unknown")
    everything = bus.subscribe(None, Listener(), subscriber="a")
    assert bus.has_listener("/x")
    assert not bus.has_listener("/truth")
    bus.unsubscribe(everything)
    assert not bus.has_listener("/x")


def test_whoever_watches_the_demand_learns_when_it_changes():
    bus, seen = Bus(), []
    bus.declare("/x", Reading)
    bus.watch_demand(lambda: seen.append(bus.is_waited_for("/x")))
    controller = bus.subscribe("/x", Listener(), subscriber="controller")
    bus.unsubscribe(controller)
    assert seen == [True, False]


def test_a_log_waits_for_nothing_and_a_controller_does():
    bus = Bus()
    bus.declare("/x", Reading)
    log = bus.subscribe(None, Listener(), subscriber="log", role=Role.RECORDER)
    assert bus.has_listener("/x")
    assert not bus.is_waited_for("/x")
    controller = bus.subscribe("/x", Listener(), subscriber="controller")
    assert bus.is_waited_for("/x")
    bus.unsubscribe(log)
    assert bus.is_waited_for("/x")
    bus.unsubscribe(controller)
    assert not bus.is_waited_for("/x")
