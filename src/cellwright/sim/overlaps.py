"""Overlapping placements: their entries in the cell, and how far one of them must move."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import ConfigError
from cellwright.core.pose import Pose
from cellwright.core.yaml_lines import with_line
from cellwright.sim.contacts import Overlap, owner
from cellwright.sim.ground import FOOT_M, TOUCH_M, Ground, movable

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["OVERLAP_LIMIT_M", "refuse_overlaps"]

OVERLAP_LIMIT_M = 0.001
LEAST_M = 0.0005  # of a step out of something
FARTHEST_M = 0.5  # what must move farther was not put there by a slip
UP = np.array([0.0, 0.0, 1.0])
ASIDE = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
_MOVED_FIRST = ("parts", "populations", "trays", "mobiles", "robots", "fixtures", "arena", "tools")
"""Of two, the one that is the easier to move."""

Array = npt.NDArray[np.float64]


def refuse_overlaps(world: World) -> None:
    """Refuses a world with overlaps, before it has moved.

    Raises:
        ConfigError: Every pair of entries of the file that overlap, and a remedy.
    """
    deepest: dict[tuple[str, str], Overlap] = {}
    for contact in world.data.contact:
        bodies = sorted((owner(world.model, contact.geom[0]), owner(world.model, contact.geom[1])))
        pair = _carriers(world, *(name.partition("/")[0] for name in bodies))
        found, known = Overlap(bodies[0], bodies[1], -float(contact.dist)), deepest.get(pair)
        if found.depth_m > OVERLAP_LIMIT_M and (known is None or known.depth_m < found.depth_m):
            deepest[pair] = found
    errors = ErrorCollector()
    entries: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for pair in sorted(deepest, key=lambda pair: -deepest[pair].depth_m):
        entries.setdefault(tuple(_key(world, name) for name in pair), []).append(pair)
    for pairs in entries.values():
        errors.add(_overlap_error(world, pairs[0], deepest[pairs[0]], len(pairs) - 1))
    errors.raise_errors()


def _carriers(world: World, first: str, second: str) -> tuple[str, str]:
    """Returns the carriers of two objects: tray of a part in a slot, robot of a tool; themselves within one carrier."""
    carrier = {part.name: part.tray for part in world.layout.parts if part.tray}
    carrier |= {name: str(tool.robot or tool.holder) for name, tool in world.cell.tools.items()}
    pair = sorted(carrier.get(name, name) for name in (first, second))
    return (first, second) if pair[0] == pair[1] else (pair[0], pair[1])


def _overlap_error(world: World, pair: tuple[str, str], overlap: Overlap, others: int) -> ConfigError:
    """Returns the error of one pair, at the entry that is easier to move, and how many others these entries have."""
    where, keys = world.cell.where, {name: _key(world, name) for name in pair}
    mover, other = sorted(pair, key=lambda name: _MOVED_FIRST.index(keys[name].partition(".")[0]))
    more = f", as do {others} more pairs" if others else ""
    if mover == other:
        key = keys[mover].replace(".base", ".home_deg")
        return ConfigError(where, key, f"{overlap}{more}: choose angles at which it is clear of itself")
    if keys[mover] == keys[other]:
        return ConfigError(where, keys[mover], f"{overlap}{more}: leave more room between them")
    line = with_line(where, keys[other]).removeprefix(where)
    at = f"'{other}' is {keys[other]}{line}"
    return ConfigError(where, keys[mover], f"{overlap}{more} ({at}): {_remedy(world, mover, other, keys[mover])}")


def _key(world: World, name: str) -> str:
    """Returns the key of an object's pose in the cell's file."""
    cell = world.cell
    if name in world.layout.objects:
        return world.layout.objects[name].key
    for section, key in (("robots", ".base"), ("tools", ""), ("fixtures", ".pose")):
        if name in getattr(cell, section):
            return f"{section}.{name}{key}"
    mobiles = ((key, cfg) for key, cfg in cell.mobiles.items() if name in cfg.names(key))
    return next((f"mobiles.{key}.{'arrange' if cfg.arrange else 'pose'}" for key, cfg in mobiles), "arena")


def _remedy(world: World, name: str, other: str, key: str) -> str:
    """Returns the remedy that takes one object out of another, as text."""
    if name in world.robots and (above_m := _above_base(world, world.layout.bases[name], other)) > TOUCH_M:
        up = f"move {key}.xyz_m by {1000 * above_m:+.0f} mm along the base's z"
        return f"the base stands {1000 * above_m:.0f} mm below the top of '{other}': {up}"
    if key.endswith((".slot", ".trays")):
        return "choose another slot"
    way_m = _way_out(world, name, other)
    moved = key.replace(".arrange", ".pose")
    apart = "move them apart" if way_m is None else f"move {moved} by at least {_shown(way_m)} mm"
    return f"{apart}, or choose another home_deg" if name in world.robots else apart


def _above_base(world: World, base: Pose, fixture: str) -> float:
    """Returns the height above a base, along its own z, at which a fixture below it ends; 0 when there is none."""
    up, ground = base.rotation_matrix[:, 2], Ground(world, movable(world), base, FOOT_M)
    hits = ground.hits(base.position + FARTHEST_M * up, -up)
    return next((FARTHEST_M - far_m for far_m, geom in hits if ground.name(geom) == fixture), 0.0)


def _shown(way_m: Array) -> str:
    """Returns a way in whole tenths of millimetres, rounded so that it is long enough."""
    tenths = [np.sign(x) * np.ceil(abs(x) * 1e4 - 1e-6) / 10 if abs(x) > 2e-5 else 0.0 for x in way_m]
    return "(" + ", ".join(f"{x:+.1f}" if x else "0" for x in tenths) + ")"


def _way_out(world: World, name: str, other: str) -> Array | None:
    """Returns the shortest way out of another object; up only off fixed ones, None when it is too far."""
    model = copy(world.model)
    model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)  # which leaves out what is fixed
    data = mujoco.MjData(model)
    data.qpos[:], data.mocap_pos[:], data.mocap_quat[:] = world.data.qpos, world.data.mocap_pos, world.data.mocap_quat
    names = [str(model.body(body).name).partition("/")[0] for body in range(model.nbody)]
    moved, kept = (
        {int(model.body_rootid[body]) for body, of in enumerate(names) if of in (whole, *_in_tray(world, whole))}
        for whole in (name, other)
    )
    places = [_place(model, data, root) for root in moved]
    stood = [place.copy() for place in places]

    def overlap_m(way_m: Array) -> float:
        for place, start in zip(places, stood, strict=True):
            place[:] = start + way_m
        mujoco.mj_fwdPosition(model, data)
        pairs = ((model.body_rootid[model.geom_bodyid[list(contact.geom)]], contact) for contact in data.contact)
        own = (contact for (a, b), contact in pairs if (a in moved and b in kept) or (b in moved and a in kept))
        return max((-float(contact.dist) for contact in own), default=0.0)

    found = []
    for way in ASIDE if other in {*world.objects, *world.mobiles} else (UP, *ASIDE):
        far_m = 0.0
        while far_m < FARTHEST_M and (depth_m := overlap_m(far_m * way)) > OVERLAP_LIMIT_M / 2:
            far_m += max(depth_m, LEAST_M)
        found.append((far_m, far_m * way))
    least_m, way_m = min(found, key=lambda one: one[0])
    return way_m if least_m < FARTHEST_M else None


def _place(model: Any, data: Any, body: int) -> Array:
    """Returns the position of a body, as a live view."""
    joint = int(model.body_jntadr[body])
    if joint < 0 or model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
        fixed: Array = model.body_pos[body]
        return fixed
    start = int(model.jnt_qposadr[joint])
    loose: Array = data.qpos[start : start + 3]
    return loose


def _in_tray(world: World, name: str) -> list[str]:
    return [part.name for part in world.layout.parts if part.tray == name]
