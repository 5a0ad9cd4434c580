"""A two-finger gripper from a description: any mechanism with one driven joint, commanded by its width like all others.

Controllers command the distance of each pad from the middle. Two slides that weigh next to nothing carry that number,
coupled to the driven joint by the polynomial that its mechanism follows; the drive acts on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue import GripperFigures
from cellwright.catalogue.model_settings import ModelSettings
from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose
from cellwright.core.rotation import quaternion_from_matrix
from cellwright.models.importing.arm_spec import main_root, note_replaced, only_subtree
from cellwright.models.importing.finger_coupling import couple_fingers
from cellwright.models.importing.grip_force import FORCE_N, grip_force
from cellwright.models.importing.gripper_spec import SLIDES, empty_spec, gripper_spec
from cellwright.models.importing.jaws import PREFIX, Jaws, analyse_jaws, find_driver, more_fingers, pad_box
from cellwright.models.importing.notes import Note, Notes, listed
from cellwright.models.importing.source import ParsedDescription

__all__ = ["ImportedGripperFigures", "import_gripper"]

CLOSING_S = 0.5
QUICKEST_S, SLOWEST_S = 0.05, 10.0  # beyond: a placeholder
LEAST_SHARE = 0.1  # of its force, that a gripper can be commanded
STALL_M, STALL_MPN, STALL_S = 0.0005, 4e-6, 0.0025
"""That far from its commanded position, a finger presses with all its force; farther, when it is strong or quick.

A stiffer drive would tremble in engines that do not solve for servos and contacts together.
"""

PROBE_M, ROOM = 0.001, 0.9  # a thread between the open pads, over this share of the way, meets nothing


@dataclass(frozen=True, kw_only=True)
class ImportedGripperFigures(GripperFigures):
    """A gripper that was imported from a description file.

    Attributes:
        driver: The joint that moves all others, as the model has it.
        table: Half widths, falling, and the positions of all joints there, by name.
        lags_m: Distance of the fingers' ends there, towards the flange, from where they reach out farthest.
        spec: Its model, as `models.build` gives it.
        notes: Notes of what importing changed, guessed and dropped.
    """

    driver: str
    table: tuple[tuple[float, ...], Mapping[str, tuple[float, ...]]] = field(repr=False)
    lags_m: tuple[float, ...] = field(repr=False)
    spec: Any = field(repr=False, compare=False)
    notes: tuple[Note, ...] = field(repr=False, default=())

    def joints_at(self, half_width_m: float) -> dict[str, float]:
        """Returns all joints of the mechanism."""
        halves, rows = self.table
        moved = {name: float(np.interp(half_width_m, halves[::-1], row[::-1])) for name, row in rows.items()}
        return moved | dict.fromkeys(SLIDES, half_width_m)

    def pad_lag_m(self, half_width_m: float) -> float:
        """Returns the lag of fingers on linkages."""
        return float(np.interp(half_width_m, self.table[0][::-1], self.lags_m[::-1]))

    @property
    def losses(self) -> dict[str, float]:
        """Damping at the driven joint: losses of the slides would fight with their coupling."""
        halves, rows = self.table
        lever = (halves[0] - halves[-1]) / abs(rows[self.driver][0] - rows[self.driver][-1])
        return {self.driver: 2 * self.finger_damping_nspm * lever**2}


def import_gripper(
    source: ParsedDescription, name: str, settings: ModelSettings, notes: Notes
) -> ImportedGripperFigures:
    """Returns the gripper of a file.

    Raises:
        BadInput: No joint is driven, or no two solid parts of it move towards each other.
    """
    spec = source.spec.copy()
    where = str(source.path)
    root = settings.base or main_root(spec)
    if spec.body(root) is None:
        raise UnknownName("link", root, [body.name for body in spec.bodies][1:], f"{where}: base")
    spec = _subtree(spec, root, notes)
    note_replaced(spec, "one drive that is told the width", notes)
    for number, geom in enumerate(spec.geoms):
        geom.name = geom.name or f"geom {number}"
    driver, others = find_driver(spec.copy().compile(), where, notes)
    couple_fingers(spec, driver, others, where, notes)
    model = spec.copy().compile()
    jaws = analyse_jaws(spec.copy().compile(), driver, where)
    if more := more_fingers(model, jaws):
        pads = " and ".join(f"'{model.body(int(model.geom_bodyid[pad])).name}'" for pad in jaws.pads)
        notes.guessed("fingers", f"{listed(more)} is one more: the width is that between {pads} alone")
    _clear_between_fingers(spec, jaws, notes)
    turn = _onto_flange(jaws, settings, notes)
    force = settings.grip_force_n or grip_force(model, driver, jaws, notes)
    figures = _figures(source, name, settings, notes, model, jaws, turn, force)
    object.__setattr__(figures, "spec", gripper_spec(spec, model, jaws, turn, figures))
    object.__setattr__(figures, "notes", tuple(notes))
    return figures


def _subtree(spec: Any, root: str, notes: Notes) -> Any:
    """Returns a body and its subtree, and nothing else; the body at the origin, its elements by their own names."""
    spec = only_subtree(spec, root, notes)
    for joint in list(spec.body(root).joints):
        notes.dropped(f"joint {joint.name}", "moves the gripper's root, which is fixed to the flange")
        spec.delete(joint)
    top = next(iter(spec.worldbody.bodies)).name
    if top == root:
        return spec
    notes.dropped(f"links above {root}", "only what hangs on it is the gripper")
    whole = empty_spec(spec.modelname)
    whole.worldbody.add_frame().attach_body(spec.body(root), PREFIX, "")
    return whole


def _clear_between_fingers(spec: Any, jaws: Jaws, notes: Notes) -> None:
    """Removes collision shapes that fill the room between the open fingers, as coarse hulls for motion planning do."""
    probed = spec.copy()
    reach = ROOM * jaws.halves_m[0] * jaws.jaw_axis
    ends = [*(jaws.middle_m - reach), *(jaws.middle_m + reach)]
    probe = probed.worldbody.add_geom(
        name=PREFIX, type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=ends, size=[PROBE_M, 0.0, 0.0]
    )
    model = probed.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = jaws.qpos[0]
    mujoco.mj_kinematics(model, data)
    middle = model.geom(probe.name).id
    pads = [spec.geoms[pad].name for geoms in jaws.faces for pad in geoms]
    for geom in spec.geoms:
        number = model.geom(geom.name).id
        solid = (geom.contype or geom.conaffinity) and geom.name not in pads
        if solid and mujoco.mj_geomDistance(model, data, number, middle, PROBE_M, None) < 0:
            geom.contype = geom.conaffinity = 0
            notes.changed(f"link {geom.parent.name}", "a shape fills the room between the fingers: it is not touched")


def _onto_flange(jaws: Jaws, settings: ModelSettings, notes: Notes) -> Pose:
    """Returns the root's pose in the flange's frame: jaws along x, fingers along z."""
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


def _closing_time_s(source: ParsedDescription, jaws: Jaws, notes: Notes) -> float:
    """Returns the closing time by the speed of the driven joint, if that is a gripper's."""
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
    source: ParsedDescription,
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
    low, high, lags = pad_box(model, jaws, turn)
    pad = high - low
    names = {model.joint(n).name: int(model.jnt_qposadr[n]) for n in range(model.njnt)}
    table = {f"{PREFIX}{joint}": tuple(jaws.qpos[:, at].tolist()) for joint, at in names.items()}
    said = source.path.name
    estimated = "estimated: from the extent of its shapes"
    open_m, closed_m = float(jaws.halves_m[0]), float(jaws.halves_m[-1])
    stall_m = max(STALL_M, STALL_MPN * force_n, STALL_S * (open_m - closed_m) / time_s)
    return ImportedGripperFigures(
        name=name,
        title=settings.title or source.spec.modelname or name,
        tcp_xyz_m=(float(tcp[0]), float(tcp[1]), float(tcp[2])),
        open_m=open_m,
        closed_m=closed_m,
        grip_force_n=force_n,
        force_limits_n=(LEAST_SHARE * force_n, force_n),
        stiffness_npm=2 * force_n / stall_m,
        closing_time_s=time_s,
        finger_armature_kg=max(0.03, finger_kg / 2),
        coupling_time_s=0.004,
        pad_size_m=(float(pad[0]), float(pad[1]), float(pad[2])),
        pad_offset_m=float((low[2] + high[2]) / 2 - tcp[2]),
        finger_size_m=(float(pad[0]), float(pad[1]), float(max(pad[2], tcp[2] / 3))),
        body_size_m=(4 * open_m, 2 * float(pad[1]), float(tcp[2] / 2)),
        mount_radius_m=0.03,
        mount_height_m=0.0,
        body_mass_kg=float(model.body_mass[1:].sum()) - 2 * finger_kg,
        finger_mass_kg=finger_kg,
        colours=MappingProxyType({}),
        driver=f"{PREFIX}{jaws.driver}",
        table=(tuple(jaws.halves_m.tolist()), MappingProxyType(table)),
        lags_m=tuple(lags.tolist()),
        spec=None,
        sources=MappingProxyType(
            dict.fromkeys(
                ("tcp_xyz_m", "open_m", "closed_m", "driver", "table", "lags_m", "spec", "notes", "colours"), said
            )
            | dict.fromkeys(("body_mass_kg", "finger_mass_kg"), f"{said}; from geometry where it gives none")
            | dict.fromkeys(("pad_size_m", "pad_offset_m", "finger_size_m", "body_size_m"), estimated)
            | dict.fromkeys(("mount_radius_m", "mount_height_m"), "estimated: mounted on the flange itself")
            | {"grip_force_n": f"{said}, or estimated: {FORCE_N:g} N"}
            | {"force_limits_n": f"estimated: from {LEAST_SHARE:.0%} of it, as usual for grippers that can be set"}
            | {"stiffness_npm": f"estimated: its limit at {1000 * stall_m:.2g} mm off"}
            | {"closing_time_s": f"{said}, or estimated: {CLOSING_S:g} s"}
            | {"finger_armature_kg": "estimated: of a small geared drive", "coupling_time_s": "estimated: as contacts"}
        ),
    )


def _site(model: Any, name: str, jaws: Jaws) -> Any:
    data = mujoco.MjData(model)
    data.qpos[:] = jaws.qpos[-1]
    mujoco.mj_kinematics(model, data)
    return data.site(name).xpos.copy()
