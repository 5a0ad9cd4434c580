"""Conformance of a model: can it be built, weighed, moved, held, and can an arm reach?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cellwright.catalogue import ArmFigures, Figures
from cellwright.checks.body import check_inertia, check_limits, check_mass
from cellwright.checks.finding import Finding
from cellwright.checks.model_physics import check_contacts_at_home, check_energy, check_holds, check_rest
from cellwright.core.pose import Pose
from cellwright.models import build
from cellwright.models.exporting import describe
from cellwright.motion import ArmKinematics

__all__ = ["check_model", "check_reach", "check_spec"]

STANDING = ("robot", "furniture")
"""Kinds that are fastened to the ground; the others go with whatever holds them."""
RESTING = ("part", "tray", "mobile")
SAMPLES = {"analytic": 400, "numerical": 40}
FOUND_LEAST = {"analytic": 0.99, "numerical": 0.9}
RETURN_M, RETURN_RAD = 1e-6, 1e-6
GRID = 9
"""Points along each side of the cube about the arm whose points are tried with the flange pointing down."""


def check_model(figures: Figures, kind: str) -> list[Finding]:
    """Builds a model and checks it; what cannot even be built is an error, not a finding.

    Args:
        figures: Of the catalogue, or of an imported model.
        kind: What it is: `robot`, `tool`, `part`, `tray`, `furniture` or `mobile`.
    """
    arm = figures if isinstance(figures, ArmFigures) else None
    home = {} if arm is None else dict(zip((joint.name for joint in arm.joints), arm.home_rad, strict=True))
    findings = check_spec(build(figures), kind, home)
    return findings if arm is None else [*findings, *check_reach(arm)]


def check_spec(spec: Any, kind: str, home: Mapping[str, float] | None = None) -> list[Finding]:
    """Checks an `MjSpec` with one root.

    Args:
        spec: The model.
        kind: What it is.
        home: Joint -> its position in a fair pose; by default the model's own reference, or the limit nearest to it.
    """
    home = home or {}
    compiled = spec.copy().compile()
    counts = f"{compiled.nbody - 1} bodies, {compiled.njnt} joints, {compiled.ngeom} geoms"
    findings = [Finding("builds", True, counts)]
    free = spec.copy()
    root = free.worldbody.first_body()
    if kind not in STANDING and not list(root.joints):
        root.add_freejoint(name="cast loose")
    weighed = free.compile()
    findings += [check_mass(weighed), check_inertia(weighed)]
    if kind == "furniture":
        return findings
    findings.append(check_limits(describe(spec).model()))
    if compiled.njnt:
        findings.append(check_contacts_at_home(free, home))
    if compiled.nu and kind == "robot":
        held = check_holds(spec, home)
        findings += [] if held is None else [held]
    if kind in RESTING:
        findings.append(check_rest(free))
    findings.append(check_energy(free, home))
    return findings


def check_reach(figures: ArmFigures) -> list[Finding]:
    """Checks that inverse kinematics finds poses that the arm takes; measures its reach and workspace."""
    arm = ArmKinematics(figures)
    rng = np.random.default_rng(0)
    drawn = rng.uniform(arm.lower_rad, arm.upper_rad, (SAMPLES[arm.method], len(arm.lower_rad)))
    poses = [arm.forward(joints) for joints in drawn]
    found = 0
    for pose, solutions in zip(poses, arm.inverse_of_many(poses, drawn), strict=True):
        back = [arm.forward(joints) for joints in solutions[:1]]
        found += any(pose.is_close(p, tolerance_m=RETURN_M, tolerance_rad=RETURN_RAD) for p in back)
    share = found / len(poses)
    far = max(float(np.linalg.norm(pose.position)) for pose in poses)
    there_and_back = Finding(
        "inverse kinematics",
        share >= FOUND_LEAST[arm.method],
        f"{arm.method}: {found} of {len(poses)} poses found again",
        {"found": share, "n": float(len(poses))},
        "look at joint axes and limits: the arm that is solved is not the one that is built",
    )
    down = _down(arm, far)
    detail = f"{far:.3f} m from the base; {down:.0%} of the points above the floor of that ball, flange down"
    remedy = "name another tip, or look at joint limits and axes: no point was reached with the flange down"
    return [there_and_back, Finding("reach", down > 0, detail, {"reach_m": far, "down_share": down}, remedy)]


def _down(arm: ArmKinematics, far_m: float) -> float:
    """Returns the share of a grid of points, in the upper half of the arm's reach, that it takes flange down."""
    line = np.linspace(-far_m, far_m, GRID)
    points = np.stack(np.meshgrid(line, line, np.linspace(0, far_m, GRID // 2 + 1), indexing="ij"), -1).reshape(-1, 3)
    inside = points[np.linalg.norm(points, axis=1) <= far_m]
    if arm.method == "numerical":
        inside = inside[:: max(1, len(inside) // SAMPLES["numerical"])]
    targets = [Pose.from_xyz_rpy(point, [np.pi, 0, 0]) for point in inside]
    return sum(len(solutions) > 0 for solutions in arm.inverse_of_many(targets)) / len(targets)
