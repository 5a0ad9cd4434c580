import numpy as np
import pytest

from cellwright.bench import epucks
from cellwright.bench.result import MeasurementConditions
from cellwright.catalogue import MOBILE_PROFILES
from cellwright.lab import Lab


def test_robots_of_the_measurement_have_every_sensor_but_the_camera():
    with Lab(epucks.cell_with_senses("one"), 0) as lab:
        seen = []
        lab.bus.subscribe(None, lambda topic, _message: seen.append(topic), subscriber="test")
        lab.advance(0.3)
        topics = {topic.rpartition("/")[2] for topic in lab.bus.topics if topic.startswith("/ePuck0/")}
    kinds = {line["type"] for profile in MOBILE_PROFILES for line in MOBILE_PROFILES.get(profile).sensors}
    assert kinds | {"encoders", "odom"} <= topics
    assert "/ePuck0/proximity" in seen
    assert not any("image" in topic for topic in seen)


@pytest.mark.slow
def test_speed_is_simulated_seconds_by_processor_time_and_senses_take_some_of_it(monkeypatch):
    monkeypatch.setattr(epucks, "SIZES", {"one": (1, 3)})
    measured = epucks.bench_epucks(MeasurementConditions(seed=0, quick=True)).metrics
    assert measured["epucks.sensors_rtf_1"] > 5  # on any machine
    assert 0.05 < measured["epucks.sensors_to_blind_1"] < 1.0
    assert measured["epucks.sensors_messages_per_s_1"] == pytest.approx(547, abs=30)
    spent = np.array([epucks._seconds_spent(epucks.cell_with_senses("one"), 0, 2)])
    assert spent.shape == (1, 2)
