"""The oracle is asked about a fault when what it moved is at rest, once, and not before."""

from cellwright.judge import FaultScheduler, HandMonitor, Recoverability, parse_fault
from cellwright.lab import Lab
from cellwright.trials.fault_watcher import STILL_MPS, FaultWatcher, speed_mps


def test_the_oracle_is_asked_once_things_are_at_rest():
    with Lab.from_cell("aprs", seed=1) as lab:
        watcher, asked = FaultWatcher(lab), []
        hands = HandMonitor(lab.world, lab.stepper)
        fault = parse_fault("push:part=large_gear_1,at=0,by_mm=30/0")
        scheduler = FaultScheduler(lab.world, lab.stepper, lab.bus, hands, [fault], lab.sensors)

        def oracle():
            asked.append((lab.clock.time_s, speed_mps(lab.world, "large_gear_1")))
            return Recoverability(True, "asked")

        for _ in range(30):
            lab.advance(0.1)
            watcher.ask(oracle)
        scheduler.stop()
    (record,) = watcher.records
    ((time_s, speed),) = asked
    assert (record.subject, record.asked_s, record.recovery.reason) == ("large_gear_1", time_s, "asked")
    assert time_s > record.time_s + 0.5
    assert speed < STILL_MPS
