"""The event loop gives one program one order of events, whatever the process.

Run as a program, this file prints the event log of a random program.
"""

import asyncio
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import cellwright


def random_program(bench, seed):
    """Tasks that sleep, wait, time out, cancel and fail as dice tell them; returns the log of what happened when."""
    dice, log = random.Random(seed), []
    litter = [object() for _ in range(hash("somewhere else in memory") % 5000)]
    event = asyncio.Event()

    def toggle():
        (event.clear if event.is_set() else event.set)()
        log.append((bench.tick, "event", event.is_set()))

    async def worker(name, depth):
        try:
            for _ in range(dice.randrange(1, 6)):
                what, delay_s = dice.randrange(6), dice.randrange(1, 40) * 0.005
                if what == 0:
                    await bench.clock.sleep(delay_s)
                elif what == 1:
                    await asyncio.sleep(delay_s)
                elif what == 2:
                    await asyncio.wait_for(event.wait(), delay_s)
                elif what == 3 and depth < 3:
                    async with asyncio.TaskGroup() as group:
                        for child in range(dice.randrange(1, 9)):
                            group.create_task(worker(f"{name}.{child}", depth + 1))
                elif what == 4 and depth:
                    raise RuntimeError(name)
                else:
                    members = [asyncio.create_task(bench.clock.sleep(delay_s * n)) for n in range(4)]
                    done, _ = await asyncio.wait(members, timeout=delay_s, return_when=asyncio.FIRST_COMPLETED)
                    for member in members:
                        member.cancel()
                    log.append((bench.tick, name, len(done)))
                log.append((bench.tick, name, what))
        except (TimeoutError, ExceptionGroup) as error:
            log.append((bench.tick, name, type(error).__name__))
        except asyncio.CancelledError:
            log.append((bench.tick, name, "cancelled"))
            raise

    async def main():
        for tick in range(50, 5000, 50):
            bench.stepper.at(tick, toggle)
        bench.workers = [asyncio.create_task(worker(str(n), 0)) for n in range(30)]
        await bench.clock.sleep(1.0)

    bench.run(main())
    del litter
    return [*log, (bench.tick, "end", 0)]


def test_the_same_log_twice(make):
    for seed in range(3):
        log = random_program(make(), seed)
        assert len(log) > 150
        assert any(what == "cancelled" for _, _, what in log)
        assert random_program(make(), seed) == log
    assert random_program(make(), 1) != random_program(make(), 2)


@pytest.mark.slow
def test_the_same_log_in_every_process(bench):
    package_root = str(Path(cellwright.__file__).parents[1])
    outputs = []
    for hash_seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": package_root}
        command = [sys.executable, __file__, "5"]
        outputs.append(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(outputs[0]) > 1000
    assert outputs[0] == outputs[1] == outputs[2]
    assert json.loads(outputs[0]) == [list(entry) for entry in random_program(bench, 5)]


if __name__ == "__main__":
    from conftest import Bench

    bench = Bench()
    print(json.dumps(random_program(bench, int(sys.argv[1]))))
    bench.loop.close()
