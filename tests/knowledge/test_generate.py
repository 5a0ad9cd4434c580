"""What is generated follows from the ontology, and from nothing else."""

import importlib.util
import os
import subprocess
import sys

import pytest
from sqlalchemy import create_engine, inspect
from sqlalchemy.orm import Session
from sqlalchemy.pool import StaticPool

from cellwright.knowledge.generate import GENERATED, SOURCES, regenerate
from cellwright.knowledge.history import POSE_HISTORY
from cellwright.knowledge.pddl import Atom, build_domain, build_problem, planning_ontology, write_domain, write_problem
from cellwright.orders import find_order

ADDITION = """
:WeighingScale a owl:Class ; rdfs:subClassOf :NoSkuObject ; rdfs:comment "Weighs what stands on it." .
:resolution a owl:DatatypeProperty , owl:FunctionalProperty ; rdfs:domain :WeighingScale ; rdfs:range :NonNegative ;
    rdfs:comment "The smallest difference it shows, kilograms." .
:weighedObject a owl:ObjectProperty ; rdfs:domain :WeighingScale ; rdfs:range :SolidObject ;
    rdfs:comment "Stands on it." .
:calibrated a owl:DatatypeProperty , owl:FunctionalProperty ; rdfs:domain :WeighingScale ; rdfs:range xsd:boolean ;
    rdfs:comment "Somebody has checked it." .
:reading a owl:DatatypeProperty ; rdfs:domain :WeighingScale ; rdfs:range xsd:double ; rdfs:comment "What it showed." .
"""


def test_regenerating_changes_nothing_whatever_the_order_of_sets(tmp_path):
    program = (
        "import sys, pathlib; from cellwright.knowledge.generate import regenerate; "
        "regenerate(pathlib.Path(sys.argv[1]))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], env=environment, check=True)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (GENERATED / path.name).read_bytes(), f"{path.name}: run `make regenerate`"
    names = {path.name for path in GENERATED.iterdir()} - {"__init__.py", "__pycache__"}
    assert names == {path.name for path in tmp_path.iterdir()}


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """The generated module of an ontology with one class and four properties more."""
    folder = tmp_path_factory.mktemp("ontology")
    copies = []
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        copies.append(folder / source.name)
        copies[-1].write_text(text + ADDITION if source.name == "kitting.ttl" else text, encoding="utf-8")
    regenerate(folder, copies)
    spec = importlib.util.spec_from_file_location("extended_records", folder / "records.py")
    module = importlib.util.module_from_spec(spec)
    module.folder = folder
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_new_class_and_properties_appear_without_a_line_of_python(extended):
    engine = create_engine("sqlite://")
    extended.Record.metadata.create_all(engine)
    tables = inspect(engine)
    assert {c["name"] for c in tables.get_columns("weighing_scale")} == {"id", "resolution", "calibrated"}
    assert tables.has_table("weighing_scale_weighed_object")
    assert tables.has_table("weighing_scale_reading")
    with Session(engine) as session:
        scale = extended.WeighingScale(name="scale", resolution=0.001, reading=[2.0, 1.0])
        scale.weighed_object.append(extended.Kit(name="kit"))
        session.add(scale)
        session.commit()
    with Session(engine) as session:
        scale = extended.WeighingScale.get(session, "scale")
        assert isinstance(scale, extended.NoSkuObject)
        assert (scale.resolution, list(scale.reading)) == (0.001, [2.0, 1.0])
        assert [o.name for o in scale.weighed_object] == ["kit"]
    assert "resolution" in extended.WeighingScale.__annotations__


@pytest.mark.parametrize("vocabulary", ["2012", "2016"])
def test_new_class_and_properties_appear_in_planning_files(extended, vocabulary):
    """With no line of Python edited: a type, its predicates, and what the database says of them."""
    ontology = planning_ontology(extended.folder)
    domain = build_domain(vocabulary, ontology=ontology)
    text = write_domain(domain)
    assert "WeighingScale - NoSkuObject\n" in text
    assert "(weighingScale-has-weighedObject ?weighingScale - WeighingScale ?weighedObject - SolidObject)\n" in text
    assert "(weighingScale-is-calibrated ?weighingScale - WeighingScale)\n" in text
    assert "eighingScale" not in write_domain(build_domain(vocabulary))
    engine = create_engine("sqlite://", poolclass=StaticPool)
    extended.Record.metadata.create_all(engine)
    POSE_HISTORY.create(engine)
    with Session(engine) as session:
        scale = extended.WeighingScale(name="scale", calibrated=True)
        scale.weighed_object.append(extended.Kit(name="begun"))
        session.add_all([scale, extended.Robot(name="robot_1"), extended.WeighingScale(name="other")])
        session.commit()
    problem = build_problem(Engine(engine), [find_order("a2b1c1")], domain, ontology=ontology)
    assert problem.objects["scale"] == "WeighingScale"
    assert Atom("weighingScale-has-weighedObject", ("scale", "begun")) in problem.relations
    assert [a.arguments for a in problem.relations if a.name == "weighingScale-is-calibrated"] == [("scale",)]
    assert "scale - WeighingScale\n" in write_problem(problem)


class Engine:
    """As much of a database as planning files need; `Database` has the tables of the package's ontology."""

    in_memory = True

    def __init__(self, engine):
        self.transaction = engine.begin
        self.session = lambda: Session(engine)


def test_new_class_changes_the_version_of_the_schema(extended):
    from cellwright.knowledge import records

    assert not hasattr(records, "WeighingScale")
    assert extended.SCHEMA_VERSION != records.SCHEMA_VERSION
