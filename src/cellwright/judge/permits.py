"""Who may touch whom in kitting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cellwright.catalogue import FURNITURE, ToolHolderFigures
from cellwright.catalogue.furniture_kinds import TableFigures
from cellwright.judge.collision import Permit
from cellwright.sim import World

__all__ = ["kitting_permits"]


def kitting_permits(world: World) -> tuple[Permit, ...]:
    """What is ordinary work: pads, fingers and cups touch parts; a part that is held touches trays and tables.

    A tool that robots change touches holders, and the changers that take it.

    The last is what taking and setting down are. Everything else counts: a gripper's body on a tray or a table, an arm
    on anything, a part that is held on another part, on the fence or on the floor.
    """
    parts = [name for name, item in world.objects.items() if not item.is_tray]
    trays = [name for name, item in world.objects.items() if item.is_tray]
    fixtures = {name: FURNITURE.get(fixture.model) for name, fixture in world.cell.fixtures.items()}
    tables = [name for name, figures in fixtures.items() if isinstance(figures, TableFigures)]
    hands = [*(name for name, robot in world.cell.robots.items() if robot.tool is not None), *world.cell.tools]
    touching = [
        Permit(f"{hand}/tool/{what}", part) for part in parts for hand in hands for what in ("pad_*", "finger_*", "cup")
    ]
    return (
        *touching,
        *(Permit(part, below) for part in parts for below in (*trays, *tables)),
        *_changing(world, [name for name, figures in fixtures.items() if isinstance(figures, ToolHolderFigures)]),
    )


def _changing(world: World, holders: Iterable[str]) -> Iterator[Permit]:
    changers = [f"{name}/changer/*" for name, robot in world.cell.robots.items() if robot.changer is not None]
    for tool in world.cell.tools:
        yield from (Permit(tool, changer) for changer in changers)
        yield from (Permit(part, holder) for part in (tool, f"{tool}/*") for holder in holders)
