"""Exchangeable tools, and where each of them is when the cell starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from cellwright.catalogue import CHANGERS, FURNITURE, PARTS
from cellwright.catalogue.changer import ToolHolderFigures
from cellwright.cells.fields import Name
from cellwright.core.config import Cfg
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import ConfigError, UnknownName

if TYPE_CHECKING:
    from cellwright.cells.schema import Cell

__all__ = ["LooseToolCfg", "check_tools"]


class LooseToolCfg(Cfg):
    """A tool with a coupling, in a holder or on a robot that has a changer.

    Attributes:
        model: The tool's model.
        handles: The models of the parts that it is for; without them, all that it can hold.
        holder: The fixture that it stands in at the start.
        robot: The robot that has it at the start instead.
    """

    model: str
    handles: tuple[Name, ...] | None = None
    holder: Name | None = None
    robot: Name | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.holder is None) == (self.robot is None):
            raise ValueError("give either holder or robot")
        return self


def check_tools(cell: Cell, errors: ErrorCollector) -> None:
    """Checks that tools are for existing parts and have a place of their own; missing models are reported elsewhere."""
    for name, robot in cell.robots.items():
        if robot.changer is None:
            continue
        with errors.collecting():
            CHANGERS.get(robot.changer, f"{cell.where}: robots.{name}.changer")
        if robot.tool is not None:
            problem = "a robot with a changer has no fixed tool; put it under tools, with this robot"
            errors.add(ConfigError(cell.where, f"robots.{name}.tool", problem))
    changing = [name for name, robot in cell.robots.items() if robot.changer is not None]
    holders = [name for name, fixture in cell.fixtures.items() if _may_hold(fixture.model)]
    taken: dict[str, str] = {}
    for name, tool in cell.tools.items():
        for part in tool.handles or ():
            with errors.collecting():
                PARTS.get(part, f"{cell.where}: tools.{name}.handles")
        key, kind, known = (
            ("holder", "tool holder", holders) if tool.holder else ("robot", "robot with a changer", changing)
        )
        place = str(tool.holder or tool.robot)
        with errors.collecting():
            if not changing and not cell.left_out:
                problem = f"no robot of the cell has a changer: give one to a robot (available: {', '.join(CHANGERS)})"
                raise ConfigError(cell.where, f"tools.{name}", problem)
            if place not in known:
                raise UnknownName(kind, place, known, f"{cell.where}: tools.{name}.{key}")
            if place in taken:
                free = ", ".join(sorted({*known} - {*taken})) or "none"
                problem = f"{place} has {taken[place]} already; choose another {kind} (free: {free})"
                raise ConfigError(cell.where, f"tools.{name}.{key}", problem)
            taken[place] = name


def _may_hold(model: str) -> bool:
    """Returns whether a fixture is a tool holder; one whose model does not exist may have been meant as one."""
    return model not in FURNITURE or isinstance(FURNITURE.get(model), ToolHolderFigures)
