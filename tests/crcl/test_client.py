from __future__ import annotations

import asyncio
import socket
from dataclasses import replace

import pytest

from cellwright.core.errors import BadInput
from cellwright.crcl import (
    CommandStateEnum,
    CRCLCommandInstance,
    CrclServer,
    Dwell,
    EndCanon,
    ExampleArm,
    GetStatus,
    InitCanon,
    LengthUnitEnum,
    Message,
    MoveTo,
    SetLengthUnits,
    decode,
    encode,
)
from cellwright.crcl.client import CrclClient
from cellwright.crcl.connection import ConnectionFailed, parse_address
from cellwright.crcl.link import LinkLost, NoAnswer
from cellwright.crcl.options import ClientOptions
from cellwright.crcl.outcome import CommandFailed, OutcomeState
from cellwright.crcl.session_settings import report_when_done

QUICK = ClientOptions(poll_s=0.01, status_s=1.0, refusal_s=0.1, reconnect_s=2.0, retry_s=0.02, settle_s=0.1)
MM = SetLengthUnits(0, LengthUnitEnum.MILLIMETER)


def with_client(server, work, options=QUICK, say=lambda _text: None):
    """Runs work(client) against a server."""

    async def run():
        address = await server.start()
        try:
            async with CrclClient.to(address, options=options, say=say) as client:
                return await work(client)
        finally:
            await server.stop()

    return asyncio.run(run())


def kinds(server):
    return [type(command).__name__ for command in server.executed]


@pytest.mark.parametrize("push_s", [None, 0.004])
def test_a_session_with_servers_that_answer_and_with_those_that_report_by_themselves(other_server, move_to, push_s):
    server = other_server(push_s=push_s)

    async def work(client):
        outcomes = [await client.execute(c) for c in (InitCanon(0), MM, move_to(500.0), Dwell(0, 0.05), EndCanon(0))]
        return outcomes, await client.status()

    outcomes, status = with_client(server, work)
    assert [outcome.state for outcome in outcomes] == [OutcomeState.DONE] * 5
    assert outcomes[2].took_s >= 0.3
    assert outcomes[2].status.pose_status.pose.point.x == pytest.approx(500.0)
    assert status.pose_status.pose.point.x == pytest.approx(500.0)
    ids = [command.command_id for command in server.executed]
    assert ids == sorted(set(ids))
    assert ids[0] > 0


def test_numbers_go_on_after_those_of_another_client(other_server):
    server = other_server(command_id=77, state=CommandStateEnum.CRCL_DONE)

    async def work(client):
        return await client.execute(InitCanon(1))

    assert with_client(server, work).command.command_id == 78


def test_what_the_robot_refuses_and_what_it_fails_at_are_told_apart(other_server, move_to):
    server = other_server()

    async def work(client):
        refused = await client.execute(Message(0, "too early"))
        await client.execute(InitCanon(0))
        failed = await client.execute(move_to(3.0))
        after = await client.execute(move_to(0.1))
        return refused, failed, after

    refused, failed, after = with_client(server, work)
    assert (refused.state, refused.reason) == (OutcomeState.REFUSED, "Not initialized when cmd=Message received.")
    assert (failed.state, failed.reason) == (OutcomeState.ERROR, "X at 3.0 greater than limit 2.0")
    assert after.state is OutcomeState.REFUSED
    assert kinds(server) == ["InitCanon", "MoveTo"]
    with pytest.raises(CommandFailed, match=r"MoveTo .*: error: X at"):
        failed.check()


def test_a_robot_that_reports_ends_by_itself_is_hardly_asked_and_known_to_be_done_at_once(simulated):
    async def work(clock):
        async with CrclServer(ExampleArm(clock)) as server:
            connections = []

            async def connect():
                connections.append(await server.connect())
                return connections[-1]

            async with CrclClient(connect, options=ClientOptions(poll_s=0.02)) as client:
                (await client.execute(InitCanon(0))).check()
                (await client.execute(report_when_done())).check()
                for cut in (False, True):  # a new connection is told the same
                    if cut:
                        connections[0].end()
                        await client.status()
                    before = server.executor._status_id
                    outcome = await client.execute(Dwell(0, 1.234))
                    assert outcome.done
                    assert outcome.took_s == pytest.approx(1.234, abs=0.003)
                    assert server.executor._status_id - before <= 6

    simulated(work)


def test_a_server_that_says_it_will_report_ends_and_does_not_is_asked_again(other_server, move_to):
    async def work(client):
        await client.execute(InitCanon(0))
        assert (await client.execute(report_when_done())).done
        return [(await client.execute(move_to(x))).took_s for x in (0.1, 0.2, 0.3, 0.4)]

    options = replace(QUICK, quiet_s=0.25)
    took_s = with_client(other_server(move_s=0.05), work, options)
    assert min(took_s[:3]) > 0.2 > took_s[3]


def test_a_robot_is_asked_less_often_while_its_command_cannot_be_done(other_server, move_to):
    server = other_server(move_s=0.4)
    questions = []

    async def work(client):
        await client.execute(InitCanon(0))
        for least_s in (0.0, 0.35):
            before = client._lines._main.arrived
            outcome = await client.execute(move_to(0.1), least_s=least_s)
            assert outcome.done
            assert outcome.took_s >= 0.3
            questions.append(client._lines._main.arrived - before)
        failed = await client.execute(move_to(3.0), least_s=60.0)  # refused at once, whatever it might have taken
        assert failed.state is OutcomeState.ERROR
        assert failed.took_s < 1.0

    with_client(server, work, ClientOptions(poll_s=0.01, quiet_s=0.2))
    often, seldom = questions
    assert seldom < often / 2


def test_settings_are_read_again_when_they_change(other_server):
    async def work(client):
        await client.execute(InitCanon(0))
        found = []
        for unit in (LengthUnitEnum.METER, LengthUnitEnum.METER, LengthUnitEnum.MILLIMETER):
            await client.execute(SetLengthUnits(0, unit))
            link = client._lines._main
            status = await client.status()
            assert status == decode(link.latest_text)
            found.append(status.settings_status.length_unit_name)
        return found

    meter, millimeter = LengthUnitEnum.METER, LengthUnitEnum.MILLIMETER
    assert with_client(other_server(), work) == [meter, meter, millimeter]


def test_a_command_that_takes_too_long_is_a_timeout(other_server, move_to):
    async def work(client):
        await client.execute(InitCanon(0))
        return await client.execute(move_to(1.0), timeout_s=0.1)

    outcome = with_client(other_server(move_s=5.0), work)
    assert outcome.state is OutcomeState.TIMEOUT
    assert "not done after 0.1 s" in outcome.reason


def test_abort_by_the_second_connection_stops_the_motion(other_server, move_to):
    server = other_server(move_s=2.0)

    async def work(client):
        await client.execute(InitCanon(0))
        moving = asyncio.ensure_future(client.execute(move_to(1.0)))
        await asyncio.sleep(0.2)
        stopped = await client.abort()
        at_m = server.x_m
        await asyncio.sleep(0.1)
        return await moving, stopped, at_m

    moving, stopped, at_m = with_client(server, work)
    assert stopped.done
    assert moving.state is OutcomeState.ABORTED
    assert 0.0 < at_m < 0.5
    assert server.x_m == at_m


@pytest.mark.slow
def test_a_motion_that_is_not_wanted_any_more_is_stopped_on_its_way(other_server, move_to):
    server = other_server(move_s=2.0)

    async def work(client):
        await client.execute(InitCanon(0))
        asked = []

        def is_enough(status):
            asked.append(status.command_status.command_id)
            return len(asked) > 3

        outcome = await client.execute(move_to(1.0), stop_when=is_enough, least_s=1.9)
        at_m = server.x_m
        await asyncio.sleep(0.1)
        return outcome, at_m, asked, await client.execute(move_to(0.0), timeout_s=5.0)

    outcome, at_m, asked, after = with_client(server, work)
    assert outcome.state is OutcomeState.ABORTED
    assert "not wanted any more" in outcome.reason
    assert outcome.took_s < 1.0  # it was asked more often than by its least time
    assert 0.0 < at_m < 0.5
    assert len(set(asked)) == 1
    assert after.done


def test_abort_works_when_its_connection_was_lost(other_server, move_to):
    server = other_server(move_s=2.0)

    async def work(client):
        await client.execute(InitCanon(0))
        moving = asyncio.ensure_future(client.execute(move_to(1.0)))
        await asyncio.sleep(0.05)
        for writer in list(server._writers):
            writer.close()
        await asyncio.sleep(0.05)
        stopped = await client.abort()
        return await moving, stopped

    moving, stopped = with_client(server, work)
    assert (moving.state, stopped.state) == (OutcomeState.ABORTED, OutcomeState.DONE)


def test_a_newer_command_takes_the_place_of_an_older_one(other_server, move_to):
    async def work(client):
        await client.execute(InitCanon(0))
        old = asyncio.ensure_future(client.execute(move_to(1.0)))
        await asyncio.sleep(0.1)
        return await client.execute(Dwell(0, 0.01)), await old

    new, old = with_client(other_server(move_s=2.0), work)
    assert (new.state, old.state) == (OutcomeState.DONE, OutcomeState.SUPERSEDED)


@pytest.mark.parametrize(("number", "why"), [(900, "not of this client: another"), (1, "an earlier one: it has begun")])
def test_a_command_of_somebody_else_takes_its_place_and_is_told(other_server, move_to, number, why):
    server = other_server(move_s=2.0)

    async def work(client):
        for command in (InitCanon(0), MM):
            await client.execute(command)
        old = asyncio.ensure_future(client.execute(move_to(900.0)))
        await asyncio.sleep(0.1)
        server._take(Dwell(number, 0.0), {"name": LengthUnitEnum.METER})
        return await old

    outcome = with_client(server, work)
    assert outcome.state is OutcomeState.SUPERSEDED
    assert f"the robot went on to command {number}, " in outcome.reason
    assert why in outcome.reason


def test_lost_after_it_was_taken_up_is_waited_for_and_never_sent_again(other_server, move_to):
    server = other_server(drop_after=MoveTo)

    async def work(client):
        for command in (InitCanon(0), MM):
            await client.execute(command)
        outcome = await client.execute(move_to(500.0))
        return outcome, await client.execute(move_to(600.0))

    outcome, further = with_client(server, work)
    assert outcome.done
    assert further.done
    assert kinds(server).count("MoveTo") == 2
    assert server.x_m == pytest.approx(0.6), "the new connection got the units of the old one"
    assert outcome.status.pose_status.pose.point.x == pytest.approx(500.0), "and the report, too"
    assert outcome.status.command_status.command_id == outcome.command.command_id


def test_lost_before_it_was_taken_up_is_sent_once_more_in_the_right_units(other_server, move_to):
    server = other_server(drop_before=MoveTo)

    async def work(client):
        for command in (InitCanon(0), MM):
            await client.execute(command)
        return await client.execute(move_to(500.0))

    outcome = with_client(server, work)
    assert outcome.done
    assert kinds(server) == ["InitCanon", "SetLengthUnits", "SetLengthUnits", "MoveTo"]
    assert server.x_m == pytest.approx(0.5)


def test_lost_and_another_command_since_is_not_repeated(other_server, move_to):
    server = other_server(drop_before=MoveTo)

    async def work(client):
        await client.execute(InitCanon(0))
        execute = asyncio.ensure_future(client.execute(move_to(0.5)))
        await asyncio.sleep(0.03)  # cut by now; somebody else moves the robot
        server._take(Dwell(900, 0.0), {"name": LengthUnitEnum.METER})
        return await execute

    outcome = with_client(server, work)
    assert outcome.state is OutcomeState.LOST
    assert "command 900: not repeated" in outcome.reason
    assert kinds(server) == ["InitCanon", "Dwell"]


def test_a_connection_lost_while_nothing_was_under_way(other_server, move_to):
    server, said = other_server(), []

    async def work(client):
        for command in (InitCanon(0), MM):
            await client.execute(command)
        for writer in list(server._writers):
            writer.close()
        await asyncio.sleep(0.05)
        return await client.execute(move_to(500.0))

    assert with_client(server, work, say=said.append).done
    assert server.x_m == pytest.approx(0.5)
    assert said == [f"connected to 127.0.0.1:{server.port} again"]


def test_a_status_after_a_lost_connection_is_in_the_units_that_were_set(other_server, move_to):
    server = other_server()

    async def work(client):
        for command in (InitCanon(0), MM, move_to(500.0)):
            await client.execute(command)
        for writer in list(server._writers):
            writer.close()
        await asyncio.sleep(0.05)
        return await client.status()

    status = with_client(server, work)
    assert status.pose_status.pose.point.x == pytest.approx(500.0)
    assert status.command_status.command_id == 3


@pytest.mark.slow
def test_a_server_that_comes_back_and_one_that_does_not(other_server, move_to):
    async def run():
        server = other_server(move_s=0.2)
        client = await CrclClient.to(await server.start(), options=QUICK).open()
        await client.execute(InitCanon(0))
        execute = asyncio.ensure_future(client.execute(move_to(0.5)))
        await asyncio.sleep(0.05)
        await server.stop()
        again = other_server(port=server.port, command_id=server.command_id, state=server.state)
        await again.start()
        again._begin(0.5, 0.1)
        survived = await execute
        await again.stop()
        gone = await client.execute(move_to(0.1))
        await client.close()
        return survived, gone

    survived, gone = asyncio.run(run())
    assert survived.done
    assert gone.state is OutcomeState.LOST
    assert "connection refused" in gone.reason


def test_those_who_wait_for_a_connection_that_is_tried_in_vain_do_not_try_once_more(other_server, move_to):
    options = replace(QUICK, reconnect_s=0.3)

    async def run():
        server, tried_s = other_server(), []
        client = await CrclClient.to(await server.start(), options=options).open()
        await client.execute(InitCanon(0))
        await server.stop()
        live, loop = client._lines.live, asyncio.get_running_loop()

        async def ask():
            began_s = loop.time()
            with pytest.raises(ConnectionFailed, match=r"no connection within 0\.3 s"):
                await live()
            tried_s.append(loop.time() - began_s)

        await asyncio.gather(ask(), ask(), ask())
        together, tried_s[:] = list(tried_s), []
        await ask()
        await client.close()
        return together, tried_s[0]

    together, later = asyncio.run(run())
    assert max(together) < 2 * min(together)
    assert later > 0.25, "who asks later tries again"


@pytest.mark.parametrize(
    ("said", "told"),
    [(b"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak CRCL"), (b"", "closed the connection")],
)
def test_a_peer_that_is_no_crcl_server(said, told):
    async def run():
        async def answer(reader, writer):
            await reader.read(100)
            writer.write(said)
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            await CrclClient.to(f"127.0.0.1:{port}", options=ClientOptions(reconnect_s=0.0)).open()
        finally:
            server.close()

    with pytest.raises((LinkLost, ConnectionFailed), match=told):
        asyncio.run(run())


def test_a_server_that_says_nothing(other_server):
    async def run():
        server = other_server(deaf=True)
        try:
            await CrclClient.to(await server.start(), options=ClientOptions(status_s=0.05)).open()
        finally:
            await server.stop()

    with pytest.raises(NoAnswer, match=r"sent no status within 0.05 s"):
        asyncio.run(run())


def test_nobody_listens():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ConnectionFailed, match=f"cannot connect to 127.0.0.1:{port}: connection refused"):
        asyncio.run(CrclClient.to(f"127.0.0.1:{port}").open())


def test_an_interrupt_that_comes_together_with_an_answer_is_not_lost(other_server):
    async def work(client):
        link = await client._lines.live()
        waiting = asyncio.ensure_future(link.next_status(5.0))
        await asyncio.sleep(0)
        link._take(link.latest_text)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    with_client(other_server(), work)


def test_get_status_is_answered_and_waits_for_nothing(other_server):
    async def work(client):
        return await client.execute(GetStatus(0))

    outcome = with_client(other_server(), work)
    assert outcome.done
    assert outcome.status.command_status.command_id == -1


@pytest.mark.parametrize("address", ["", "host", ":1", "host:", "host:0", "host:65536", "host:x", "a:b:1", "h:-1"])
def test_addresses_that_are_none(address):
    with pytest.raises(BadInput, match="HOST:PORT"):
        parse_address(address)


def test_addresses():
    assert parse_address("robot:64444") == ("robot", 64444)
    assert parse_address("[::1]:1") == ("::1", 1)


def test_the_command_goes_out_in_one_write_as_peers_expect():
    text = encode(CRCLCommandInstance(GetStatus(1)))
    assert text.endswith(b"</CRCLCommandInstance>")


def test_a_command_that_is_not_taken_up_in_time_is_given_up(other_server, move_to):
    server = other_server()

    async def work(client):
        await client.execute(InitCanon(0))
        server.executed.clear()
        return await client.execute(move_to(0.1))

    def forgetful(command, unit, take=server._take):
        if not isinstance(command, MoveTo):
            take(command, unit)

    server._take = forgetful
    outcome = with_client(server, work, replace(QUICK, take_up_s=0.3))
    assert outcome.state is OutcomeState.TIMEOUT
    assert outcome.reason == "not taken up within 0.3 s"
    assert outcome.took_s < 1.0
    assert server.executed == []
