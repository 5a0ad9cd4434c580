"""The two forms of instance files: whatever can be stored comes back, and what is wrong is named with its line."""

import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cellwright.core.errors import BadInput, MissingExtra, OutputError, UnknownName
from cellwright.knowledge import Database, records
from cellwright.knowledge.generate import GENERATED, SOURCES, regenerate
from cellwright.knowledge.instances import (
    Content,
    InstanceEntry,
    InstanceError,
    Ref,
    load_instances,
    read_content,
    read_owl,
    read_xml,
    safe_xml,
    save_instances,
    write_content,
    write_owl,
    write_xml,
)
from cellwright.knowledge.instances.schema import classes, iris
from cellwright.knowledge.instances.units import WorkstationUnits

CONCRETE = sorted(name for name, described in classes().items() if not described.abstract)
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], include_characters="\t\n\r"), max_size=12)
TEXT = TEXT.filter(lambda text: "\ufffe" not in text and "\uffff" not in text)
NUMBER = st.floats(allow_nan=False, allow_infinity=False, min_value=0, max_value=1e300)


@st.composite
def contents(draw):
    """Any content that a database takes: one workstation, and instances of any class with any properties."""
    kinds = draw(st.lists(st.sampled_from([k for k in CONCRETE if k != "KittingWorkstation"]), max_size=8))
    names = draw(st.lists(TEXT, min_size=len(kinds) + 1, max_size=len(kinds) + 1, unique=True))
    content = Content("random")
    for kind, name in zip(["KittingWorkstation", *kinds], names, strict=True):
        content.add(InstanceEntry(kind, name))
    taken = set()
    for entry in list(content.entries.values()):
        for label, known in classes()[entry.kind].properties.items():
            if known.kind == "record":
                fitting = [r for r in content.entries if known.target in classes()[r.kind].lineage]
                if known.required and not fitting:
                    content.add(InstanceEntry(known.target, f"needed by {entry.name}"))
                    fitting = [Ref(known.target, f"needed by {entry.name}")]
                fitting = [r for r in fitting if (label, r) not in taken]
                least = 1 if known.required else 0
                most = min(len(fitting), 3 if known.many else 1)
                if known.required:
                    values = [fitting[0]] if fitting else [r for r in content.entries if r.kind == known.target][:1]
                else:
                    values = (
                        draw(st.lists(st.sampled_from(fitting), min_size=least, max_size=most, unique=True))
                        if most
                        else []
                    )
                    taken |= {(label, value) for value in values} if known.many else set()
            else:
                atom = {
                    "text": st.sampled_from(known.words) if known.words else TEXT,
                    "number": NUMBER,
                    "integer": st.integers(0, 2**31 - 1),
                    "boolean": st.booleans(),
                    "value": st.tuples(*(NUMBER for _ in known.fields)),
                }[known.kind]
                most = 3 if known.many else 1
                values = draw(st.lists(atom, max_size=most, unique=known.words != ()))
            if values:
                entry.values[label] = values
    return content


@settings(
    max_examples=30,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(contents())
def test_any_content_comes_back_in_both_forms(content):
    for write, read in ((write_owl, read_owl), (write_xml, read_xml)):
        text = write(content)
        again = read(text.encode(), "again")
        again.check()
        assert write(again) == text
        assert again.entries.keys() == content.entries.keys()
    assert {r: e.values for r, e in again.entries.items()} == {r: e.values for r, e in content.entries.items()}


@settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(content=contents())
def test_any_content_comes_back_from_a_database(content, empty_file, tmp_path_factory):
    path = tmp_path_factory.mktemp("random") / "random.db"
    path.write_bytes(empty_file.read_bytes())
    database = Database(path)
    write_content(database, content)
    again = read_content(database)
    assert {r: e.values for r, e in again.entries.items()} == {r: e.values for r, e in content.entries.items()}
    database.close()


@settings(max_examples=200, deadline=None)
@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["length", "angle", "weight", "length2", "angle2", ""]),
    st.sampled_from(["meter", "millimeter", "inch"]),
    st.sampled_from(["degree", "radian"]),
    st.sampled_from(["kilogram", "gram", "milligram", "ounce", "pound"]),
)
def test_units_lose_nothing(value, quantity, length, angle, weight):
    units = WorkstationUnits(length, angle, weight)
    assert units.number(units.text(value, quantity), quantity) == value


CELL = """<?xml version="1.0" encoding="UTF-8"?>
<KittingWorkstation xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <Name>cell</Name>
  <AngleUnit>degree</AngleUnit>
  <LengthUnit>inch</LengthUnit>
  <StationObject xsi:type="PartType">
    <Name>bolt</Name>
    <PrimaryLocation xsi:type="PoseLocationOnType">
      <Name>where</Name>
      <OrientationCovariance><XX>4</XX></OrientationCovariance>
      <OrientationStandardDeviation>180</OrientationStandardDeviation>
      <Point><X>10</X><Y>0</Y><Z>-1</Z></Point>
      <RefObjectName>cell</RefObjectName>
      <XAxis><X>1</X><Y>0</Y><Z>0</Z></XAxis>
    </PrimaryLocation>
    <SkuName>sku_bolt</SkuName>
  </StationObject>
  <StationSku><Name>sku_bolt</Name><Weight>2</Weight></StationSku>
  <WeightUnit>ounce</WeightUnit>
</KittingWorkstation>
"""


def test_numbers_are_in_the_units_of_the_file(file, tmp_path):
    database = Database(file)
    (tmp_path / "cell.xml").write_text(CELL)
    load_instances(tmp_path / "cell.xml", database)
    with database.session() as session:
        where = records.Part.get(session, "bolt").primary_location
        assert where.point == records.Point(0.254, 0.0, -0.0254)
        assert where.x_axis == records.Vector(1.0, 0.0, 0.0)
        assert where.orientation_standard_deviation == pytest.approx(3.141592653589793, rel=1e-15)
        assert where.orientation_covariance.xx == pytest.approx(0.0012184696791468343, rel=1e-15)
        assert where.orientation_covariance.yy is None
        assert records.StockKeepingUnit.get(session, "sku_bolt").weight == 0.05669904625
    assert "<X>10</X>" in write_xml(read_content(database))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("<Name>bolt</Name>", "", "line 6: Part has no Name"),
        ("PartType", "PrtType", "line 6: 'Prt' is not a class .*Part,"),
        ("PartType", "SkuObjectType", "line 6: 'SkuObject' has no direct instances"),
        (' xsi:type="PartType"', "", "line 6: StationObject needs an xsi:type"),
        ("<Y>0</Y><Z>-1</Z>", "<Q>0</Q>", r"line 12: Point has 'Q' \(available: X, Y, Z\)"),
        ("<X>10</X>", "<X>ten</X>", "line 12: Point is 'ten', it should be a number"),
        ("<X>10</X>", "<X>inf</X>", "line 12: PoseLocationOn 'where': point .* finite"),
        (">cell</RefObjectName>", ">cel</RefObjectName>", "line 13: RefObjectName: there is no SolidObject 'cel'"),
        ("<SkuName>sku_bolt</SkuName>", "", "line 6: Part 'bolt' needs a sku"),
        ("<SkuName>sku_bolt", "<SkuName>where", "line 16: SkuName: there is no StockKeepingUnit 'where'"),
        ("<Weight>", "<Wieght>", "mismatch"),
        ("<Weight>2</Weight>", "<Wait>2</Wait>", r"line 18: StockKeepingUnit 'sku_bolt': Wait is unknown .*Weight"),
        ("<Weight>2</Weight>", "<Weight>2</Weight><Weight>3</Weight>", "line 18: .*weight has 2 values, one is"),
        ("<Weight>2</Weight>", "<Weight><X>2</X></Weight>", "line 18: Weight should be a number"),
        (">inch<", ">mile<", r"line 5: LengthUnit is 'mile' \(available: meter, millimeter, inch\)"),
        ("<Name>sku_bolt", "<Name>bolt", "line 16: SkuName: there is no StockKeepingUnit"),
        ("KittingWorkstation", "Workstation", "line 2: begins with Workstation, it should begin with KittingWork"),
        ("</KittingWorkstation>", "", "line 21: is not well-formed XML"),
        ('"UTF-8"?>', '"UTF-8"?><!DOCTYPE a>', "line 1: has a document type"),
        ('"UTF-8"?>', '"UTF-8"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>', "has a document type"),
    ],
)
def test_wrong_xml_is_refused_with_its_line(old, new, words):
    assert old in CELL
    with pytest.raises(InstanceError, match=words) as caught:
        read_xml(CELL.replace(old, new).encode(), "cell.xml").check()
    assert str(caught.value).startswith("cell.xml: ")
    assert "\n" not in str(caught.value)


def test_same_thing_twice_is_refused():
    twice = CELL.replace(
        "<StationSku>",
        '<StationObject xsi:type="PartsBinType"><Name>bolt</Name><SkuName>sku_bolt</SkuName></StationObject>'
        "<StationSku>",
    )
    with pytest.raises(InstanceError, match="'bolt' is the name of a PartsBin and of a Part"):
        read_xml(twice.encode(), "cell.xml").check()
    with pytest.raises(InstanceError, match="line 18: Part 'bolt' is described twice"):
        read_xml(twice.replace("PartsBinType", "PartType").encode(), "cell.xml")


OWL = """@prefix k: <urn:cellwright:kitting#> .
@prefix x: <http://other#> .
x:sku a k:StockKeepingUnit .
x:bolt a k:Part , k:SkuObject ; k:sku x:sku ; k:serialNumber "7" .
x:tray a k:PartsTray ; k:sku x:sku ; k:partQuantity 3 ; k:part x:bolt ; x:colour "red" .
"""


def test_owl_of_others_is_read():
    content = read_owl(OWL.encode(), "other.ttl", "turtle")
    content.check()
    assert content.entries[Ref("PartsTray", "tray")].values["part"] == [Ref("Part", "bolt")]
    assert content.entries[Ref("Part", "bolt")].values["serialNumber"] == ["7"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("k:partQuantity 3", "k:partQuantity true", "partQuantity is 'true', it should be a integer"),
        ("k:partQuantity 3", "k:partQuantity 3, 4", "partQuantity has 2 values, one is allowed"),
        ("k:partQuantity 3", "k:partQuantity -3.5", "partQuantity is '-3.5', it should be a integer"),
        ("k:partQuantity", "k:quantity", "quantity is unknown"),
        ("k:part x:bolt", "k:part x:blot", "refers to http://other#blot, which is not described"),
        ("k:part x:bolt", "k:part x:sku", "part is the StockKeepingUnit 'sku', it should be a Part"),
        ("a k:PartsTray", "a k:PartsVessel", "'PartsVessel' has no direct instances"),
        ("k:sku x:sku ; k:partQ", "k:partQ", "PartsTray 'tray' needs a sku"),
        ("@prefix k:", "prefix k", "is not .ttl"),
    ],
)
def test_wrong_owl_is_refused(old, new, words):
    assert old in OWL
    with pytest.raises(InstanceError, match=words) as caught:
        read_owl(OWL.replace(old, new).encode(), "other.ttl", "turtle").check()
    assert "\n" not in str(caught.value)


def test_owl_with_a_document_type_or_in_pieces_is_refused():
    bomb = b'<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]><r>&b;</r>'
    with pytest.raises(InstanceError, match="document type"):
        read_owl(bomb, "bomb.owl")
    with pytest.raises(InstanceError, match="line 1: is not well-formed"):
        read_owl(b"<rdf:RDF", "half.owl")


def test_without_rdflib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'cellwright\[planning\]'"):
        read_owl(b"", "cell.owl")


def test_files_that_cannot_be_read_or_written(file, tmp_path, monkeypatch):
    database = Database(file)
    with pytest.raises(InstanceError, match="cannot be read: No such file"):
        load_instances(tmp_path / "nothing.xml", database)
    with pytest.raises(UnknownName, match=r"available: \.nt, \.owl, \.rdf, \.ttl, \.xml"):
        load_instances(tmp_path / "cell.txt", database)
    with pytest.raises(UnknownName, match=r"available: \.owl, \.rdf, \.xml"):
        save_instances(database, tmp_path / "cell.nt")
    with pytest.raises(OutputError, match="cannot write"):
        save_instances(database, tmp_path / "no" / "cell.owl")
    with pytest.raises(BadInput, match="0 workstations"):
        save_instances(database, tmp_path / "cell.xml")
    monkeypatch.setattr(safe_xml, "MAX_BYTES", 10)
    (tmp_path / "long.xml").write_text(CELL)
    with pytest.raises(InstanceError, match="bytes, allowed are 10"):
        load_instances(tmp_path / "long.xml", database)


def test_text_that_xml_cannot_hold_is_refused():
    content = Content("cell")
    content.add(InstanceEntry("KittingWorkstation", "bell \x07"))
    with pytest.raises(BadInput, match="XML has no character"):
        write_xml(content)


def test_vocabulary_is_referred_to_and_not_repeated():
    content = Content("cell")
    content.add(InstanceEntry("KittingWorkstation", "cell"))
    predicate = Ref("Predicate", "part-is-found")
    content.add(InstanceEntry("Fact", "seen", {"factPredicate": [predicate]}))
    for write, read in ((write_owl, read_owl), (write_xml, read_xml)):
        again = read(write(content).encode(), "again")
        again.check()
        assert again.entries[Ref("Fact", "seen")].values == {"factPredicate": [predicate]}
        assert len(again.entries) == 2


def test_every_property_has_its_name_in_the_ontology():
    for described in classes().values():
        assert described.name in iris()
        for label in described.properties:
            assert label in iris()


ADDITION = """
:WeighingScale a owl:Class ; rdfs:subClassOf :NoSkuObject ; rdfs:comment "Weighs what stands on it." .
:resolution a owl:DatatypeProperty , owl:FunctionalProperty ; rdfs:domain :WeighingScale ; rdfs:range :NonNegative ;
    rdfs:comment "The smallest difference it shows." ; cw:quantity "weight" .
:weighedObject a owl:ObjectProperty ; rdfs:domain :WeighingScale ; rdfs:range :SolidObject ; rdfs:comment "On it." .
:reading a owl:DatatypeProperty ; rdfs:domain :WeighingScale ; rdfs:range xsd:double ; rdfs:comment "What it showed." .
"""
PROGRAM = """
import sys
import cellwright.knowledge.generated as generated
generated.__path__ = [sys.argv[1]]
generated.__spec__.submodule_search_locations = [sys.argv[1]]
from cellwright.knowledge import Database, records
from cellwright.knowledge.instances import load_instances, save_instances
database, again = Database(), Database()
with database.session() as session:
    scale = records.WeighingScale(name="scale", resolution=0.001, reading=[2.5, 1.5])
    cell = records.KittingWorkstation(name="cell", weight_unit="gram", station_object=[scale])
    scale.weighed_object.append(cell)
    session.add(cell)
for form in ("owl", "xml"):
    save_instances(database, f"{sys.argv[1]}/first.{form}")
    again = Database()
    load_instances(f"{sys.argv[1]}/first.{form}", again)
    save_instances(again, f"{sys.argv[1]}/second.{form}")
"""


@pytest.mark.long
def test_class_that_is_added_to_the_ontology_is_written_and_read_without_a_line_of_python(tmp_path):
    (tmp_path / "ontology").mkdir()
    copies = []
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        copies.append(tmp_path / "ontology" / source.name)
        copies[-1].write_text(text + ADDITION if source.name == "kitting.ttl" else text, encoding="utf-8")
    regenerate(tmp_path, copies)
    (tmp_path / "__init__.py").write_bytes((GENERATED / "__init__.py").read_bytes())
    subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], env=dict(os.environ), check=True)
    for form in ("owl", "xml"):
        assert (tmp_path / f"first.{form}").read_bytes() == (tmp_path / f"second.{form}").read_bytes()
    xml = (tmp_path / "first.xml").read_text()
    assert '<StationObject xsi:type="WeighingScaleType">' in xml
    assert "<Resolution>1</Resolution>" in xml
    assert "<WeighedObjectName>cell</WeighedObjectName>" in xml
