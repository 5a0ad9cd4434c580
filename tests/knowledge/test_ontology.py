"""The hand-written ontology: complete, aligned, and readable by others."""

import shutil

import pytest
from rdflib import Graph

from cellwright.knowledge import OntologyError
from cellwright.knowledge.generate import GENERATED, SOURCES, read_graph, read_ontology

GRAPH = read_graph()
ONTOLOGY = read_ontology(GRAPH)
CORA = "http://purl.org/ieee1872-owl/"

# What IEEE 1872 has no word for: information that is neither a design, a pose, a plan nor a process.
WITHOUT_PARENT = {
    *("SolidObject", "NoSkuObject", "DataThing", "PhysicalLocation"),
    *("StockKeepingUnit", "PartRefAndPose", "Slot", "PoseTolerance", "Marking", "Covariance"),
    *("Grasp", "ParallelGripperGrasp", "TwoJawGrasp", "ThreeFingerGrasp", "OtherGripperGrasp", "VacuumSingleCupGrasp"),
    *(
        "ParameterType",
        "StateRelation",
        "Predicate",
        "Function",
        "FunctionCondition",
        "FunctionEffect",
        "State",
        "Fact",
    ),
    *("Step", "ActionFailure", "FailureMode", "FailureEffect", "FailureCause", "Remediation"),
}

# Class -> what an instance has, from the kitting workstation model of 2014 and its APRS form.
PUBLISHED = {
    "Part": "sku serialNumber primaryLocation secondaryLocation marking",
    "KitTray": "sku serialNumber slot",
    "LargeContainer": "sku serialNumber",
    "PartsTray": "sku serialNumber partSku partQuantity part slot trayDesign finished",
    "PartsBin": "sku serialNumber partSku partQuantity part",
    "ParallelGripper": "description weight maximumLoadWeight heldObject maxGripWidth internalShape externalShape",
    "SingleCupEffector": "cupDiameter effectorLength heldObject",
    "MultiCupEffector": "cupDiameter effectorLength arrayNumber arrayRadius",
    "EndEffectorHolder": "endEffector endEffectorSlot",
    "EndEffectorChangingStation": "base endEffectorHolder",
    "Kit": "kitDesign kitTray part slot finished",
    "LargeBoxWithEmptyKitTrays": "largeContainer emptyKitTray",
    "LargeBoxWithKits": "largeContainer kit kitDesign capacity",
    "Robot": "description endEffector maximumLoadWeight workVolume",
    "WorkTable": "objectOnTable",
    "MechanicalComponent": "primaryLocation",
    "Human": "primaryLocation",
    "KittingWorkstation": "angleUnit lengthUnit weightUnit changingStation stationDesign stationObject otherObstacle"
    " robot stationSku",
    "KitDesign": "traySku partRefAndPose",
    "PartsTrayDesign": "traySku partRefAndPose",
    "PartRefAndPose": "partRefSku point xAxis zAxis poseTolerance",
    "Slot": "slotDesign slotPart isOccupied slotId",
    "StockKeepingUnit": "description internalShape externalShape weight usableEndEffector grasp",
    "ExternalShape": "description graspPose modelFormatName modelFileName modelName",
    "BoxyShape": "shapeLength shapeWidth shapeHeight hasTop",
    "CylindricalShape": "shapeDiameter shapeHeight hasTop",
    "Polygon2D": "corner",
    "PoseLocationIn": "refObject timestamp point xAxis zAxis positionStandardDeviation orientationStandardDeviation",
    "PoseLocationOn": "positionCovariance orientationCovariance evidence",
    "PoseOnlyLocation": "point",
    "RelativeLocationIn": "description refObject timestamp",
    "RelativeLocationOn": "description refObject timestamp",
    "BoxVolume": "maximumPoint minimumPoint",
    "ParallelGripperGrasp": "graspEndEffector graspPose approachSeparation graspSeparation",
    "TwoJawGrasp": "openPose graspPose maximumForce minimumForce",
    "PoseTolerance": "positionTolerance orientationTolerance",
    "Action": "signature precondition positiveEffect negativeEffect",
    "Sequence": "step",
    "FailureMode": "failureDescription occurrence failureEffect failureCause remediation",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_class_has_its_properties(name):
    assert set(PUBLISHED[name].split()) <= set(ONTOLOGY.properties_of(name))


def test_classes_without_a_parent_in_the_standard_are_known():
    alone = {name for name in ONTOLOGY.classes if not any(c.foreign_parents for c in ONTOLOGY.lineage(name))}
    assert alone == WITHOUT_PARENT


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("Robot", "cora-bare#Robot"),
        ("ParallelGripper", "cora-bare#RobotPart"),
        ("KittingWorkstation", "cora-bare#RoboticSystem"),
        ("EndEffectorHolder", "sumo-cora#Device"),
        ("WorkTable", "corax#PhysicalEnvironment"),
    ],
)
def test_aligned_with_the_standard_as_rdflib_reads_it(ours, theirs):
    answer = GRAPH.query(
        f"ASK {{ <urn:cellwright:kitting#{ours}> <http://www.w3.org/2000/01/rdf-schema#subClassOf>+ <{CORA}{theirs}> }}"
    )
    assert answer.askAnswer


def load_in_owlready(world):
    return world.get_ontology((GENERATED / "cellwright.nt").as_uri()).load()


def test_owlready2_reads_what_rdflib_reads():
    owlready2 = pytest.importorskip("owlready2", reason="not installed: pip install 'cellwright[planning]'")
    graph = Graph().parse(GENERATED / "cellwright.nt")
    assert {c.name for c in ONTOLOGY.classes.values()} == set(read_ontology(graph).classes)
    world = owlready2.World()
    loaded = load_in_owlready(world)
    ours = {c.name for c in loaded.classes() if c.iri.startswith("urn:cellwright:")}
    assert ours == set(ONTOLOGY.classes)
    assert world[CORA + "cora-bare#Robot"] in world["urn:cellwright:kitting#Robot"].ancestors()
    assert {i.name for i in loaded.individuals()} == {i.name for i in ONTOLOGY.individuals}


@pytest.mark.peer
def test_hermit_finds_no_contradiction_and_finds_one_that_is_made():
    owlready2 = pytest.importorskip("owlready2", reason="not in Debian: owlready2 (pip install 'cellwright[planning]')")
    if shutil.which("java") is None:
        pytest.skip("no java")
    world = owlready2.World()
    loaded = load_in_owlready(world)
    owlready2.sync_reasoner_hermit(world, debug=0)
    assert not list(world.inconsistent_classes())
    with loaded:
        world["urn:cellwright:kitting#Part"].is_a.append(world["urn:cellwright:kitting#Slot"])
    owlready2.sync_reasoner_hermit(world, debug=0)
    assert world["urn:cellwright:kitting#Part"] in list(world.inconsistent_classes())


INDIVIDUALS = {i.name: i for i in ONTOLOGY.individuals}
ACTIONS = sorted(i.name for i in ONTOLOGY.individuals if i.class_name == "Action")


def parameters(names):
    entries = [INDIVIDUALS[name].values for name in names]
    return {p for v in entries for key in ("referenceParameter", "targetParameter") for p in v.get(key, [])}


def published(year):
    """Names in planning files of the actions of a vocabulary."""
    found = (INDIVIDUALS[name].values for name in ACTIONS)
    names = zip(ACTIONS, found, strict=True)
    return {v.get("planningName", [n])[0] for n, v in names if v.get("vocabulary", ["2016"])[0] == year}


def test_vocabularies_are_the_published_ones():
    ours = {"return-part", "return-kitTray", "remove-part"}
    assert published("2016") - ours == {
        *("attach-endEffector", "detach-endEffector", "take-kitTray", "place-kitTray", "create-kit", "look-for-part"),
        *("set-grasp", "take-part", "look-for-slot", "place-part", "take-kit", "place-kit"),
    }
    assert published("2012") == {
        *("attach-endeffector", "remove-endeffector", "take-kittray", "put-kittray", "create-kit", "look-for-part"),
        *("take-part", "put-part", "take-kit", "put-kit"),
    }


@pytest.mark.parametrize("action", ACTIONS)
def test_action_speaks_of_all_its_parameters_and_of_no_others(action):
    values = INDIVIDUALS[action].values
    signature = values["signature"][0].split()
    conditions = parameters(values["precondition"])
    numeric = parameters(INDIVIDUALS[n].values["function"][0] for n in values.get("numericPrecondition", []))
    effects = parameters(values["positiveEffect"] + values.get("negativeEffect", []))
    changed = parameters(INDIVIDUALS[n].values["function"][0] for n in values.get("numericEffect", []))
    assert len(set(signature)) == len(signature)
    assert conditions | numeric == set(signature)
    assert effects | changed <= set(signature)
    for name in signature:
        assert INDIVIDUALS[name].values["className"][0] in ONTOLOGY.classes


@pytest.mark.parametrize("flag", ["part-is-found", "grasp-is-set", "slot-is-found", "partsVessel-has-part"])
def test_flag_is_deleted_once_it_is_used(flag):
    users = [a for a in ACTIONS if flag in INDIVIDUALS[a].values["precondition"]]
    assert any(flag in INDIVIDUALS[a].values.get("negativeEffect", []) for a in users)


def test_every_spatial_predicate_is_defined_and_no_other():
    for individual in ONTOLOGY.individuals:
        if individual.class_name == "Predicate":
            defined = bool({"holdsWhen", "unlessAny"} & set(individual.values))
            assert defined == (individual.values["evaluation"] == ["spatial"]), individual.name
            if "holdsWhen" in individual.values:
                assert "targetParameter" in individual.values, individual.name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (':Odd a owl:Class ; rdfs:subClassOf :Part , :Kit ; rdfs:comment "x" .', "Odd: has the parents Kit, Part"),
        (":Odd a owl:Class ; rdfs:subClassOf :Part .", "Odd: has no rdfs:comment"),
        (':Odd a owl:Class ; rdfs:subClassOf :Nothing ; rdfs:comment "x" .', "Odd: has the parent 'Nothing'"),
        (':Odd a owl:Class ; rdfs:subClassOf :Odd ; rdfs:comment "x" .', "Odd: is its own ancestor"),
        (':odd a owl:ObjectProperty ; rdfs:domain :Part ; rdfs:comment "x" .', "odd: needs an rdfs:domain"),
        (
            ':odd a owl:ObjectProperty ; rdfs:domain :Part ; rdfs:range :Nothing ; rdfs:comment "x" .',
            "odd: speaks of the class 'Nothing'",
        ),
        (
            ':odd a owl:DatatypeProperty ; rdfs:domain :Part ; rdfs:range xsd:anyURI ; rdfs:comment "x" .',
            "odd: has the range 'anyURI'; allowed are boolean, double",
        ),
        (
            ":name2 a owl:DatatypeProperty ; rdfs:range xsd:token ; "
            'rdfs:domain [ owl:unionOf ( :Part :SkuObject ) ] ; rdfs:comment "x" .',
            "Part: has 'name2' itself and from an ancestor",
        ),
        (":bolt a :Part ; :capacity 3 .", "bolt: has 'capacity', which a Part cannot have"),
        (":Odd a owl:Class ; rdfs:comment", "not Turtle"),
    ],
)
def test_ontology_that_cannot_be_generated_from_is_refused(tmp_path, text, words):
    kitting = next(p for p in SOURCES if p.name == "kitting.ttl").read_text(encoding="utf-8")
    head = "".join(line + "\n" for line in kitting.splitlines() if line.startswith("@prefix"))
    (tmp_path / "odd.ttl").write_text(head + text, encoding="utf-8")
    with pytest.raises(OntologyError, match=words) as caught:
        read_ontology(GRAPH + read_graph([tmp_path / "odd.ttl"]))
    assert "\n" not in str(caught.value)
