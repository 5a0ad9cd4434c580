"""Conformance of bodies and joints: masses that can be, moments that fit the shape, limits that make sense."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.checks.finding import Finding
from cellwright.models.description import JointKind, ModelDescription

__all__ = ["check_inertia", "check_limits", "check_mass"]

LIGHTEST_KG, HEAVIEST_KG = 1e-5, 1e4
MOST_RATIO = 1e5
"""Of the masses of two links in one mechanism: beyond it, contact solvers lose their digits."""

GAUGES = ("gauge_left", "gauge_right")
TRIANGLE = 1e-6
SMALLEST_GYRATION = 0.02
MOST_TURN_RAD = 4 * np.pi
MOST_SLIDE_M = 10.0
MOST_SPEED = 100.0


def check_mass(model: Any) -> Finding:
    """Checks that everything that moves has a plausible mass."""
    moving = _moving(model)
    masses = {_name(model, body): float(mass) for body, mass in moving.items()}
    total = float(sum(moving.values()))
    values = {"moving_kg": total, "total_kg": float(model.body_mass[1:].sum())}
    if not masses:
        return Finding("mass", True, f"nothing moves; {values['total_kg']:.4g} kg stand fast", values)
    light, heavy = min(masses, key=masses.__getitem__), max(masses, key=masses.__getitem__)
    values |= {"lightest_kg": masses[light], "heaviest_kg": masses[heavy]}
    wrong = [f"'{n}' weighs {m:.3g} kg" for n, m in masses.items() if not LIGHTEST_KG <= m <= HEAVIEST_KG]
    if not wrong and masses[heavy] > MOST_RATIO * masses[light]:
        wrong = [f"'{heavy}' weighs {masses[heavy] / masses[light]:.2g} times as much as '{light}'"]
    detail = f"{total:.4g} kg move, from {masses[light]:.3g} kg ('{light}') to {masses[heavy]:.3g} kg ('{heavy}')"
    remedy = "give masses in kg; join what weighs next to nothing to its neighbour"
    return Finding("mass", not wrong, "; ".join(wrong) or detail, values, remedy)


def check_inertia(model: Any) -> Finding:
    """Checks that moments are positive, none exceeds the sum of the others, and they fit the shape.

    A body whose mass lies inside its shape has a radius of gyration below the shape's; one that is far below is a
    placeholder, or in other units.
    """
    wrong, fits = [], []
    for body in range(1, model.nbody):
        mass, moments = float(model.body_mass[body]), np.sort(model.body_inertia[body])
        if not mass or not _is_moving(model, body) or _is_gauge(model, body):
            continue
        name, text = _name(model, body), ", ".join(f"{m:.3g}" for m in moments)
        if moments[0] <= 0:
            wrong.append(f"'{name}' has the moments {text} kg m2: they must be positive")
            continue
        if moments[2] > (moments[0] + moments[1]) * (1 + TRIANGLE):
            wrong.append(f"'{name}' has the moments {text} kg m2: one exceeds the sum of the others")
        reach = _reach_of_shape(model, body)
        if reach is None:
            continue
        share = float(np.sqrt(moments[2] / mass)) / reach
        fits.append(share)
        if share > 1:
            wrong.append(
                f"'{name}' has the moments {text} kg m2: too much for a shape of {reach:.3g} m about its centre"
            )
        elif share < SMALLEST_GYRATION:
            wrong.append(f"'{name}' has the moments {text} kg m2: next to nothing for a shape of {reach:.3g} m")
    detail = "positive, triangle inequality kept"
    if fits:
        detail += f"; radii of gyration from {min(fits):.0%} of the shape's"
    values = {"gyration_least": min(fits), "gyration_most": max(fits)} if fits else {}
    remedy = "give the moments of that shape about its centre of mass, in kg m2, or none: then they are the shape's"
    return Finding("inertia", not wrong, "; ".join(wrong) or detail, values, remedy)


def check_limits(described: ModelDescription) -> Finding:
    """Checks that limits are in order, of a size that a machine can have, and known."""
    wrong, unknown = [], []
    joints = [j for j in described.joints if j.kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC)]
    for joint in joints:
        limits, turns = joint.limits, joint.kind is not JointKind.PRISMATIC
        unit, most = ("rad", MOST_TURN_RAD) if turns else ("m", MOST_SLIDE_M)
        if limits.lower is not None and limits.upper is not None:
            if not limits.lower < limits.upper:
                wrong.append(f"'{joint.name}' goes from {limits.lower:g} to {limits.upper:g} {unit}")
            elif max(abs(limits.lower), abs(limits.upper)) > most:
                text = f"{limits.lower:g} to {limits.upper:g} {unit}"
                wrong.append(f"'{joint.name}' goes from {text}; degrees or millimetres may be meant")
        if limits.velocity is not None and not 0 < limits.velocity <= MOST_SPEED:
            wrong.append(f"'{joint.name}' has the speed limit {limits.velocity:g} {unit}/s")
        if limits.effort is not None and limits.effort <= 0:
            wrong.append(f"'{joint.name}' has the effort limit {limits.effort:g}")
        if joint.mimic is None and (limits.velocity is None or limits.effort is None):
            unknown.append(joint.name)
    if not joints:
        return Finding("limits", True, "no joints", {"joints": 0})
    detail = f"{len(joints)} joints in order"
    if unknown:
        detail += f"; without a limit of speed or effort: {', '.join(unknown)}"
    values = {"joints": len(joints), "unknown": len(unknown)}
    remedy = "give lower below upper, in rad or m; speed and effort above zero"
    return Finding("limits", not wrong, "; ".join(wrong) or detail, values, remedy)


def _is_gauge(model: Any, body: int) -> bool:
    """Returns whether a body only marks the width of an imported gripper: nearly massless, without contacts."""
    return str(model.body(body).name).rpartition("/")[2] in GAUGES and not model.body_geomnum[body]


def _moving(model: Any) -> dict[int, float]:
    """Returns number of the first of bodies that move as one -> their mass."""
    masses: dict[int, float] = {}
    for body in range(1, model.nbody):
        if _is_moving(model, body) and not _is_gauge(model, body):
            group = int(model.body_weldid[body])
            masses[group] = masses.get(group, 0.0) + float(model.body_mass[body])
    return masses


def _is_moving(model: Any, body: int) -> bool:
    return int(model.body_weldid[body]) != 0


def _reach_of_shape(model: Any, body: int) -> float | None:
    """Returns the reach of the body's geoms from its centre of mass; None where it has none, or a plane."""
    reach = 0.0
    first = int(model.body_geomadr[body])
    for geom in range(first, first + int(model.body_geomnum[body])):
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE:
            return None
        away = float(np.linalg.norm(model.geom_pos[geom] - model.body_ipos[body]))
        reach = max(reach, away + float(model.geom_rbound[geom]))
    return reach or None


def _name(model: Any, body: int) -> str:
    return str(model.body(body).name) or f"body {body}"
