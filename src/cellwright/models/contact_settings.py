"""Contact settings of every geom, in one place.

They are the settings under which a gear is held by friction alone, measured in docs/benchmarks.md: stiff contact
(4 ms), no mixing of a pad's friction with that of the other geom (`priority`), torsional friction on the pads.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

__all__ = ["METAL", "PAD", "PLASTIC", "TIGHT", "ContactSurface", "GeomGroup", "make_collision", "make_visual"]


class GeomGroup(IntEnum):
    """MuJoCo groups: visual and collision geoms are separate."""

    VISUAL = 2
    COLLISION = 3


@dataclass(frozen=True)
class ContactSurface:
    """The contact settings of one kind of surface.

    Attributes:
        friction: Sliding (dimensionless), torsional (m) and rolling (m) coefficients.
        condim: 3 = sliding friction; 4 = torsional friction too, which a two-finger grasp needs.
        priority: The surface with the higher priority decides; equal ones take the larger friction.
        solref: Time constant (s) and damping ratio of the contact.
        solimp: Impedance at first touch and when pressed in, and the depth (m) between. MuJoCo's contacts give way in
            proportion to the lighter body's mass: near 1, a pad yields 0.1 mm to a gear of 6 g instead of 0.7 mm.
    """

    friction: tuple[float, float, float]
    condim: int = 3
    priority: int = 0
    solref: tuple[float, float] = (0.004, 1.0)
    solimp: tuple[float, float, float] = (0.9, 0.95, 0.001)


PAD = ContactSurface(
    friction=(0.8, 0.005, 0.0001), condim=4, priority=1, solref=(0.001, 1.0), solimp=(0.99, 0.999, 0.001)
)
PLASTIC = ContactSurface(friction=(0.3, 0.003, 0.0001))
TIGHT = ContactSurface(friction=PLASTIC.friction, solref=(0.002, 1.0), solimp=(0.99, 0.999, 0.001))
"""Plugs and straight slots: hard enough for 0.2 mm of clearance with steps of 1 ms, and for 0.5 mm with steps of 2 ms,
where MuJoCo takes no time constant below two steps."""
METAL = ContactSurface(friction=(0.25, 0.003, 0.0001))


def make_collision(geom: Any, surface: ContactSurface) -> Any:
    """Turns an MjSpec geom into a collision geom that is not visible; returns it."""
    geom.group = GeomGroup.COLLISION
    geom.contype = geom.conaffinity = 1
    geom.friction = surface.friction
    geom.condim = surface.condim
    geom.priority = surface.priority
    geom.solref[:2] = surface.solref
    geom.solimp[:3] = surface.solimp
    return geom


def make_visual(geom: Any) -> Any:
    """Turns an MjSpec geom into a visual geom without contacts and mass; returns it."""
    geom.group = GeomGroup.VISUAL
    geom.contype = geom.conaffinity = 0
    geom.mass = 0.0
    geom.density = 0.0
    return geom
