"""The parts of the status that a client can choose."""

from __future__ import annotations

from cellwright.crcl.conform.check import ambiguous, check, require
from cellwright.crcl.conform.probe import Probe
from cellwright.crcl.conform.restore import PARTS, parts_of
from cellwright.crcl.messages import ConfigureJointReport, ConfigureJointReports, ConfigureStatusReport, CRCLStatus

__all__: list[str] = []


@check("configure-status-report", "ConfigureStatusReport says which parts a status has (schema).")
async def configure_status_report(probe: Probe) -> str:
    """Turns all parts off, then each one on that was there."""
    there = parts_of(await probe.ask())
    off = await probe.do(ConfigureStatusReport(0, False, False, False, False, False, False))
    require(off.done, f"ConfigureStatusReport is {off.text}")
    left = parts_of(await probe.ask())
    require(not left, f"turned off, but still reported: {', '.join(left)}")
    for part in there:
        await probe.do(ConfigureStatusReport(0, *(name == part for name in PARTS)))
        found = parts_of(await probe.ask())
        require(found == [part], f"only {part} turned on, but reported: {', '.join(found) or 'nothing'}")
    return f"one by one: {', '.join(there)}"


@check("reports-per-connection", "What is reported belongs to the connection (practice of NIST's servers).")
async def reports_per_connection(probe: Probe) -> str:
    """Turns all parts off on a second connection and reads the first."""
    there = parts_of(await probe.ask())
    if not there:
        ambiguous("cannot be seen: the status has no parts")
    other = await probe.open()
    answer = await probe.do(ConfigureStatusReport(0, False, False, False, False, False, False), other)
    if not answer.done:
        ambiguous(f"cannot be tried: ConfigureStatusReport is {answer.text}")
    here, gone = parts_of(await probe.ask()), parts_of(await probe.ask(other))
    if gone:
        ambiguous(f"cannot be tried: turned off, but still reported: {', '.join(gone)}")
    require(here == there, f"the first connection lost {', '.join(sorted(set(there) - set(here)))}")
    return f"{len(here)} parts on one, none on the other"


@check("configure-joint-reports", "ConfigureJointReports says what is reported of which joint (schema).")
async def configure_joint_reports(probe: Probe) -> str:
    """Asks for positions of one joint, then for velocities, then for none."""
    first = next(iter(_joints(await probe.ask())), 1)
    for position, velocity in ((True, False), (False, True)):
        report = ConfigureJointReport(first, position, False, velocity)
        answer = await probe.do(ConfigureJointReports(0, True, configure_joint_report=(report,)))
        require(answer.done, f"ConfigureJointReports is {answer.text}")
        joints = _joints(await probe.ask())
        require(list(joints) == [first], f"joint {first} was asked for, reported are {list(joints)}")
        reported = joints[first]
        require(reported[1] is None, "torque or force is reported, though it was not asked for")
        missing = (
            "position" if position and reported[0] is None else "velocity" if velocity and reported[2] is None else ""
        )
        if missing == "velocity":
            ambiguous("the velocity of a joint is not reported; the robot may not know it")
        require(not missing, f"the {missing} was asked for and is not reported")
        extra = "position" if reported[0] is not None and not position else ""
        extra = "velocity" if reported[2] is not None and not velocity else extra
        require(not extra, f"the {extra} is reported, though it was not asked for")
    await probe.do(ConfigureJointReports(0, True))
    left = list(_joints(await probe.ask()))
    require(not left, f"ResetAll without joints leaves {left} reported")
    return f"joint {first}: position, then velocity, then nothing"


def _joints(status: CRCLStatus) -> dict[int, tuple[float | None, float | None, float | None]]:
    joints = status.joint_statuses.joint_status if status.joint_statuses else ()
    return {j.joint_number: (j.joint_position, j.joint_torque_or_force, j.joint_velocity) for j in joints}
