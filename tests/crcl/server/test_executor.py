"""Commands, states, pre-emption: the behaviour that all connections share."""

from __future__ import annotations

import pytest

from cellwright.crcl import (
    CommandStateEnum,
    CRCLCommandInstance,
    Dwell,
    EndCanon,
    GetStatus,
    InitCanon,
    LengthUnitEnum,
    SetEndEffector,
    SetLengthUnits,
    SetTransAccel,
    SetTransSpeed,
    StopConditionEnum,
    StopMotion,
    TransAccelAbsolute,
    TransSpeedAbsolute,
    encode,
)

READY, WORKING = CommandStateEnum.CRCL_READY, CommandStateEnum.CRCL_WORKING
DONE, ERROR = CommandStateEnum.CRCL_DONE, CommandStateEnum.CRCL_ERROR


def head(status):
    return status.command_status.command_id, status.command_status.command_state


def test_before_a_session_the_robot_is_ready_and_reports_where_it_is(rig):
    async def work(rig):
        peer = await rig.connect()
        return await peer.ask()

    status = rig.run(work)
    assert head(status) == (0, READY)
    assert status.pose_status.pose.point.x == pytest.approx(0.4)
    assert [joint.joint_position is not None for joint in status.joint_statuses.joint_status] == [True] * 6


def test_nothing_moves_before_init_canon_and_the_refused_command_learns_so(rig, move):
    async def work(rig):
        peer = await rig.connect()
        refused = await peer.do(move(5, 0.6))
        await rig.clock.sleep(0.5)
        assert rig.tool()[0] == pytest.approx(0.4)
        assert refused.command_status.state_description == "not initialised: MoveTo needs an InitCanon first"
        assert head(refused) == (5, ERROR)
        assert head(await peer.do(InitCanon(6))) == (6, DONE)
        assert head(await peer.do(move(7, 0.45))) == (7, DONE)
        assert rig.tool() == pytest.approx([0.45, 0.0, 0.3])

    rig.run(work)


@pytest.mark.parametrize("command", [EndCanon(3), StopMotion(3, StopConditionEnum.NORMAL)])
def test_an_end_and_a_stop_need_no_session(rig, command):
    async def work(rig):
        return head(await (await rig.connect()).do(command))

    assert rig.run(work) == (3, DONE)


def test_an_error_lasts_until_init_canon(rig, move):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        first = await peer.do(move(3, 99.0))
        assert first.command_status.state_description == "X at 99.0 greater than limit 1.0 meter"
        later = [await peer.do(command) for command in (move(4, 0.45), Dwell(5, 0.0), EndCanon(6))]
        assert [head(status) for status in later] == [(4, ERROR), (5, ERROR), (6, ERROR)]
        assert {status.command_status.state_description for status in later} == {
            "X at 99.0 greater than limit 1.0 meter"
        }
        assert rig.tool()[0] == pytest.approx(0.4)
        cleared = await peer.do(InitCanon(7))
        assert head(cleared) == (7, DONE)
        assert not cleared.command_status.state_description

    rig.run(work)


def test_after_end_canon_only_init_canon_is_executed(rig, move):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        assert head(await peer.do(EndCanon(3))) == (3, DONE)
        assert head(await peer.do(move(4, 0.45))) == (4, ERROR)
        assert head(await peer.do(InitCanon(5))) == (5, DONE)
        assert head(await peer.do(move(6, 0.45))) == (6, DONE)

    rig.run(work)


def test_a_move_is_reported_from_the_first_status_on_and_ends_at_its_target(rig, move):
    async def work(rig):
        peer, other = await rig.connect(), await rig.connect()
        await peer.begin()
        await peer.send(move(9, 0.6, 0.2, 0.1), GetStatus(1))
        first = await peer.status()
        assert head(first) == (9, WORKING)
        assert head(await other.ask()) == (9, WORKING)
        done = await peer.until_ended(9)
        point = done.pose_status.pose.point
        assert (point.x, point.y, point.z) == pytest.approx((0.6, 0.2, 0.1), abs=1e-12)

    rig.run(work)


def test_a_status_echoes_the_place_in_the_program_and_has_a_number_of_its_own(rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.send(Dwell(3, 0.0), program_file="kit.xml", program_index=2, program_length=9)
        statuses = [await peer.until_ended(3), await peer.ask(), await (await rig.connect()).ask()]
        assert len({status.command_status.status_id for status in statuses}) == 3
        told = statuses[0].command_status
        assert (told.program_file, told.program_index, told.program_length) == ("kit.xml", 2, 9)
        assert (await peer.do(Dwell(4, 0.0))).command_status.program_file is None

    rig.run(work)


def test_a_new_command_takes_the_place_of_the_old_one(rig, move):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.send(Dwell(3, 1000.0))
        assert head(await peer.do(SetEndEffector(4, 0.5))) == (4, DONE)
        await peer.send(move(5, 0.9))
        await rig.on_the_way()
        status = await peer.do(move(6, 0.3))
        assert head(status) == (6, DONE)
        assert rig.tool() == pytest.approx([0.3, 0.0, 0.3])

    rig.run(work)


def test_another_client_takes_the_robot_over(rig, move):
    async def work(rig):
        first, second = await rig.connect(), await rig.connect()
        await first.begin()
        await first.send(move(3, 0.9))
        await rig.on_the_way()
        await second.do(move(70, 0.2))
        assert head(await first.ask()) == (70, DONE)
        assert rig.tool()[0] == pytest.approx(0.2)

    rig.run(work)


def test_a_pre_empted_motion_comes_to_rest_on_its_path_before_the_next_command_begins(memory_rig, move):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.send(move(3, 0.9, 0.5))
        await rig.clock.sleep(1.0)
        await peer.send(SetEndEffector(4, 0.0))
        width = rig.arm.read().gripper.separation_m
        velocities = []
        while (await peer.ask()).command_status.command_state is WORKING:
            reading = rig.arm.read()
            x, y = rig.tool()[:2]
            assert (x - 0.4) == pytest.approx(y)  # on the line
            velocities.append(max(abs(v) for v in reading.velocities))
            if velocities[-1] > 0.0:
                assert reading.gripper.separation_m == width  # it never moves and grips at once
            await rig.clock.sleep(0.02)
        assert velocities[0] > 0.1
        assert velocities[-1] == 0.0
        assert rig.arm.read().gripper.separation_m < width

    memory_rig.run(work)


def test_commands_in_one_piece_mean_what_they_say_even_while_the_robot_is_stopping(memory_rig, move):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.send(move(3, 0.9))
        await rig.clock.sleep(1.0)
        await peer.send(SetLengthUnits(4, LengthUnitEnum.MILLIMETER), move(5, 350.0, 0.0, 300.0))
        await peer.until_ended(5)
        assert rig.tool() == pytest.approx([0.35, 0.0, 0.3])

    memory_rig.run(work)


def test_the_three_stops_differ_in_how_far_the_robot_goes_on(memory_rig, move):
    def coast(condition):
        async def work(rig):
            peer = await rig.connect()
            await peer.begin()
            await peer.do(SetTransSpeed(3, TransSpeedAbsolute(0.4)))
            await peer.do(SetTransAccel(4, TransAccelAbsolute(0.8)))
            await peer.send(move(5, 1.0, 0.3))
            await rig.clock.sleep(1.0)
            before = rig.tool()[0]
            status = await peer.do(StopMotion(6, condition))
            after = rig.tool()
            assert head(status) == (6, DONE)
            assert (after[0] - 0.4) / 0.6 == pytest.approx(after[1] / 0.3)
            await rig.clock.sleep(1.0)
            assert rig.tool() == after
            assert head(await peer.do(move(7, 0.4))) == (7, DONE)  # a commanded stop is no error
            return after[0] - before

        return memory_rig.run(work)

    immediate, fast, normal = (coast(condition) for condition in StopConditionEnum)
    assert immediate <= 0.4 * 0.01  # what the arm does in a tick
    assert immediate < fast < normal
    # 0.4 m/s and 0.8 m/s2 along the line: a ramp of 0.1 m, of which x has its share.
    assert normal == pytest.approx(0.1 * 0.6 / (0.6**2 + 0.3**2) ** 0.5, rel=0.1)


def test_a_hard_stop_is_not_made_softer_by_what_follows_it(memory_rig, move):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.send(move(3, 0.9))
        await rig.clock.sleep(1.0)
        before = rig.tool()[0]
        await peer.send(StopMotion(4, StopConditionEnum.IMMEDIATE), Dwell(5, 0.1))
        await peer.until_ended(5)
        assert rig.tool()[0] - before <= 1.001 * 0.25 * 0.01  # what the arm does in a tick

    memory_rig.run(work)


def test_a_stop_is_obeyed_in_the_error_state_which_stays(rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.do(Dwell(3, -1.0))
        return head(await peer.do(StopMotion(4, StopConditionEnum.FAST)))

    assert rig.run(work) == (4, ERROR)


def test_a_bad_command_stops_the_motion_that_it_replaces(rig, move):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.send(move(3, 0.9))
        await rig.on_the_way()
        assert head(await peer.do(move(4, 99.0))) == (4, ERROR)
        await rig.clock.sleep(1.5)
        place = rig.tool()
        assert 0.4 < place[0] < 0.9
        await rig.clock.sleep(0.5)
        assert rig.tool() == place

    rig.run(work)


def test_get_status_changes_nothing_whatever_its_number(rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        for number in (2, 99, -5, 0):
            await peer.send_bytes(encode(CRCLCommandInstance(GetStatus(number))))
            assert head(await peer.status()) == (2, DONE)

    rig.run(work)


def test_a_client_that_vanishes_leaves_the_robot_on_its_way(rig, move):
    async def work(rig):
        peer, other = await rig.connect(), await rig.connect()
        await peer.begin()
        await peer.send(move(3, 0.6))
        assert head(await peer.ask()) == (3, WORKING)
        await peer.close()
        assert head(await other.until_ended(3)) == (3, DONE)
        assert rig.tool()[0] == pytest.approx(0.6)

    rig.run(work)


def test_the_next_command_waits_for_the_last_one_to_have_ended(memory_rig, move):
    """A robot's own code may have something to do after it was cancelled; two motions at once would be a disaster."""
    busy = []

    async def work(rig):
        move_through = rig.arm.move_through

        async def slow_to_end(waypoints, *, straight):
            assert busy == []
            busy.append(True)
            try:
                await move_through(waypoints, straight=straight)
            finally:
                await rig.clock.sleep(0.5)
                busy.clear()

        rig.arm.move_through = slow_to_end
        peer = await rig.connect()
        await peer.begin()
        await peer.send(move(3, 0.9))
        await rig.on_the_way()
        await peer.send(move(4, 0.8))
        await rig.clock.sleep(0.1)
        status = await peer.do(move(5, 0.3))
        assert head(status) == (5, DONE)
        assert rig.tool()[0] == pytest.approx(0.3)

    memory_rig.run(work)


def test_closing_the_server_stops_the_robot(memory_rig, move):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.send(move(3, 0.9))
        await rig.clock.sleep(1.0)
        await rig.server.close()
        place = rig.tool()
        await rig.clock.sleep(0.5)
        assert rig.tool() == place
        assert 0.4 < place[0] < 0.9
        assert await peer.status() is None

    memory_rig.run(work)
