"""What others make of our files: a reader, two planners and two validators that share no code with us."""

import shutil

import pytest

from cellwright.knowledge import Database
from cellwright.knowledge.paper_workstation import paper_workstation
from cellwright.knowledge.pddl import PddlStep, check_plan, planning_files, read_steps, read_task, write_plan
from cellwright.knowledge.workstation_records import fill
from cellwright.orders import DESIGNS, find_order
from cellwright.planning import plan, validate_sequence
from cellwright.planning.belief import request_of
from cellwright.planning.pddl_steps import actions_of, count_taken_parts, steps_of
from cellwright.planning.planner import PlanResult, PlanStatus

pytestmark = pytest.mark.peer
MISSING = "not installed: pip install 'cellwright[planning]'"
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def up():
    shortcuts = pytest.importorskip("unified_planning.shortcuts", reason=MISSING)
    shortcuts.get_environment().credits_stream = None
    return shortcuts


@pytest.fixture(scope="module")
def reader(up):
    return pytest.importorskip("unified_planning.io", reason=MISSING).PDDLReader


@pytest.fixture
def cell():
    """Makes a workstation for an order."""
    made = []

    def make(order, robots=("robot_1",), tables=1):
        made.append(Database())
        fill(made[-1], paper_workstation([order], robots=robots, tables=tables), [order.lines[0].design])
        return made[-1]

    yield make
    for database in made:
        database.close()


def solve(up, reader, name, files):
    problem = reader().parse_problem_string(files.domain_text, files.problem_text)
    with up.OneshotPlanner(name=name) as planner:
        answer = planner.solve(problem, timeout=LIMIT_S)
    assert answer.plan is not None, answer.status
    return [
        PddlStep(step.action.name, tuple(str(argument) for argument in step.actual_parameters))
        for step in answer.plan.actions
    ]


def as_written(steps, files):
    return [PddlStep(step.name, tuple(map(files.names.read, step.arguments))) for step in steps]


@pytest.mark.parametrize("name", list(DESIGNS))
def test_fast_downward_solves_the_classical_form(name, up, reader, cell, simulate):
    pytest.importorskip("up_fast_downward", reason=MISSING)
    order = find_order(name)
    files = planning_files(cell(order), [order], form="classical")
    simulate(files.problem, as_written(solve(up, reader, "fast-downward", files), files))


def test_fast_downward_solves_the_first_vocabulary_and_named_parts(up, reader, cell, simulate):
    pytest.importorskip("up_fast_downward", reason=MISSING)
    order = find_order("a2b1c1")
    database = cell(order)
    for arguments in ({"vocabulary": "2012"}, {"parts": "named"}):
        files = planning_files(database, [order], form="classical", **arguments)
        simulate(files.problem, as_written(solve(up, reader, "fast-downward", files), files))


@pytest.mark.parametrize("name", list(DESIGNS))
def test_enhsp_solves_the_numeric_form_and_our_validator_accepts_it(name, up, reader, cell, simulate):
    pytest.importorskip("up_enhsp", reason=MISSING)
    if shutil.which("java") is None:
        pytest.skip("no java")
    order = find_order(name)
    database = cell(order)
    files = planning_files(database, [order])
    steps = solve(up, reader, "enhsp", files)
    simulate(files.problem, as_written(steps, files))
    actions = actions_of(steps, files.problem, files.names)
    verdict = validate_sequence(
        request_of(database, [order]), PlanResult(status=PlanStatus.SOLVED, planner="enhsp", actions=actions)
    )
    assert verdict.valid, verdict.reason


def test_enhsp_solves_the_first_vocabulary(up, reader, cell, simulate):
    pytest.importorskip("up_enhsp", reason=MISSING)
    if shutil.which("java") is None:
        pytest.skip("no java")
    order = find_order("a2b1c1")
    files = planning_files(cell(order), [order], vocabulary="2012")
    simulate(files.problem, as_written(solve(up, reader, "enhsp", files), files))


@pytest.mark.parametrize("parts", ["counted", "named"])
@pytest.mark.parametrize("name", ["a2b3c3d1e1", "kit_m2l1"])
def test_sequential_validator_accepts_our_plan_and_refuses_it_with_a_step_less(name, parts, up, reader, cell):
    order = find_order(name, 2)
    database = cell(order)
    request = request_of(database, [order])
    files = planning_files(database, [order], parts=parts, kits=[(job.name, job.design) for job in request.jobs])
    steps = steps_of(plan(request).actions, files.problem)
    problem = reader().parse_problem_string(files.domain_text, files.problem_text)
    with up.PlanValidator(name="sequential_plan_validator") as validator:
        read = reader().parse_plan_string(problem, write_plan(steps))
        assert validator.validate(problem, read), "our plan is refused"
        for index in range(3, len(steps), 29):
            less = reader().parse_plan_string(problem, write_plan(steps[:index] + steps[index + 1 :]))
            assert not validator.validate(problem, less), f"accepted without {steps[index]}"


def test_time_triggered_validator_accepts_our_schedule_for_two_robots(up, reader, cell, durations):
    order = find_order("a2b1c1", 2)
    database = cell(order, robots=("robot_1", "robot_2"), tables=2)
    request = request_of(database, [order])
    kits = [(job.name, job.design) for job in request.jobs]
    files = planning_files(database, [order], form="temporal", durations=durations, kits=kits)
    result = plan(request)
    assert {action.robot for action in result.actions} == {"robot_1", "robot_2"}
    steps = steps_of(result.actions, files.problem, epsilon_s=0.001)
    problem = reader().parse_problem_string(files.domain_text, files.problem_text)
    with up.PlanValidator(name="up_time_triggered_validator") as validator:
        assert validator.validate(problem, reader().parse_plan_string(problem, write_plan(steps)))
        for index in (5, 20, 40):
            less = reader().parse_plan_string(problem, write_plan(steps[:index] + steps[index + 1 :]))
            assert not validator.validate(problem, less), f"accepted without {steps[index]}"
        moving = [n for n, step in enumerate(steps) if step.name == "take-part"]
        late = steps[moving[1]]
        early = late._replace(start_s=late.start_s - 3.0)
        squeezed = [*steps[: moving[1]], early, *steps[moving[1] + 1 :]]
        assert not validator.validate(problem, reader().parse_plan_string(problem, write_plan(squeezed)))


@pytest.mark.parametrize("vocabulary", ["2012", "2016"])
@pytest.mark.parametrize("form", ["numeric", "classical", "temporal"])
def test_unified_planning_reads_every_form(vocabulary, form, reader, cell, durations):
    order = find_order("a2b1c1")
    database = cell(order, robots=("robot_1", "robot_2"))
    for parts in ("counted", "named") if form == "numeric" else ("counted",):
        files = planning_files(database, [order], vocabulary=vocabulary, form=form, parts=parts, durations=durations)
        problem = reader().parse_problem_string(files.domain_text, files.problem_text)
        assert len(problem.actions) == len(files.domain.actions)
        assert len(problem.goals) >= 1


@pytest.mark.parametrize("parts", ["counted", "named"])
@pytest.mark.parametrize("vocabulary", ["2012", "2014", "2016"])
def test_checker_and_other_validators_agree_on_plans_and_on_broken_ones(vocabulary, parts, up, reader, cell, durations):
    order = find_order("a2b1c1", 2)
    for robots, form, kind in (
        (("robot_1",), "numeric", "sequential_plan_validator"),
        (("robot_1", "robot_2"), "temporal", "up_time_triggered_validator"),
    ):
        database = cell(order, robots=robots, tables=len(robots))
        request = request_of(database, [order])
        actions, kits = plan(request).actions, [(job.name, job.design) for job in request.jobs]
        files = planning_files(
            database, [order], vocabulary=vocabulary, form=form, parts=parts, kits=kits,
            taken=count_taken_parts(actions), durations=durations,
        )  # fmt: skip
        steps = steps_of(actions, files.problem, epsilon_s=0.001 if form == "temporal" else 0.0)
        problem = reader().parse_problem_string(files.domain_text, files.problem_text)
        swapped = steps[:7] + [steps[8], steps[7]] + steps[9:]
        for tried in (steps, steps[:9] + steps[10:], steps[:-1], swapped if form == "numeric" else steps[3:]):
            text = write_plan(tried)
            ours = check_plan(read_task(files.domain_text, files.problem_text), read_steps(text)).valid
            with up.PlanValidator(name=kind) as validator:
                theirs = bool(validator.validate(problem, reader().parse_plan_string(problem, text)))
            assert ours is theirs is (tried is steps)
