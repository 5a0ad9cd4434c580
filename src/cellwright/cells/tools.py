"""Tools that robots change: where each of them is when the cell starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from cellwright.catalogue import CHANGERS, FURNITURE, PARTS, TOOLS
from cellwright.catalogue.changer import ToolHolderFigures
from cellwright.cells.fields import Name
from cellwright.core.config import Cfg
from cellwright.core.errors import ConfigError, UnknownName

if TYPE_CHECKING:
    from cellwright.cells.schema import Cell

__all__ = ["LooseToolCfg", "check_tools"]


class LooseToolCfg(Cfg):
    """A tool with a coupling, in a holder or on a robot that has a changer.

    `handles` are the models of the parts that it is for; by default all that it can hold.
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


def check_tools(cell: Cell) -> None:
    """Every tool exists and has a place of its own."""
    taken: dict[str, str] = {}
    for name, robot in cell.robots.items():
        if robot.changer is None:
            continue
        CHANGERS.get(robot.changer, f"{cell.where}: robots.{name}.changer")
        if robot.tool is not None:
            problem = "a robot with a changer has no fixed tool; put it under tools, with this robot"
            raise ConfigError(cell.where, f"robots.{name}.tool", problem)
        if cell.grasp_lock:
            problem = "the grasp lock needs fixed tools; a robot with a changer has none"
            raise ConfigError(cell.where, "grasp_lock", problem)
    changing = [name for name, robot in cell.robots.items() if robot.changer is not None]
    holders = [
        name for name, fixture in cell.fixtures.items() if isinstance(FURNITURE.get(fixture.model), ToolHolderFigures)
    ]
    for name, tool in cell.tools.items():
        TOOLS.get(tool.model, f"{cell.where}: tools.{name}.model")
        if not changing:
            raise ConfigError(cell.where, f"tools.{name}", "no robot of the cell has a changer")
        for part in tool.handles or ():
            PARTS.get(part, f"{cell.where}: tools.{name}.handles")
        place, kind, known = (
            (tool.holder, "tool holder", holders) if tool.holder else (tool.robot, "robot with a changer", changing)
        )
        if place not in known:
            raise ConfigError(cell.where, f"tools.{name}", str(UnknownName(kind, str(place), known)))
        if place in taken:
            raise ConfigError(cell.where, f"tools.{name}", f"{place} has {taken[place]} already")
        taken[str(place)] = name
