"""What is generated follows from the ontology, and from nothing else."""

import importlib.util
import os
import subprocess
import sys

import pytest
from sqlalchemy import create_engine, inspect
from sqlalchemy.orm import Session

from cellwright.knowledge.generate import GENERATED, SOURCES, regenerate

ADDITION = """
:WeighingScale a owl:Class ; rdfs:subClassOf :NoSkuObject ; rdfs:comment "Weighs what stands on it." .
:resolution a owl:DatatypeProperty , owl:FunctionalProperty ; rdfs:domain :WeighingScale ; rdfs:range :NonNegative ;
    rdfs:comment "The smallest difference it shows, kilograms." .
:weighedObject a owl:ObjectProperty ; rdfs:domain :WeighingScale ; rdfs:range :SolidObject ;
    rdfs:comment "Stands on it." .
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
    """The generated module of an ontology with one class and three properties more."""
    folder = tmp_path_factory.mktemp("ontology")
    copies = []
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        copies.append(folder / source.name)
        copies[-1].write_text(text + ADDITION if source.name == "kitting.ttl" else text, encoding="utf-8")
    regenerate(folder, copies)
    spec = importlib.util.spec_from_file_location("extended_records", folder / "records.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_new_class_and_properties_appear_without_a_line_of_python(extended):
    engine = create_engine("sqlite://")
    extended.Record.metadata.create_all(engine)
    tables = inspect(engine)
    assert {c["name"] for c in tables.get_columns("weighing_scale")} == {"id", "resolution"}
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


def test_new_class_changes_the_version_of_the_schema(extended):
    from cellwright.knowledge import records

    assert not hasattr(records, "WeighingScale")
    assert extended.SCHEMA_VERSION != records.SCHEMA_VERSION
