"""Whole orders in a laboratory: done by the truth, without ever asking it."""

from __future__ import annotations

import pytest

import cellwright as cw
from cellwright.catalogue import TRAYS
from cellwright.core.bus import Role
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.messages import ActionEvent, BeliefChange, Order, Plan, Tracks
from cellwright.core.pose import Pose
from cellwright.lab import Lab
from cellwright.trials import TrialStatus
from cellwright.trials.report import Ending

TRUTH = ("/truth/poses", "/judge/faults", "/judge/verdict")


class Kit:
    """One order that was done, and who listened to what meanwhile."""

    def __init__(self, seed: int) -> None:
        self.subscriptions: set[tuple[str, str | None, Role]] = set()
        self.heard: list[object] = []
        with cw.Lab.from_cell("aprs", seed=seed) as lab:
            subscribe = lab.bus.subscribe

            def noted(topic, callback, *, subscriber, role=Role.CONTROLLER):
                self.subscriptions.add((subscriber, topic, role))
                return subscribe(topic, callback, subscriber=subscriber, role=role)

            lab.bus.subscribe = noted
            self.subscriptions |= {(s.subscriber, s.topic, s.role) for s in lab.bus.subscriptions}
            for topic in ("/orders", "/tracks", "/belief/changes", "/planning/plan", "/execution/actions"):
                subscribe(topic, lambda _topic, message: self.heard.append(message), subscriber="test")
            self.report = lab.run(order="kit_m2l1")
            self.topics = dict(lab.bus.topics)


@pytest.fixture(scope="module")
def kit():
    return Kit(seed=7)


def test_a_kit_is_built_and_the_report_says_how(kit):
    report = kit.report
    assert report.status is TrialStatus.DONE, report.reason
    assert report.done
    assert report.score > 0.95
    assert [verdict.done for verdict in report.kits] == [True]
    assert {seating.seated for seating in report.kits[0].seatings} == {True}
    assert report.hits == ()
    assert report.order.orders == ("kit_m2l1",)
    (order,) = report.orders
    assert (report.ending, order.announced_s, order.false_done) == (Ending.RETURNED, 0.0, False)
    assert 0 < order.submitted_s < report.time_s, "what the controller believes is its claim"
    placed = [action for action in report.order.actions if "place-part" in action.action and action.phase == "end"]
    assert len(placed) == 3
    assert all(one.evidence for action in report.order.actions for one in action.predicates)


def test_nobody_but_judge_and_recorder_hears_the_truth(kit):
    """Every subscription of a run: who, what, as what."""
    assert kit.subscriptions == {
        ("controller", "/detector_fanuc/detections", Role.CONTROLLER),
        ("controller", "/detector_motoman/detections", Role.CONTROLLER),
        ("judge", "/judge/faults", Role.JUDGE),
    }
    for _, topic, role in kit.subscriptions:
        if role is Role.CONTROLLER:
            assert topic not in TRUTH
            assert not kit.topics[topic].TRUTH


def test_every_station_of_the_ring_tells_what_it_does(kit):
    assert {type(message) for message in kit.heard} >= {Tracks, Plan, ActionEvent, BeliefChange}
    (order,) = [message for message in kit.heard if isinstance(message, Order)]
    assert (order.time_s, order.order, order.kits, order.quantities) == (0.0, "kit_m2l1", ("kit_m2l1",), (1,))
    changes = [message for message in kit.heard if isinstance(message, BeliefChange)]
    assert any("_kit_m2l1_slot_" in change.change for change in changes)
    events = [message for message in kit.heard if isinstance(message, ActionEvent)]
    first = [event.phase for event in events if event.action == events[0].action]
    assert (first[0], {*first[1 : first.index("end")]}) == ("start", {"check"})
    assert any(event.predicates and set(event.values) == {"true"} for event in events)
    placed = {event.part for event in events if event.phase == "end" and event.action.startswith("(place-part")}
    assert placed == {record.part for record in kit.report.order.actions if "place-part" in record.action}
    checked = [event for event in events if event.phase == "check"]
    assert all(event.predicates and all(event.evidence) for event in checked)


def test_bad_input_is_refused_before_anything_moves():
    with Lab.from_cell("aprs", fidelity="kinematic") as lab:
        with pytest.raises(UnknownName, match="kit_m2l1"):
            lab.run("kit_m3l1")
        with pytest.raises(UnknownName, match="fanuc, motoman"):
            lab.run("kit_m2l1", robots=["nobody"])
        with pytest.raises(BadInput, match="at least one of fanuc, motoman"):
            lab.run("kit_m2l1", robots=[])
        with pytest.raises(UnknownName, match="full, none, retry"):
            lab.run("kit_m2l1", recovery="pray")
        with pytest.raises(UnknownName, match="unknown planner 'oracle'"):
            lab.run("kit_m2l1", planner="oracle")
        with pytest.raises(UnknownName, match="kind of fault"):
            lab.run("kit_m2l1", faults=["earthquake"])
        with pytest.raises(BadInput, match="a2b1c1: aprs has no parts of the kitting papers"):
            lab.run("a2b1c1")
        assert lab.clock.time_s == 0.0


@pytest.mark.slow
def test_a_robot_that_does_not_work_makes_way():
    """The only robot that shall work cannot use its own kit tray; what it does next is done beside the other arm."""
    with Lab.from_cell("aprs", 3) as lab:
        tray = lab.world.pose_of("fanuc_kit_m2l1")
        slot = TRAYS.get("kit_m2l1_tray").slots[0]
        lab.world.place("small_gear_1", Pose(tray.apply([*slot.xy_m, 0.02]), tray.quaternion))
        lab.world.settle(3.0)
        report = lab.run("kit_m2l1", robots=["fanuc"])
    assert report.done, report.reason
    assert {action.robot for action in report.order.actions} == {"fanuc"}
    assert report.hits == ()


@pytest.mark.slow
def test_a_run_that_meets_its_time_limit_tells_what_it_did():
    trial = cw.TrialCfg(
        trial="short", cell="aprs", seed=7, time_limit_s=8, orders=[{"order": "kit_m2l1"}], controller="internal"
    )
    report = cw.run_trial(trial)
    assert report.ending is Ending.TIME_LIMIT
    account = report.account
    assert [action.action.split()[0] for action in account.actions if action.phase == "end"].count("(take-part") >= 1
    assert (account.done, account.plans) == (False, 1)
    assert account.reason == "it was ended from outside while it worked"
    assert account.end_s == pytest.approx(8.0, abs=0.5)
