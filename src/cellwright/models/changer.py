"""A tool changer as MuJoCo models: the plate on the flange, and the coupling that carries a tool."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue.changer import ChangerFigures
from cellwright.models.arm_visuals import add_hulls, add_pieces
from cellwright.models.contact_settings import METAL
from cellwright.shapes.changer import coupling_shape, plate_shape

__all__ = ["BALANCE_MASS_KG", "build_changer", "couple"]

BALANCE_MASS_KG = 1e-5


def build_changer(figures: ChangerFigures) -> mujoco.MjSpec:
    """Returns the robot's half as a spec whose root body `changer` has the flange's frame.

    Its body `balance` weighs next to nothing. It is where the drives' share in carrying a locked tool applies: placed
    in the tool's centre of mass, with as many times its own weight compensated as the tool is heavier.
    """
    spec = mujoco.MjSpec()
    spec.modelname = figures.name
    spec.compiler.degree = False
    plate = spec.worldbody.add_body(name="changer")
    _weigh(plate, figures.plate_mass_kg, figures.radius_m, figures.plate_height_m)
    plate.gravcomp = 1.0
    balance = plate.add_body(name="balance")
    balance.mass, balance.inertia, balance.explicitinertial = BALANCE_MASS_KG, [1e-9] * 3, True
    _show(spec, plate, plate_shape(figures), figures)
    return spec


def couple(figures: ChangerFigures, tool: Any) -> mujoco.MjSpec:
    """Returns a tool with its half of the changer: root body `coupling`, which carries the tool's body `tool/tool`.

    Nothing of it is weightless: it is a thing of its own until a robot carries it.
    """
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    coupling = spec.worldbody.add_body(name="coupling")
    _weigh(coupling, figures.coupling_mass_kg, figures.radius_m, figures.coupling_height_m)
    for body in tool.bodies:
        body.gravcomp = 0.0
    coupling.add_frame(pos=[0.0, 0.0, figures.coupling_height_m]).attach_body(tool.body("tool"), "tool/", "")
    _show(spec, coupling, coupling_shape(figures), figures)
    return spec


def _weigh(body: Any, mass_kg: float, radius_m: float, height_m: float) -> None:
    across = mass_kg * (3 * radius_m**2 + height_m**2) / 12
    body.mass, body.ipos = mass_kg, [0.0, 0.0, height_m / 2]
    body.inertia = np.array([across, across, mass_kg * radius_m**2 / 2])
    body.explicitinertial = True


def _show(spec: Any, body: Any, shape: Any, figures: ChangerFigures) -> None:
    add_hulls({body.name: body}, shape.hulls, METAL)
    add_pieces(spec, {body.name: body}, shape.pieces(), figures.colours)
