from __future__ import annotations

import asyncio

import pytest

from cellwright.core.errors import LogError, OutputError
from cellwright.crcl import CRCLCommandInstance, CRCLStatus, GetStatus, InitCanon, MoveTo, decode, encode
from cellwright.crcl.client import CrclClient
from cellwright.crcl.connection import ConnectionFailed, tcp
from cellwright.crcl.link import LinkLost
from cellwright.crcl.options import ClientOptions
from cellwright.crcl.proxy import CrclProxy, ProxiedMessage
from cellwright.crcl.xml_log import XmlLog, read_xml_log

QUICK = ClientOptions(poll_s=0.01, status_s=1.0, reconnect_s=0.0)


def through_proxy(other_server, work, tell):
    async def main():
        server = other_server(move_s=0.05)
        proxy = await CrclProxy(tcp(await server.start()), tell).start()
        try:
            return await work(proxy, server)
        finally:
            await proxy.close()
            await server.stop()

    return asyncio.run(main())


def test_a_session_goes_through_unchanged_and_is_told(other_server, move_to):
    told = []

    async def work(proxy, server):
        async with CrclClient.to(proxy.address, options=QUICK) as client:
            await client.execute(InitCanon(0))
            return await client.execute(move_to(0.5)), server

    outcome, server = through_proxy(other_server, work, told.append)
    assert outcome.done
    assert server.x_m == pytest.approx(0.5)
    there = [decode(p.data, CRCLCommandInstance).crcl_command for p in told if p.to_robot]
    back = [decode(p.data, CRCLStatus) for p in told if not p.to_robot]
    assert [command for command in there if not isinstance(command, GetStatus)] == server.executed
    assert len(back) == sum(isinstance(command, GetStatus) for command in there)
    assert all(passed.is_document for passed in told)
    assert {passed.connection for passed in told} == {1}, "the second connection was silent"
    assert [p.time_ns for p in told] == sorted(p.time_ns for p in told)


def test_bytes_are_the_same_on_both_sides_however_they_are_cut():
    """A server that sends back what it gets, byte by byte: nothing is lost, changed or held back."""
    sent = (
        b"\n" + encode(CRCLCommandInstance(GetStatus(1))) + b"\0 " + encode(CRCLCommandInstance(GetStatus(2))) + b"<CRC"
    )
    told = []

    async def main():
        async def echo(reader, writer):
            while data := await reader.read(100):
                for at in range(len(data)):
                    writer.write(data[at : at + 1])
                    await writer.drain()
            writer.close()

        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        upstream = tcp(f"127.0.0.1:{server.sockets[0].getsockname()[1]}")
        proxy = await CrclProxy(upstream, told.append).start()
        connection = await tcp(proxy.address)()
        for at in range(0, len(sent), 11):
            await connection.send(sent[at : at + 11])
        got = b""
        while len(got) < len(sent):
            got += await connection.receive()
        await connection.close()
        await asyncio.sleep(0.1)
        await proxy.close()
        server.close()
        return got

    assert asyncio.run(main()) == sent
    for to_robot in (True, False):
        way = [passed for passed in told if passed.to_robot is to_robot]
        assert [passed.is_document for passed in way] == [True, True, False]
        assert way[0].data == encode(CRCLCommandInstance(GetStatus(1)))
        assert way[2].data.strip() == b"<CRC"


def test_a_client_that_only_ends_its_own_side_still_gets_its_answer(other_server):
    async def work(proxy, server):
        reader, writer = await asyncio.open_connection(*proxy.address.split(":"))
        writer.write(encode(CRCLCommandInstance(GetStatus(1))))
        writer.write_eof()
        answer = await asyncio.wait_for(reader.read(), 2.0)
        writer.close()
        return answer

    told = []
    answer = through_proxy(other_server, work, told.append)
    assert decode(answer, CRCLStatus).command_status.command_id == -1
    assert [passed.to_robot for passed in told] == [True, False]


def test_what_is_no_crcl_is_passed_on_and_told_as_bytes(other_server):
    told = []

    async def work(proxy, server):
        connection = await tcp(proxy.address)()
        await connection.send(b"GET / HTTP/1.1\r\n\r\n")
        end = await asyncio.wait_for(connection.receive(), 2.0)
        await connection.close()
        return end

    through_proxy(other_server, work, told.append)
    assert [(p.to_robot, p.is_document, p.data) for p in told] == [(True, False, b"GET / HTTP/1.1\r\n\r\n")]


def test_a_recorder_that_fails_does_not_disturb(other_server, move_to):
    def fail(_passed):
        raise OSError("disk full")

    async def work(proxy, server):
        async with CrclClient.to(proxy.address, options=QUICK) as client:
            return await client.execute(InitCanon(0)), proxy.recording_error

    outcome, error = through_proxy(other_server, work, fail)
    assert outcome.done
    assert error == "OSError: disk full"


def test_without_a_server_the_client_is_let_go():
    async def main():
        said = []
        proxy = await CrclProxy(tcp("127.0.0.1:1"), lambda _p: None, say=said.append).start()
        try:
            with pytest.raises((LinkLost, ConnectionFailed)):
                await CrclClient.to(proxy.address, options=QUICK).open()
        finally:
            await proxy.close()
        return said

    assert "connection refused" in asyncio.run(main())[0]


def test_a_server_that_hangs_up_ends_the_client_too(other_server, move_to):
    async def work(proxy, server):
        server.drop_after = MoveTo
        async with CrclClient.to(proxy.address, options=QUICK) as client:
            await client.execute(InitCanon(0))
            return await client.execute(move_to(0.1))

    assert through_proxy(other_server, work, lambda _p: None).state == "lost"


def test_the_text_record_reads_back_byte_for_byte(tmp_path):
    document = encode(CRCLCommandInstance(GetStatus(1)))
    messages = [
        ProxiedMessage(1_763_191_234_000_000_001, 1, True, document),
        ProxiedMessage(
            1_763_191_234_500_000_000, 2, False, b"\xff no document\n<!-- a comment -->\n", is_document=False
        ),
        ProxiedMessage(1_763_191_235_999_999_999, 1, False, b"<CRCLStatus>\r\n</CRCLStatus>"),
    ]
    log = XmlLog(tmp_path / "log.xml")
    for item in messages:
        log.add(item)
    log.close()
    assert list(read_xml_log(tmp_path / "log.xml")) == messages
    text = (tmp_path / "log.xml").read_bytes()
    assert b" +0.500000 s, connection 2, from robot, bytes, 33 bytes -->" in text
    (tmp_path / "cut.xml").write_bytes(text[:-5])
    assert list(read_xml_log(tmp_path / "cut.xml")) == messages[:2]


def test_text_records_that_cannot_be(tmp_path):
    with pytest.raises(OutputError, match="Is a directory"):
        XmlLog(tmp_path)
    with pytest.raises(LogError, match="No such file"):
        list(read_xml_log(tmp_path / "none.xml"))
    (tmp_path / "other.xml").write_text("<a/>")
    with pytest.raises(LogError, match="is no record of CRCL"):
        list(read_xml_log(tmp_path / "other.xml"))
