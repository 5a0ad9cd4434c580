"""The bench of vision: it is listed, and times what it says."""

import time

from cellwright.bench import BENCHES, vision_kitting
from cellwright.bench.result import MeasurementConditions
from cellwright.bench.vision import TARGETS, _cpu_ms


def test_it_is_listed_with_targets():
    assert "vision" in BENCHES
    assert TARGETS["render.soft_640_ms"] == {"max": 160.0}


def test_time_is_that_of_the_processor_without_the_first_call():
    calls = []

    def work():
        calls.append(time.process_time())
        end = calls[-1] + (0.3 if len(calls) == 1 else 0.02)
        while time.process_time() < end:
            pass
        time.sleep(0.05)  # waiting does not count

    assert 15 < _cpu_ms(work, 3) < 60
    assert len(calls) == 4


def test_a_kit_from_pixels_and_two_cameras_have_goals():
    assert TARGETS["aprs.tasked_rtf"] == {"min": 5.0}
    assert TARGETS["aprs.two_cameras_rtf"] == {"min": 2.0}


def test_two_cameras_are_timed_as_their_names_say(monkeypatch):
    asked = []

    def timed(_seed, duration_s, drawn, *, moving):
        asked.append((dict(drawn), moving))
        return duration_s / 4, duration_s / 2

    monkeypatch.setattr(vision_kitting, "_two_cameras_s", timed)
    metrics = vision_kitting.two_cameras(MeasurementConditions(seed=0, quick=True), "gl")
    quick = {"renderer": "gl", "shadows": False, "samples": 1}
    assert asked == [(quick, True), (quick, False), ({"renderer": "gl"}, True)]
    assert metrics["aprs.two_cameras_rtf"] == metrics["aprs.two_cameras_shadows_rtf"] == 4
    assert metrics["aprs.two_cameras_shadows_cpu"] == 0.5
