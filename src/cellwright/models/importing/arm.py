"""A serial arm from a description: figures for motion and control, and a model that cells can hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue import ArmFigures, JointFigures, LinkFigures
from cellwright.catalogue.model_settings import JointSettings, ModelSettings
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose
from cellwright.models.coupling import follow
from cellwright.models.importing.arm_spec import arm_spec, free_flange_name
from cellwright.models.importing.chain import Chain, find_chain
from cellwright.models.importing.drives import RULES, drive_figures
from cellwright.models.importing.notes import Note, Notes
from cellwright.models.importing.payload import PAYLOAD_SHARE, estimate_payload
from cellwright.models.importing.sampling import configurations
from cellwright.models.importing.source import ParsedDescription
from cellwright.models.importing.srdf import Semantics

__all__ = ["ImportedArmFigures", "import_arm"]

HOME_SAMPLES = 300
CLEAR_M = 0.01  # above what the base stands on
LOW_HOME = 3.0  # more than a flange that points anywhere is worth
SERVO_PERIOD_S = 0.002


@dataclass(frozen=True, kw_only=True)
class ImportedArmFigures(ArmFigures):
    """An arm that was imported from a description file.

    Attributes:
        base_link: The file's link that is its base.
        tip_link: The file's link or frame that is its flange.
        spec: Its model, as `models.build` gives it.
        notes: Notes of what importing changed, guessed and dropped.
    """

    base_link: str
    tip_link: str
    spec: Any = field(repr=False, compare=False)
    notes: tuple[Note, ...] = field(repr=False, default=())


def import_arm(source: ParsedDescription, name: str, settings: ModelSettings, notes: Notes) -> ImportedArmFigures:
    """Returns the arm of a file.

    Raises:
        BadInput: There is no serial chain of revolute joints from its base to its tip.
    """
    model = source.spec.copy().compile()
    semantics = source.semantics
    chain = find_chain(model, settings.base or semantics.base, settings.tip or semantics.tip, str(source.path), notes)
    unknown = [joint for joint in settings.joints if joint not in chain.joints]
    if unknown:
        raise UnknownName("joint", unknown[0], chain.joints, f"{source.path}: joints")
    carried = estimate_payload(source, chain, settings, notes)
    model = source.spec.copy().compile()  # guessed masses may have yielded
    links = _links(model, chain)
    joints, origin = [], Pose.identity()
    for number, joint in enumerate(chain.joints):
        given = settings.joints.get(joint, JointSettings())
        pair = (float(carried.inertia_kgm2[number]), float(carried.weight_nm[number]))
        drive = drive_figures(model, joint, source.velocity_limits.get(joint), pair, given, notes)
        pose = origin.inverse() @ chain.frames[number]
        joints.append(
            JointFigures(
                name=joint,
                maker_name=joint,
                origin_xyz_m=_three(pose.position),
                origin_rpy_rad=_three(pose.rpy),
                axis=chain.axes[number],
                **vars(drive),
            )
        )
        origin = chain.frames[number]
    flange = origin.inverse() @ chain.tip
    notes.guessed(
        "drives", "acceleration, jerk, gear ratio, rotor inertia and gains by the rules of docs/guide/models.md"
    )
    figures = ImportedArmFigures(
        name=name,
        title=settings.title or source.spec.modelname or name,
        joints=tuple(joints),
        links=links,
        flange_xyz_m=_three(flange.position),
        flange_rpy_rad=_three(flange.rpy),
        payload_kg=carried.payload_kg,
        reach_m=_reach_m(chain),
        mass_kg=sum(link.mass_kg for link in links),
        joint_coupling="",
        servo_period_s=SERVO_PERIOD_S,
        servo_effort_share=0.4,
        servo_damping_ratio=1.0,
        home_rad=(0.0,) * len(joints),
        colours=MappingProxyType({}),
        sources=MappingProxyType(_sources(source.path.name, settings)),
        flange_body=free_flange_name(source.spec),
        base_link=model.body(chain.base).name,
        tip_link=chain.tip_name,
        spec=None,
    )
    object.__setattr__(figures, "spec", arm_spec(source.spec.copy(), chain, figures, notes))
    object.__setattr__(figures, "home_rad", _home(figures.spec.copy().compile(), figures, settings, semantics, notes))
    if not list(figures.spec.geoms):
        notes.guessed("shape", "the arm has none: it moves, but can neither be seen nor touched")
    object.__setattr__(figures, "notes", tuple(notes))
    return figures


def _reach_m(chain: Chain) -> float:
    """Returns the sum of the lengths between the second joint and the last; those to the flange for fewer joints."""
    places = [frame.position for frame in chain.frames[1:]]
    places = places if len(places) > 1 else [chain.frames[0].position, chain.tip.position]
    return float(sum(np.linalg.norm(after - before) for before, after in pairwise(places)))


def _three(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def _links(model: Any, chain: Chain) -> tuple[LinkFigures, ...]:
    """Returns one link per joint: all that moves as one with it; moments about axes parallel to the joint's frame."""
    data = mujoco.MjData(model)
    data.qpos[:] = chain.zero
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    links = []
    base = Pose.from_matrix(np.column_stack([data.xmat[chain.base].reshape(3, 3), data.xpos[chain.base]]))
    owners = chain.owners(model)
    for number in range(len(chain.joints) + 1):
        frame = base if number == 0 else base @ chain.frames[number - 1]
        mine = [b for b, owner in owners.items() if owner == number]
        mass = float(model.body_mass[mine].sum())
        centre = model.body_mass[mine] @ data.xipos[mine] / mass if mass else frame.position
        tensor = np.zeros((3, 3))
        for item in mine:
            turn, arm = data.ximat[item].reshape(3, 3), data.xipos[item] - centre
            tensor += turn @ np.diag(model.body_inertia[item]) @ turn.T
            tensor += model.body_mass[item] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        own = frame.rotation_matrix
        links.append(
            LinkFigures(
                name=model.body(chain.base).name if number == 0 else chain.link_names[number - 1],
                mass_kg=mass,
                com_xyz_m=_three(frame.inverse().apply(centre)),
                inertia_diagonal_kgm2=_three(np.diag(own.T @ tensor @ own)),
            )
        )
    return tuple(links)


def _home(
    model: Any, figures: ArmFigures, settings: ModelSettings, semantics: Semantics, notes: Notes
) -> tuple[float, ...]:
    """Returns a bent pose, free of self-collision, its flange as near to facing the floor as in random poses."""
    at = np.array([int(model.joint(joint.name).qposadr[0]) for joint in figures.joints])
    if settings.home_rad:
        if len(settings.home_rad) != len(at):
            raise BadInput(f"home_rad: has {len(settings.home_rad)} angles, the arm has {len(at)} joints")
        errors = ErrorCollector()
        for joint, angle in zip(figures.joints, settings.home_rad, strict=True):
            low, high = joint.position_limits_rad
            if not low - 1e-9 <= angle <= high + 1e-9:
                errors.add(BadInput(f"home_rad: {joint.name} at {angle:g} rad is outside {low:g} to {high:g} rad"))
        errors.raise_errors()
        return settings.home_rad
    data = mujoco.MjData(model)
    if any(joint.name in semantics.home for joint in figures.joints):
        pose = [float(semantics.home.get(joint.name, 0.0)) for joint in figures.joints]
        if _is_free(model, data, at, pose, figures):
            notes.guessed("home", f"the pose {semantics.home_name}")
            return tuple(pose)
        notes.dropped("home", f"the pose {semantics.home_name}: outside the limits, or links touch in it")
    best, best_score = np.zeros(len(at)), -np.inf
    drawn = list(configurations(model, HOME_SAMPLES, seed=1))
    for qpos, shapes_m in zip(drawn, _lowest_m(model, data, drawn), strict=True):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        flange = data.site(figures.flange_body)
        bent = 0.03 * float(np.abs(qpos[at]).sum())
        lowest = min(float(flange.xpos[2]), float(shapes_m))
        in_floor = LOW_HOME if lowest < CLEAR_M else 0.0
        score = -float(flange.xmat[8]) - bent - in_floor - 2 * max(0.0, -lowest)
        if score > best_score:
            mujoco.mj_comPos(model, data)
            mujoco.mj_collision(model, data)
            if data.ncon == 0:
                best, best_score = qpos[at], score
    notes.guessed("home", "the best of random poses with the flange down; give home_rad for another")
    return tuple(float(f"{angle:.4f}") for angle in best)


def _lowest_m(model: Any, data: Any, drawn: list[Any]) -> Any:
    """Returns the height above the base's origin of each pose's lowest collision point, by boxes about shapes.

    Shapes that are low in every pose, such as a turning shoulder on its foot, do not count.
    """
    own = (model.geom_contype + model.geom_conaffinity > 0) & (model.body_weldid[model.geom_bodyid] > 0)
    own &= model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE
    centres, halves = model.geom_aabb[own, :3], model.geom_aabb[own, 3:]
    heights = np.empty((len(drawn), len(centres)))
    for row, qpos in zip(heights, drawn, strict=True):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        down = data.geom_xmat[own].reshape(-1, 3, 3)[:, 2]
        row[:] = data.geom_xpos[own, 2] + (down * centres).sum(axis=1) - (np.abs(down) * halves).sum(axis=1)
    return heights[:, heights.max(axis=0, initial=-np.inf) >= CLEAR_M].min(axis=1, initial=np.inf)


def _is_free(model: Any, data: Any, at: Any, pose: list[float], figures: ArmFigures) -> bool:
    limits = [joint.position_limits_rad for joint in figures.joints]
    data.qpos[:] = model.qpos0
    data.qpos[at] = pose
    follow(model, data.qpos)
    mujoco.mj_forward(model, data)
    return data.ncon == 0 and all(low <= angle <= high for angle, (low, high) in zip(pose, limits, strict=True))


def _sources(file: str, settings: ModelSettings) -> dict[str, str]:
    said = f"{file}"
    given = "the figures file" if settings.joints else said
    drives = {f"joints.{key}": f"{given}; {rule}" for key, rule in RULES.items()}
    return drives | {
        "joints.maker_name": said,
        "joints.origin_xyz_m": said,
        "joints.origin_rpy_rad": said,
        "joints.axis": said,
        "joints.position_limits_rad": f"{said}; one turn either way where it gives none",
        "links.mass_kg": f"{said}; from geometry where it gives none",
        "links.com_xyz_m": f"{said}; from geometry where it gives none",
        "links.inertia_diagonal_kgm2": f"{said}; from geometry where it gives none",
        "flange_xyz_m": said,
        "flange_rpy_rad": said,
        "maker_base_xyz_m": "estimated: none; the file has its own frames",
        "maker_base_rpy_rad": "estimated: none; the file has its own frames",
        "payload_kg": "given" if settings.payload_kg else f"estimated: {PAYLOAD_SHARE:.0%} of the moving mass",
        "reach_m": "estimated: sum of the lengths between the second joint and the last",
        "mass_kg": "sum of the links",
        "joint_coupling": "estimated: none",
        "servo_period_s": "estimated: the usual cycle of a joint servo",
        "servo_effort_share": "estimated: leaves 60 % of the torque for weight and acceleration",
        "servo_damping_ratio": "estimated: critical, no overshoot",
        "home_rad": "given" if settings.home_rad else "estimated: the best of random poses",
        "colours": "the meshes' own",
        "base_link": said,
        "tip_link": said,
        "spec": said,
        "notes": said,
    }
