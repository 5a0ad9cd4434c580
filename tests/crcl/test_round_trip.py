"""What is written is read back as it was: over all types, by strategies made from the type table."""

from __future__ import annotations

import math
import string
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.crcl import CRCLCommandInstance, CRCLProgram, CRCLStatus, MessageStream, check, decode, encode
from cellwright.crcl.messages import CommandStatus, GuardsStatuses, JointStatus, JointStatuses
from cellwright.crcl.table import DOCUMENTS, PLANS, FieldPlan, TypePlan

TYPES = {plan.name: plan for plan in PLANS.values()}

CHARACTERS = st.characters(exclude_categories=["Cs"]).filter(lambda c: c in "\t\n\r" or ord(c) >= 32)
TEXTS = st.text(CHARACTERS.filter(lambda c: c not in "\ufffe\uffff"), max_size=20)
VALUES = {
    "xs:double": st.floats(allow_nan=False),
    "FractionType": st.floats(0, 1),
    "xs:int": st.integers(-(2**31), 2**31 - 1),
    "xs:long": st.integers(-(2**63), 2**63 - 1),
    "xs:boolean": st.booleans(),
    "xs:string": TEXTS,
    "xs:token": st.lists(st.text(string.ascii_letters + "<&>'\"äß", min_size=1), max_size=3).map(" ".join),
    "xs:NMTOKEN": st.text(string.ascii_letters + string.digits + ".-_:", min_size=1),
}


def values_of(field: FieldPlan) -> st.SearchStrategy:
    if field.plan is not None:
        return instances_of(field.plan)
    if field.primitive.choices:
        return st.sampled_from([field.primitive.read(choice) for choice in field.primitive.choices])
    return VALUES[field.primitive.name]


@cache
def instances_of(base: TypePlan) -> st.SearchStrategy:
    return st.deferred(lambda: st.one_of([exactly(plan) for plan in base.substitutes.values()]))


@cache
def exactly(plan: TypePlan) -> st.SearchStrategy:
    given_fields = {}
    for field in plan.fields:
        one = values_of(field)
        if field.repeated:
            given_fields[field.attribute] = st.lists(one, min_size=field.least, max_size=field.least + 1).map(tuple)
        else:
            given_fields[field.attribute] = one if field.least else st.none() | one
    return st.builds(plan.cls, **given_fields)


COMMANDS = sorted(TYPES["CRCLCommandType"].substitutes)


@pytest.mark.parametrize("name", COMMANDS)
@settings(max_examples=12)
@given(data=st.data())
def test_every_command(name, data):
    command = data.draw(exactly(TYPES[name]))
    document = data.draw(st.builds(CRCLCommandInstance, st.just(command), program_file=st.none() | TEXTS))
    text = encode(document)
    assert decode(text, CRCLCommandInstance, lenient=False) == document
    assert check(text) == []


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
@settings(max_examples=25)
@given(data=st.data())
def test_every_document(name, data):
    document = data.draw(exactly(DOCUMENTS[name]))
    wire, file = encode(document), encode(document, indent="  ")
    assert decode(wire, lenient=False) == decode(file, lenient=False) == document
    assert check(wire) == check(file) == []
    assert list(MessageStream().feed(wire + b"\n\0" + file)) == [wire, file.strip()]


def test_documents_hold_every_type():
    reached, todo = set(), list(DOCUMENTS.values())
    while todo:
        plan = todo.pop()
        if plan not in reached:
            reached.add(plan)
            todo += [p for f in plan.fields if f.plan for p in f.plan.substitutes.values()]
    never = {plan.name for plan in PLANS.values() if not plan.abstract and plan not in reached}
    assert never == {"SensorStatusType"}  # concrete in the schema, but no element has it


@given(st.floats())
def test_numbers_keep_every_bit(value):
    status = CRCLStatus(
        CommandStatus(1, 1, "CRCL_Done"), joint_statuses=JointStatuses((JointStatus(1, joint_position=value),))
    )
    again = decode(encode(status), CRCLStatus).joint_statuses.joint_status[0].joint_position
    assert (
        math.isnan(again) if math.isnan(value) else (again, math.copysign(1, again)) == (value, math.copysign(1, value))
    )


def test_order_of_what_is_written_does_not_depend_on_order_of_arguments():
    status = GuardsStatuses(trigger_value=1.0, trigger_stop_time_micros=5, trigger_count=1)
    text = encode(CRCLStatus(CommandStatus(1, 1, "CRCL_Done"), guards_statuses=status)).decode()
    assert text.index("TriggerCount") < text.index("TriggerStopTimeMicros") < text.index("TriggerValue")


def test_a_program_is_its_commands_in_order():
    program = DOCUMENTS["CRCLProgram"].cls
    assert program is CRCLProgram
    assert [field.element for field in DOCUMENTS["CRCLProgram"].fields] == [
        "Name",
        "InitCanon",
        "MiddleCommand",
        "EndCanon",
    ]
