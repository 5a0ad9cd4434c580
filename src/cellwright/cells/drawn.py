"""The layout that every seed has in common: what drawings can say of a cell, and all that a controller knows of it."""

from __future__ import annotations

from cellwright.catalogue import PARTS, TRAYS
from cellwright.cells.layout import Layout, nominal_layout
from cellwright.cells.mobiles import ScatterCfg
from cellwright.cells.schema import Cell, PopulationCfg

__all__ = ["drawn_layout"]


def drawn_layout(cell: Cell) -> Layout:
    """Returns the nominal layout without what a seed decides: scattered parts and robots, and shuffled slots.

    Shuffled parts that fill every slot there is are drawn, because then a seed decides nothing.
    """
    populations, keys = _decided(cell)
    keys += [f"mobiles.{key}" for key, mobile in cell.mobiles.items() if isinstance(mobile.arrange, ScatterCfg)]
    without_chance = cell.model_copy(update={"populations": populations}).without(keys)
    return nominal_layout(without_chance, seed=0)  # of which nothing depends on the seed any more


def _decided(cell: Cell) -> tuple[tuple[PopulationCfg, ...], list[str]]:
    """Returns the populations, none of them shuffled, and the keys of those whose places a seed decides."""
    taken = {part.slot for part in cell.parts.values() if part.slot is not None}
    populations, keys, open_slots = [], list[str](), set[str]()
    for place, population in cell.numbered_populations:
        free = [slot for slot in _slots(cell, population) if slot not in taken]
        fills_all = population.count >= len(free)
        if population.region is not None or open_slots & set(free) or (population.shuffle and not fills_all):
            keys.append(place)
            open_slots |= set(free)  # some of them: which, the seed decides
        else:
            taken |= set(free[: population.count])
        populations.append(population.model_copy(update={"shuffle": False}))
    return tuple(populations), keys


def _slots(cell: Cell, population: PopulationCfg) -> list[str]:
    """Returns the slots in which parts of a population may lie, as `tray/slot`, in the trays' own order."""
    sku = PARTS.get(population.model).sku
    trays = [(name, TRAYS.get(cell.trays[name].model)) for name in population.trays if name in cell.trays]
    return [f"{name}/{slot.name}" for name, tray in trays for slot in tray.slots if slot.accepts == sku]
