"""Requests for external planners, and little planners that misbehave."""

import random
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace

import pytest

from cellwright.planning import PlanRequest


@pytest.fixture
def scrambled(request_from: Callable[..., PlanRequest]) -> Callable[[int], PlanRequest]:
    """A small random request, with wrong parts in its kits and short stocks."""

    def make(seed: int) -> PlanRequest:
        rng = random.Random(seed)
        request = request_from(seed, harsh=False, largest=1)
        state = request.state
        skus = [tray.sku for tray in state.parts_trays if "gear" not in tray.sku]
        kits = []
        for kit in state.kits:
            if kit.created and kit.place:
                filled = tuple(rng.choice(skus) if rng.random() < 0.25 else sku for sku in kit.filled)
                kit = replace(kit, filled=filled)
            kits.append(kit)
        trays = (replace(t, count=rng.choice([0, 1, 3, 5, t.capacity - 1, t.capacity])) for t in state.parts_trays)
        return replace(request, state=replace(state, kits=tuple(kits), parts_trays=tuple(trays)))

    return make


@pytest.fixture
def script(tmp_path) -> Callable[[str], str]:
    """Writes a planner in Python and gives the command that runs it; the domain and the problem are appended."""

    def write(body: str) -> str:
        path = tmp_path / "a planner.py"
        path.write_text("import os, sys, time\n" + textwrap.dedent(body))
        return f"'{sys.executable}' '{path}'"

    return write


class Machine:
    """Carries plans out by nothing but the text of PDDL files: conditions are looked up, effects applied."""

    def __init__(self, domain: str, problem: str) -> None:
        self.actions = {a[1]: a for a in _parse(domain) if a[0] == ":action"}
        sections = {section[0]: section[1:] for section in _parse(problem)[1:] if isinstance(section, list)}
        self.numbers = {tuple(fact[1]): int(fact[2]) for fact in sections[":init"] if fact[0] == "="}
        self.facts = {tuple(fact) for fact in sections[":init"] if fact[0] != "="}
        self.goal = sections[":goal"][0][1:]

    def done(self) -> bool:
        return all(self._holds(condition, {}) for condition in self.goal)

    def do(self, line: str) -> None:
        name, *arguments = line.split()
        _, _, _, parameters, _, (_, *conditions), _, (_, *effects) = self.actions[name]
        names = [word for word in parameters if word.startswith("?")]
        bound = dict(zip(names, arguments, strict=False))
        for condition in conditions:  # levels are not in the line: the facts say which
            if condition[0] not in (">=", "<=") and not set(condition[1:]) <= {*bound, *_constants(condition)}:
                bound |= self._match(condition, bound)
        for condition in conditions:
            assert self._holds(condition, bound), f"{line}: {condition} does not hold"
        facts = [_put(effect, bound) for effect in effects if effect[0] not in ("not", "increase", "decrease")]
        self.facts -= {_put(effect[1], bound) for effect in effects if effect[0] == "not"}
        self.facts |= set(facts)
        for verb, counter, number in (e for e in effects if e[0] in ("increase", "decrease")):
            self.numbers[_put(counter, bound)] += int(number) if verb == "increase" else -int(number)

    def _match(self, condition: list[str], bound: dict[str, str]) -> dict[str, str]:
        for fact in sorted(self.facts):
            if fact[0] == condition[0] and all(
                bound.get(word, there if word.startswith("?") else word) == there
                for word, there in zip(condition, fact, strict=True)
            ):
                return {word: there for word, there in zip(condition, fact, strict=True) if word.startswith("?")}
        raise AssertionError(f"nothing fits {condition} with {bound}")

    def _holds(self, condition, bound) -> bool:
        if condition[0] in (">=", "<="):
            number = self.numbers[_put(condition[1], bound)]
            return number >= int(condition[2]) if condition[0] == ">=" else number <= int(condition[2])
        return _put(condition, bound) in self.facts


def _constants(condition):
    return {word for word in condition if not word.startswith("?")}


def _put(atom, bound):
    return tuple(bound.get(word, word) for word in atom)


def _parse(text: str):
    stack = [[]]
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    return stack[0][0]


@pytest.fixture(scope="session")
def machine() -> type[Machine]:
    return Machine


def composite_lines(encoding, actions) -> list[str]:
    """A plan of ours in the composite steps of an encoding."""
    of, task = encoding.symbols.of, encoding.task
    kind_of = {job.name: of("class", kits.name) for kits in task.classes for job in kits.jobs}
    mistakes = list(task.mistakes)
    lines, taken_from, out = [], None, None
    for a in actions:
        tool = of("tool", a.tool) if a.tool else ""
        spot = of("spot", a.place) if a.place in {spot.name for spot in task.spots} else ""
        if a.verb in ("attach-endEffector", "detach-endEffector"):
            lines.append(f"{a.verb.lower()} {tool}")
        elif a.verb == "take-kitTray":
            taken_from = a.place
        elif a.verb == "place-kitTray":
            kind = kind_of[a.kit]
            lines.append(f"lay-kittray-{kind} {tool} {spot}" if taken_from else f"place-kittray-{kind} {spot}")
            taken_from = None
        elif a.verb == "create-kit" and a.kit not in kind_of:
            lines.append(f"create-kit {spot}")
        elif a.verb == "take-part":
            taken_from = a.place
        elif a.verb == "remove-part":
            out = next(m for m in mistakes if (m.spot, m.sku) == (a.place, a.sku))
            mistakes.remove(out)
        elif a.verb == "place-part" and out:
            lines.append(f"shift-part-{of('mistake', out.name)} {tool} {spot}")
            out = None
        elif a.verb == "return-part" and out:
            lines.append(f"discard-part-{of('mistake', out.name)} {tool}")
            out = None
        elif a.verb == "place-part" and taken_from:
            sku, short = of("sku", a.sku), a.sku in {**task.stock, **task.room}
            lines.append(f"move-part-{sku} {tool} {spot}" if short else f"move-part {tool} {sku} {spot}")
            taken_from = None
        elif a.verb == "place-part":
            lines.append(f"place-part {spot}")
        elif a.verb == "take-kit":
            taken_from = a.place
            lines.append(f"clear-kit {tool} {of('sku', a.sku)} {spot}")
        elif a.verb == "place-kit":
            lines += [] if taken_from else ["place-kit"]
            taken_from = None
        elif a.verb in ("return-part", "return-kitTray"):
            lines.append(a.verb.lower())
    return lines


@pytest.fixture(scope="session")
def as_lines() -> Callable[..., list[str]]:
    return composite_lines
