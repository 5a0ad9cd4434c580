"""The kitting cell as a whole: empty trays out of their box, kits into theirs, also when a tray falls on the way."""

import pytest

import cellwright as cw
from cellwright.judge import parse_fault
from cellwright.orders import find_order
from cellwright.trials import RunCfg, run_order


def build(kit: str, *faults: str, seed: int = 0):
    with cw.Lab.from_cell("kitting", seed=seed) as lab:
        report = run_order(lab, [find_order(kit)], RunCfg(faults=tuple(parse_fault(fault) for fault in faults)))
        boxed = [item for kit in report.kits for item in kit.items if item.name == "in its box"]
    return report, boxed


@pytest.mark.slow
@pytest.mark.parametrize("kit", ["kit_m2l1", "kit_s2l2"])
def test_a_tray_is_fetched_a_kit_built_on_it_and_put_away(kit):
    report, boxed = build(kit)
    assert report.done, report.reason
    assert [item.passed for item in boxed] == [True]
    assert not report.hits
    assert not report.drops
    assert report.order.reason.endswith("put into kit_box")
    verbs = [record.action.split()[0].strip("(") for record in report.order.actions]
    trays = [verb for verb in verbs if verb.endswith(("kitTray", "kit"))]
    assert trays == ["take-kitTray", "place-kitTray", "create-kit", "take-kit", "place-kit"]
    assert [verb for verb in verbs if verb.endswith("endEffector")] == [
        f"{change}-endEffector" for change in ("attach", "detach", "attach", "detach", "attach")
    ]
    assert all(one.value == "true" for record in report.order.actions for one in record.predicates)
    assert report.order.retries == 0
    assert report.order.plans <= 2  # a parts tray that is drawn along by a grasp leads to a new plan


@pytest.mark.slow
def test_a_tray_that_falls_back_onto_its_box_is_taken_up_again():
    report, boxed = build("kit_m2l1", "drop:tray=m2l1_tray_2,during=transfer:1")
    assert report.done, report.reason
    assert [item.passed for item in boxed] == [True]
    assert len(report.drops) == 1
    assert report.order.plans == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kit", "fault"),
    [
        ("kit_m2l1", "drop:tray=*,during=transfer:2,way_mm=160"),  # the full kit leans on the box's wall then
        ("kit_s2l2", "remove:tray=s2l2_tray_2,at=10"),
        ("kit_m2l1", "remove:tray=m2l1_tray_2,on=large*,after=place:1"),  # with all that is in it
        ("kit_m2l1", "swap:tray=*m2l1*,at=1"),
        ("kit_m2l1", "push:tray=m2l1_tray_2,at=45"),
    ],
)
def test_what_happens_to_trays_is_seen_and_made_good(kit, fault):
    report, boxed = build(kit, fault)
    assert report.done, report.reason
    assert [item.passed for item in boxed] == [True]
