"""Where suction cups and tool changers are in MuJoCo's arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cellwright.catalogue import ChangerFigures, VacuumFigures
from cellwright.models.changer import BALANCE_MASS_KG

__all__ = [
    "ChangerIndex",
    "LooseToolIndex",
    "VacuumIndex",
    "balance_ratio",
    "bodies_of",
    "index_changer",
    "index_loose",
    "index_vacuum",
]


@dataclass(frozen=True)
class VacuumIndex:
    """A vacuum tool's places.

    Attributes:
        figures: From the catalogue.
        power: The command of its pump.
        suck: The command of its adhesion.
        activation: Its vacuum, in `data.act`.
        tcp_site: Its centre point.
        body: Its root.
        bodies: All of its bodies, the root first.
        lip: Geom -> its number round the lip.
    """

    figures: VacuumFigures
    power: int
    suck: int
    activation: int
    tcp_site: int
    body: int
    bodies: tuple[int, ...]
    lip: Mapping[int, int]


@dataclass(frozen=True)
class ChangerIndex:
    """A changer's places; `balance` is where its drives carry a locked tool."""

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
    """All bodies whose names begin so, in their order."""
    return tuple(body for body in range(model.nbody) if model.body(body).name.startswith(prefix))


def index_vacuum(model: Any, prefix: str, figures: VacuumFigures) -> VacuumIndex:
    """A vacuum tool whose elements are `<prefix>/<element>`."""
    suck, power = (model.actuator(f"{prefix}/{name}").id for name in ("suck", "power"))
    return VacuumIndex(
        figures=figures,
        power=int(model.actuator_ctrladr[power]),
        suck=int(model.actuator_ctrladr[suck]),
        activation=int(model.actuator_actadr[suck]),
        tcp_site=model.site(f"{prefix}/tcp").id,
        body=model.body(f"{prefix}/tool").id,
        bodies=bodies_of(model, f"{prefix}/"),
        lip={model.geom(f"{prefix}/lip_{number}").id: number for number in range(figures.lip_points)},
    )


def index_changer(model: Any, robot: str, figures: ChangerFigures, lock: str) -> ChangerIndex:
    """The changer of a robot."""
    body, balance = (model.body(f"{robot}/changer/{name}").id for name in ("changer", "balance"))
    return ChangerIndex(figures, body, balance, model.equality(f"{robot}/{lock}").id)


def balance_ratio(model: Any, tool: str) -> float:
    """How many times its own weight a changer's balance carries for a tool."""
    bodies = [model.body(tool).id, *bodies_of(model, f"{tool}/")]
    return float(model.body_mass[bodies].sum()) / BALANCE_MASS_KG


def index_loose(model: Any, name: str) -> LooseToolIndex:
    """A tool that robots change."""
    joint, body = model.joint(name), model.body(name).id
    return LooseToolIndex(
        name, body, int(joint.qposadr[0]), int(joint.dofadr[0]), (body, *bodies_of(model, f"{name}/"))
    )
