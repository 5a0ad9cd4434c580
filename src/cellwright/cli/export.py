"""Writes the knowledge of a cell's drawings and an order: OWL and XML instances, an SQL script, PDDL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cellwright.cells import Cell, nominal_layout
from cellwright.cli.output import prepare_output
from cellwright.cli.pddl_files import PddlWriter, write_pddl
from cellwright.drawings.database import planning_database
from cellwright.knowledge.instances import goal_of, save_instances
from cellwright.knowledge.sql_script import write_script
from cellwright.orders import find_order
from cellwright.planning.belief import request_of

__all__ = ["export_knowledge"]


def export_knowledge(cell: Cell, form: str, out: Path, orders: Sequence[str], seed: int, dialect: str) -> list[Path]:
    """Writes the files of one form; `out` is a file for `sql`, a folder for the others; `dialect` is that of `sql`."""
    wanted = [find_order(name) for name in orders]
    database, _ = planning_database(cell, wanted, layout=nominal_layout(cell, seed))
    try:
        if form == "sql":
            prepare_output(out)
            out.write_text(write_script(database, dialect), encoding="utf-8", newline="\n")
            return [out]
        if form == "pddl":
            return write_pddl(out, PddlWriter(database, request_of(database, wanted)))
        goal = goal_of(database, wanted)
        try:
            written = []
            for name, source in (("initial", database), ("goal", goal)):
                path = prepare_output(out / f"{name}.{form}")
                save_instances(source, path)
                written.append(path)
            return written
        finally:
            goal.close()
    finally:
        database.close()
