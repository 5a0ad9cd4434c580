"""`cellwright serve`: a cell as a server, for controllers from outside."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Literal

import typer

from cellwright.cells import cell_hints
from cellwright.cli.live_page import VIEW_HELP, LivePage
from cellwright.cli.output import err, say, tell_hints
from cellwright.cli.targets_options import ControlPortOption, TargetsOption
from cellwright.core.errors import BadInput
from cellwright.core.files import refuse_existing
from cellwright.core.listener import host_and_port
from cellwright.core.loop_interrupts import ended_by
from cellwright.core.pacing import FASTEST, SLOWEST, PaceLoss
from cellwright.hybrid import LabTargets
from cellwright.interfaces import (
    PICTURE_PORT,
    USARTRUTH_PORT,
    CrclInterface,
    PictureInterface,
    UsarTruthInterface,
    VisionInterface,
)
from cellwright.interfaces.ros import BRIDGES, BridgeOptions, RosBridge
from cellwright.lab import Lab
from cellwright.lab.cell_file import read_cell

__all__ = ["serve"]

FOR_EVER_S = float("inf")
FULL_PACE = "max"
PACE_LOOK_S = 0.5


def serve(
    context: typer.Context,
    cell: Annotated[str, typer.Argument(help="A cell's name, or a YAML file.")],
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 lets every host in.")] = "127.0.0.1",
    port: Annotated[
        list[str] | None, typer.Option(help="ROBOT=PORT of CRCL instead of the cell's own; 0 is any free port.")
    ] = None,
    vision_port: Annotated[
        list[str] | None, typer.Option(help="ROBOT=PORT of the vision socket instead of the cell's own.")
    ] = None,
    picture_port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="Port of the picture socket, where the cell has cameras that take any."),
    ] = PICTURE_PORT,
    any_port: Annotated[bool, typer.Option("--any-port", help="Free ports for all that is not given one.")] = False,
    profile: Annotated[str, typer.Option(help="Units after InitCanon: spec (m, rad) or aprs-lab (mm, deg).")] = "spec",
    frame: Annotated[str, typer.Option(help="Frame of poses: base or world.")] = "base",
    push: Annotated[float | None, typer.Option(help="Send a status to all clients every so many seconds.")] = None,
    seed: Annotated[int, typer.Option(help="Decides the actual layout.")] = 0,
    bridge: Annotated[
        list[str] | None,
        typer.Option(help="NAME[=HOST:PORT] of a bridge to ROS programs: rosbridge, or ros1 with its master."),
    ] = None,
    truth: Annotated[bool, typer.Option("--truth", help="Bridges also offer topics of truth, below /truth.")] = False,
    token: Annotated[
        str | None, typer.Option(help="What clients of a bridge must say first: a text, or auto for a random one.")
    ] = None,
    usartruth: Annotated[
        str | None,
        typer.Option(
            metavar="[HOST:PORT]",
            help="Tell true poses to USARTruth clients, at HOST:PORT or PORT; 127.0.0.1:3989 by default.",
        ),
    ] = None,
    pace: Annotated[
        str, typer.Option(metavar="NUMBER|max", help="Simulated seconds per second, or max: as fast as possible.")
    ] = "1",
    fidelity: Annotated[str | None, typer.Option(help="physics or kinematic; the cell's own by default.")] = None,
    source: Annotated[
        str | None, typer.Option(help="Where detections come from: state, or camera, recognised in pictures.")
    ] = None,
    record: Annotated[Path | None, typer.Option(help="Log everything to this MCAP file.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a log that exists.")] = False,
    view: Annotated[str | None, typer.Option(metavar="[HOST:PORT]", help=VIEW_HELP)] = None,
    targets: TargetsOption = None,
    control_port: ControlPortOption = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the addresses as one JSON object in one line.")
    ] = False,
) -> int:
    """Serves every robot of a cell over CRCL, and what its detector sees on a socket, until it is interrupted.

    Connect any CRCL client: `cellwright crcl status 127.0.0.1:64444`. See what the Fanuc sees: `nc 127.0.0.1 5001`.
    """
    ports = dict(_port("--port", text) for text in port or [])
    vision_ports = dict(_port("--vision-port", text) for text in vision_port or [])
    if record is not None and not overwrite:
        refuse_existing(record)
    truth_address = None if usartruth is None else host_and_port(usartruth, "--usartruth", USARTRUTH_PORT)
    loaded = read_cell(cell)
    speed = _pace(pace)
    live = context.with_resource(LivePage(view, "fast" if view is not None and speed is None else None))
    tell_hints(cell_hints(loaded))
    with Lab.from_cell(loaded, seed, pace=1.0, fidelity=fidelity, source=source, horizon_s=FOR_EVER_S) as lab:
        lab.loop.pacing.speed = speed  # a loop with a pace, however fast: clients that are always busy do not stop it
        lab.loop.pacing.watch(PaceLoss(lab.loop.pacing, lab.world.clock, _tell).look, PACE_LOOK_S)
        elsewhere = None
        if targets is not None or loaded.targets.has_external:
            if speed is None:
                raise BadInput("--pace max is not for targets: what is external takes its time (allowed: a number)")
            elsewhere = LabTargets(lab, file=targets, say=_tell, control_port=control_port)
        crcl = CrclInterface(
            lab,
            profile=profile,
            frame=_frame(frame),
            push_period_s=push,
            stand_in=None if elsewhere is None else elsewhere.stand_in,
        )
        vision = VisionInterface(lab, profile=profile, frame=_frame(frame))
        pictures = PictureInterface(lab)
        for robot in ports:
            lab.robot(robot)
        vision.check_ports(vision_ports)
        if any_port:
            ports = dict.fromkeys(crcl.servers, 0) | ports
            vision_ports = dict.fromkeys(vision.servers, 0) | vision_ports
            picture_port = 0 if picture_port == PICTURE_PORT else picture_port
        options = BridgeOptions(host=host, is_any_port=any_port, token=token, say=_tell)
        telling = None if truth_address is None else (UsarTruthInterface(lab), truth_address)
        bridges = _bridges(lab, crcl, bridge or [], options, with_truth=truth)
        if record is not None:
            lab.record(record)
        with live.watching(lab):
            lab.perform(
                _serve(
                    lab,
                    crcl,
                    vision,
                    pictures,
                    bridges,
                    telling,
                    elsewhere,
                    host,
                    ports,
                    vision_ports,
                    picture_port,
                    as_json,
                )
            )
    return 0


async def _serve(
    lab: Lab,
    crcl: CrclInterface,
    vision: VisionInterface,
    pictures: PictureInterface,
    bridges: dict[str, RosBridge],
    telling: tuple[UsarTruthInterface, tuple[str, int]] | None,
    targets: LabTargets | None,
    host: str,
    ports: dict[str, int],
    vision_ports: dict[str, int],
    picture_port: int,
    as_json: bool,
) -> None:
    ended, loop, interrupts = asyncio.Event(), asyncio.get_running_loop(), list[bool]()

    def interrupt() -> None:
        interrupts.append(True)
        loop.call_soon_threadsafe(ended.set)

    handler = ExitStack()
    if targets is not None:
        for number in (signal.SIGINT, signal.SIGHUP):
            handler.enter_context(ended_by(number, interrupt))
    try:
        if targets is not None:
            await targets.start()
        await crcl.start(host, ports)
        await vision.start(host, vision_ports)
        if pictures.cameras:
            await pictures.start(host, picture_port)
        for bridge in bridges.values():
            await bridge.start()
        if telling is not None:
            await telling[0].start(*telling[1])
        addresses = {
            "crcl": {robot: "{}:{}".format(*server.address) for robot, server in crcl.servers.items()},
            "vision": vision.addresses,
            **({"pictures": {"cameras": pictures.address}} if pictures.cameras else {}),
            **({"usartruth": {"truth": telling[0].address}} if telling else {}),
            **({"bridges": {name: bridge.address for name, bridge in bridges.items()}} if bridges else {}),
            **({"control": {"targets": targets.control.address}} if targets else {}),
        }
        if as_json:
            print(json.dumps({"cell": lab.cell.name, **addresses}))  # one line: the process that started it reads on
        else:
            for interface, robots in addresses.items():
                for robot, address in robots.items():
                    say(f"{robot}: {interface} at {address}" if interface != "bridges" else f"{robot} at {address}")
            say("until Ctrl-C")
        sys.stdout.flush()
        loop.add_signal_handler(signal.SIGTERM, ended.set)
        await ended.wait()
    finally:
        if targets is not None:  # first: robots that are not simulated are stopped
            await targets.close()
        if telling is not None:
            await telling[0].close()
            _tell(telling[0].note)
        for bridge in bridges.values():
            await bridge.close()
        await pictures.close()
        await vision.close()
        await crcl.close()
        handler.close()
    if interrupts:
        raise KeyboardInterrupt


def _bridges(
    lab: Lab, crcl: CrclInterface, asked: list[str], options: BridgeOptions, *, with_truth: bool
) -> dict[str, RosBridge]:
    """Returns the bridges that are asked for, which are not started yet."""
    if not asked:
        if with_truth or options.token is not None:
            raise BadInput("--truth and --token are for bridges: add --bridge NAME")
        return {}
    from cellwright.interfaces.ros.laboratory import graph_of

    graph = graph_of(lab, with_truth=with_truth, crcl=crcl)
    bridges: dict[str, RosBridge] = {}
    for text in asked:
        name, _, address = text.partition("=")
        if name in bridges:
            raise BadInput(f"--bridge {name} is given twice")
        make = BRIDGES.get(name, "--bridge")
        bridges[name] = make(lab, graph, address or None, options)
    return bridges


def _tell(line: str) -> None:
    say(line, to=err)


def _pace(text: str) -> float | None:
    """Returns simulated seconds per second; None is as fast as possible."""
    if text == FULL_PACE:
        return None
    try:
        pace = float(text)
    except ValueError:
        pace = -1.0
    if not SLOWEST <= pace <= FASTEST:
        raise BadInput(f"--pace takes a number from {SLOWEST:g} to {FASTEST:g}, or {FULL_PACE}, not '{text}'")
    return pace


def _port(option: str, text: str) -> tuple[str, int]:
    robot, _, number = text.partition("=")
    if not (robot and number.isdecimal() and int(number) <= 65535):
        raise BadInput(f"{option} takes ROBOT=PORT with a port from 0 to 65535, not '{text}'")
    return robot, int(number)


def _frame(text: str) -> Literal["base", "world"]:
    if text == "base":
        return "base"
    if text == "world":
        return "world"
    raise BadInput(f"--frame is base or world, not '{text}'")
