"""The classes: names, documentation, how they are built, and that the schema has no type that we have not."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from lxml import etree

import cellwright.crcl as crcl
from cellwright.crcl.table import DOCUMENTS, PLANS, SIMPLE_TYPES, element_name

TYPES = {plan.name: plan for plan in PLANS.values()}

SCHEMAS = Path(__file__).parents[3] / "shared" / "crcl" / "schemas"
XS = "{http://www.w3.org/2001/XMLSchema}"


def test_every_class_is_exported_documented_frozen_and_slotted():
    for cls in PLANS:
        assert getattr(crcl, cls.__name__) is cls
        assert cls.__doc__ is not None
        assert not cls.__doc__.startswith(cls.__name__ + "(")
        assert "__slots__" in vars(cls)
        assert not hasattr(cls, "__dict__") or "__dict__" not in dir(cls)
    point = crcl.Point(1, 2, 3)
    with pytest.raises(FrozenInstanceError):
        point.x = 5


def test_what_is_required_may_be_positional_and_what_is_optional_is_named():
    pose = crcl.Pose(crcl.Point(1, 2, 3), crcl.Vector(1, 0, 0), crcl.Vector(0, 0, 1), name="here")
    move = crcl.MoveTo(7, True, pose, guard=(crcl.Guard("ft", limit_type="OVER_MAX", limit_value=5.0),))
    assert (move.command_id, move.end_position.point.x, move.guard[0].sub_field) == (7, 1, None)
    assert hash(move) == hash(crcl.MoveTo(7, True, pose, guard=move.guard))
    with pytest.raises(TypeError):
        crcl.Dwell(1)


@pytest.mark.parametrize(
    ("attribute", "element"),
    [
        ("command_id", "CommandID"),
        ("x_axis", "XAxis"),
        ("crcl_command", "CRCLCommand"),
        ("finger1_force", "Finger1Force"),
    ],
)
def test_element_names(attribute, element):
    assert element_name(attribute) == element


def test_dots_of_the_schema():
    assert [field.element for field in TYPES["ScalarSensorStatusType"].fields][-1] == "ScalarValue."
    assert [field.element for field in TYPES["CountSensorStatusType"].fields][-1] == "CountValue."


def test_crcl_needs_no_physics():
    code = "import sys; sys.modules['mujoco'] = None; import cellwright.crcl; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    packages = {name.split(".")[1] for name in done.stdout.split() if name.startswith("cellwright.")}
    assert packages <= {"core", "crcl", "_lazy", "_opengl"}


@pytest.mark.skipif(not SCHEMAS.is_dir(), reason="NIST's CRCL schemas are not there (../shared/crcl)")
def test_the_table_is_the_schema():
    """Every type, its base, whether it is abstract, and every element with its type and number, in order."""
    seen = set()
    for path in SCHEMAS.glob("*.xsd"):
        for node in etree.parse(path).getroot():
            name = node.get("name")
            if node.tag == XS + "simpleType":
                restriction = node.find(XS + "restriction")
                assert SIMPLE_TYPES[name].base.name == restriction.get("base")
                assert SIMPLE_TYPES[name].choices == tuple(e.get("value") for e in restriction.iter(XS + "enumeration"))
                seen.add(name)
            elif node.tag == XS + "complexType":
                plan = TYPES[name]
                seen.add(name)
                extension = node.find(f".//{XS}extension")
                base = TYPES[extension.get("base")] if extension is not None else None
                assert plan.cls.__base__ is (base.cls if base else object)
                assert plan.abstract == (node.get("abstract") == "true")
                own = plan.fields[len(base.fields) if base else 0 :]
                elements = list(node.iter(XS + "element"))
                assert [f.element for f in own] == [e.get("name") for e in elements]
                for field, element in zip(own, elements, strict=True):
                    type_name = field.primitive.name if field.primitive else field.plan.name
                    assert type_name == element.get("type")
                    assert field.least == int(element.get("minOccurs", "1"))
                    assert field.repeated == (element.get("maxOccurs", "1") == "unbounded")
            elif node.tag == XS + "element":
                assert DOCUMENTS[name].name == node.get("type")
    ours = set(TYPES) | {name for name in SIMPLE_TYPES if not name.startswith("xs:")}
    assert seen == ours
    assert len(seen) == 98
