"""Links of a mechanism that may overlap: neighbours, and those that always touch."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import mujoco

from cellwright.models.importing.notes import Notes
from cellwright.models.importing.sampling import configurations

__all__ = ["exclude_contacts"]

SAMPLES = 120
ALWAYS = 0.95  # share of configurations: the same as in MoveIt's setup assistant


def exclude_contacts(spec: Any, notes: Notes) -> None:
    """Adds excludes to a spec.

    Between neighbours, over fixed joints and at a welded base too; between links that overlap as drawn (all joints at
    zero); and between those that overlap wherever the joints stand.
    """
    model = spec.compile()
    names = [model.body(number).name for number in range(model.nbody)]
    known = {frozenset((e.bodyname1, e.bodyname2)) for e in spec.excludes}

    def exclude(first: int, second: int) -> bool:
        pair = frozenset((names[first], names[second]))
        if len(pair) < 2 or pair in known or 0 in (first, second):
            return False
        known.add(pair)
        one, other = sorted((first, second))
        spec.add_exclude(name=f"{names[one]}-{names[other]}", bodyname1=names[one], bodyname2=names[other])
        return True

    for first, second in _neighbours(model):
        exclude(first, second)
    drawn, often = _touching(spec.compile())
    for first, second in sorted(drawn):
        if exclude(first, second):
            notes.changed(f"links {names[first]}, {names[second]}", "overlap as drawn; their contacts are left out")
    for (first, second), share in sorted(often.items()):
        if share >= ALWAYS and exclude(first, second):
            what = f"overlap in {share:.0%} of configurations; their contacts are left out"
            notes.changed(f"links {names[first]}, {names[second]}", what)


def _neighbours(model: Any) -> set[tuple[int, int]]:
    """Returns pairs of bodies with shapes that a joint lies between, across everything fixed to either of them."""
    shaped = {int(body) for body in model.geom_bodyid[model.geom_contype + model.geom_conaffinity > 0]}
    groups: dict[int, list[int]] = {}
    for body in shaped:
        groups.setdefault(int(model.body_weldid[body]), []).append(body)
    pairs = set()
    for body in range(1, model.nbody):
        if model.body_weldid[body] != body:
            continue
        above = int(model.body_weldid[model.body_parentid[body]])
        pairs |= set(product(groups.get(above, []), groups.get(body, [])))
    return {(min(pair), max(pair)) for pair in pairs}


def _touching(model: Any) -> tuple[set[tuple[int, int]], dict[tuple[int, int], float]]:
    """Returns pairs that overlap with all joints at zero, and the share of configurations in which each pair does."""
    data = mujoco.MjData(model)
    counts: Counter[tuple[int, int]] = Counter()
    drawn: set[tuple[int, int]] = set()
    for number, qpos in enumerate(configurations(model, SAMPLES)):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        found = set()
        for contact in data.contact[: data.ncon]:
            if contact.dist < 0:
                first, second = (int(model.geom_bodyid[geom]) for geom in contact.geom)
                found.add((min(first, second), max(first, second)))
        counts.update(found)
        if number == 0:
            drawn = found
    return drawn, {pair: count / SAMPLES for pair, count in counts.items()}
