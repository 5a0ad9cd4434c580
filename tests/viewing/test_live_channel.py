"""The way of packets to a page: poses and states that nobody has read yet are replaced, and never pile up."""

import asyncio
import socket

from cellwright.viewing.live_channel import HEADER, PacketKind, ViewChannel
from cellwright.viewing.live_page import WatchingPage

LARGE = bytes(100_000)


def numbered(number):
    return LARGE + number.to_bytes(4, "little")


def test_a_channel_that_is_not_read_keeps_the_newest_poses_and_all_rows():
    ours, theirs = socket.socketpair()
    with theirs:
        channel = ViewChannel(ours)
        for number in range(200):
            channel.send(PacketKind.POSES, numbered(number))
            channel.send(PacketKind.ROWS, str(number).encode())
        theirs.setblocking(False)
        read = b""
        while True:
            channel.pump()
            try:
                read += theirs.recv(2**20)
            except BlockingIOError:
                break
        channel.close()
    kinds, at = [], 0
    while at < len(read):
        kind, length = HEADER.unpack_from(read, at)
        kinds.append((PacketKind(kind), read[at + HEADER.size :][:length]))
        at += HEADER.size + length
    assert [packet for kind, packet in kinds if kind is PacketKind.ROWS] == [str(n).encode() for n in range(200)]
    poses = [packet for kind, packet in kinds if kind is PacketKind.POSES]
    assert len(poses) < 20
    assert poses[-1] == numbered(199)


def test_a_page_that_is_not_read_gets_the_newest_poses_and_all_rows():
    class Slow:
        def __init__(self):
            self.sent = []

        async def send(self, packet):
            await asyncio.sleep(0)
            self.sent.append(packet)

    async def watch():
        page = WatchingPage(slow)
        for number in range(200):
            page.offer(PacketKind.POSES, numbered(number))
            page.offer(PacketKind.ROWS, str(number).encode())
        sending = asyncio.ensure_future(page.send())
        await page.until_sent()
        sending.cancel()

    slow = Slow()
    asyncio.run(watch())
    assert slow.sent == [*(str(number).encode() for number in range(200)), numbered(199)]
