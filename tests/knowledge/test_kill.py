"""A process that is killed while it writes leaves the last finished batch behind, or a newer one, never half."""

import os
import random
import signal
import time

import numpy as np
import pytest

from cellwright.core.pose import Pose
from cellwright.knowledge import Database, WorldModel, records

OBJECTS = [f"part_{n}" for n in range(40)]


def write_until_killed(path, start, report):
    model = WorldModel(Database(path))
    for cycle in range(start, start + 100_000):
        poses = np.tile(Pose.from_xyz_rpy((float(cycle), 0.0, 0.0)).matrix, (len(OBJECTS), 1, 1))
        model.observe(OBJECTS, poses, float(cycle), "camera")
        if cycle % 3 == 0:
            model.mark_stable("cycle")
        os.write(report, f"{cycle}\n".encode())  # this one is finished


@pytest.mark.slow
@pytest.mark.parametrize("instants", [5, pytest.param(100, marks=pytest.mark.long)])
def test_killed_at_random_instants(file, instants):
    path, database = file, Database(file)
    with database.session() as session:
        cell, sku = records.KittingWorkstation(name="cell"), records.StockKeepingUnit(name="bolt")
        for name in OBJECTS:
            place = records.PoseOnlyLocation(name=name, ref_object=cell)
            session.add(records.Part(name=name, sku=sku, primary_location=place))
    database.close()
    draw, finished = random.Random(5), 0
    for _ in range(instants):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            write_until_killed(path, finished + 1, writing)
            os._exit(1)
        os.close(writing)
        reported = os.read(reading, 64)  # it is at work
        time.sleep(draw.uniform(0.0, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while more := os.read(reading, 65536):
            reported += more
        os.close(reading)
        last = int(reported.split(b"\n")[-2])
        database = Database(path)
        model = WorldModel(database)
        tree = model.tree
        rows = tree.indices(OBJECTS)
        stored = {int(t) for t in tree.seen_s[rows]} | {int(x) for x in tree.in_world[rows, 0, 3]}
        history, stable = model.history(OBJECTS[-1]), model.stable_states()
        database.close()
        assert len(stored) == 1, "half a batch"
        finished = stored.pop()
        assert finished >= last, "a finished batch was lost"
        assert history[-1][0] == finished
        if stable:
            model = WorldModel(Database(path))
            model.restore("cycle")  # a whole state of some finished batch
            marked = {int(x) for x in model.tree.in_world[rows, 0, 3]}
            model.database.close()
            assert len(marked) == 1
            assert marked.pop() <= finished
            finished = max(finished, last)
    assert finished > instants
