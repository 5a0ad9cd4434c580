"""The kind of a description: an arm, a tool or a fixture; where that is not clear, the user must say it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, get_args

import mujoco
import numpy as np

from cellwright.catalogue.model_settings import Kind, ModelSettings
from cellwright.core.errors import BadInput, UnknownName
from cellwright.models.importing.chain import FEWEST, PrismaticJointError, find_chain
from cellwright.models.importing.notes import Notes, listed
from cellwright.models.importing.source import ParsedDescription

__all__ = ["UnclearKindError", "check_one_arm", "guess_kind"]

_KIND = mujoco.mjtJoint
FREE, HINGE = int(_KIND.mjJNT_FREE), int(_KIND.mjJNT_HINGE)
MOST_BESIDE = 1  # joints beside an arm's chain that make no other robot of it, such as a head that turns


class UnclearKindError(BadInput):
    """A description that may be several kinds, or none of them; the message says why, and what can be chosen."""

    def __init__(self, file: Path, why: str) -> None:
        *first, last = get_args(Kind)
        choices = f"--kind {', '.join(first)} or {last} says it, --base and --tip choose a part of it"
        super().__init__(f"{file}: what it is, is not clear: {why}; {choices}")


def guess_kind(source: ParsedDescription, settings: ModelSettings | None = None) -> Kind:
    """Returns the kind of a file by its joints.

    An arm is one chain of at least three driven hinges, with at most one other joint beside it; a tool has fewer in a
    row, and none that turns without end; what has none, or only floats, stands still.

    Raises:
        UnclearKindError: It is none of these.
        PrismaticJointError: It would be an arm, but a joint of its chain slides.
    """
    model = source.spec.copy().compile()
    if not np.any(model.jnt_type != FREE):
        return "fixture"
    ends_given = settings is not None and bool(settings.base or settings.tip)
    if not ends_given and (found := "".join(_find_limbs(model))):
        raise UnclearKindError(source.path, found)
    if ends_given and settings and not settings.tip and (found := _find_limbs(model, settings.base).several):
        raise UnclearKindError(source.path, found)
    ends = ("", "") if settings is None else (settings.base, settings.tip)
    try:
        base, tip = ends[0] or source.semantics.base, ends[1] or source.semantics.tip
        chain = find_chain(model, base, tip, str(source.path), Notes())
    except UnknownName:
        raise
    except BadInput as error:
        if isinstance(error, PrismaticJointError) and model.njnt >= FEWEST:
            raise  # a gantry: two of its beams may well come nearer to each other
        if settings is not None and settings.tip:
            raise UnclearKindError(source.path, str(error).removeprefix(f"{source.path}: ")) from None
        return _tool(model, source.path)
    return "arm" if len(chain.joints) >= FEWEST else _tool(model, source.path)


def check_one_arm(source: ParsedDescription, settings: ModelSettings) -> None:
    """Refuses a file with several arms where it is declared to be one.

    Raises:
        BadInput: It has several limbs, and nothing says which of them is meant.
    """
    if settings.tip or source.semantics.tip:
        return
    if found := _find_limbs(source.spec.copy().compile(), settings.base).several:
        raise BadInput(f"{source.path}: {found}; --tip names the end of the one that is meant, --base its beginning")


def _tool(model: Any, path: Path) -> Kind:
    """Returns the kind `tool`, unless something of it turns like a wheel."""
    looped = bool(np.any(model.eq_type == mujoco.mjtEq.mjEQ_CONNECT))  # what closes a loop needs no limits
    endless = [n for n in _driven(model) if model.jnt_type[n] == HINGE and not model.jnt_limited[n]]
    if endless and not looped:
        names = listed([model.joint(n).name for n in endless])
        raise UnclearKindError(
            path, f"nothing limits the turning of {names}, as with wheels; mobile robots are not imported"
        )
    return "tool"


def _driven(model: Any) -> list[int]:
    """Returns joints that follow no other and do not float."""
    coupled = [n for n in range(model.neq) if model.eq_type[n] == mujoco.mjtEq.mjEQ_JOINT]
    followers = {int(model.eq_obj1id[n]) for n in coupled}
    return [n for n in range(model.njnt) if n not in followers and model.jnt_type[n] != FREE]


class _Limbs(NamedTuple):
    """The limbs that make a robot something else than an arm; empty where there are none."""

    several: str = ""
    beside: str = ""


def _find_limbs(model: Any, base: str = "") -> _Limbs:
    """Returns the signs of another robot than an arm: a second limb of three joints, or several joints beside a chain.

    Args:
        model: All of a file.
        base: The body from which on it is looked at; from the world on, when it has no such body.
    """
    driven = set(_driven(model))
    own, below = np.zeros(model.nbody, int), dict[int, list[int]]()
    for number in driven:
        own[model.jnt_bodyid[number]] += 1
    for body in range(1, model.nbody):
        below.setdefault(int(model.body_parentid[body]), []).append(body)
    row, whole = own.copy(), own.copy()  # the most in a row from a body on, and all of them
    for body in range(model.nbody - 1, 0, -1):  # children have higher numbers
        parent = int(model.body_parentid[body])
        whole[parent] += whole[body]
        row[parent] = max(row[parent], own[parent] + row[body])
    start = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, base) if base else 0
    at, passed, beside = max(start, 0), 0, list[int]()
    while ahead := sorted(below.get(at, []), key=lambda body: (-row[body], body)):
        limbs = [body for body in ahead if row[body] >= FEWEST]
        if len(limbs) > 1:
            names = listed([f"'{_first(model, body, own)}'" for body in limbs])
            return _Limbs(several=f"it has {len(limbs)} limbs of {FEWEST} joints or more, from {names} on")
        if row[ahead[0]] < FEWEST and passed >= FEWEST and sum(whole[body] > 0 for body in ahead) > 1:
            return _Limbs()  # an arm ends where it branches into fingers
        beside += [body for body in ahead[1:] if whole[body]]
        at = ahead[0]
        passed += int(own[at])
    number = int(sum(whole[body] for body in beside))
    if passed >= FEWEST and number > MOST_BESIDE:
        names = listed([f"'{_first(model, body, own)}'" for body in beside])
        return _Limbs(beside=f"beside a chain of {passed} joints it has {number} more, from {names} on")
    return _Limbs()


def _first(model: Any, body: int, own: Any) -> str:
    """Returns the first body from this one on that a joint moves."""
    waiting = [body]
    for at in waiting:
        if own[at]:
            return str(model.body(at).name)
        waiting += [child for child in range(at + 1, model.nbody) if model.body_parentid[child] == at]
    return str(model.body(body).name)
