"""CRCL commands as messages reach the same executor as those of sockets, and statuses tell what it does."""

import numpy as np
import pytest
from tests.interfaces.ros.graph_rig import GraphRig

from cellwright import Lab
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.crcl import CrclClient
from cellwright.crcl import messages as m
from cellwright.interfaces import CrclInterface
from cellwright.interfaces.ros.crcl_messages import COMMAND, NAMES

DONE, ERROR, WORKING = 0, 1, 2
XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'


class CrclRig(GraphRig):
    """Sends CRCL messages to a robot, and waits for what its statuses say."""

    def __init__(self, lab, robot):
        self.robot, self.crcl = robot, CrclInterface(lab)
        super().__init__(lab, crcl=self.crcl)
        self.statuses = self.hear(f"/{robot}/crcl_status")
        self.texts = self.hear(f"/{robot}/crcl_status_xml")

    def command(self, name, number, **fields):
        self.send(
            f"/{self.robot}/crcl_command",
            self.make(COMMAND, crclcommand=NAMES.index(name) + 1, crclcommandnum=number, **fields),
        )

    async def do(self, name, number, within_s=10.0, **fields):
        """Sends a command and returns the status at its end."""
        self.command(name, number, **fields)
        return await self.end(number, within_s)

    async def end(self, number, within_s=10.0):
        begin_s, self.statuses[:] = self.lab.clock.time_s, []
        while self.lab.clock.time_s < begin_s + within_s:
            await self.lab.clock.sleep(0.05)
            last = self.statuses[-1] if self.statuses else None
            if last and last.crclcommandnum == number % 256 and last.crclcommandstatus != WORKING:
                return last
        raise AssertionError(f"{number} has not ended: {self.statuses[-1:]}")

    def text(self, kind, number, content=""):
        command = f'<CRCLCommand {XSI} xsi:type="{kind}Type"><CommandID>{number}</CommandID>{content}</CRCLCommand>'
        self.send_text(f"<CRCLCommandInstance>{command}</CRCLCommandInstance>")

    def send_text(self, text):
        self.send(f"/{self.robot}/crcl_command_xml", self.make("std_msgs/msg/String", data=text))


@pytest.fixture(scope="module")
def lab():
    with Lab.from_cell("rovi", seed=2) as lab:
        yield lab


@pytest.fixture(scope="module")
def rig(lab):
    return CrclRig(lab, "ur5")


@pytest.fixture
def aprs():
    with Lab.from_cell("aprs", seed=2) as lab:
        yield lab


@pytest.mark.slow
def test_a_program_of_messages_moves_the_arm_and_the_fingers(aprs):
    lab, rig, robot = aprs, CrclRig(aprs, "fanuc"), aprs.robot("fanuc")

    async def work():
        not_yet = await rig.do("dwell", 1, dwell_seconds=0.1)
        assert not_yet.crclcommandstatus == ERROR  # needs an initCanon, as over a socket
        assert (await rig.do("initCanon", 2)).crclcommandstatus == DONE
        goal = np.radians([10, 5, 0, 0, -80, 0])
        moved = await rig.do("actuatejoints", 300, joints=rig.joints([], goal))
        assert np.allclose(moved.statusjoints.position, goal, atol=1e-3)
        assert moved.statusjoints.name == [f"joint_{n}" for n in range(1, 7)]
        one = await rig.do("actuatejoints", 301, jointnum=np.array([1], np.uint64), joints=rig.joints([], [0.0]))
        assert np.allclose(one.statusjoints.position, [0.0, *goal[1:]], atol=1e-3)
        pose = one.statuspose
        pose.position.z += 0.05
        begin_s = lab.clock.time_s
        profile = rig.make("nistcrcl/msg/CrclMaxProfileMsg", maxvel=0.05, maxacc=1.0)
        lifted = await rig.do("moveto", 302, finalpose=pose, bStraight=True, profile=[profile])
        assert lab.clock.time_s - begin_s > 1.0  # 5 cm at 5 cm/s
        assert lifted.statuspose.position.z == pytest.approx(pose.position.z, abs=1e-3)
        closed = await rig.do("setEndEffector", 303, eepercent=0.0)
        opened = await rig.do("setEndEffector", 304, eepercent=1.0)
        assert closed.eepercent < 0.1 < 0.9 < opened.eepercent
        low = rig.make("geometry_msgs/msg/Pose", position=one.statuspose.position, orientation=pose.orientation)
        low.position.z -= 0.02
        through = await rig.do("moveThroughTo", 305, waypoints=[pose, low])
        assert through.crclcommandstatus == DONE
        return through

    last = lab.perform(work())
    told = np.array([last.statuspose.position.x, last.statuspose.position.y, last.statuspose.position.z])
    in_base = robot.ring.pose_base_in_world.inverse() @ robot.tool_in_world
    assert np.allclose(told, in_base.position, atol=1e-3)
    assert last.header.frame_id == "fanuc/crcl"
    frame = next(frame for frame in rig.graph.frames if frame.child == "fanuc/crcl")
    assert np.allclose(frame.position, robot.ring.pose_base_in_world.position)


def test_statuses_come_twenty_times_a_second_while_somebody_listens(lab, rig):
    async def work():
        await lab.clock.sleep(0.1)
        rig.statuses[:], rig.texts[:] = [], []
        await lab.clock.sleep(1.0)

    lab.perform(work())
    assert len(rig.statuses) == len(rig.texts) == 20
    numbers = [status.crclstatusnum for status in rig.statuses]
    assert len(set(numbers)) == 20
    assert "<CRCLStatus>" in rig.texts[-1].data
    place, turn = rig.statuses[-1].statuspose.position, rig.statuses[-1].statuspose.orientation
    told = Pose(np.array([place.x, place.y, place.z]), np.array([turn.w, turn.x, turn.y, turn.z]))
    robot = lab.robot("ur5")
    assert told.is_close(
        robot.ring.pose_base_in_world.inverse() @ robot.tool_in_world, tolerance_m=1e-4, tolerance_rad=1e-3
    )


def test_an_error_is_told_by_the_status_and_ended_by_initcanon(lab, rig):
    async def work():
        await rig.do("initCanon", 10)
        far = rig.make("geometry_msgs/msg/Pose")
        far.position.x, far.orientation.w = 5.0, 1.0
        status = await rig.do("moveto", 11, finalpose=far)
        assert status.crclcommandstatus == ERROR
        assert "out of reach" in rig.texts[-1].data
        assert (await rig.do("initCanon", 12)).crclcommandstatus == DONE

    lab.perform(work())


@pytest.mark.parametrize(
    ("name", "fields", "why"),
    [
        ("pick", {}, r"crclcommand 16 \(pick\) is not known here; known: initCanon=1"),
        ("moveto", {}, "quaternion of a pose has length 0"),
        ("actuatejoints", {}, "0 positions for 6 joints"),
        ("setEndEffector", {"eepercent": 2.0}, "eepercent is 2, allowed 0 to 1"),
        ("dwell", {"dwell_seconds": np.nan}, "not finite"),
        ("moveThroughTo", {}, "needs two poses"),
        ("message", {"opmessage": "\x01"}, "Message"),
    ],
)
def test_messages_that_make_no_command_are_refused(lab, rig, name, fields, why):
    with pytest.raises(BadInput, match=why):
        rig.command(name, 20, **fields)
    with pytest.raises(BadInput, match="crclcommand 99 is not known"):
        rig.send("/ur5/crcl_command", rig.make(COMMAND, crclcommand=99))


def test_joints_that_are_not_there_are_refused(rig):
    for fields, why in (
        ({"joints": rig.joints(["elbow"], [0.0])}, "unknown joint of ur5 'elbow'"),
        ({"joints": rig.joints([], [0.0]), "jointnum": np.array([7], np.uint64)}, "jointnum is 7, allowed 1 to 6"),
        ({"joints": rig.joints([], [0.0, 1.0])}, "2 positions for 6 joints"),
    ):
        with pytest.raises(BadInput, match=why):
            rig.command("actuatejoints", 21, **fields)


def test_xml_is_executed_with_units_of_its_own_and_answered(lab, rig):
    async def work():
        await rig.do("initCanon", 30)
        rig.text("SetLengthUnits", 31, "<UnitName>millimeter</UnitName>")
        await lab.clock.sleep(0.1)
        rig.texts[:] = []
        rig.text("GetStatus", 32)
        assert len(rig.texts) == 1  # at once
        millimetres = float(rig.texts[0].data.partition("<X>")[2].partition("</X>")[0])
        await lab.clock.sleep(0.06)
        assert rig.statuses[-1].statuspose.position.x == pytest.approx(millimetres / 1000, abs=1e-3)
        rig.text("Dwell", 33, "<DwellTime>0.2</DwellTime>")
        assert (await rig.end(33)).crclcommandstatus == DONE

    lab.perform(work())


def test_text_that_is_no_document_is_refused_and_puts_the_robot_into_error(lab, rig):
    async def work():
        await rig.do("initCanon", 40)
        unknown = "<CRCLCommandInstance><x/></CRCLCommandInstance>"
        for wrong, why in (("garbage", "cannot be read"), ("<a>", "one whole document"), (unknown, "cannot be read")):
            with pytest.raises(BadInput, match=why):
                rig.send_text(wrong)
        assert (await rig.end(40)).crclcommandstatus == ERROR
        assert (await rig.do("initCanon", 41)).crclcommandstatus == DONE

    lab.perform(work())


@pytest.mark.slow
def test_messages_and_a_client_of_the_server_command_the_same_robot(lab, rig):
    """A command of a client over CRCL's own connection is seen in the messages, in their units."""

    async def work():
        async with CrclClient(lambda: rig.crcl.connect("ur5")) as client:
            await client.execute(m.InitCanon(0))
            await client.execute(m.SetLengthUnits(0, m.LengthUnitEnum.MILLIMETER))
            rig.statuses[:] = []
            await client.execute(m.Dwell(0, 0.3))
            states = [status.crclcommandstatus for status in rig.statuses]
        return states

    states = lab.perform(work())
    assert WORKING in states
    assert rig.statuses[-1].statuspose.position.x < 2.0  # metres
