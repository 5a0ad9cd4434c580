"""Trials: whatever a controller does or leaves, there is a verdict, and it is the truth's."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time

import pytest

from cellwright.catalogue import seated_height_m
from cellwright.core.config import validate
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.trials import run_trial
from cellwright.trials.cfg import TrialCfg
from cellwright.trials.controllers import TRIAL_CONTROLLERS
from cellwright.trials.report import Ending

pytestmark = pytest.mark.slow

KIT = {"slot_1": "medium_gear_1", "slot_2": "medium_gear_2", "slot_3": "large_gear_1"}


def cfg(**changes):
    data = {
        "trial": "tried",
        "pace": 3,
        "time_limit_s": 3,
        "orders": [{"order": "kit_m2l1"}],
        "connect_within_s": 20,
        "reconnect_within_s": 0.5,
        "still_s": 0.5,
    }
    return validate(data | changes, TrialCfg, "trial.yaml")


def tried(work, within_s=60.0, **changes):
    """The verdict, while a function works on the doors in a thread; what it returned."""
    results, threads = [], []

    def opened(doors):
        threads.append(threading.Thread(target=lambda: results.append(work(doors)), daemon=True))
        threads[0].start()

    verdict = run_trial(cfg(**changes), any_port=True, on_open=opened)
    threads[0].join(within_s)
    return verdict, results[0] if results else None


def connect(address):
    host, port = address.split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def talk(doors, *lines):
    """Says lines at the control door; gives all that is heard until it closes."""
    with connect(doors["control"]) as door, contextlib.suppress(OSError):
        for line in lines:
            door.sendall(line.encode() + b"\n")
        return [json.loads(line) for line in door.makefile()]
    return []


def fill(world, parts=KIT, tray="fanuc_kit_m2l1"):
    """Sets gears into slots by hand: no controller could."""
    figures = world.objects[tray].figures
    for slot in figures.slots:
        if slot.name in parts:
            part = parts[slot.name]
            height_m = seated_height_m(figures, slot, world.objects[part].figures) + 0.0005
            world.place(part, world.pose_of(tray) @ Pose.from_xyz_rpy([*slot.xy_m, height_m]))


@pytest.fixture
def inside():
    """Registers a controller for one test."""
    names = []

    def add(controller):
        names.append(f"test_{len(names)}")
        TRIAL_CONTROLLERS.add(names[-1], controller)
        return names[-1]

    yield add
    for name in names:
        del TRIAL_CONTROLLERS._entries[name]


def test_a_controller_that_never_connects_is_not_waited_for_and_costs_no_time(tmp_path):
    faults = ["drop:during=transfer:2,way_mm=20..60", "push:at=9,by_mm=40/0"]
    verdict = run_trial(cfg(connect_within_s=0.3, faults=faults), any_port=True, out=tmp_path)
    assert verdict.ending is Ending.NOBODY
    assert verdict.time_s < 1.5, "time stood still while nobody was there"
    assert not verdict.done
    assert not verdict.false_done
    assert list(verdict.not_applied) == ["drop:during=transfer:2,way_mm=20..60", "push:at=9.0,by_mm=40/0"]
    assert verdict.possible.recoverable
    assert {path.name for path in tmp_path.iterdir()} == {"verdict.json", "verdict.html", "cell.png", "log.mcap"}
    told = json.loads((tmp_path / "verdict.json").read_text())
    assert told["ending"] == "nobody"
    assert told["orders"][0]["kits"][0]["items"][1] == {
        "name": "slot_1", "passed": False, "reason": "the slot is empty", "right_part": False,
    }  # fmt: skip
    page = (tmp_path / "verdict.html").read_text()
    assert "the slot is empty" in page
    assert page.count("<script") == page.count("<script>") == 1, "it copies tables, and nothing comes from elsewhere"


def test_one_that_lies_at_the_control_door_is_found_out():
    verdict, heard = tried(lambda doors: talk(doors, '{"submit": "kit_m2l1"}'))
    assert verdict.ending is Ending.SUBMITTED
    assert verdict.false_done
    assert not verdict.done
    assert verdict.orders[0].submitted_s == heard[-2]["time_s"]
    assert heard[-2]["submitted"] == "kit_m2l1"
    assert heard[-1] == {"end": Ending.SUBMITTED.value}
    assert not any("reason" in json.dumps(line) for line in heard), "no word of the truth goes out"


def test_one_that_speaks_crcl_alone_submits_by_a_message():
    say = (
        '<CRCLCommandInstance><CRCLCommand xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xsi:type="MessageType"><CommandID>{}</CommandID><Message>{}</Message></CRCLCommand></CRCLCommandInstance>'
    )

    def work(doors):
        with connect(doors["crcl"]["fanuc"]) as robot, contextlib.suppress(OSError):
            for number, text in enumerate(("hello", "submit kit_m2l2", "submit kit_m2l1"), start=1):
                robot.sendall(say.format(number, text).encode())
                time.sleep(0.1)
            robot.recv(1)

    verdict, _ = tried(work)
    assert verdict.ending is Ending.SUBMITTED
    assert verdict.false_done
    assert [note for note in verdict.notes if note.startswith("fanuc")] == [
        "fanuc: unknown announced order 'kit_m2l2'; did you mean 'kit_m2l1'? (available: kit_m2l1)",
    ]


def test_one_that_disconnects_may_come_back_but_not_for_ever():
    def work(doors):
        connect(doors["crcl"]["fanuc"]).close()
        time.sleep(0.02)
        connect(doors["vision"]["fanuc"]).close()

    verdict, _ = tried(work, time_limit_s=60)
    assert verdict.ending is Ending.GONE
    assert 0.5 < verdict.time_s < 10


def test_one_that_hangs_meets_the_time_limit():
    def work(doors):
        with connect(doors["vision"]["fanuc"]) as eyes, contextlib.suppress(OSError):
            while eyes.recv(4096):
                time.sleep(0.2)

    verdict, _ = tried(work, time_limit_s=2)
    assert verdict.ending is Ending.TIME_LIMIT
    assert 2.0 <= verdict.time_s <= 4.0


def test_one_that_floods_every_door_gets_its_verdict_in_time():
    def flood(address, text):
        with contextlib.suppress(OSError), connect(address) as door:
            while True:
                door.sendall(text)

    ask = b'<CRCLCommandInstance><CRCLCommand xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    ask += b'xsi:type="GetStatusType"><CommandID>1</CommandID></CRCLCommand></CRCLCommandInstance>'

    def work(doors):
        jobs = [
            (doors["control"], b"[1]\n" * 1000),
            (doors["control"], b"x" * 100_000),
            (doors["crcl"]["fanuc"], ask * 100),
            (doors["crcl"]["motoman"], b"<nonsense>" * 1000),
            (doors["vision"]["fanuc"], b"what?" * 1000),
        ]
        threads = [threading.Thread(target=flood, args=job, daemon=True) for job in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        return [thread.is_alive() for thread in threads]

    verdict, alive = tried(work, time_limit_s=1.0)
    assert verdict.ending is Ending.TIME_LIMIT
    assert alive == [False] * 5, "everybody was disconnected"


def test_orders_are_announced_at_their_time_and_after_others():
    orders = [
        {"order": "kit_m2l1", "priority": 3},
        {"order": "kit_s2l2", "announce": {"at_s": 0.5}},
        {"order": "kit_m2l1", "name": "more", "announce": {"after_order": "kit_m2l1"}},
    ]

    def work(doors):
        with connect(doors["control"]) as door, contextlib.suppress(OSError):
            lines = (json.loads(line) for line in door.makefile())
            heard = [next(lines), next(lines)]
            said = ('{"submit": "more"}', "nonsense", '{"ask": "it"}', '{"submit": 3}', '{"submit": "kit_m2l1"}')
            for line in said:
                door.sendall(line.encode() + b"\n")
                heard.append(next(lines))
            heard.append(next(lines))
            door.sendall(b'{"ask": "orders"}\n')
            return [*heard, next(lines)]

    verdict, heard = tried(work, orders=orders, time_limit_s=5)
    first, second, early, nonsense, unknown, nameless, submitted, third, known = heard
    assert first["announce"]["order"] == "kit_m2l1"
    assert first["announce"]["priority"] == 3
    assert first["announce"]["kits"][0]["parts"] == {"sku_part_medium_gear": 2, "sku_part_large_gear": 1}
    assert second["announce"]["announced_s"] == pytest.approx(0.5, abs=0.3)
    assert "unknown announced order 'more' (available: kit_m2l1, kit_s2l2)" in early["error"]
    assert "not JSON" in nonsense["error"]
    assert '{"ask": "orders"}' in unknown["error"]
    assert '{"submit": ORDER}' in unknown["error"]
    assert "an order by its name" in nameless["error"]
    assert submitted["submitted"] == "kit_m2l1"
    assert third["announce"]["order"] == "more"
    assert third["announce"]["announced_s"] >= submitted["time_s"]
    assert [order["order"] for order in known["orders"]] == ["kit_m2l1", "kit_s2l2", "more"]
    assert [order.false_done for order in verdict.orders] == [True, False, False]


def test_a_kit_that_is_complete_is_done_even_if_nobody_says_so(inside, present):
    async def works(ports, orders):
        async for order in orders.coming():
            assert order.kits[0].tray is None
            fill(present().lab.world, tray="motoman_kit_m2l1")
        await ports.clock.sleep(1000)

    verdict = run_trial(cfg(time_limit_s=30, faults=["remove:part=large_gear_4,at=0.3"]), inside(works))
    assert verdict.ending is Ending.COMPLETE
    assert verdict.done
    assert verdict.orders[0].kits[0].tray == "motoman_kit_m2l1", "any tray of the kind will do"
    assert verdict.orders[0].submitted_s is None
    assert verdict.scored.done
    (fault,) = verdict.faults
    assert (fault.fault, fault.subject) == ("remove", "large_gear_4")
    assert fault.recovery.recoverable
    assert fault.asked_s > fault.time_s


def test_a_short_time_limit_is_hinted_at_and_not_held_against_who_is_faster(inside, present):
    async def works(ports, orders):
        fill(present().lab.world)
        await ports.clock.sleep(1000)

    async def idles(ports, orders):
        await ports.clock.sleep(1000)

    told = []
    verdict = run_trial(cfg(faults=["remove:part=large_gear_4,at=90"]), inside(works), say=told.append)
    (hint,) = [line for line in told if "too short" in line]
    assert "time_limit_s: 3 s may be too short: by the planner's durations, which another controller may beat" in hint
    assert verdict.done
    assert not verdict.notes
    assert any("too short" in note for note in run_trial(cfg(), inside(idles)).notes)


def test_a_tray_that_is_named_is_the_only_one_that_counts(inside, present):
    async def works(ports, orders):
        fill(present().lab.world, tray="motoman_kit_m2l1")
        await ports.clock.sleep(0.5)
        orders.submit("kit_m2l1")
        await ports.clock.sleep(1000)

    verdict = run_trial(cfg(orders=[{"order": "kit_m2l1", "tray": "fanuc_kit_m2l1"}]), inside(works))
    assert verdict.ending is Ending.SUBMITTED
    assert verdict.false_done
    assert verdict.orders[0].kits[0].tray == "fanuc_kit_m2l1"


def test_of_two_orders_for_the_same_kit_the_one_that_is_submitted_gets_what_is_there(inside, present):
    async def works(ports, orders):
        fill(present().lab.world)
        await ports.clock.sleep(0.5)
        orders.submit("more")

    orders = [{"order": "kit_m2l1"}, {"order": "kit_m2l1", "name": "more"}]
    verdict = run_trial(cfg(orders=orders), inside(works))
    assert verdict.ending is Ending.RETURNED
    assert [order.done for order in verdict.orders] == [False, True]
    assert not verdict.false_done


def test_what_a_controller_inside_raises_stands_in_the_verdict(inside):
    async def works(ports, _orders):
        await ports.clock.sleep(0.1)
        raise JobFailed("no gear is left")

    verdict = run_trial(cfg(), inside(works))
    assert verdict.ending is Ending.FAILED
    assert verdict.detail == "no gear is left"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"orders": [{"order": "kit_m2l1", "quantity": 3}]}, "3 of sku_kit_m2l1_vessel are needed, the cell has 2"),
        ({"orders": [{"order": "a2b1c1"}]}, "2 of sku_part_a are needed, the cell has 0"),
        (
            {"orders": [{"order": "kit_m2l1", "tray": "nowhere"}]},
            "unknown kit tray 'nowhere' (available: fanuc_kit_m2l1",
        ),
        (
            {"orders": [{"order": "kit_m2l1", "tray": "fanuc_kit_s2l2"}]},
            "(available: fanuc_kit_m2l1, motoman_kit_m2l1)",
        ),
        ({"orders": [{"order": "kit_m2l1"}, {"order": "kit_m2l1"}]}, "orders.1.name: 'kit_m2l1' is the name of two"),
        (
            {"orders": [{"order": "kit_m2l1", "announce": {"after_order": "kit_m2l1"}}]},
            "orders.0.announce.after_order: unknown order before it 'kit_m2l1' (available: none)",
        ),
        ({"faults": ["remove:part=bolt,at=1"]}, "unknown part 'bolt'"),
    ],
)
def test_what_nobody_could_do_is_refused_before_anything_runs(changes, told):
    def opened(_doors):
        pytest.fail("the doors were opened")

    with pytest.raises(BadInput) as refused:
        run_trial(cfg(**changes), on_open=opened, any_port=True)
    assert told in str(refused.value)


def test_an_impossible_order_may_be_wanted_and_is_noted(inside):
    async def gives_up(_session, _orders):
        return None

    changes = {"orders": [{"order": "kit_m2l1", "quantity": 3}], "impossible": "note"}
    verdict = run_trial(cfg(**changes), inside(gives_up))
    assert verdict.ending is Ending.RETURNED
    assert not verdict.possible.recoverable
    assert verdict.as_dict()["orders"][0]["kits"].count(None) == 1
    assert verdict.orders[0].without_tray == {"kit_m2l1_1"}
    assert not verdict.scored.done
    assert any(item.name == "kit_m2l1_1/slot_1" for item in verdict.scored.items), "what is missing costs points"
    assert "3 of sku_kit_m2l1_vessel are needed, the cell has 2" in verdict.notes


@pytest.mark.long
def test_our_own_controller_fills_orders_as_they_come():
    orders = [{"order": "kit_m2l1"}, {"order": "kit_m2l1", "name": "more", "announce": {"after_order": "kit_m2l1"}}]
    verdict = run_trial(cfg(orders=orders, seed=2, time_limit_s=300, still_s=5), "internal")
    assert verdict.ending is Ending.SUBMITTED
    assert verdict.done
    assert not verdict.false_done
    assert {order.kits[0].tray for order in verdict.orders} == {"fanuc_kit_m2l1", "motoman_kit_m2l1"}
    placed = [action for action in verdict.order.actions if action.action.startswith("(place-part")]
    assert len(placed) == 6, "the account is of all orders"
