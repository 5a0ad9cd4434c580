"""`cellwright ros`: what a cell offers to ROS programs, and packages of its message types."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellwright.cli.output import print_json, say, table
from cellwright.core.errors import OutputError
from cellwright.core.files import refuse_existing
from cellwright.interfaces.ros.graph import RosGraph
from cellwright.interfaces.ros.types import RosTypes, short_name
from cellwright.lab import Lab

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="What a cell offers to ROS programs; packages of its message types.")

CellArgument = Annotated[str, typer.Argument(help="A cell's name, or a YAML file.")]
Truth = Annotated[bool, typer.Option("--truth", help="With topics of truth, below /truth.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command()
def topics(cell: CellArgument, truth: Truth = False, as_json: Json = False) -> None:
    """Lists topics, services and parameters that `serve CELL --bridge NAME` has, without any ROS."""
    graph = _graph(cell, with_truth=truth)
    published = {topic.topic: topic.ros_type for topic in graph.published.values()}
    subscribed = {topic.topic: topic.ros_type for topic in graph.subscribed.values()}
    services = {service.name: service.service_type for service in graph.services.values()}
    if as_json:
        kinds = {"published": published, "subscribed": subscribed, "services": services}
        print_json(
            {"cell": cell, **kinds, "parameters": sorted(graph.parameters), "own_types": sorted(graph.definitions)}
        )
        return
    for title, names in (("published", published), ("subscribed", subscribed), ("services", services)):
        if names:
            table(
                title,
                ["name", "type (ROS 1)"],
                [(name, short_name(names[name])) for name in sorted(names)],
                markup=False,
            )
            say()
    if graph.parameters:
        say(f"parameters: {', '.join(sorted(graph.parameters))}")


@app.command()
def messages(
    cells: Annotated[list[str], typer.Argument(metavar="CELL...", help="Cells' names, or YAML files.")],
    out: Annotated[Path, typer.Option(help="The folder of the packages, such as a catkin workspace's src.")],
    truth: Truth = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
) -> None:
    """Writes ROS packages of the message and service types of cells that no ROS installation has.

    With ROS's generator (Debian's python3-genpy) their Python modules too, so that `rostopic echo` works at once.
    """
    from cellwright.interfaces.ros.ros1_package import package_files, python_modules

    definitions: dict[str, str] = {}
    for cell in cells:
        definitions |= _graph(cell, with_truth=truth).definitions
    types = RosTypes(definitions)
    files = package_files(types, definitions)
    if not overwrite:
        refuse_existing(*(out / path for path in files))
    try:
        for path, text in files.items():
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).write_text(text)
    except OSError as error:
        raise OutputError(out, str(error.strerror)) from None
    packages = sorted({path.partition("/")[0] for path in files})
    say(f"{len(definitions)} types in {', '.join(str(out / package) for package in packages)}")
    modules = python_modules(out, types, files)
    say(f"export ROS_PACKAGE_PATH=${{ROS_PACKAGE_PATH:-/usr/share}}:{out.resolve()}")  # a ROS's own go first
    if modules is None:
        say("no Python modules: build the packages with catkin, or apt install python3-genpy and write them once more")
    else:
        say(f"export PYTHONPATH=${{PYTHONPATH:+$PYTHONPATH:}}{modules.resolve()}")


def _graph(cell: str, *, with_truth: bool) -> RosGraph:
    from cellwright.interfaces.ros.laboratory import graph_of

    with Lab.from_cell(cell) as lab:
        return graph_of(lab, with_truth=with_truth)
