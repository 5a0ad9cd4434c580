"""The checker of any plans: what it accepts, what it refuses, and what it says about it."""

import pytest

from cellwright.knowledge.pddl import PddlError, check_plan, read_steps, read_task

DELIVERY = """
; as people write them: tabs, capitals, no blank before a bracket
(define (domain Delivery)
	(:requirements :typing :fluents :derived-predicates :equality)
	(:types vehicle place thing - object  truck van - vehicle)
	(:constants depot - place)
	(:predicates (at ?v - vehicle ?p - place) (in ?t - thing ?v - (either truck van)) (lies ?t - thing ?p - place)
		(road ?a ?b - place) (blessed))
	(:functions (fuel ?v - vehicle) - number (load ?v - vehicle) (limit ?v - vehicle) (done))
	(:action drive
		:parameters(?v - vehicle ?a - place ?b - place)
		:precondition(and (at ?v ?a)(or (road ?a ?b) (road ?b ?a))(>= (fuel ?v) 2.000000)(not (= ?a ?b)))
		:effect(and (not(at ?v ?a))(at ?v ?b)(decrease (fuel ?v) (* 2 1))))
	(:action Take-Thing
		:parameters(?t - thing ?v - truck ?p - place)
		:precondition(and (at ?v ?p)(lies ?t ?p)(< (load ?v) (limit ?v)))
		:effect(and (not (lies ?t ?p)) (in ?t ?v) (increase (load ?v) 1)))
	(:action drop-all
		:parameters(?v - truck ?p - place)
		:precondition(and (at ?v ?p) (exists (?t - thing) (in ?t ?v)) (imply (blessed) (at ?v depot)))
		:effect(and (forall (?t - thing) (when (in ?t ?v) (and (not (in ?t ?v)) (lies ?t ?p)))) (assign (load ?v) 0)
			(increase (done) 1)))
)
"""
PROBLEM = """
(define (problem one) (:domain delivery)
  (:objects t1 - truck v1 - van a b - place box crate - thing)
  (:init (at t1 depot) (at v1 a) (road depot a) (road a b) (lies box depot) (lies crate depot)
    (= (fuel t1) 4) (= (fuel v1) 1) (= (load t1) 0) (= (limit t1) 2) (= (done) 0))
  (:goal (and (forall (?t - thing) (lies ?t b)) (= (done) 1) (not (at t1 depot)))))
"""
PLAN = """(take-thing box t1 depot)
(TAKE-THING Crate t1
    depot)
; a remark
2: (drive t1 depot a)
3: (drive t1 a b)
4: (drop-all t1 b)
"""
STEPS = [line for line in PLAN.replace("t1\n    depot", "t1 depot").splitlines() if not line.startswith(";")]


def checked(plan, domain=DELIVERY, problem=PROBLEM):
    return check_plan(read_task(domain, problem, "d.pddl", "p.pddl"), read_steps(plan, "plan.txt"))


def test_plan_of_somebody_else_is_valid():
    found = checked(PLAN.replace("2: ", "").replace("3: ", "").replace("4: ", ""))
    assert (found.valid, found.reason, found.steps) == (True, "", 5)


@pytest.mark.parametrize(
    ("change", "step", "words"),
    [
        (lambda s: s[1:], None, "the goal is not reached: (lies box b) is false"),
        (lambda s: s[:2] + s[3:], 3, "(drive t1 a b): (at t1 a) is false"),
        (lambda s: [*s[:-1], "(drive t1 b a)"], 5, "(>= (fuel t1) 2) is false: 0 >= 2"),
        (lambda s: [*s[:2], "(drive t1 depot b)"], 3, "(road depot b) is false and (road b depot) is false"),
        (lambda s: ["(drive v1 a b)", *s], 1, "(>= (fuel v1) 2) is false: 1 >= 2"),
        (lambda s: ["(drive t1 depot depot)", *s], 1, "(road depot depot) is false"),
        (lambda s: s[2:], 3, "nothing is as (exists (?t) ...) wants it"),
        (lambda s: [*s[:1], "(take-thing box t1 depot)", *s[1:]], 2, "(lies box depot) is false"),
        (lambda s: [*s[:2], "(take-thing v1 t1 depot)"], 3, "v1 is of type van, ?t takes thing"),
        (lambda s: ["(take-thing box v1 depot)"], 1, "v1 is of type van, ?v takes truck"),
        (lambda s: ["(take-thing ball t1 depot)"], 1, "the problem has no object 'ball'"),
        (lambda s: ["(take-thing box t1)"], 1, "has 2 arguments; take-thing takes (?t ?v ?p)"),
        (lambda s: ["(fly t1)"], 1, "unknown action; the domain has drive, drop-all, take-thing"),
        (lambda s: [], None, "(lies box b) is false"),
    ],
)
def test_wrong_plan_is_told_with_its_step_and_the_values(change, step, words):
    found = checked("\n".join(change([line.split(": ")[-1] for line in STEPS])))
    assert not found.valid
    assert found.step == step
    assert words in found.reason
    assert "\n" not in found.reason


def test_number_without_a_value_is_named():
    found = checked("(take-thing box t1 depot)", problem=PROBLEM.replace("(= (limit t1) 2)", ""))
    assert "(limit t1) has no value" in found.reason


def test_both_lines_of_a_step_count_and_the_first_is_told():
    found = checked("\n\n(take-thing box t1\n a)")
    assert (found.step, found.line) == (1, 3)


# ---------------------------------------------------------------- time

OVEN = """(define (domain oven) (:requirements :durative-actions :numeric-fluents)
  (:predicates (hot) (raw) (baked) (free) (open) (rung))
  (:functions (breads) (minutes))
  (:durative-action heat :parameters () :duration (= ?duration 10)
    :condition (and (at start (free)) (over all (free)))
    :effect (and (at end (hot)) (at end (increase (minutes) ?duration))))
  (:durative-action bake :parameters () :duration (and (>= ?duration 2) (<= ?duration (/ 10 2)))
    :condition (and (at start (hot)) (over all (hot)) (at end (raw)))
    :effect (and (at start (not (free))) (at end (free)) (at end (baked)) (at end (increase (breads) 1))))
  (:durative-action cool :parameters () :duration (= ?duration 1)
    :condition (at start (hot)) :effect (at start (not (hot))))
  (:action ring :parameters () :precondition (baked) :effect (rung)))"""
BREAD = """(define (problem bread) (:domain oven) (:init (free) (raw) (= (breads) 0) (= (minutes) 0))
  (:goal (and (baked) (= (breads) 1) (>= (minutes) 10))))"""


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("0: (heat) [10]\n10.001: (bake) [3]", ""),
        ("10.001: (bake) [3]\n0: (heat) [10.0004]\n14: (ring)", ""),
        ("0: (heat) [10]\n10: (bake) [3]", "(hot) is false"),
        ("0: (heat) [9]\n10: (bake) [3]", "(= ?duration 10) is false: 9 = 10"),
        ("0: (heat) [10]\n10.001: (bake) [6]", "(<= ?duration (/ 10 2)) is false: 6 <= 5"),
        ("0: (heat) [10]\n10.001: (bake) [1]", "(>= ?duration 2) is false: 1 >= 2"),
        ("0: (heat) [10]\n9: (bake) [3]", "at its start, 9 s: (hot) is false"),
        ("0: (heat) [10]\n10.001: (bake) [3]\n11: (cool) [1]", "while it lasts, at 11 s: (hot) is false"),
        ("0: (heat) [10]\n10.001: (bake) [3]\n11: (heat) [10]", "at its start, 11 s: (free) is false"),
        ("0: (heat) [10]\n10.001: (bake) [3]\n13.001: (ring)", "(baked) is false"),
        ("0: (heat) [10]\n(bake) [3]", "has no time"),
        ("0: (heat)\n", "has no [duration]"),
        ("0: (heat) [10]", "the goal is not reached: (baked) is false"),
    ],
)
def test_actions_that_last(plan, words):
    found = checked(plan, OVEN, BREAD)
    assert found.valid is not bool(words), found.reason
    assert words in found.reason


def test_what_happens_at_one_instant_must_not_depend_on_each_other():
    found = checked("0: (heat) [10]\n11: (cool) [1]\n11: (bake) [3]", OVEN, BREAD)
    assert "which step" in found.reason
    assert "at the same instant" in found.reason


# ---------------------------------------------------------------- files that are none


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("(:predicates", "(:derived", ":derived is not read; allowed: :requirements"),
        ("(road ?a ?b - place)", "(road ?a ?b - plaice)", "unknown type 'plaice'; known:"),
        ("(road ?a ?b - place)", "(road ?a ?b - place - place)", "'-' needs names before it"),
        ("(at ?v ?a)(or", "(at ?v)(or", "(at ?v) has 1 arguments; at takes 2"),
        ("(at ?v ?a)(or", "(near ?v ?a)(or", "unknown predicate 'near'; known:"),
        ("(at ?v ?a)(or", "(at ?w ?a)(or", "unknown variable '?w'; known: ?a, ?b, ?v"),
        ("(at ?v ?a)(or", "(at ?a ?v)(or", "?a in (at ?a ?v) is of type place, not vehicle"),
        ("(* 2 1)", "(* 2 one)", "'one' is no number"),
        ("(decrease (fuel ?v)", "(decrease 2", "'2' cannot change"),
        (":effect(and (not(at", ":effekt(and (not(at", ":effekt is not part of :action drive"),
        ("(:action drop-all", "(:action drive", "a second action 'drive'"),
        ("(define (domain", "(define (problem", "no (define (domain ...) ...)"),
        ("(blessed))", "(blessed)", "'(' without ')'"),
        ("(:types", ")(:types", "')' without '('"),
    ],
)
def test_domain_that_is_none_is_refused_with_its_line(old, new, words):
    assert old in DELIVERY
    with pytest.raises(PddlError) as caught:
        checked("", DELIVERY.replace(old, new, 1))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("(:domain delivery)", "(:domain kitting)", "is for the domain 'kitting', not 'delivery'"),
        ("(lies box depot)", "(lies bux depot)", "p.pddl, line 4: unknown object 'bux'"),
        ("(= (fuel t1) 4)", "(= (fuel t1) many)", "many is no number"),
        ("(= (fuel t1) 4)", "(= (fuel t1) 1e999)", "1e999 is no number"),
        ("(= (fuel t1) 4)", "(= (+ 1 2) 4)", "(+ 1 2) is no function of objects"),
        ("(= (done) 1)", "(= (dun) 1)", "unknown function 'dun'"),
        ("(:goal", "(:gaol", ":gaol is not read"),
        ("a b - place", "a b - place a - thing", "a second object 'a', of another type"),
    ],
)
def test_problem_that_is_none_is_refused_with_its_line(old, new, words):
    assert old in PROBLEM
    with pytest.raises(PddlError) as caught:
        checked("", problem=PROBLEM.replace(old, new, 1))
    assert words in str(caught.value)


def test_brackets_without_end_are_refused():
    with pytest.raises(PddlError, match="brackets in more than 60 brackets"):
        checked("", "(" * 100_000)
