"""Who may touch whom in kitting."""

from __future__ import annotations

from cellwright.catalogue import FURNITURE
from cellwright.catalogue.furniture_kinds import TableFigures
from cellwright.judge.collision import Permit
from cellwright.sim import World

__all__ = ["kitting_permits"]


def kitting_permits(world: World) -> tuple[Permit, ...]:
    """What is ordinary work: pads and fingers touch parts; a part that is held touches trays and tables.

    The last is what taking and setting down are. Everything else counts: a gripper's body on a tray or a table, an arm
    on anything, a part that is held on another part, on the fence or on the floor.
    """
    parts = [name for name, item in world.objects.items() if not item.is_tray]
    trays = [name for name, item in world.objects.items() if item.is_tray]
    fixtures = {name: FURNITURE.get(fixture.model) for name, fixture in world.cell.fixtures.items()}
    tables = [name for name, figures in fixtures.items() if isinstance(figures, TableFigures)]
    hands = [name for name, robot in world.robots.items() if robot.tool]
    touching = [Permit(f"{hand}/tool/{what}_*", part) for part in parts for hand in hands for what in ("pad", "finger")]
    return (*touching, *(Permit(part, below) for part in parts for below in (*trays, *tables)))
