"""Trial files: a mistake is told with its line, its key and what is allowed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cellwright.core.errors import BadInput
from cellwright.judge import FAULTS, parse_fault
from cellwright.trials.cfg import TrialCfg, read_trial, trial_json_schema

GOOD = """\
trial: mine
cell: aprs
seed: 3
time_limit_s: 120
orders:
  - {order: kit_m2l1, tray: fanuc_kit_m2l1, announce: start}
  - order: kit_s2l2
    quantity: 1
    announce: {at_s: 10}
faults:
  - drop:part=*,during=transfer:2
  - {kind: blackout, detector: detector_fanuc, at: 5, for_s: 2}
points: {time: 3}
"""


def read(tmp_path, text):
    (tmp_path / "trial.yaml").write_text(text)
    return read_trial(tmp_path / "trial.yaml")


def test_a_good_one_is_read(tmp_path):
    made = read(tmp_path, GOOD)
    assert made.orders[1].announce.at_s == 10
    assert [fault.kind for fault in made.faults] == ["drop", "blackout"]
    assert made.controller == "external"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "quantity: 1",
            "quantity: none",
            "trial.yaml, line 8: orders.1.quantity: should be a whole number, got 'none'",
        ),
        ("quantity: 1", "quantty: 1", "line 8: orders.1: unknown key 'quantty'; did you mean 'quantity'?"),
        ("at_s: 10", "at: 10", "line 9: orders.1.announce: unknown key 'at'; did you mean 'at_s'?"),
        ("announce: start", "announce: now", "line 6: orders.0.announce: should be start, {at_s: SECONDS} or"),
        ("drop:part", "drip:part", "line 11: faults.0: fault 'drip:part=*,during=transfer:2': unknown kind of fault"),
        ("for_s: 2", "for_s: two", "line 12: faults.1"),
        ("seed: 3", "seed: 3\nseed: 4", "line 4, column 1: not valid YAML: key 'seed' occurs twice"),
        ("time_limit_s: 120", "time_limit_s: -1", "line 4: time_limit_s: should be greater than 0"),
        ("points: {time: 3}", "points: {tim: 3}", "line 13: points: unknown item of the score 'tim'; did you mean"),
        ("points: {time: 3}", "pints: {time: 3}", "line 13: unknown key 'pints'; did you mean 'points'?"),
        ("trial: mine\n", "", "line 1: trial: required, but missing"),
        ("seed: 3", "controller: me", "line 3: controller: unknown trial controller 'me' (available: external"),
        ("trial: mine", "trial: ../mine", "line 1: trial: should be text of the form"),
        ("trial: mine", "trial: \0", "trial.yaml: not valid YAML: unacceptable character"),
        ("seed: 3", "par_s: 500", "line 3: par_s: should be below time_limit_s (120), got '500'"),
    ],
)
def test_a_mistake_is_told_in_one_line(tmp_path, old, new, told):
    assert old in GOOD
    with pytest.raises(BadInput) as refused:
        read(tmp_path, GOOD.replace(old, new))
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_files_are_looked_for_beside_the_trial(tmp_path):
    made = read(tmp_path, GOOD.replace("cell: aprs", "cell: mine.yaml").replace("kit_s2l2", "./late.yaml"))
    assert made.cell == str(tmp_path / "mine.yaml")
    assert read(tmp_path, GOOD.replace("cell: aprs", "cell: mine.yaml@tight@as_built")).cell == str(
        tmp_path / "mine.yaml@tight@as_built"
    )
    assert read(tmp_path, GOOD.replace("cell: aprs", "cell: aprs@as_built")).cell == "aprs@as_built"
    assert made.orders[1].order == str(tmp_path / "late.yaml")
    assert made.orders[0].order == "kit_m2l1"


def test_the_example_is_a_trial():
    for path in (Path(__file__).parents[2] / "examples" / "trials").glob("*.yaml"):
        assert read_trial(path).trial == path.stem


def test_the_schema_names_every_key_and_all_faults():
    schema = trial_json_schema()
    assert set(schema["properties"]) == set(TrialCfg.model_fields)
    assert schema["required"] == ["trial", "orders"]
    assert {"#/$defs/DropCfg", "#/$defs/PushCfg"} <= {
        form.get("$ref") for form in schema["properties"]["faults"]["items"]["anyOf"]
    }
    assert "way_mm" in schema["$defs"]["DropCfg"]["properties"]
    for name in ("TrialOrderCfg", "AnnounceCfg", "Event"):
        assert name in schema["$defs"]


def texts(said):
    """The patterns of text that a key may be."""
    return [form["pattern"] for form in said["anyOf"] if form.get("type") == "string"]


@pytest.mark.parametrize(
    ("kind", "key", "right", "wrong"),
    [
        ("drop", "during", "transfer:2", "grasp:2"),
        ("drop", "during", "transfer", "transfer:0"),
        ("swap", "after", "place:1", "place:"),
        ("drop", "at", "20..60", "20...x"),
        ("push", "by_mm", "40/0", "40/"),
        ("push", "by_mm", "-5..5", "5"),
    ],
)
def test_the_schema_takes_what_a_fault_takes_as_text(kind, key, right, wrong):
    schema = trial_json_schema()
    allowed = texts(schema["$defs"][FAULTS.get(kind).Cfg.__name__]["properties"][key])
    when = {} if key in ("at", "before", "during", "after") else {"before": "grasp:1"}
    assert parse_fault({"kind": kind, key: right, **when})
    assert any(re.search(pattern, right) for pattern in allowed)
    assert not any(re.search(pattern, wrong) for pattern in allowed)


def test_the_schema_says_when_an_order_is_announced_by_default():
    announce = trial_json_schema()["$defs"]["TrialOrderCfg"]["properties"]["announce"]
    assert (announce["default"], announce["anyOf"][0]) == ("start", {"const": "start"})
