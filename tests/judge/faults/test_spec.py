"""Faults as text: what can be said, and what is answered to what cannot."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from cellwright.core.config import Uniform, validate
from cellwright.core.errors import BadInput, ConfigError
from cellwright.judge import AnyFault, parse_fault
from cellwright.judge.faults import FAULTS, DropCfg, PushCfg


def test_the_specification_of_the_command_line():
    fault = parse_fault("drop:part=*,during=transfer:2")
    assert isinstance(fault, DropCfg)
    assert fault.event is not None
    key, event = fault.event
    assert (key, event.what, event.count, fault.part, fault.tray) == ("during", "transfer", 2, "*", None)


@pytest.mark.parametrize(
    ("spec", "key", "value"),
    [
        ("push:at=12.5,by_mm=40/0", "at", 12.5),
        ("push:at=12.5,by_mm=40/-10", "by_mm", (40.0, -10.0)),
        ("push:at=1,by_mm=40", "by_mm", 40.0),
        ("push:at=1,by_mm=20..60", "by_mm", Uniform(low=20, high=60)),
        ("push:at=1..4", "at", Uniform(low=1, high=4)),
        ("push:tray=fanuc_*,after=place", "tray", "fanuc_*"),
        ("drop:at=3,way_mm=20..80", "way_mm", Uniform(low=20, high=80)),
        ("blackout:at=3,detector=detector_fanuc,for_s=2", "for_s", 2.0),
        ("weak_gripper:after=grasp:2,robot=fanuc,factor=0.1", "factor", 0.1),
        ("swap:before=grasp,other=*large*", "other", "*large*"),
        ("remove: part=large_gear_1 , at = 2", "part", "large_gear_1"),
    ],
)
def test_values(spec, key, value):
    assert getattr(parse_fault(spec), key) == value


def test_the_first_time_is_meant_when_no_number_is_given():
    fault = parse_fault("push:after=place")
    assert str(fault.after) == "place:1"


def test_a_fault_is_about_parts_or_about_trays():
    part, tray = (
        SimpleNamespace(name=n, sku="", figures=SimpleNamespace(name=""), is_tray=n == "kit") for n in ("gear", "kit")
    )
    assert [PushCfg(at=0).is_about(item) for item in (part, tray)] == [True, False]
    assert [PushCfg(tray="*", at=0).is_about(item) for item in (part, tray)] == [False, True]
    assert not PushCfg(tray="kid", at=0).is_about(tray)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("dorp:at=1", ["unknown kind of fault 'dorp'", "did you mean 'drop'", *FAULTS]),
        ("", ["unknown kind of fault ''", "weak_gripper"]),
        ("drop", ["say once when it happens", "at=SECONDS", "during=transfer:N", "given: none"]),
        ("push:at=1,after=place:1", ["say once when it happens", "given: at, after"]),
        ("drop:during=transfer:1,fraction=2", ["unknown key of drop 'fraction'", "way_mm", "part"]),
        ("drop:during", ["'during' should be key=value", "way_mm"]),
        ("drop:at=1,at=2", ["'at' is given twice"]),
        ("drop:after=place:1", ["can only be dropped while it is carried"]),
        ("drop:during=place:1", ["should be transfer:N with N from 1, such as transfer:2", "'place:1'"]),
        ("push:after=transfer:1", ["should be grasp:N or place:N"]),
        ("push:after=place:0", ["N from 1"]),
        ("push:before=grasp:x", ["should be grasp:N"]),
        ("push:at=soon", ["should be a number"]),
        ("push:at=4..1", ["at"]),
        ("push:at=1,by_mm=a/b", ["should be x/y such as 40/0, a distance such as 40, or a range such as 20..60"]),
        ("weak_gripper:at=1,factor=2", ["factor", "less than or equal to 1"]),
        ("blackout:at=1,for_s=-1", ["for_s", "greater than 0"]),
        ("remove:at=nan", ["at"]),
        ("remove:at=-1", ["at: should be between 0 and 1e+06, got '-1'"]),
        ("push:at=1,by_mm=5000/0", ["by_mm: should be between -1000 and 1000"]),
        ("push:at=1,by_mm=5..5000", ["by_mm: should be between -1000 and 1000"]),
        ("drop:at=1,way_mm=-5", ["way_mm: should be between 0 and 2000"]),
    ],
)
def test_a_mistake_is_one_line_that_says_what_is_allowed(spec, words):
    with pytest.raises(BadInput) as caught:
        parse_fault(spec, "--fault")
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith("--fault")
    assert all(word in text for word in words), text


class Trial(BaseModel):
    faults: list[AnyFault]


def test_a_trial_file_may_use_text_or_a_mapping():
    trial = validate({"faults": ["remove:at=2", {"kind": "push", "at": 3, "by_mm": [10, 0]}]}, Trial, "trial.yaml")
    assert [fault.kind for fault in trial.faults] == ["remove", "push"]
    assert trial.faults[1].by_mm == (10.0, 0.0)
    assert Trial.model_validate(trial.model_dump()) == trial


def test_a_mistake_in_a_trial_file_names_the_line():
    with pytest.raises(ConfigError, match=r"trial.yaml: faults.1: .*unknown kind of fault 'dorp'"):
        validate({"faults": ["remove:at=2", "dorp:at=1"]}, Trial, "trial.yaml")


WORDS = st.sampled_from(
    ["at", "by_mm", "way_mm", "part", "during", "transfer", "1", "-", "..", "/", "nan", "1e999", "é"]
)


@given(st.sampled_from([*FAULTS, "x"]), st.lists(st.tuples(WORDS, st.lists(WORDS, max_size=4)), max_size=4))
def test_whatever_is_written_is_a_fault_or_a_line(kind, pairs):
    spec = f"{kind}:" + ",".join(f"{key}={''.join(value)}" for key, value in pairs)
    try:
        answer = parse_fault(spec).kind
    except BadInput as error:
        answer = str(error)
    assert answer == kind or (answer.startswith("fault '") and "\n" not in answer)
