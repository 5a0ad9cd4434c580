"""`cellwright crcl status`: the status of a robot."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

import typer

from cellwright.cli.crcl_options import Json, Server, tell_findings
from cellwright.cli.output import print_json, say, table
from cellwright.crcl import encode
from cellwright.crcl.connection import parse_address, tcp
from cellwright.crcl.findings import DocumentFindings
from cellwright.crcl.link import CrclLink
from cellwright.crcl.messages import CRCLStatus, ParallelGripperStatus, VacuumGripperStatus
from cellwright.crcl.options import ClientOptions

__all__ = ["status"]


def status(
    server: Server,
    xml: Annotated[bool, typer.Option("--xml", help="Print the status as XML.")] = False,
    as_json: Json = False,
) -> None:
    """Asks a CRCL server for its status and shows it; moves nothing, changes nothing.

    A status that breaks the schema is shown as far as it can be read; each finding is a line on stderr.
    """
    parse_address(server)
    reported, text, findings = asyncio.run(_ask(server))
    if as_json:
        print_json({**_plain(asdict(reported)), "findings": findings.lines})
    elif xml:
        # What breaks the schema cannot be written by it: it is shown as it came.
        print(text.decode("utf-8", "backslashreplace") if findings else encode(reported, indent="  ").decode().rstrip())
    else:
        _show(reported)
    tell_findings(findings)


async def _ask(server: str) -> tuple[CRCLStatus, bytes, DocumentFindings]:
    findings = DocumentFindings()
    link = await CrclLink.open(tcp(server), server, findings=findings)
    try:
        await link.ask(1)
        return await link.next_status(ClientOptions.status_s), link.latest_text, findings
    finally:
        await link.close()


def _show(reported: CRCLStatus) -> None:
    command, settings = reported.command_status, reported.settings_status
    description = f": {command.state_description}" if command.state_description else ""
    say(f"command {command.command_id}: {command.command_state}{description} (status {command.status_id})")
    if command.program_file:
        say(f"program {command.program_file}: {command.program_index} of {command.program_length}")
    length = settings.length_unit_name if settings and settings.length_unit_name else "length unit not told"
    angle = settings.angle_unit_name if settings and settings.angle_unit_name else "angle unit not told"
    if reported.pose_status:
        pose = reported.pose_status.pose
        point, x, z = pose.point, pose.x_axis, pose.z_axis
        say(f"at {_row(point.x, point.y, point.z)} ({length})")
        say(f"x axis {_row(x.i, x.j, x.k)}; z axis {_row(z.i, z.j, z.k)}")
    if reported.gripper_status:
        gripper, state = reported.gripper_status, ""
        if isinstance(gripper, ParallelGripperStatus):
            state = f", {gripper.separation:.6g} open"
        elif isinstance(gripper, VacuumGripperStatus):
            state = ", powered" if gripper.is_powered else ", not powered"
        holding = {True: ", holds something", False: ", holds nothing", None: ""}[gripper.holding_object]
        say(f"gripper {gripper.gripper_name}{state}{holding}")
    if reported.joint_statuses:
        rows = [
            (j.joint_number, *(_number(v) for v in (j.joint_position, j.joint_velocity, j.joint_torque_or_force)))
            for j in reported.joint_statuses.joint_status
        ]
        table(f"joints ({angle}; {length} where they slide)", ["joint", "position", "velocity", "effort"], rows)


def _number(value: float | None) -> str:
    """Returns a number with six digits; one that is next to zero is zero."""
    return "-" if value is None else f"{0.0 if abs(value) < 1e-9 else value:.6g}"


def _row(*values: float) -> str:
    return ", ".join(map(_number, values))


def _plain(value: Any) -> Any:
    """Returns a value without the fields that are None."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if item is not None and item != ()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
