"""Contacts of bodies and their forces: the simulator's own view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from cellwright.shapes.furniture import BODY as FURNITURE_BODY

__all__ = ["BodyContact", "Overlap", "body_contacts", "deepest_overlap", "owner"]


@dataclass(frozen=True)
class BodyContact:
    """Two bodies in contact: the sum of their normal forces."""

    first: str
    second: str
    force_n: float


@dataclass(frozen=True)
class Overlap:
    """Two bodies that penetrate each other."""

    first: str
    second: str
    depth_m: float

    def __str__(self) -> str:
        return f"'{self.first}' and '{self.second}' overlap by {self.depth_m * 1000:.1f} mm"


def owner(model: Any, geom: int) -> str:
    """Returns the owner of a geom: a robot with its link, an object, a fixture."""
    body = int(model.geom_bodyid[geom])
    return str(model.body(body).name).removesuffix(f"/{FURNITURE_BODY}")


def body_contacts(model: Any, data: Any) -> list[BodyContact]:
    """Returns all pairs of bodies in contact, in the order of their names."""
    forces: dict[tuple[str, str], float] = {}
    buffer = np.zeros(6)
    for i in range(data.ncon):
        contact = data.contact[i]
        if contact.efc_address < 0:
            continue
        first, second = sorted((owner(model, contact.geom[0]), owner(model, contact.geom[1])))
        mujoco.mj_contactForce(model, data, i, buffer)
        forces[first, second] = forces.get((first, second), 0.0) + float(buffer[0])
    return [BodyContact(first, second, force) for (first, second), force in sorted(forces.items())]


def deepest_overlap(model: Any, data: Any, body: int | None = None) -> Overlap | None:
    """Returns the pair that penetrates most, if any contact exists; only those of one body, if one is given."""
    pairs = [(-float(c.dist), int(c.geom[0]), int(c.geom[1])) for c in data.contact]
    if body is not None:
        pairs = [pair for pair in pairs if body in model.geom_bodyid[list(pair[1:])]]
    if not pairs:
        return None
    depth_m, first, second = max(pairs)
    return Overlap(owner(model, first), owner(model, second), depth_m)
