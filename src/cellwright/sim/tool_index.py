"""Indices of suction cups and tool changers in MuJoCo's arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cellwright.catalogue import ChangerFigures, VacuumFigures
from cellwright.models.changer import BALANCE_MASS_KG
from cellwright.shapes.vacuum import cup_suffixes

__all__ = [
    "ChangerIndex",
    "CupIndex",
    "LooseToolIndex",
    "VacuumIndex",
    "balance_ratio",
    "bodies_of",
    "index_changer",
    "index_loose",
    "index_vacuum",
]


@dataclass(frozen=True)
class CupIndex:
    """One cup's indices.

    Attributes:
        suck: The command of its adhesion.
        activation: Its vacuum, in `data.act`.
        lip: Geom -> its number round the lip.
    """

    suck: int
    activation: int
    lip: Mapping[int, int]


@dataclass(frozen=True)
class VacuumIndex:
    """A vacuum tool's indices.

    Attributes:
        figures: From the catalogue.
        power: The command of its pump.
        cups: Its cups.
        tcp_site: Its centre point.
        body: Its root.
        bodies: All of its bodies, the root first.
    """

    figures: VacuumFigures
    power: int
    cups: tuple[CupIndex, ...]
    tcp_site: int
    body: int
    bodies: tuple[int, ...]

    def level(self, data: Any) -> float:
        """Returns the vacuum under the cup that has the least, as a share of what holds the rated load."""
        return min([float(data.act.item(cup.activation)) for cup in self.cups])

    def vent(self, data: Any) -> None:
        """Stops the pump and vents every cup."""
        data.ctrl[self.power] = 0.0
        for cup in self.cups:
            data.ctrl[cup.suck] = 0.0


@dataclass(frozen=True)
class ChangerIndex:
    """A changer's indices; `balance` is where its drives carry a locked tool."""

    figures: ChangerFigures
    body: int
    balance: int
    lock: int


@dataclass(frozen=True)
class LooseToolIndex:
    """A tool with a coupling: its free body and the seven numbers of its joint."""

    name: str
    body: int
    qpos: int
    dof: int
    bodies: tuple[int, ...]


def bodies_of(model: Any, prefix: str) -> tuple[int, ...]:
    """Returns all bodies whose names begin so, in their order."""
    return tuple(body for body in range(model.nbody) if model.body(body).name.startswith(prefix))


def index_vacuum(model: Any, prefix: str, figures: VacuumFigures) -> VacuumIndex:
    """Returns a vacuum tool whose elements are `<prefix>/<element>`."""
    return VacuumIndex(
        figures=figures,
        power=int(model.actuator_ctrladr[model.actuator(f"{prefix}/power").id]),
        cups=tuple(_index_cup(model, prefix, suffix, figures.lip_points) for suffix in cup_suffixes(figures)),
        tcp_site=model.site(f"{prefix}/tcp").id,
        body=model.body(f"{prefix}/tool").id,
        bodies=bodies_of(model, f"{prefix}/"),
    )


def _index_cup(model: Any, prefix: str, suffix: str, points: int) -> CupIndex:
    suck = model.actuator(f"{prefix}/suck{suffix}").id
    return CupIndex(
        suck=int(model.actuator_ctrladr[suck]),
        activation=int(model.actuator_actadr[suck]),
        lip={model.geom(f"{prefix}/lip{suffix}_{number}").id: number for number in range(points)},
    )


def index_changer(model: Any, robot: str, figures: ChangerFigures, lock: str) -> ChangerIndex:
    """Returns the changer of a robot."""
    body, balance = (model.body(f"{robot}/changer/{name}").id for name in ("changer", "balance"))
    return ChangerIndex(figures, body, balance, model.equality(f"{robot}/{lock}").id)


def balance_ratio(model: Any, tool: str) -> float:
    """Returns how many times its own weight a changer's balance carries for a tool."""
    bodies = [model.body(tool).id, *bodies_of(model, f"{tool}/")]
    return float(model.body_mass[bodies].sum()) / BALANCE_MASS_KG


def index_loose(model: Any, name: str) -> LooseToolIndex:
    """Returns a tool that robots change."""
    joint, body = model.joint(name), model.body(name).id
    return LooseToolIndex(
        name, body, int(joint.qposadr[0]), int(joint.dofadr[0]), (body, *bodies_of(model, f"{name}/"))
    )
