"""`cellwright bench crcl`: response times of moving robots over CRCL, and the cost of messages."""

from __future__ import annotations

from collections.abc import Mapping

from cellwright.bench import crcl_block, crcl_codec, crcl_fast, crcl_status
from cellwright.bench.result import BENCHES, Measurement, MeasurementConditions

__all__ = ["crcl"]

TARGETS: Mapping[str, Mapping[str, float]] = {
    "status.rate_1": {"min": 1000},
    "status.rate_8": {"min": 2000},
    "status.p99_ms_8": {"max": 10},
    "status.real_time_8": {"min": 0.99},
    "block.far_move_ms": {"max": 50},
    "block.waypoints_1000_ms": {"max": 50},
    "block.guards_ms": {"max": 50},
}
CLIENTS = (1, 8)


@BENCHES.register("crcl")
def crcl(conditions: MeasurementConditions) -> Measurement:
    """Measures statuses over sockets from moving arms, their delays, the codec, commands in memory at full speed."""
    duration_s, batches, commands = (1.0, 3, 20) if conditions.quick else (10.0, 15, 400)
    return Measurement(
        {
            **crcl_status.measure(CLIENTS, duration_s, conditions.seed, conditions.say),
            **crcl_block.measure(min(duration_s, 5.0), conditions.seed, conditions.say),
            **crcl_codec.measure(batches, conditions.say),
            **crcl_fast.measure(commands, conditions.seed, conditions.say),
        },
        TARGETS,
    )
