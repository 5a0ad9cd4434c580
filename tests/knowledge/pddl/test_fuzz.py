"""Broken domains, problems and plans: an answer or one line, never a traceback, and no memory that stays."""

import random
import resource

import pytest

from cellwright.cli import main
from cellwright.knowledge.pddl import PddlError, check_plan, planning_files, read_steps, read_task, write_plan
from cellwright.orders import find_order
from cellwright.planning import plan
from cellwright.planning.belief import request_of
from cellwright.planning.pddl_steps import count_taken_parts, steps_of

PIECES = [
    "(", ")", "((", "))", "-", "?x", "?duration", "#t", "=", "(= 1 1)", "(and)", "(or)", "(not)", "(forall (?x) (and))",
    "(exists (?x - object) (= ?x ?x))", "(when (and) (and))", "(either)", "0", "-1", "1e308", "1e999", "nan", "inf",
    "(/ 1 0)", "(increase (total-cost) 1e308)", ";", "\n", "\t", "\x00", "\ufeff", "\u00e9", "[", "]", "[1e9]", "0:",
    "9" * 400, "a" * 3000, ":action", ":durative-action", "(at start (and))", "(over all (and))", "object",
    "- object", "(:types a - b b - a)", "(at start (at end (and)))", "(:constants)", "(?duration)", "()",
]  # fmt: skip


def mutated(text, rng):
    """A few bytes, words or lines of a text lost, doubled, exchanged or put in."""
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        kind, at = rng.randrange(6), rng.randrange(len(text) + 1)
        until = min(len(text), at + rng.choice([1, 1, 5, 40, 400]))
        if kind == 0:
            text = text[:at] + text[until:]
        elif kind == 1:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif kind == 2:
            text = text[:until] + text[at:]
        elif kind == 3:
            words = text.split(" ")
            first, second = rng.randrange(len(words)), rng.randrange(len(words))
            words[first], words[second] = words[second], words[first]
            text = " ".join(words)
        elif kind == 4:
            text = text[:at]
        else:
            lines = text.splitlines(keepends=True) or [""]
            rng.shuffle(lines[: rng.randrange(len(lines)) + 1])
            lines.insert(rng.randrange(len(lines)), rng.choice(lines))
            text = "".join(lines)
    return text


@pytest.fixture
def originals(gear_cell, small_cell, durations):
    """Domain, problem and plan in each form, all of them valid."""
    found = []
    for database, order in ((small_cell, find_order("a2b1c1")), (gear_cell, find_order("kit_s2l2"))):
        request = request_of(database, [order])
        actions = plan(request).actions
        kits = [(job.name, job.design) for job in request.jobs]
        several = len({action.robot for action in actions}) > 1
        for vocabulary in ("2012", "2014", "2016"):
            for form in ("numeric", "temporal"):
                files = planning_files(
                    database, [order], vocabulary=vocabulary, form=form, durations=durations, kits=kits,
                    taken=count_taken_parts(actions),
                )  # fmt: skip
                steps = steps_of(actions, files.problem, epsilon_s=0.001 if form == "temporal" else 0.0)
                texts = (files.domain_text, files.problem_text, write_plan(steps))
                if form == "temporal" or not several:
                    verdict = check_plan(read_task(*texts[:2]), read_steps(texts[2]))
                    assert verdict.valid, verdict.reason
                    found.append(texts)
    return found


def test_broken_files_are_told_in_one_line(originals):
    rng, valid = random.Random(1), 0
    for _ in range(100):
        texts = list(rng.choice(originals))
        which = rng.randrange(3)
        texts[which] = mutated(texts[which], rng)
        try:
            found = check_plan(read_task(*texts[:2]), read_steps(texts[2]))
            said, valid = found.reason, valid + found.valid
        except PddlError as error:
            said = str(error)
        assert "\n" not in said
        assert len(said) < 4000
    assert 0 < valid < 100  # some changes do no harm, most do


@pytest.mark.long
def test_5000_broken_files_through_the_command(originals, tmp_path, capfd):
    rng, codes = random.Random(2), dict.fromkeys((0, 1, 2), 0)
    files = [tmp_path / name for name in ("domain.pddl", "problem.pddl", "plan.txt")]
    begun_kb = 0
    for number in range(5000):
        texts = list(rng.choice(originals))
        for which in rng.sample(range(3), rng.choice([1, 1, 2])):
            texts[which] = mutated(texts[which], rng)
        for path, text in zip(files, texts, strict=True):
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
        with pytest.raises(SystemExit) as ended:
            main(["plan", "--check", *map(str, files)])
        out, err = capfd.readouterr()
        code = ended.value.code or 0
        codes[code] += 1
        assert "Traceback" not in out + err
        assert (out + err).count("\n") == 1, (code, out, err)
        if number == 1000:
            begun_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begun_kb
    assert grown_kb < 20_000, f"{grown_kb} kB more after 4000 files"
    assert all(codes.values()), codes
