"""The contacts that are allowed in kitting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import hypot

from cellwright.catalogue import FURNITURE, BoxFigures, ToolHolderFigures
from cellwright.catalogue.furniture_kinds import TableFigures
from cellwright.judge.allowed_contact import AllowedContact
from cellwright.sim import World

__all__ = ["allowed_kitting_contacts"]

GENTLE_N = 40.0  # cups that press a tray down on what it stands on do so with 25 N


def allowed_kitting_contacts(world: World) -> tuple[AllowedContact, ...]:
    """Returns ordinary contacts: pads, fingers and cups touch parts, cups touch trays; what is held is set down.

    A part that is held touches trays and tables; a tray, with what lies in it, touches tables and, gently, boxes, and
    over a box the trays there. A tool that robots change touches holders, and the changers that take it.

    Everything else counts: a gripper's body or the bar between two cups on a tray or a table, an arm on anything, a
    part that is held on another part, a tray that is held on a part or a holder, anything on the fence or the floor.
    """
    parts = [name for name, item in world.objects.items() if not item.is_tray]
    trays = [name for name, item in world.objects.items() if item.is_tray]
    fixtures = {name: FURNITURE.get(fixture.model) for name, fixture in world.cell.fixtures.items()}
    tables = [name for name, figures in fixtures.items() if isinstance(figures, TableFigures)]
    boxes = {name: figures for name, figures in fixtures.items() if isinstance(figures, BoxFigures)}
    hands = [*(name for name, robot in world.cell.robots.items() if robot.tool is not None), *world.cell.tools]
    return (
        *(
            AllowedContact(f"{hand}/tool/{what}", p)
            for p in parts
            for hand in hands
            for what in ("pad_*", "finger_*", "cup*")
        ),
        *(AllowedContact(f"{hand}/tool/cup*", tray) for tray in trays for hand in hands if hand in world.vacuums),
        *(AllowedContact(part, below, one_way=True) for part in parts for below in (*trays, *tables)),
        *_carrying(world, trays, tables, boxes),
        *_changing(world, [name for name, figures in fixtures.items() if isinstance(figures, ToolHolderFigures)]),
    )


def _carrying(
    world: World, trays: list[str], tables: list[str], boxes: dict[str, BoxFigures]
) -> Iterator[AllowedContact]:
    """Yields trays in hands, where any hand has cups to carry them."""
    if not world.vacuums:
        return
    yield from (AllowedContact(tray, table) for tray in trays for table in tables)
    for box, figures in boxes.items():
        yield from (AllowedContact(tray, box, limit_n=GENTLE_N) for tray in trays)
        x_m, y_m, _ = world.layout.fixtures[box].position.tolist()
        reach_m = hypot(*figures.outer_size_m) / 2
        for number, tray in enumerate(trays):
            yield from (AllowedContact(tray, other, (x_m, y_m), reach_m, GENTLE_N) for other in trays[number + 1 :])


def _changing(world: World, holders: Iterable[str]) -> Iterator[AllowedContact]:
    changers = [f"{name}/changer/*" for name, robot in world.cell.robots.items() if robot.changer is not None]
    for tool in world.cell.tools:
        yield from (AllowedContact(tool, changer) for changer in changers)
        yield from (AllowedContact(part, holder) for part in (tool, f"{tool}/*") for holder in holders)
