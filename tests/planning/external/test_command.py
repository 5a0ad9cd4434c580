import os
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest

from cellwright.core.errors import BadInput, MissingExtra, OutOfRange, OutputError, UnknownName
from cellwright.orders import find_order
from cellwright.planning import PlanRequest, PlanStatus, Sequencer, plan, validate_sequence, validate_timed
from cellwright.planning.external import (
    CommandPlanner,
    Enhsp,
    FastDownward,
    PlannerDialect,
    PlannerFailed,
    ProcessLimits,
    choose_work,
    encode,
    enhsp,
    fast_downward,
    make_planner,
    task_of,
)


@pytest.fixture
def order(cell):
    return PlanRequest(cell(tables=2), (find_order("a2b3c3d1e1", 2),))


@pytest.fixture(autouse=True)
def private_temp(tmp_path, monkeypatch):
    """A folder for temporary files, in which nothing may be left."""
    folder = tmp_path / "temp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def good_plan(order, as_lines, tmp_path):
    """A file with a plan for the order, and what it costs."""
    ours = plan(order, "sequencer")
    path = tmp_path / "good plan"
    lines = as_lines(encode(task_of(choose_work(order))), ours.actions)
    path.write_text("".join(f"({line})\n" for line in lines))
    return path, ours


COPY = """
import re, shutil
domain, problem = (open(name).read() for name in sys.argv[2:4])
assert re.search("define *.domain", domain) and re.search("define *.problem", problem)
{action}
"""


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        ("shutil.copy(sys.argv[1], sys.argv[4])", "{domain} {problem} {plan}"),
        ("shutil.copy(sys.argv[1], sys.argv[4][7:])", "{domain} {problem} --plan={plan}"),
        ("shutil.copy(sys.argv[1], 'sas_plan')", ""),
        (
            "open(sys.argv[4] + '.1', 'w').write('(nonsense)'); shutil.copy(sys.argv[1], sys.argv[4] + '.10')",
            "{domain} {problem} {plan}",
        ),
        ("print('Solution found!'); print(open(sys.argv[1]).read().upper()); print('bye')", "{domain} {problem}"),
    ],
    ids=["file", "inside-a-word", "default-name", "numbered", "printed"],
)
def test_a_planner_of_the_users_own(order, script, good_plan, action, arguments):
    path, ours = good_plan
    result = CommandPlanner(template=f"{script(COPY.format(action=action))} '{path}' {arguments}").plan(order)
    assert result.status is PlanStatus.OPTIMAL
    assert (result.cost, result.lower_bound) == (ours.cost, ours.lower_bound)
    assert result.planner == Path(sys.executable).name
    assert validate_sequence(order, result).valid
    assert validate_timed(order, result).valid


def test_relative_names_are_found_and_the_current_folder_stays_clean(order, script, good_plan, tmp_path, monkeypatch):
    script(COPY.format(action="shutil.copy(sys.argv[1], 'sas_plan'); open('junk', 'w')"))
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    result = CommandPlanner(template=f"'{sys.executable}' 'a planner.py' 'good plan'").plan(order)
    assert result.status is PlanStatus.OPTIMAL
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.exit(3)", "ended with exit code 3"),
        ("print('warning'); sys.exit('out of ideas')", "ended with exit code 1: out of ideas"),
        ("raise RuntimeError('broken')", "ended with exit code 1: RuntimeError: broken"),
        ("os.kill(os.getpid(), 11)", "ended by signal SIGSEGV"),
        ("pass", "gave no plan, neither as a file nor on its output"),
        ("print('lorem ipsum')", "gave no plan"),
        ("sys.stdout.buffer.write(bytes(range(256)) * 40)", "gave no plan"),
        ("open('sas_plan', 'w').write('lorem ipsum')", "line 1 of its plan is no step: 'lorem ipsum'"),
        ("open('sas_plan', 'wb').write(b'\\xff\\xfe\\x00')", "line 1 of its plan is no step"),
        ("print('(fly robot_1)')", r"line 1 \(fly robot_1\): there is no such step"),
        ("print('(attach-endeffector tray_gripper)')", "its plan cannot be carried out: at the end of the plan kit"),
        ("open('sas_plan', 'w')", "its plan cannot be carried out: at the end of the plan kit"),
        ("open('sas_plan', 'w').write('(x)\\n' * 700_000)", "wrote a plan of more than 2 MB"),
        ("while True: print('x' * 1000)", "printed more than 2 MB and was ended"),
        ("while True: print('x' * 1000, file=sys.stderr)", "printed more than 2 MB and was ended"),
        ("x = bytearray(600 << 20)", "ended with exit code 1: MemoryError"),
    ],
)
def test_whatever_a_planner_does_is_said_in_one_line(order, script, body, said):
    planner = CommandPlanner(ProcessLimits(time_s=20, memory_mb=400, output_mb=2), template=script(body))
    with pytest.raises(PlannerFailed, match=said) as failed:
        planner.plan(order)
    assert "\n" not in str(failed.value)
    assert failed.value.exit_code == 1


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "zombie" not in Path(f"/proc/{pid}/status").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("end", ["time.sleep(60)", "sys.exit(4)"])
def test_a_planner_is_ended_with_all_its_children(order, script, tmp_path, end):
    pids = tmp_path / "pids"
    body = f"""
    import signal, subprocess
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    open({str(pids)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
    {end}
    """
    planner = CommandPlanner(ProcessLimits(time_s=1.5), template=script(body))
    begun_s = time.monotonic()
    if "sleep" in end:
        result = planner.plan(order)
        assert result.status is PlanStatus.TIMEOUT
        assert result.actions == ()
        assert result.reasons[0].endswith("found no plan within 1.5 s")
        assert len(result.unfinished) == 2
    else:
        with pytest.raises(PlannerFailed, match="exit code 4"):
            planner.plan(order)
    assert time.monotonic() - begun_s < 10
    deadline_s = time.monotonic() + 5
    while any(alive(int(pid)) for pid in pids.read_text().split()):
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


@pytest.mark.slow
def test_an_interrupted_user_leaves_nothing_behind(order, script, tmp_path):
    pid = tmp_path / "pid"

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        with pytest.raises(KeyboardInterrupt):
            CommandPlanner(template=script(f"open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(60)")).plan(
                order
            )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not pid.exists() or not alive(int(pid.read_text()))


def test_files_are_kept_where_wanted_and_old_plans_are_not_read(order, script, tmp_path):
    keep = tmp_path / "kept" / "here"
    planner = CommandPlanner(keep=keep, template=script("open('sas_plan', 'w').write('(x)')"))
    with pytest.raises(PlannerFailed, match="no such step"):
        planner.plan(order)
    assert {path.name for path in keep.iterdir()} == {"domain.pddl", "problem.pddl", "sas_plan"}
    planner = CommandPlanner(keep=keep, template=script("pass"))
    with pytest.raises(PlannerFailed, match="gave no plan"):
        planner.plan(order)
    blocked = tmp_path / "file"
    blocked.touch()
    with pytest.raises(OutputError, match="cannot write"):
        CommandPlanner(keep=blocked, template=script("pass")).plan(order)


def test_the_form_is_chosen(order, script):
    body = "sys.exit('numbers' if 'fluents' in open(sys.argv[1]).read() else 'levels')"
    for form, said in ((PlannerDialect.CLASSICAL, "levels"), (PlannerDialect.named("numeric"), "numbers")):
        with pytest.raises(PlannerFailed, match=said):
            CommandPlanner(template=script(body), reads=form).plan(order)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("", "the planner command is empty"),
        ("no_such_planner_here {domain}", "there is no program 'no_such_planner_here'"),
        ("/dev/null {domain}", "there is no program '/dev/null'"),
        ("popf {dmain} {problem}", re.escape("unknown {dmain} (available: {domain}, {problem}, {plan})")),
        ("popf 'unclosed", "cannot be read: no closing quotation"),
    ],
)
def test_what_is_no_command_is_bad_input(order, template, said):
    with pytest.raises(BadInput, match=said):
        CommandPlanner(template=template).plan(order)


def test_an_unknown_form_is_bad_input():
    with pytest.raises(BadInput, match=re.escape("unknown form 'temporal' (available: classical, numeric)")):
        PlannerDialect.named("temporal")


@pytest.mark.parametrize(
    "limits", [{"time_s": 0}, {"time_s": float("nan")}, {"time_s": -1}, {"memory_mb": -5}, {"output_mb": 0}]
)
def test_limits_that_nothing_can_keep_are_bad_input(limits):
    with pytest.raises(OutOfRange, match=r"planner's .* limit is .*, allowed"):
        ProcessLimits(**limits)


def test_nothing_to_do_needs_no_planner(cell):
    state = cell(stock=0)
    result = CommandPlanner(template="no_such_planner_here").plan(PlanRequest(state, (find_order("a2b1c1"),)))
    assert result.status is PlanStatus.UNSOLVABLE
    assert result.reasons == ("kit a2b1c1_1: no sku_part_a left",)


@pytest.mark.parametrize("text", ["popf {domain}", "./mine", "a b", "{plan}"])
def test_a_command_is_told_from_a_name(text, tmp_path):
    planner = make_planner(text, form=PlannerDialect.NUMERIC, limits=ProcessLimits(5), keep=tmp_path)
    assert planner == CommandPlanner(ProcessLimits(5), tmp_path, text, PlannerDialect.NUMERIC)


def test_planners_are_found_by_name():
    assert isinstance(make_planner("sequencer"), Sequencer)
    assert make_planner("enhsp", limits=ProcessLimits(5)) == Enhsp(ProcessLimits(5))
    assert make_planner("fast-downward") == FastDownward()
    with pytest.raises(UnknownName, match="did you mean 'enhsp'"):
        make_planner("ensp")


def test_a_missing_package_is_said_in_one_line(order, monkeypatch):
    monkeypatch.setattr(fast_downward, "find_spec", lambda name: None)
    for name in ("fast-downward", "fast-downward-optimal", "enhsp"):
        said = f"planner {name} needs an optional package: pip install 'cellwright[planners]'"
        with pytest.raises(MissingExtra, match=re.escape(said)):
            make_planner(name).plan(order)


def test_missing_java_is_said(order, tmp_path, monkeypatch):
    (tmp_path / "ENHSP").mkdir()
    (tmp_path / "ENHSP" / "enhsp.jar").touch()
    monkeypatch.setattr(enhsp, "package_folder", lambda package: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match="needs Java 17 or newer: 'java' is not on the path"):
        Enhsp().plan(order)
