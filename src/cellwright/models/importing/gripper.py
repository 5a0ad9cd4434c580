"""A two-finger gripper from a description: any mechanism with one driven joint, commanded by its width like all others.

Controllers speak of the distance of each pad from the middle. Two slides that weigh next to nothing carry that number,
coupled to the driven joint by the polynomial that its mechanism follows; the drive acts on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue import GripperFigures
from cellwright.catalogue.model_settings import ModelSettings
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose
from cellwright.core.rotation import quaternion_from_matrix
from cellwright.models.importing.arm_spec import alone, main_root, note_replaced
from cellwright.models.importing.grip_force import FORCE_N, grip_force
from cellwright.models.importing.jaws import PREFIX, Jaws, find_driver, more_fingers, study_jaws
from cellwright.models.importing.notes import Note, Notes, listed
from cellwright.models.importing.source import Source
from cellwright.models.surfaces import PAD, make_collision

__all__ = ["ImportedGripperFigures", "import_gripper"]

MOST_FREE = 3  # joints beside the driver that nothing couples
CLOSING_S = 0.5
QUICKEST_S, SLOWEST_S = 0.15, 10.0
ROTOR_KGM2 = 5e-4  # of the drive, at the driven joint
STIFF = [0.9999, 0.9999, 0.001, 0.5, 2.0]
SLIDES = ("finger_left", "finger_right")


@dataclass(frozen=True, kw_only=True)
class ImportedGripperFigures(GripperFigures):
    """A gripper that somebody else described.

    Attributes:
        table: Half widths, falling, and the positions of all joints there, by name.
        spec: Its model, as `models.build` gives it.
        notes: What importing changed, guessed and dropped.
    """

    table: tuple[tuple[float, ...], Mapping[str, tuple[float, ...]]] = field(repr=False)
    spec: Any = field(repr=False, compare=False)
    notes: tuple[Note, ...] = field(repr=False, default=())

    def joints_at(self, half_width_m: float) -> dict[str, float]:
        """All joints of the mechanism."""
        halves, rows = self.table
        moved = {name: float(np.interp(half_width_m, halves[::-1], row[::-1])) for name, row in rows.items()}
        return moved | dict.fromkeys(SLIDES, half_width_m)


def import_gripper(source: Source, name: str, settings: ModelSettings, notes: Notes) -> ImportedGripperFigures:
    """The gripper of a file.

    Raises:
        BadInput: No joint is driven, or no two solid parts of it move towards each other.
    """
    spec = source.spec.copy()
    where = str(source.path)
    root = settings.base or main_root(spec)
    if spec.body(root) is None:
        raise UnknownName("link", root, [body.name for body in spec.bodies][1:], f"{where}: base")
    spec = _from(spec, root, notes)
    note_replaced(spec, "one drive that is told the width", notes)
    for number, geom in enumerate(spec.geoms):
        geom.name = geom.name or f"geom {number}"
    driver, others = find_driver(spec.copy().compile(), where, notes)
    _settle_others(spec, driver, others, where, notes)
    model = spec.copy().compile()
    jaws = study_jaws(spec.copy().compile(), driver, where)
    if more := more_fingers(model, jaws):
        pads = " and ".join(f"'{model.body(int(model.geom_bodyid[pad])).name}'" for pad in jaws.pads)
        notes.guessed("fingers", f"{listed(more)} is one more: the width is that between {pads} alone")
    turn = _onto_flange(jaws, settings, notes)
    force = settings.grip_force_n or grip_force(model, driver, jaws, notes)
    figures = _figures(source, name, settings, notes, model, jaws, turn, force)
    object.__setattr__(figures, "spec", _gripper_spec(spec, model, jaws, turn, figures))
    object.__setattr__(figures, "notes", tuple(notes))
    return figures


def _from(spec: Any, root: str, notes: Notes) -> Any:
    """What hangs on a body, and nothing else; the body at the origin, its elements by their own names."""
    spec = alone(spec, root, notes)
    for joint in list(spec.body(root).joints):
        notes.dropped(f"joint {joint.name}", "moves the gripper's root, which is fixed to the flange")
        spec.delete(joint)
    top = next(iter(spec.worldbody.bodies)).name
    if top == root:
        return spec
    notes.dropped(f"links above {root}", "only what hangs on it is the gripper")
    whole = _empty(spec.modelname)
    whole.worldbody.add_frame().attach_body(spec.body(root), PREFIX, "")
    return whole


def _empty(name: str) -> Any:
    spec = mujoco.MjSpec()
    spec.modelname = name
    spec.compiler.degree = False
    return spec


def _settle_others(spec: Any, driver: int, others: list[int], where: str, notes: Notes) -> None:
    """A second finger without a mimic follows the first; anything else is left to its springs and constraints."""
    model = spec.copy().compile()
    loops = any(model.eq_type[n] == mujoco.mjtEq.mjEQ_CONNECT for n in range(model.neq))
    if loops or not others:
        return
    if len(others) > MOST_FREE:
        names = listed([model.joint(number).name for number in (driver, *others)])
        raise BadInput(f"{where}: joints {names} all move by themselves; a gripper has one that drives the others")
    leader, span = model.joint(driver), np.ptp(model.jnt_range[driver])
    for number in others:
        other = model.joint(number)
        alike = model.jnt_type[number] == model.jnt_type[driver] and model.jnt_limited[number]
        if not (alike and abs(np.ptp(model.jnt_range[number]) - span) < 1e-3 * max(span, 1e-6)):
            notes.guessed(f"joint {other.name}", "nothing drives it; it is free")
            continue
        same = abs(model.jnt_range[number][0] - model.jnt_range[driver][0]) < 1e-3 * max(span, 1e-6)
        sign = 1.0 if same else -1.0
        spec.add_equality(
            name=f"{other.name} follows {leader.name}",
            type=mujoco.mjtEq.mjEQ_JOINT,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            name1=other.name,
            name2=leader.name,
            data=[0.0, sign] + [0.0] * 10,
            solref=[0.004, 1.0],
        )
        notes.guessed(f"joint {other.name}", f"follows '{leader.name}' (times {sign:g}): the file couples neither")


def _onto_flange(jaws: Jaws, settings: ModelSettings, notes: Notes) -> Pose:
    """The root's pose in the flange's frame: jaws along x, fingers along z."""
    x = jaws.jaw_axis
    out = jaws.middle_m - x * (x @ jaws.middle_m)
    z = np.eye(3)[2] if np.linalg.norm(out) < 1e-4 else out / np.linalg.norm(out)
    nearest = np.sign(z[np.abs(z).argmax()]) * np.eye(3)[np.abs(z).argmax()]
    if z @ nearest > np.cos(np.radians(8)) and abs(nearest @ x) < 0.2:
        z = nearest
    x = x - z * (x @ z)
    if not np.linalg.norm(x) > 1e-6:  # the jaws move along the fingers: any way across them will do
        x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    axes = np.column_stack([x / np.linalg.norm(x), np.cross(z, x / np.linalg.norm(x)), z])
    pose = Pose(np.zeros(3), quaternion_from_matrix(axes.T))
    if pose.angle_rad(Pose.identity()) > 1e-3:
        turned = ", ".join(f"{angle:.0f}" for angle in np.degrees(pose.rpy))
        notes.changed(
            "mounting", f"turned by roll, pitch, yaw {turned} deg: jaws along the flange's x, fingers along z"
        )
    return Pose.from_xyz_rpy((0.0, 0.0, 0.0), np.radians(settings.mount_rpy_deg)) @ pose


def _closing_time_s(source: Source, jaws: Jaws, notes: Notes) -> float:
    """By the speed of the driven joint, if that is a gripper's."""
    speed = source.velocity_limits.get(jaws.driver.removeprefix(PREFIX))
    if not speed:
        notes.guessed("closing time", f"the file gives no speed: {CLOSING_S:g} s (closing_time_s gives another)")
        return CLOSING_S
    time_s = float(abs(jaws.positions[-1] - jaws.positions[0]) / speed)
    if QUICKEST_S <= time_s <= SLOWEST_S:
        return time_s
    notes.changed("closing time", f"the file's speed would close it in {time_s:.2g} s; {CLOSING_S:g} s are taken")
    return CLOSING_S


def _figures(
    source: Source,
    name: str,
    settings: ModelSettings,
    notes: Notes,
    model: Any,
    jaws: Jaws,
    turn: Pose,
    force_n: float,
) -> ImportedGripperFigures:
    time_s = settings.closing_time_s or _closing_time_s(source, jaws, notes)
    tcp = turn.apply(jaws.middle_m)
    if settings.tip:
        tcp = turn.apply(_site(model, settings.tip, jaws))
    moving = [b for b in range(1, model.nbody) if model.body_weldid[b] != 0]
    finger_kg = float(model.body_mass[moving].sum()) / 2
    pad = np.sort(2 * model.geom_aabb[jaws.pads[0], 3:])
    names = {model.joint(n).name: int(model.jnt_qposadr[n]) for n in range(model.njnt)}
    table = {f"{PREFIX}{joint}": tuple(jaws.qpos[:, at].tolist()) for joint, at in names.items()}
    said = source.path.name
    estimated = "estimated: from the extent of its shapes"
    open_m, closed_m = float(jaws.halves_m[0]), float(jaws.halves_m[-1])
    return ImportedGripperFigures(
        name=name,
        title=settings.title or source.spec.modelname or name,
        tcp_xyz_m=(float(tcp[0]), float(tcp[1]), float(tcp[2])),
        open_m=open_m,
        closed_m=closed_m,
        grip_force_n=force_n,
        force_limits_n=(min(1.0, force_n), force_n),
        stiffness_npm=max(1e4, 2 * force_n / 0.003),
        closing_time_s=time_s,
        finger_armature_kg=max(0.03, finger_kg / 2),
        coupling_time_s=0.004,
        pad_size_m=(float(pad[0]), float(pad[1]), float(pad[2])),
        pad_offset_m=0.0,
        finger_size_m=(float(pad[0]), float(pad[1]), float(max(pad[2], tcp[2] / 3))),
        body_size_m=(4 * open_m, 2 * float(pad[1]), float(tcp[2] / 2)),
        mount_radius_m=0.03,
        mount_height_m=0.0,
        body_mass_kg=float(model.body_mass[1:].sum()) - 2 * finger_kg,
        finger_mass_kg=finger_kg,
        colours=MappingProxyType({}),
        table=(tuple(jaws.halves_m.tolist()), MappingProxyType(table)),
        spec=None,
        sources=MappingProxyType(
            dict.fromkeys(("tcp_xyz_m", "open_m", "closed_m", "table", "spec", "notes", "colours"), said)
            | dict.fromkeys(("body_mass_kg", "finger_mass_kg"), f"{said}; from geometry where it gives none")
            | dict.fromkeys(("pad_size_m", "pad_offset_m", "finger_size_m", "body_size_m"), estimated)
            | dict.fromkeys(("mount_radius_m", "mount_height_m"), "estimated: mounted on the flange itself")
            | dict.fromkeys(("grip_force_n", "force_limits_n"), f"{said}, or estimated: {FORCE_N:g} N")
            | {"stiffness_npm": "estimated: its limit at 3 mm off", "closing_time_s": f"{said}, or estimated: 0.5 s"}
            | {"finger_armature_kg": "estimated: of a small geared drive", "coupling_time_s": "estimated: as contacts"}
        ),
    )


def _site(model: Any, name: str, jaws: Jaws) -> Any:
    data = mujoco.MjData(model)
    data.qpos[:] = jaws.qpos[-1]
    mujoco.mj_kinematics(model, data)
    return data.site(name).xpos.copy()


def _gripper_spec(spec: Any, model: Any, jaws: Jaws, turn: Pose, figures: ImportedGripperFigures) -> Any:
    """Root body `tool` in the flange's frame, the file's mechanism on it, slides and drive, pads and centre point."""
    for item in [*spec.actuators, *spec.sensors, *spec.excludes, *spec.tendons]:
        spec.delete(item)
    names = [model.geom(pad).name for pad in jaws.pads]
    for name in names:
        make_collision(spec.geom(name), PAD)
    whole = _empty(figures.name)
    tool = whole.worldbody.add_body(name="tool")
    frame = tool.add_frame(pos=np.array(turn.position), quat=np.array(turn.quaternion))
    frame.attach_body(next(iter(spec.worldbody.bodies)), PREFIX, "")
    for side, own in zip(("left", "right"), names, strict=True):
        whole.geom(f"{PREFIX}{own}").name = f"pad_{side}"
    tool.add_site(name="tcp", pos=figures.tcp_xyz_m, size=[0.003, 0.003, 0.003], group=4)
    driver = f"{PREFIX}{jaws.driver}"
    start = float(model.qpos0[model.joint(jaws.driver).qposadr[0]])
    degree = min(4, len(jaws.positions) - 1)
    fit = np.polynomial.polynomial.polyfit(jaws.positions - start, jaws.halves_m - figures.open_m, degree)
    for name, sign in zip(SLIDES, (1.0, -1.0), strict=True):
        _add_gauge(tool, name, sign, figures)
        whole.add_equality(
            name=f"{name} follows {driver}",
            type=mujoco.mjtEq.mjEQ_JOINT,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            name1=name,
            name2=driver,
            data=[*fit.tolist(), *[0.0] * (12 - len(fit))],
            solref=[figures.coupling_time_s, 1.0],
            solimp=STIFF,
        )
    grip = whole.add_actuator(name="grip", target="finger_left", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    grip.set_to_position(kp=figures.stiffness_npm)
    grip.ctrlrange, grip.ctrllimited = (figures.closed_m, figures.open_m), True
    grip.forcerange, grip.forcelimited = (-figures.drive_force_n, figures.drive_force_n), True
    joint = whole.joint(driver)
    joint.actfrclimited = False  # the drive's limit counts at the pads
    # The engine weighs a coupling by the lighter end, metres and radians alike: without a rotor it would be a spring.
    least = ROTOR_KGM2 if joint.type == mujoco.mjtJoint.mjJNT_HINGE else figures.finger_armature_kg
    joint.armature = max(float(joint.armature), least)
    lever = (jaws.halves_m[0] - jaws.halves_m[-1]) / abs(jaws.positions[0] - jaws.positions[-1])
    joint.damping[0] = max(float(joint.damping[0]), 2 * figures.finger_damping_nspm * lever**2)
    for coupling in whole.equalities:
        if coupling.type == mujoco.mjtEq.mjEQ_JOINT:
            coupling.solimp = STIFF
    for body in whole.bodies:
        body.gravcomp = 1.0
    solid = sorted({geom.parent.name for geom in whole.geoms if geom.contype or geom.conaffinity})
    for first, second in combinations(solid, 2):
        whole.add_exclude(name=f"{first}-{second}", bodyname1=first, bodyname2=second)
    whole.copy().compile()
    return whole


def _add_gauge(tool: Any, name: str, sign: float, figures: ImportedGripperFigures) -> None:
    """A slide whose position is the pad's distance from the middle."""
    body = tool.add_body(name=name.replace("finger", "gauge"), pos=figures.tcp_xyz_m)
    body.explicitinertial = True
    body.mass, body.inertia = 1e-4, [1e-8] * 3
    slide = body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[sign, 0.0, 0.0])
    slide.ref = figures.open_m
    slide.range, slide.limited = (figures.closed_m, figures.open_m), True
    slide.armature = figures.finger_armature_kg
