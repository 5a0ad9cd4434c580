"""Connections killed at random instants while an arm moves: every motion happens once, and ends where it should."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest

import cellwright as cw
from cellwright.crcl import ClientOptions, CrclClient, OutcomeState, tcp
from cellwright.crcl import messages as m
from cellwright.interfaces import CrclInterface

pytestmark = pytest.mark.slow

WORKING = m.CommandStateEnum.CRCL_WORKING


class Wire:
    """A connection that the network may kill: before a piece is sent, half-way through it, or after it."""

    def __init__(self, network, inner):
        self._network, self._inner = network, inner
        network.wires.append(self)

    async def send(self, data):
        how = self._network.fate("before", "half", "after")
        if how in ("half", "after"):
            await self._inner.send(data[: self._network.chance.randrange(1, len(data))] if how == "half" else data)
        elif how == "":
            await self._inner.send(data)
        if how:
            await self.kill()
            raise ConnectionResetError("killed")

    async def receive(self):
        data = await self._inner.receive()
        if data and self._network.fate("answer"):
            await self.kill()
            return b""
        return data

    async def kill(self):
        if writer := getattr(self._inner, "_writer", None):
            writer.transport.abort()  # a reset, as from a process that is killed; what was not sent yet is lost
        else:
            await self._inner.close()

    async def close(self):
        await self._inner.close()


class Network:
    """Makes connections and kills them: when the countdown of sent and received pieces is over, or when told."""

    def __init__(self, connect, chance):
        self._connect, self.chance = connect, chance
        self.wires, self.countdown, self.killed = [], None, Counter()

    async def connect(self):
        return Wire(self, await self._connect())

    def fate(self, *ways):
        """How this piece ends the connection; empty if it does not."""
        if self.countdown is None:
            return ""
        self.countdown -= 1
        if self.countdown >= 0:
            return ""
        again = self.chance.random() < 0.2  # while the client recovers
        self.countdown = self.chance.randrange(8) if again else None
        way = self.chance.choice(ways)
        self.killed[way] += 1
        return way

    async def kill_all(self):
        self.killed["moment"] += bool(self.wires)
        for wire in self.wires:
            await wire.kill()
        self.wires.clear()


class Cycles:
    """Motions of one arm, each to a place of its own, each with a kill."""

    def __init__(self, lab, interface, network):
        self.lab, self.network, self.chance = lab, network, network.chance
        self.asked, self.begun = [], []
        arm = interface.servers["fanuc"].executor.robot
        follow = arm.move_through

        async def counted(waypoints, *, straight):
            self.begun.append(self._key(waypoints[-1].pose_tool_in_base.position))
            await follow(waypoints, straight=straight)

        arm.move_through = counted

    def client(self):
        return CrclClient(self.network.connect, options=ClientOptions(poll_s=0.02, settle_s=0.1, retry_s=0.05))

    async def run(self, count):
        async with self.client() as client:
            (await client.execute(m.InitCanon(0))).check()
            self.begin = (await client.status()).pose_status.pose
        for number in range(count):
            goal = self._goal(number)
            await (self._cut if self.chance.random() < 0.6 else self._abandon)(goal)
            assert self._key(self._tool()) == pytest.approx(self._key(self._xyz(goal)), abs=1e-4), number

    async def _cut(self, goal):
        """The connection is killed; the same client goes on until the motion is done."""
        async with self.client() as client:
            killer = None
            if self.chance.random() < 0.4:
                killer = asyncio.ensure_future(self._kill_later())
            else:
                self.network.countdown = self.chance.randrange(10)
            outcome = await client.execute(m.MoveTo(0, move_straight=True, end_position=goal))
            assert outcome.state is OutcomeState.DONE, outcome
            self.network.countdown = None
            if killer is not None:
                killer.cancel()
        self.asked.append(self._key(self._xyz(goal)))

    async def _abandon(self, goal):
        """The client is killed, and forgets everything; another one waits for what it began, or begins it."""
        key = self._key(self._xyz(goal))
        async with self.client() as client:
            moving = asyncio.ensure_future(client.execute(m.MoveTo(0, move_straight=True, end_position=goal)))
            await self.lab.clock.sleep(self.chance.uniform(0, 0.3))
            moving.cancel()
            await self.network.kill_all()
        async with self.client() as client:
            while (await client.status()).command_status.command_state is WORKING:
                await self.lab.clock.sleep(0.02)
            if key not in self.begun:  # it died before it had sent anything
                (await client.execute(m.MoveTo(0, move_straight=True, end_position=goal))).check()
        self.asked.append(key)

    async def _kill_later(self):
        await self.lab.clock.sleep(self.chance.uniform(0, 0.4))
        await self.network.kill_all()

    def _goal(self, number):
        """No two are alike."""
        point, side = self.begin.point, self.chance.uniform(0.02, 0.04) * (1 if number % 2 else -1)
        return m.Pose(
            m.Point(point.x, point.y + side, point.z - 0.02 - number * 2e-5), self.begin.x_axis, self.begin.z_axis
        )

    def _tool(self):
        robot = self.lab.robots["fanuc"]
        return (robot.ring.pose_base_in_world.inverse() @ robot.tool_in_world).position

    @staticmethod
    def _xyz(pose):
        return pose.point.x, pose.point.y, pose.point.z

    @staticmethod
    def _key(position):
        return tuple(round(float(value), 7) for value in position)


@pytest.mark.parametrize(
    ("transport", "count"),
    [
        ("memory", 20),
        pytest.param("memory", 800, marks=pytest.mark.long),
        pytest.param("tcp", 200, marks=pytest.mark.long),
    ],
)
def test_every_motion_happens_once(changed, transport, count):
    with cw.Lab(changed(actual={}), seed=1, pace=10.0 if transport == "tcp" else None) as lab:

        async def main():
            interface = CrclInterface(lab)
            connect = lambda: interface.connect("fanuc")  # noqa: E731
            if transport == "tcp":
                await interface.start(ports={"fanuc": 0, "motoman": 0})
                connect = tcp("{}:{}".format(*interface.servers["fanuc"].address))
            cycles = Cycles(lab, interface, Network(connect, random.Random(count)))
            try:
                await cycles.run(count)
            finally:
                await interface.close()
            return cycles

        cycles = lab.perform(main())
    print(f"{count} cycles over {transport}: {dict(cycles.network.killed)}")
    assert cycles.begun == cycles.asked
    assert len(set(cycles.asked)) == count
    assert sum(cycles.network.killed.values()) > count // 2
