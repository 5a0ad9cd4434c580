"""`cellwright targets`: where the robots and detectors of a run are, and how to switch them while it goes on."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cellwright.cli.output import print_json, say, table
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.listener import host_and_port

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, help="Where the robots and detectors of a run are; switches them while it goes on."
)

CONNECT_S, SIMULATED = 5.0, "simulated"
Control = Annotated[str, typer.Argument(metavar="HOST:PORT", help="The address that the run printed for its targets.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command()
def check(
    cell: Annotated[str, typer.Argument(help="A cell's name, or a YAML file.")],
    file: Annotated[Path, typer.Argument(help="A file of targets.")],
) -> None:
    """Checks a file of targets against a cell, without connecting to anything."""
    from cellwright.hybrid import read_targets
    from cellwright.lab import Lab

    with Lab.from_cell(cell) as lab:
        cfg = read_targets(lab, file)
    for kind, targets in (("robot", cfg.robots), ("detector", cfg.detectors)):
        for name, target in targets.items():
            settings = target.model_dump(exclude_defaults=True, exclude={"at"}, mode="json")
            told = "".join(f", {key} {json.dumps(value)}" for key, value in settings.items())
            say(f"{kind} {name}: {target.at}{told}")


@app.command()
def show(control: Control, as_json: Json = False) -> None:
    """Shows where everything is now, and how late its messages are."""
    with _asking(control) as ask:
        told = ask({"ask": "targets"}, "targets")["targets"]
    if as_json:
        print_json(told)
        return
    rows = [
        (
            name,
            target["at"],
            f"{1000 * target['latency_s']:.0f}" if "latency_s" in target else "",
            f"{1000 * target['jitter_s']:.0f}" if "jitter_s" in target else "",
            target["lost"],
        )
        for kind in ("robots", "detectors")
        for name, target in told[kind].items()
    ]
    table("targets", ["name", "at", "latency [ms]", "jitter [ms]", "lost"], rows, markup=False)
    say(f"out of pace {100 * told['slip']:.1f} % of the time")
    if told["stopped"]:
        say(f"stopped: {told['stopped']}")


@app.command()
def switch(
    name: Annotated[str, typer.Argument(help="A robot or a detector.")],
    to: Annotated[str, typer.Argument(help="simulated, or HOST:PORT.")],
    control: Annotated[str, typer.Option("--control", metavar="HOST:PORT", help="The address that the run printed.")],
    align: Annotated[
        bool, typer.Option("--align", help="First move the simulated robot to where the external one stands.")
    ] = False,
    wait_s: Annotated[float, typer.Option(min=0.1, help="For how long the action under way may still take.")] = 180.0,
    as_json: Json = False,
) -> int:
    """Switches a robot or a detector when its action under way has ended. Exit 1: it was refused, and says why."""
    if to != SIMULATED:
        from cellwright.crcl.connection import parse_address

        parse_address(to)
    with _asking(control, wait_s) as ask:
        answer = ask({"switch": name, "to": to, "align": align}, "switched", "refused")
        while name not in (answer.get("switched"), answer.get("refused")):
            answer = ask(None, "switched", "refused")
    if as_json:
        print_json(answer)
    elif "switched" in answer:
        say(f"{name} is {to if to == SIMULATED else 'at ' + to}")
    else:
        raise JobFailed(str(answer["why"]))
    return 0 if "switched" in answer else 1


@contextmanager
def _asking(control: str, wait_s: float = CONNECT_S) -> Iterator[Any]:
    """Yields a function that sends a line, if there is one, and returns the next that comes with one of some keys."""
    host, port = host_and_port(control, "the control address", 0)
    if not port:
        raise BadInput(
            f"the control address '{control}' has no port (allowed: HOST:PORT or PORT, as the run printed it)"
        )
    try:
        with socket.create_connection((host, port), timeout=CONNECT_S) as link, link.makefile("rwb") as lines:
            link.settimeout(wait_s)

            def ask(question: dict[str, Any] | None, *keys: str) -> dict[str, Any]:
                if question is not None:
                    lines.write(json.dumps(question).encode() + b"\n")
                    lines.flush()
                while line := lines.readline():
                    answer = json.loads(line)
                    if not isinstance(answer, dict):
                        raise ValueError("no object")
                    if "error" in answer:
                        raise BadInput(str(answer["error"]))
                    if any(key in answer for key in keys):  # a trial also tells of its orders, and of other switches
                        return answer
                raise JobFailed(f"{control} hung up: is it the address that the run printed for `cellwright targets`?")

            yield ask
    except ValueError:
        raise JobFailed(f"{control} does not speak the control protocol") from None
    except TimeoutError:
        raise JobFailed(f"{control} did not answer within {wait_s:g} s") from None
    except OSError as error:
        raise JobFailed(f"{control}: {error.strerror or error}") from None
