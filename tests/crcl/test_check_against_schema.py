"""The checker against NIST's schema files, on the samples and on thousands of damaged copies of them."""

from __future__ import annotations

import copy
import random
from pathlib import Path

import pytest
from lxml import etree

from cellwright.crcl import check, decode, encode
from cellwright.crcl.table import PLANS, SIMPLE_TYPES

TYPES = {plan.name: plan for plan in PLANS.values()}

SHARED = Path(__file__).parents[3] / "shared"
SCHEMAS = SHARED / "crcl" / "schemas"
SAMPLES = sorted([*(SHARED / "crcl").rglob("*.xml"), *(SHARED / "aprs" / "programs").glob("*.xml")])
ROOTS = {
    "CRCLCommandInstance": "CRCLCommandInstance.xsd",
    "CRCLStatus": "CRCLStatus.xsd",
    "CRCLProgram": "CRCLProgramInstance.xsd",
}
XSI = "{http://www.w3.org/2001/XMLSchema-instance}"

pytestmark = pytest.mark.skipif(not SCHEMAS.is_dir(), reason="NIST's CRCL schemas are not there (../shared/crcl)")


@pytest.fixture(scope="module")
def judges() -> dict[str, etree.XMLSchema]:
    return {root: etree.XMLSchema(etree.parse(SCHEMAS / file)) for root, file in ROOTS.items()}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples(judges, path):
    text = path.read_bytes()
    root = etree.fromstring(text)
    problems = check(text)
    assert (not problems) == judges[root.tag].validate(root)
    if not problems:
        document = decode(text, lenient=False)
        for written in (encode(document), encode(document, indent="  ")):
            assert decode(written, lenient=False) == document
            assert judges[root.tag].validate(etree.fromstring(written))
    else:
        assert path.stem == "forceTorqueStatusExample"  # the one sample that is wrong, and says so on line 11
        assert [problem.line for problem in problems] == [11, 11, 11]


# Two things are left out where libxml2 departs from the standard: it takes "1e" for a double, and it does not take an
# xsi:type with blanks around it.
TEXTS = [
    *("", " ", "0", "1", "-1", "+7", "007", "-0", "2", "1.0", "1.", ".5", ".", "1e5", "1E+5", "e5", "--1", "+-1"),
    *("NaN", "nan", "INF", "-INF", "+INF", "inf", "Infinity", "1_000", "1,5", "0x10", "١", "1 2", " 1 ", "\n3\t"),
    *("true", "false", "True", "TRUE", " true ", "yes", "2147483647", "2147483648", "-2147483648", "-2147483649"),
    *("9223372036854775807", "9223372036854775808", "1e400", "1e-400", "0.5", "1.0000001", "-0.0", "-1e-300"),
    *("meter", " meter ", "mm", "millimeter", "degree", "newton", "newtonMeter", "CRCL_Done", " CRCL_Done", "Done"),
    *("OVER_MAX", "OVER_MAX ", "Normal", " Normal", "normal", "a b", "a  b", "name!", "x:y", "a.b-c_d", "ä", "<&>"),
]
NAMES = ["Name", "Bogus", "X", "I", "Point", "CommandID", "Guard", "Setting", "JointNumber", "ScalarValue", "name"]


def damage(root: etree._Element, chance: random.Random) -> str:
    """Does one thing to a document that may or may not make it wrong; says what."""
    elements = list(root.iter("*"))
    victim = chance.choice(elements)
    kind = chance.choice(
        [
            "delete",
            "duplicate",
            "swap",
            "rename",
            "borrow",
            "text",
            "text",
            "number",
            "attribute",
            "type",
            "type",
            "move",
        ]
    )
    parent = victim.getparent()
    if kind in ("text", "number"):
        leaves = [element for element in elements if not len(element)]
        if chance.random() < 0.9:
            victim = chance.choice(leaves)
        value = chance.choice(TEXTS) if kind == "text" else repr(chance.choice([1, -1]) * 10 ** chance.uniform(-9, 20))
        victim.text = value
    elif kind == "rename":
        victim.tag = chance.choice([*NAMES, victim.tag + ".", f"{{urn:x}}{etree.QName(victim).localname}"])
    elif kind == "borrow":  # a name that occurs elsewhere
        victim.tag = chance.choice(elements).tag
    elif kind == "attribute":
        name = chance.choice(["foo", XSI + "nil", "{http://www.w3.org/XML/1998/namespace}lang", XSI + "schemaLocation"])
        victim.set(name, chance.choice(["true", "false", "x", "a b"]))
    elif kind == "type":
        typed = [element for element in elements if element.get(XSI + "type")]
        if typed and chance.random() < 0.6:
            victim = chance.choice(typed)
        if chance.random() < 0.2:
            victim.attrib.pop(XSI + "type", None)
        else:
            simple = [name for name in SIMPLE_TYPES if not name.startswith("xs:")]
            victim.set(XSI + "type", chance.choice([*TYPES, *simple, "Bogus", "", "xs:double", "a:b"]))
    elif parent is None:
        victim.text = (victim.text or "") + "stray"
    elif kind == "delete":
        parent.remove(victim)
    elif kind == "duplicate":
        victim.addnext(copy.deepcopy(victim))
    elif kind == "swap":
        neighbour = victim.getnext()
        if neighbour is not None:
            neighbour.addnext(victim)
    elif kind == "move":
        hosts = [element for element in elements if element is not victim and victim not in element.iterancestors()]
        chance.choice(hosts).append(victim)
    return f"{kind} {victim.tag}"


def compare(judges, count: int, seed: int) -> tuple[int, int]:
    """Verdicts on damaged samples; returns how many of them were valid and how many were not."""
    chance = random.Random(seed)
    trees = [etree.fromstring(path.read_bytes()) for path in SAMPLES]
    small = [tree for tree in trees if len(list(tree.iter())) < 700]
    verdicts = [0, 0]
    for number in range(count):
        original = chance.choice(trees if number % 50 == 0 else small)  # the largest takes as long as a hundred others
        root = copy.deepcopy(original)
        done = [damage(root, chance) for _ in range(chance.choice([1, 1, 1, 2, 3]))]
        text = etree.tostring(root)
        again = etree.fromstring(text)
        valid = judges[original.tag].validate(again)
        problems = check(text)
        story = f"{number}: {done}, schema: {judges[original.tag].error_log[:3]}, ours: {problems[:3]}"
        assert (not problems) == valid, story
        if valid:  # what is valid can be read, and is written as something equal and valid
            document = decode(text, lenient=False)
            written = encode(document)
            assert encode(decode(written, lenient=False)) == written, story
            assert judges[original.tag].validate(etree.fromstring(written)), story
        verdicts[valid] += 1
    return verdicts[1], verdicts[0]


def test_damaged_samples(judges):
    valid, wrong = compare(judges, 500, seed=1)
    assert valid > 50
    assert wrong > 200


@pytest.mark.long
def test_many_damaged_samples(judges):
    valid, wrong = compare(judges, 10_000, seed=2)
    assert valid > 1000
    assert wrong > 4000
