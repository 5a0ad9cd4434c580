"""`cellwright db`: makes a world model's database, shows it and its history."""

from __future__ import annotations

from math import degrees
from pathlib import Path
from typing import Annotated, Any

import typer
from sqlalchemy import select

from cellwright.cells import nominal_layout
from cellwright.cli.output import prepare_output, print_json, say, table
from cellwright.core.errors import BadInput
from cellwright.core.extras import need_extra
from cellwright.core.pose import Pose
from cellwright.drawings.database import designs_for, planning_workstation
from cellwright.knowledge import Database, WorldModel, fill, records
from cellwright.knowledge.address import need_driver
from cellwright.knowledge.instances import load_instances
from cellwright.lab.cell_file import read_cell
from cellwright.orders import find_order

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="The world model's database: SQLite, MariaDB or PostgreSQL.")

Url = Annotated[
    str,
    typer.Option(
        envvar="CELLWRIGHT_DATABASE",
        help="A file, sqlite:///FILE, mysql+pymysql://USER@HOST/DB or postgresql+psycopg://USER@HOST/DB.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DEFAULT_URL = "out/world.db"


@app.command()
def init(
    url: Url = DEFAULT_URL,
    cell: Annotated[str | None, typer.Option(help="Fill it from the drawings of this cell.")] = None,
    order: Annotated[list[str] | None, typer.Option(help="With --cell: kits that will be wanted.")] = None,
    instances: Annotated[Path | None, typer.Option(help="Fill it from an instance file, .owl or .xml.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="With --cell: decides which slots hold parts.")] = 0,
    as_json: Json = False,
) -> None:
    """Makes the tables of a new database, and fills it if asked to; what is there already is never changed."""
    if cell is not None and instances is not None:
        raise BadInput("a database is filled from --cell or from --instances, not from both")
    if order and cell is None:
        raise BadInput("--order needs --cell")
    need_driver(url)
    if instances is not None and instances.suffix == ".owl":
        need_extra("reading OWL", "planning", "rdflib")
    orders = [find_order(name) for name in order or []]
    notes: list[str] = []
    station = None
    if cell is not None:
        loaded = read_cell(cell)
        station, notes = planning_workstation(loaded, orders, layout=nominal_layout(loaded, seed))
    if "://" not in url:
        prepare_output(Path(url))
    database = Database(url)
    try:
        if station is not None:
            fill(database, station, designs_for(orders))
        elif instances is not None:
            load_instances(instances, database)
        count = len(_objects(database))
    finally:
        database.close()
    if as_json:
        print_json({"url": database.url, "objects": count, "notes": notes})
        return
    for note in notes:
        say(note)
    say(f"{database.url}: {count} objects")


@app.command()
def show(
    url: Url = DEFAULT_URL,
    kind: Annotated[str | None, typer.Option(help="Only objects of this class, such as Part.")] = None,
    as_json: Json = False,
) -> None:
    """Shows what is believed: every object, what it lies in, where, how certainly, since when and on which evidence."""
    database = Database(url, must_exist=True)
    try:
        objects = [entry for entry in _objects(database) if kind is None or entry["class"] == kind]
        states = WorldModel(database).stable_states()
    finally:
        database.close()
    if as_json:
        print_json({"url": database.url, "objects": objects, "stable_states": states})
        return
    for entry in objects:
        sd = "" if entry["sd_m"] is None else f" +- {1000 * entry['sd_m']:.2f} mm"
        when = "" if entry["time_s"] is None else f" at {entry['time_s']:.2f} s"
        place = f" in {entry['reference']}" if entry["reference"] else ""
        source = f", {entry['evidence']}{when}" if entry["evidence"] else ""
        say(f"{entry['name']:24} {entry['sku'] or entry['class']:28} {_shown(entry['xyz_m'])}{sd}{place}{source}")
    say(f"stable states: {', '.join(states) or 'none'}")


@app.command()
def history(
    name: Annotated[str, typer.Argument(metavar="OBJECT", help="The object's name.")],
    url: Url = DEFAULT_URL,
    as_json: Json = False,
) -> None:
    """Tells when, and on which evidence, the believed pose of an object changed."""
    database = Database(url, must_exist=True)
    try:
        model = WorldModel(database)
        model.tree.indices([name])  # an unknown object is an error that lists those that there are
        changes = model.history(name)
    finally:
        database.close()
    if as_json:
        entries = [
            {"time_s": time_s, "evidence": evidence, "xyz_m": pose.position, "quaternion": pose.quaternion}
            for time_s, evidence, pose in changes
        ]
        print_json({"url": database.url, "object": name, "history": entries})
        return
    rows = [(f"{time_s:.3f}", _shown(pose.position), _turn(pose), evidence) for time_s, evidence, pose in changes]
    table(name, ["time [s]", "x y z in its reference [m]", "yaw [deg]", "evidence"], rows, markup=False)


def _objects(database: Database) -> list[dict[str, Any]]:
    """Returns every solid object with its believed place."""
    found = []
    with database.session() as session:
        for thing in session.scalars(select(records.SolidObject).order_by(records.SolidObject.id)):
            place, sku = thing.primary_location, getattr(thing, "sku", None)
            pose = place if isinstance(place, records.PoseLocation) else None
            point = pose.point if pose is not None else None
            found.append(
                {
                    "name": thing.name,
                    "class": type(thing).__name__,
                    "sku": sku.name if sku is not None else None,
                    "reference": place.ref_object.name if place is not None and place.ref_object is not None else None,
                    "xyz_m": [point.x, point.y, point.z] if point is not None else None,
                    "sd_m": _deviation_m(pose) if pose is not None else None,
                    "time_s": place.timestamp if place is not None else None,
                    "evidence": place.evidence if place is not None else None,
                }
            )
    return found


def _deviation_m(place: records.PoseLocation) -> float | None:
    """Returns the standard deviation of the least certain coordinate."""
    spread = place.position_covariance
    return place.position_standard_deviation if spread is None else max(spread.xx, spread.yy, spread.zz) ** 0.5


def _shown(xyz_m: Any) -> str:
    return "-" if xyz_m is None else " ".join(f"{value:.4f}" for value in xyz_m)


def _turn(pose: Pose) -> str:
    return f"{degrees(pose.rpy[2]):.2f}"
