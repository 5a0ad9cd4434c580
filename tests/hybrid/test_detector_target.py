"""A detector that is somewhere else: its frames, its times, and all that can be wrong with it, over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

import numpy as np
import pytest
from tests.hybrid.outside import DETECTOR, PACE, RAW, TOPIC, Outside, errors_m, heard, running

import cellwright as cw
from cellwright.cells import DetectorTargetCfg
from cellwright.core.errors import JobFailed, UnknownName
from cellwright.core.messages import Detections
from cellwright.crcl import SwitchRefused
from cellwright.exchange import perceive
from cellwright.hybrid import DetectorTarget, Mirror
from cellwright.interfaces import encode_frame
from cellwright.record import read_log

NOISE_M = 0.005  # that of a frame, the error of the camera, and of what is higher or lower than is usual
SENT_M = {"detections/1": 0.0, "aprs": 0.00001}


def cfg(address, **settings):
    return DetectorTargetCfg(at=address, **settings)


@pytest.fixture
def both(changed):
    """Runs work with our laboratory and the external cell; returns the laboratory's."""

    def run(work, **options):
        with cw.Lab(changed(), seed=1, pace=PACE) as lab:

            async def main():
                async with running(Outside(changed()), lab) as outside:
                    return await work(lab, outside)

            return lab.perform(main())

    return run


@contextlib.asynccontextmanager
async def target(lab, settings, name=DETECTOR):
    events = []
    one = DetectorTarget(lab, name, settings, lambda change, reason: events.append((change, reason)))
    await one.start()
    try:
        yield one, events
    finally:
        await one.close()


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["detections/1", "aprs"])
def test_frames_of_the_external_cell_replace_ours_until_it_is_switched_back(both, protocol):
    async def work(lab, outside):
        frames, received = heard(lab), heard(lab, RAW)
        async with target(lab, cfg(outside.address, protocol=protocol)) as (one, events):
            assert one.is_external
            frames.clear()
            await lab.clock.sleep(3.0)
            status = one.status()
            seen = list(frames)
            await one.switch(DetectorTargetCfg())
            frames.clear()
            await lab.clock.sleep(1.0)
            return lab, outside, seen, list(received), frames, status, events

    lab, outside, seen, received, ours, status, events = both(work)
    assert 25 <= len(seen) <= len(received) <= 36
    for frame in seen:
        assert (frame.source, frame.frame) == (DETECTOR, "world")
        assert max(errors_m(frame, outside.lab)) < NOISE_M
        alike = [made for made in outside.made if made.skus == frame.skus]
        off_m = min(np.abs(made.positions - frame.positions)[:, :2].max() for made in alike)
        assert off_m <= SENT_M[protocol]
    assert np.median([errors_m(frame, outside.lab) for frame in seen]) < 0.0015
    assert np.median([errors_m(frame, lab) for frame in seen]) > 0.002  # our own things lie elsewhere
    assert {frame.source for frame in received} == {f"{DETECTOR}@{status.at}"}
    assert 8 <= len(ours) <= 11
    assert np.median([errors_m(frame, lab) for frame in ours]) < 0.0015
    numbers = [frame.sequence for frame in [*seen, *ours]]
    assert numbers == sorted(set(numbers))
    times_s = [frame.time_s for frame in [*seen, *ours]]
    assert times_s == sorted(set(times_s))
    taken_s = [frame.time_s for frame in outside.made]  # its clock is ours, 5000 s behind what it says
    late_s = [min(abs(time_s - taken) for taken in taken_s) for time_s in times_s[: len(seen)]]
    assert max(late_s[5:]) < 0.06
    assert (status.target, status.at) == (DETECTOR, received[0].source.partition("@")[2])
    assert status.messages == len(received)
    assert status.latency_s < 0.1
    assert [change for change, _ in events] == ["external", "simulated"]


def test_lines_of_the_laboratory_say_that_heights_are_not_measured(both):
    async def work(lab, outside):
        frames = heard(lab)
        async with target(lab, cfg(outside.address, protocol="aprs", deviation_mm=0.4)):
            await lab.clock.sleep(0.5)
        return lab, frames[-1]

    lab, frame = both(work)
    own = lab.sensor(TOPIC).latest
    gears = np.array(["_part_" in sku for sku in frame.skus])
    assert np.isinf(frame.variances[:, 2:5]).all()
    assert np.isinf(frame.variances[gears, 5]).all()
    assert np.isfinite(frame.variances[~gears, 5]).all()
    assert frame.variances[:, :2] == pytest.approx(0.0004**2)
    heights = dict(zip(own.skus, own.positions[:, 2], strict=True))
    for sku, position in zip(frame.skus, frame.positions, strict=True):
        assert position[2] == pytest.approx(heights[sku], abs=0.03)  # of one table or the other


@pytest.mark.slow
def test_nobody_another_detector_another_frame_and_another_protocol_are_named(both):
    async def work(lab, outside):
        for name, settings, problem in (
            (DETECTOR, cfg("127.0.0.1:1"), "detector_fanuc: no vision server at 127.0.0.1:1 within 5 s: connection"),
            ("detector_motoman", cfg(outside.address), "frames are of 'detector_fanuc', not of 'detector_motoman'"),
        ):
            with pytest.raises(JobFailed, match=problem):
                async with target(lab, settings, name):
                    pass
        outside.change = lambda frame: replace(frame, frame="table_7")
        with pytest.raises(JobFailed, match="in the frame 'table_7', which is not known"):
            async with target(lab, cfg(outside.address)):
                pass
        with pytest.raises(UnknownName, match="unknown detector 'detector_fanucc'; did you mean 'detector_fanuc'"):
            DetectorTarget(lab, "detector_fanucc", cfg(outside.address), print)
        server = await asyncio.start_server(_greets, "127.0.0.1", 0)
        at = "{}:{}".format(*server.sockets[0].getsockname())
        for protocol, problem in (
            ("detections/1", "does not speak detections/1"),
            ("aprs", "lines that are no frames"),
        ):
            with pytest.raises(JobFailed, match=problem) as refused:
                async with target(lab, cfg(at, protocol=protocol)):
                    pass
            assert "\n" not in str(refused.value)
        server.close()
        frames = heard(lab)
        await lab.clock.sleep(0.5)
        assert len(frames) >= 4  # after all that our own detector speaks

    both(work)


async def _greets(_reader, writer):
    for _ in range(100):
        writer.write(b"220 mail.example.com ready\r\n")
    await writer.drain()


@pytest.mark.slow
def test_a_switch_that_is_refused_leaves_what_was(both):
    async def work(lab, outside):
        frames = heard(lab)
        async with target(lab, DetectorTargetCfg()) as (one, events):
            for settings in (cfg("127.0.0.1:1"), cfg(outside.address)):
                outside.change = lambda frame: replace(frame, source="somebody")
                with pytest.raises(SwitchRefused):
                    await one.switch(settings)
                assert not one.is_external
            outside.change = lambda frame: frame
            frames.clear()
            await one.switch(cfg(outside.address))
            assert frames  # ours came while it was tried
            with pytest.raises(SwitchRefused, match=r"127\.0\.0\.1:1"):
                await one.switch(cfg("127.0.0.1:1"))
            assert one.cfg.at == outside.address
            frames.clear()
            await lab.clock.sleep(0.5)
            assert max(max(errors_m(frame, outside.lab)) for frame in frames) < NOISE_M
        return events

    changes = [change for change, _ in both(work)]
    assert changes == ["refused", "refused", "external", "refused"]


def _stall(outside):
    outside.is_sending = False


def _die(outside):
    outside.is_sending = False
    outside.ending = asyncio.get_running_loop().create_task(outside.server.close())


def _send_nonsense(outside):
    outside.change = lambda frame: replace(frame, positions=frame.positions + 1e9)


def _send_old_stamps(outside):
    outside.change = lambda frame: replace(frame, time_ns=7_000_000_000)


def _repeat(outside):
    frames = []

    def first(frame):
        frames.append(frame)
        return frames[0]

    outside.change = first


def _go_back(outside):
    outside.change = lambda frame: replace(frame, time_ns=10_000_000_000_000 - frame.time_ns)


def _send_huge_numbers(outside):
    outside.change = lambda frame: replace(frame, time_ns=10**400)


def _flood(outside):
    nothing = {"frame": "world", "skus": (), "variances": np.empty((0, 6)), "scores": np.empty(0)}
    nothing |= {"positions": np.empty((0, 3)), "quaternions": np.empty((0, 4))}

    def often(frame):
        times_ns = range(frame.time_ns, frame.time_ns + 2000)
        empty = [encode_frame(Detections(time_ns, 0, DETECTOR, **nothing)).encode() for time_ns in times_ns]
        for client in outside.server._clients:
            client._transport.write(b"\n".join([*empty, b""]))  # past all limits of the server

    outside.change = often


@pytest.mark.slow
@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (_stall, "no frame for 0.5 s"),
        (_die, "refused"),
        (_send_nonsense, "poses or variances that cannot be"),
        (_send_old_stamps, "its time stamps go back"),
        (_repeat, "it repeats a frame"),
        (_go_back, "its time stamps go back"),
        (_send_huge_numbers, "cannot be"),
        (_flood, "more than 200 frames a second"),
    ],
)
def test_a_server_that_fails_is_told_once_and_given_up_in_time(both, harm, problem):
    async def work(lab, outside):
        frames, others = heard(lab), heard(lab, "/detector_motoman/detections")
        settings = cfg(outside.address, stalled_s=0.5, reconnect_s=2.0)
        async with target(lab, settings) as (one, events):
            await lab.clock.sleep(1.0)
            harm(outside)
            started_s = lab.clock.time_s
            while not one.lost:
                await lab.clock.sleep(0.1)
                assert lab.clock.time_s - started_s < 20.0
            took_s = lab.clock.time_s - started_s
            frames.clear()
            others.clear()
            await lab.clock.sleep(1.0)
            assert not frames  # neither it nor ours, before anybody has decided
            assert len(others) >= 9
            lost = one.lost
            await one.switch(DetectorTargetCfg())
            await lab.clock.sleep(0.5)
            assert len(frames) >= 4
            assert one.lost == ""
            return took_s, lost, events, lab.loop.pacing.slipped_s

    took_s, lost, events, slipped_s = both(work)
    assert 2.0 < took_s < 6.0
    assert problem in lost
    assert [change for change, _ in events] == ["external", "lost", "simulated"]
    assert problem in events[1][1]
    assert "\n" not in lost
    assert slipped_s < 5.0


@pytest.mark.slow
def test_one_that_comes_back_is_found_again_with_another_clock(both):
    async def work(lab, outside):
        frames = heard(lab)
        async with target(lab, cfg(outside.address, stalled_s=0.5, reconnect_s=10.0)) as (one, events):
            await lab.clock.sleep(1.0)
            address = outside.server.address
            await outside.server.close()
            await lab.clock.sleep(2.0)
            assert not one.lost
            outside.offset_s = 3.0
            await outside.server.start(port=address[1])
            await lab.clock.sleep(3.0)
            late_s = lab.clock.time_s - frames[-1].time_s
            return events, late_s, one.lost

    events, late_s, lost = both(work)
    assert [change for change, _ in events] == ["external", "lost", "found"]
    assert late_s < 0.3
    assert lost == ""


@pytest.mark.slow
def test_one_whose_clock_begins_anew_goes_on(both):
    async def work(lab, outside):
        frames = heard(lab)
        async with target(lab, cfg(outside.address)) as (_, events):
            await lab.clock.sleep(1.0)
            outside.offset_s = 1.0
            await lab.clock.sleep(2.0)
            return events, lab.clock.time_s - frames[-1].time_s

    events, late_s = both(work)
    assert [change for change, _ in events] == ["external"]
    assert late_s < 0.3


def test_a_subscriber_that_fails_is_no_silence(both):
    async def work(lab, outside):
        async with target(lab, cfg(outside.address)) as (one, events):

            def fail(_topic, _frame):
                raise ValueError("no such thing")

            lab.bus.subscribe(TOPIC, fail, subscriber="test")
            await lab.clock.sleep(0.5)
            return one.lost, events

    lost, events = both(work)
    assert "ValueError: no such thing" in lost
    assert events[-1] == ("lost", lost)


def test_what_no_catalogue_knows_is_left_out_of_frames_and_kept_in_the_log(both):
    async def work(lab, outside):
        outside.change = lambda frame: replace(frame, skus=("sku_part_rubber_duck", *frame.skus[1:]))
        frames, received = heard(lab), heard(lab, RAW)
        async with target(lab, cfg(outside.address)):
            frames.clear()
            await lab.clock.sleep(0.5)
            return frames[-1], received[-1]

    frame, received = both(work)
    assert received.skus[0] == "sku_part_rubber_duck"
    assert frame.skus == received.skus[1:]
    assert frame.positions.tolist() == received.positions[1:].tolist()


def test_a_log_has_all_that_came_and_perception_takes_each_frame_once(both, tmp_path):
    async def work(lab, outside):
        recorder = lab.record(tmp_path / "hybrid.mcap")
        async with target(lab, cfg(outside.address)):
            await lab.clock.sleep(1.0)
        recorder.close()

    both(work)
    log = read_log(tmp_path / "hybrid.mcap")
    assert log.topic(RAW).count >= log.topic(TOPIC).count - 1 >= 6
    made = perceive(log, "aprs")
    assert {tracks.source for tracks in made.tracks} == {"detector_fanuc", "detector_motoman"}


@pytest.mark.slow
def test_outside_its_region_an_external_detector_is_not_asked(both):
    """A frame shows the mixed cell, and things here are put where it sees them only where it counts."""
    middle_m = 0.2
    region_m = ((middle_m, 2.0, 2.0), (-2.0, -2.0, 0.0))

    async def work(lab, outside):
        frames, received, events = heard(lab), heard(lab, RAW), []
        mirror, before = Mirror(lab), {name: lab.world.pose_of(name) for name in lab.world.objects}
        settings = cfg(outside.address, region_m=region_m)
        one = DetectorTarget(lab, DETECTOR, settings, lambda _, reason: events.append(reason), mirror)
        await one.start()
        await lab.clock.sleep(11.5)  # what should be seen, and is not, is told after ten
        last, raw = frames[-1], received[-1]
        await one.close()
        moved = {name for name, pose in before.items() if not lab.world.pose_of(name).is_close(pose)}
        in_region = {name for name, pose in before.items() if pose.position[0] < middle_m}
        return last, raw, moved, in_region, errors_m(last, lab), errors_m(last, outside.lab), events

    last, raw, moved, in_region, from_ours, from_real, events = both(work)
    is_real = last.positions[:, 0] < middle_m
    assert is_real.any()
    assert not is_real.all()
    assert len(last.skus) == len(raw.skus)  # nothing twice, nothing left out
    assert np.median(np.array(from_real)[is_real]) < 0.0015
    assert np.median(np.array(from_ours)[~is_real]) < 0.0015
    assert np.median(np.array(from_real)[~is_real]) > 0.002  # as they lie here, and not there
    assert moved
    assert moved <= in_region
    assert not [reason for reason in events if "does not see" in reason]
    assert last.scores.shape == (len(last.skus),)
    assert len(last.quaternions) == len(last.variances) == len(last.skus)
