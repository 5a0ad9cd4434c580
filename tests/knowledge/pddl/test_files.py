"""Domain and problem: every order, vocabulary and form gives files that a strict reader accepts."""

import pytest

from cellwright.core.errors import BadInput, UnknownName
from cellwright.knowledge.pddl import Atom, build_domain, planning_files, planning_ontology
from cellwright.orders import DESIGNS, find_order

KINDS = [
    (vocabulary, form, parts)
    for vocabulary in ("2012", "2016")
    for form in ("numeric", "classical", "temporal")
    for parts in ("counted", "named")
]
PUBLISHED = {
    "2012": "attach-endeffector remove-endeffector take-kittray put-kittray create-kit look-for-part take-part put-part"
    " take-kit put-kit",
    "2016": "attach-endEffector detach-endEffector take-kitTray place-kitTray create-kit look-for-part set-grasp"
    " take-part look-for-slot place-part take-kit place-kit",
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name in DESIGNS for kind in KINDS if kind[2] == "counted" or name in ("a2b3c3d1e1", "kit_m2l1")],
)
def test_every_order_is_written_in_every_way(name, kind, paper_cell, durations, strict_reader):
    vocabulary, form, parts = kind
    files = planning_files(
        paper_cell, [find_order(name)], vocabulary=vocabulary, form=form, parts=parts, durations=durations
    )
    read = strict_reader(files.domain_text, files.problem_text)
    assert read.functions <= {"total-cost"} if form == "classical" else len(read.functions) > 2
    assert set(read.actions) >= {word.lower() for word in PUBLISHED[vocabulary].split()}
    assert len(read.goal) > 2
    assert any(kind == "part" for kind in read.objects.values()) == (parts == "named")
    assert {files.names.read(word) for word in read.objects} == {*files.problem.objects, *dict(files.domain.constants)}


@pytest.mark.parametrize("vocabulary", PUBLISHED)
def test_published_actions_keep_their_parameters_in_the_named_form(vocabulary):
    domain = build_domain(vocabulary, parts="named")
    assert {action.name for action in domain.actions} >= set(PUBLISHED[vocabulary].split())
    short = {"2012": "robot part partsVessel kit workTable endEffector", "2016": "robot part sku kit endEffector"}
    assert list(domain.action("look-for-part").parameters) == short[vocabulary].split()


def test_same_content_gives_the_same_bytes(paper_cell):
    texts = [planning_files(paper_cell, [find_order("a4b3c3")]) for _ in range(2)]
    assert texts[0].domain_text == texts[1].domain_text
    assert texts[0].problem_text == texts[1].problem_text


@pytest.mark.parametrize("flag", ["part-is-found", "grasp-is-set", "slot-is-found", "found-part"])
def test_flags_belong_to_one_robot_and_are_deleted(flag):
    domain = build_domain("2012" if flag == "found-part" else "2016")
    symbol = next(s for s in domain.predicates if s.name == flag)
    assert "robot" in dict(symbol.parameters)
    users = [a for a in domain.actions if any(getattr(c, "name", "") == flag for c in a.conditions)]
    assert any(flag in {atom.name for atom in action.deletes} for action in users)


def test_relations_that_no_action_needs_are_stated(paper_cell):
    files = planning_files(paper_cell, [find_order("a2b1c1")])
    assert Atom("kittingWorkstation-has-robot", ("kitting_workstation", "robot_1")) in files.problem.relations
    said = planning_files(paper_cell, [find_order("a2b1c1")], vocabulary="2012")
    assert Atom("skuObject-has-sku", ("part_a_tray_1", "sku_part_a_tray")) in said.problem.relations
    assert not any(s.name.endswith("-has-sku") for s in files.domain.relations)  # a word of that vocabulary


def test_fixed_kits_are_finished_when_full(gear_cell, strict_reader, durations):
    files = planning_files(gear_cell, [find_order("kit_s2l2")], form="temporal", durations=durations)
    read = strict_reader(files.domain_text, files.problem_text)
    assert {entry[0] for entry in read.goal[1:]} == {"="}
    assert {entry[1][2] for entry in read.goal[1:]} == {"kit_1"}  # the other is out of reach
    assert ("kit-is-stationary", "kit_1") in read.facts
    zones = {fact[2] for fact in read.facts if fact[0] == "place-is-in-zone"}
    assert zones == {"shared_table"}
    reached = {fact[1:] for fact in read.facts if fact[0] == "robot-reaches-place"}
    assert ("fanuc", "small_tray") in reached
    assert ("motoman", "large_tray") in reached
    assert ("motoman", "small_tray") not in reached


def test_robot_out_of_service_is_left_out(gear_cell):
    files = planning_files(gear_cell, [find_order("kit_s2l2")], without=["motoman"])
    assert "motoman" not in files.problem_text.replace("motoman_gripper", "")


def test_more_kits_than_trays_is_written_and_says_what_is_missing(paper_cell, strict_reader):
    files = planning_files(paper_cell, [find_order("a2b1c1", 20)], form="classical")
    read = strict_reader(files.domain_text, files.problem_text)
    paired = [fact for fact in read.facts if fact[0] == "kit-has-kittray"]
    assert len(paired) < 20
    assert sum(kind == "kit" for kind in read.objects.values()) == 20


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"vocabulary": "2013"}, "unknown vocabulary '2013'"),
        ({"form": "temporal"}, "needs durations"),
        ({"durations": {"take-part": 1.0}}, "no duration of"),
    ],
)
def test_impossible_wishes_are_refused_in_one_line(paper_cell, arguments, words):
    with pytest.raises(BadInput, match=words) as caught:
        planning_files(paper_cell, [find_order("a2b1c1")], **arguments)
    assert "\n" not in str(caught.value)


def test_nothing_to_plan_and_nobody_to_do_it_are_refused(paper_cell):
    with pytest.raises(BadInput, match="at least one order"):
        planning_files(paper_cell, [])
    with pytest.raises(BadInput, match="no robot"):
        planning_files(paper_cell, [find_order("a2b1c1")], without=["robot_1"])


def test_unknown_action_lists_those_that_exist():
    with pytest.raises(UnknownName, match="take-part"):
        build_domain().action("steal-part")


def test_ontology_has_both_vocabularies():
    assert planning_ontology().vocabularies == ("2012", "2016")
