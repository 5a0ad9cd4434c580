"""Step counters: whole steps of real wheels, at their rate, wrapped where the real ones wrap."""

import pytest

from cellwright.cells import load_cell
from cellwright.core.config import validate
from cellwright.core.messages import Encoder
from cellwright.lab import Lab
from cellwright.sensors import EncoderSensor, check_sensor, make_sensor
from cellwright.sim import World


def lab_with(**line):
    cell = load_cell("epucks@one")
    data = cell.model_dump() | {"fidelity": "kinematic", "variants": {}}
    data["mobiles"]["ePuck"]["sensors"] = [{"type": "encoders", "rate_hz": 25, **line}]
    return Lab(validate(data, type(cell), "test"), 0)


def heard(lab):
    messages = []
    lab.bus.subscribe("/ePuck0/encoders", lambda _, message: messages.append(message), subscriber="test")
    return messages


def test_counts_follow_the_wheels_at_their_rate():
    with lab_with() as lab:
        messages = heard(lab)
        lab.mobiles["ePuck0"].drive_steps(400, -250)
        lab.advance(2.0)
    assert len(messages) == 50
    assert all(isinstance(message, Encoder) and message.source == "ePuck0" for message in messages)
    assert messages[-1].names == ("left_wheel", "right_wheel")
    assert messages[-1].counts == (800, -500)
    assert [message.counts[0] for message in messages] == [16 * (i + 1) for i in range(50)]
    assert [message.sequence for message in messages] == list(range(50))


def test_counters_of_few_bits_wrap():
    with lab_with(bits=8) as lab:
        messages = heard(lab)
        lab.mobiles["ePuck0"].drive_steps(1000, -1000)
        lab.advance(0.16)
    assert [message.counts for message in messages] == [(40, -40), (80, -80), (120, -120), (-96, 96)]


def test_a_lost_sample_is_lost():
    with lab_with(dropout=0.5) as lab:
        messages = heard(lab)
        lab.advance(8.0)
    assert 70 < len(messages) < 130


def test_it_keeps_the_contract_of_sensors():
    line = {"type": "encoders", "robot": "ePuck0", "rate_hz": 25}
    assert check_sensor(line, World(load_cell("epucks@one"), 1)) == []


def test_an_arm_has_no_such_counters():
    with pytest.raises(Exception, match="unknown mobile robot 'ur5'"):
        make_sensor({"type": "encoders", "robot": "ur5", "rate_hz": 25}, World(load_cell("epucks@one"), 0), "test")
    assert EncoderSensor.message_type is Encoder
