"""What a user reads when a command fails: his robot, his pose, contact and force; nothing of how it is made inside."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import cellwright as cw
from cellwright.crcl import CrclClient
from cellwright.crcl import messages as m
from cellwright.interfaces import CrclInterface

INSIDE = re.compile(r"_mps|_rad|_nm\b|_s\b|Pose\(|lr_mate|\[|<|the line|piece|Error|Motion")
FAR = {"dx": 5.0}
NEAR = {"dz": -0.01}
BAD = {
    "out of reach": (
        lambda move: [move(straight=False, **FAR)],
        r"fanuc cannot reach x 5\.385, y 0\.000, z 0\.433 m, ",
    ),
    "a line out of reach": (lambda move: [move(**FAR)], "fanuc cannot reach x "),
    "millimetres for metres": (
        lambda move: [move(straight=False, dx=500.0)],
        r"fanuc cannot reach x 500\.385, .*: out of reach, 500\.\d+ m from its first joint \(allowed: 0\.\d+ m\); "
        "were millimetres meant\\? the session's unit is meter$",
    ),
    "too far in any unit": (
        lambda move: [move(straight=False, dx=5000.0)],
        r"fanuc cannot reach x 5000\.385, .* \(allowed: 0\.\d+ m\)$",
    ),
    "millimetres for inches": (
        lambda move: [m.SetLengthUnits(0, m.LengthUnitEnum.INCH), move(straight=False, dx=500.0)],
        r"fanuc cannot reach x 12\.7\d+, .*; were millimetres meant\? the session's unit is inch$",
    ),
    "no speed": (
        lambda move: [m.SetTransSpeed(0, m.TransSpeedAbsolute(1e-9)), move(**NEAR)],
        r"TransSpeed is 1e-09 m/s \(allowed: 1e-06 m/s or more\)",
    ),
    "no acceleration": (
        lambda move: [m.SetRotAccel(0, m.RotAccelAbsolute(1e-9)), move(**NEAR)],
        r"RotAccel is 1e-09 rad/s2 \(allowed: 1e-06 rad/s2 or more\)",
    ),
    "no time": (
        lambda move: [m.SetTransSpeed(0, m.TransSpeedAbsolute(1e-6)), move(dz=-0.1)],
        r"fanuc: the time that this motion takes is 1000\d\d\.\d+ s, allowed 0 to 36000 s",
    ),
    "past a singularity": (lambda move: [move(dx=-0.385)], "fanuc cannot follow the straight line: after 98 %"),
    "a screw out of reach": (
        lambda _move: [m.MoveScrew(0, axial_distance_screw=3.0, turn=5.0)],
        r"fanuc cannot reach x .* \(its tool in the frame of its commands\): ",
    ),
    "contact with the table": (
        lambda move: [move(dz=-0.5)],
        r"fanuc stopped by contact after \d\d % of the path: something at the wrist holds it, joint_\d is \d+\.\d deg",
    ),
    "contact at a guard": (
        lambda move: [
            move(dz=0.0),
            move(
                dz=-0.5,
                guard=(
                    m.Guard(
                        "ATINetFT",
                        sub_field="Fz",
                        limit_type=m.GuardLimitEnum.DECREASE_BEYOND_LIMIT,
                        limit_value=20.0,
                        error_on_trigger=True,
                    ),
                ),
            ),
        ],
        r"guard on ATINetFT Fz triggered at \S+ N \(.* 20 N\): contact after \d\d % of the path",
    ),
}


@pytest.fixture(scope="module")
def said(aprs):
    """What each of the bad commands is answered with, by one laboratory."""

    async def work(lab):
        interface, found = CrclInterface(lab), {}
        async with CrclClient(lambda: interface.connect("fanuc")) as client:
            here = (await client.status()).pose_status.pose

            def move(straight=True, dx=0.0, dz=0.0, guard=()):
                point = replace(here.point, x=here.point.x + dx, z=here.point.z + dz)
                return m.MoveTo(0, straight, replace(here, point=point), guard=guard)

            for what, (commands, _) in BAD.items():
                for command in (m.InitCanon(0), *commands(move)):
                    outcome = await client.execute(command)
                found[what] = outcome.reason
        await interface.close()
        return found

    nominal = aprs.model_copy(update={"actual": type(aprs.actual)()})
    with cw.Lab(nominal, seed=1) as lab:
        return lab.perform(work(lab))


@pytest.mark.parametrize("what", BAD)
def test_a_failed_command_says_why_in_the_words_of_the_user(said, what):
    assert re.match(BAD[what][1], said[what]), said[what]
    assert not INSIDE.search(said[what]), said[what]
