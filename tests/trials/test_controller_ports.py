"""The ports of a controller: what sensors and robots say, drawings without a seed, and nothing of the truth."""

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core.errors import BadInput, JobFailed, UnknownName
from cellwright.core.messages import BeliefChange, CrclStatus, Detections, JointState, WorldTruth
from cellwright.crcl import InitCanon
from cellwright.interfaces import CrclInterface
from cellwright.knowledge import WorldModel
from cellwright.lab import Lab
from cellwright.orders import KitDesign, Order, find_order
from cellwright.trials import TRIAL_CONTROLLERS, Trial, TrialCfg, run
from cellwright.trials.announced import AnnouncedOrder, AnnouncedOrders
from cellwright.trials.cfg import AnnounceCfg
from cellwright.trials.kitting_controller import KittingController, controller_database
from cellwright.trials.lab_ports import lab_ports
from cellwright.trials.orders import OrderBook, TrialOrder
from cellwright.trials.report import Ending


def shuffled():
    cell = load_cell("aprs")
    populations = [one.model_copy(update={"shuffle": True, "count": one.count // 2}) for one in cell.populations]
    return cell.model_copy(update={"populations": tuple(populations), "fidelity": "kinematic"})


@pytest.fixture(scope="module")
def lab():
    with Lab(shuffled(), seed=4) as lab:
        yield lab


def test_what_a_controller_knows_before_it_looks_is_the_same_for_every_seed(lab):
    book = OrderBook.of_run([find_order("kit_m2l1")], lab.cell)

    def known(one):
        database = controller_database(
            lab_ports(one, CrclInterface(one)).drawings, map(AnnouncedOrder.of, book.orders.values())
        )
        controller = KittingController(lab_ports(one, CrclInterface(one)), database)
        believed, tree = controller.belief.state, WorldModel(database).tree
        return sorted(believed.objects), dict(zip(tree.names, tree.in_reference.tolist(), strict=True))

    with Lab(lab.cell, seed=5) as other:
        assert {p.name: p.pose_in_world.position.tolist() for p in lab.nominal.parts} != {
            p.name: p.pose_in_world.position.tolist() for p in other.nominal.parts
        }, "the seeds must differ for this to mean anything"
        objects, places = known(lab)
        assert (objects, places) == known(other)
    assert not [name for name in objects if "gear" in name and name.split("_")[-1].isdecimal()], "no part has a place"


def test_a_run_begins_with_drawings_that_no_seed_has_touched(lab, monkeypatch):
    begun = []

    def begin(drawings, orders, *_more):
        begun.append(drawings)
        raise JobFailed("far enough")

    monkeypatch.setattr(run, "controller_database", begin)
    with Lab(lab.cell, seed=5) as other:
        for one in (lab, other):
            with pytest.raises(JobFailed, match="far enough"):
                run.run_order(one, [find_order("kit_m2l1")])
    assert [drawings.layout.parts for drawings in begun] == [(), ()]
    places = [[tray.pose_in_world.position.tolist() for tray in drawings.layout.trays] for drawings in begun]
    assert places[0] == places[1]


def test_frames_reach_a_controller_as_the_detector_publishes_them(lab):
    ports, told, heard = lab_ports(lab, CrclInterface(lab)), [], []
    lab.bus.subscribe("/detector_fanuc/detections", lambda _topic, frame: told.append(copy(frame)), subscriber="test")
    stop = ports.watch("detector_fanuc", lambda frame: heard.append(copy(frame)))
    lab.advance(0.5)
    assert len(heard) >= 4
    for one, other in zip(told, heard, strict=True):
        assert one == other
    near = [truth.pose_of(name).position for truth in [lab.world] for name in truth.objects]
    off = [min(np.linalg.norm(np.subtract(row, there)) for there in near) for row in heard[-1][4]]
    assert 1e-5 < np.median(off) < 2e-3, "measured, with the detector's noise and the camera's error"
    stop()
    lab.advance(0.2)
    assert len(heard) < len(told)
    with pytest.raises(UnknownName, match="available: detector_fanuc, detector_motoman"):
        ports.watch("camera", heard.append)


def copy(frame: Detections):
    return frame.time_ns, frame.sequence, frame.source, frame.skus, frame.positions.tolist(), frame.scores.tolist()


def test_robots_are_reached_over_crcl(lab):
    async def work():
        crcl = CrclInterface(lab)
        async with lab_ports(lab, crcl).client("fanuc") as robot:
            outcome = await robot.execute(InitCanon(0))
        await crcl.close()
        return outcome

    assert lab.perform(work()).state == "done"
    with pytest.raises(UnknownName, match="available: fanuc, motoman"):
        lab_ports(lab, CrclInterface(lab)).client("fanuk")


def test_a_controller_publishes_on_topics_of_its_own_only(lab):
    topics, heard = lab_ports(lab, CrclInterface(lab)).topics, []
    assert not topics.has_listener("/mine")
    lab.bus.subscribe("/mine", lambda _topic, message: heard.append(message), subscriber="test")
    told = BeliefChange(0, 0, "me", subject="gear", change="moved", evidence="seen", stable=False)
    topics.publish("/mine", told)
    assert heard == [told]
    assert topics.has_listener("/mine")
    joints = JointState(0, 0, "me", names=(), position=np.zeros(0), velocity=np.zeros(0), effort=np.zeros(0))
    for topic, message in (
        ("/fanuc/joint_states", joints),
        ("/fanuc/crcl_status", CrclStatus(0, 0, "me", document="")),
    ):
        with pytest.raises(BadInput, match="a controller cannot publish"):
            topics.publish(topic, message)
    with pytest.raises(BadInput, match="no truth"):
        topics.declare("/mine_too", WorldTruth)


def test_orders_say_what_is_wanted_and_nothing_of_what_is_true(lab):
    book = OrderBook.of_run([find_order("kit_m2l1")], lab.cell)
    orders = AnnouncedOrders(book, lambda name: book.submit(name, 1.5))
    assert orders.announced == []
    with pytest.raises(UnknownName, match="announced order"):
        orders.submit("kit_m2l1")
    book.announce_due(1.0)
    (order,) = orders.announced
    assert (order.name, order.announced_s, order.is_submitted) == ("kit_m2l1", 1.0, False)
    assert not {"claimed", "complete_s"} & set(vars(order))
    orders.submit("kit_m2l1")
    assert orders.announced[0].is_submitted
    with pytest.raises(BadInput, match="was submitted at 1"):
        orders.submit("kit_m2l1")


@pytest.mark.slow
def test_an_order_of_a_design_that_nobody_knew_at_the_beginning_is_built():
    first = KitDesign.of("one_medium", "sku_kit_m2l1_vessel", {"sku_part_medium_gear": 1})
    later = KitDesign.of("one_small", "sku_kit_s2l2_vessel", {"sku_part_small_gear": 1})
    cell = load_cell("aprs").model_copy(update={"fidelity": "kinematic", "settle_s": 0.0})
    cfg = TrialCfg(trial="mine", orders=[{"order": "kit_m2l1"}], time_limit_s=200)
    with Lab(cell, seed=1) as lab:
        book = OrderBook.of(cfg.orders, cell)
        announced = {"a": (first, AnnounceCfg()), "b": (later, AnnounceCfg(at_s=3.0))}
        book.orders = {
            name: TrialOrder.of(name, Order.of(name, {design: 1}), None, when)
            for name, (design, when) in announced.items()
        }
        trial = Trial(lab, cfg, book)
        end = lab.perform(trial.run(trial.inside(TRIAL_CONTROLLERS.get("internal"))))
        report = trial.report(end, "internal", wall_s=0.0)
    assert end[0] is Ending.SUBMITTED
    assert (report.done, report.false_done) == (True, False)
