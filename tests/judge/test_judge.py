"""The judge of one run, all wired together."""

import pytest

from cellwright.bench.gear_transfer import transfer_gear
from cellwright.cells import load_cell
from cellwright.core.bus import Bus, Role
from cellwright.core.errors import BadInput
from cellwright.core.messages import JudgeEvent
from cellwright.judge import Judge, parse_fault
from cellwright.judge.drops import LIMIT_S
from cellwright.lab import Lab
from cellwright.orders import DESIGNS
from cellwright.sim import Stepper, World

WANTED = {"fanuc_kit_m2l1": DESIGNS.get("kit_m2l1")}


@pytest.fixture(scope="module")
def run():
    """One gear of a kit is set, the next one is dropped on its way."""
    with Lab.from_cell("aprs", seed=1) as lab:
        judge = Judge(lab.world, lab.stepper, lab.bus, lab.sensors, [parse_fault("drop:during=transfer:2")])
        heard = []
        for topic in ("/judge/verdict", "/judge/events"):
            lab.bus.subscribe(topic, lambda _, m: heard.append(m), subscriber="test", role=Role.JUDGE)
        reports = [
            transfer_gear(lab, "fanuc", f"fanuc_medium_tray/{slot}", f"fanuc_kit_m2l1/{slot}")
            for slot in ("slot_1", "slot_2")
        ]
        lab.advance(LIMIT_S)  # what fell may lean on something, and creep
        yield lab, judge, reports, heard


@pytest.mark.slow
def test_the_second_transfer_goes_wrong_and_the_score_says_so(run):
    lab, judge, reports, heard = run
    assert [report.done for report in reports] == [True, False]
    assert [event.fault for event in judge.faults.events] == ["drop"]
    assert [drop.part for drop in judge.drops.drops] == [judge.faults.events[0].subject]
    assert judge.collisions.hits == []
    score = judge.score(WANTED, par_s=60, limit_s=300)
    lines = {item.name: item for item in score.items}
    assert not score.done
    assert lines["fanuc_kit_m2l1/slot_1"].passed
    assert not lines["fanuc_kit_m2l1/slot_2"].passed
    assert lines["fanuc_kit_m2l1/slot_3"].reason == "the slot is empty"
    assert lines["collisions"].reason == "none"
    assert heard[-1].score == score.total
    assert heard[-1].time_ns == lab.world.clock.time_ns


def test_a_drop_is_told_on_the_bus(run):
    _, judge, _, heard = run
    (told,) = [message for message in heard if isinstance(message, JudgeEvent)]
    (drop,) = judge.drops.drops
    assert (told.kind, told.subject, told.text) == ("drop", drop.part, str(drop))
    assert told.time_s == pytest.approx(drop.time_s, abs=1e-9)


def test_the_oracle_knows_whether_it_could_be_finished(run):
    judge = run[1]

    def reaches(robot, point, tool="", **_):
        return robot == "fanuc" and point[2] > 0.85

    assert judge.recoverable(WANTED, reaches).recoverable
    assert not judge.recoverable(WANTED, reaches, robots=["motoman"]).recoverable


def test_faults_that_need_forces_need_a_cell_that_has_some():
    world = World(load_cell("aprs").model_copy(update={"fidelity": "kinematic"}))
    stepper = Stepper(world.clock, world.engine)
    with pytest.raises(BadInput, match="fault drop needs a cell of fidelity 'physics'"):
        Judge(world, stepper, Bus(), faults=[parse_fault("drop:at=0")])
    Judge(world, stepper, Bus(), faults=[parse_fault("remove:at=0")])
