"""What if? The same moment, continued in several ways.

Shows:

- a world without a laboratory around it: physics, and the truth about everything in it
- a snapshot, exact to the last bit, to which the world returns as often as you like
- an experiment with it: how far beside its slot may a gear be let go and still be seated?

`World` and `judge_slot` come from their packages, `sim` and `judge`: they know the truth, which no controller may see.
"""

import numpy as np

import cellwright as cw
from cellwright.judge import judge_slot
from cellwright.sim import World

GEAR, SLOT = "medium_gear_1", "fanuc_medium_tray/slot_1"  # where the gear is at the start

world = World(cw.load_cell("aprs"), seed=0)
seated = world.pose_of(GEAR)
start = world.snapshot()


def drop(beside_m):
    """Lets the gear go 3 mm above its seat and so far beside it, and waits for a second."""
    world.restore(start)
    world.place(GEAR, cw.Pose(seated.position + np.array([beside_m, 0, 0.003]), seated.quaternion))
    world.engine.step(round(1 / world.clock.tick_s))
    return judge_slot(world, SLOT), world.data.qpos.copy()


for beside_mm in (0, 1, 2, 4, 8, 12):
    verdict, _ = drop(beside_mm / 1000)
    print(f"{beside_mm:3} mm beside: {'seated' if verdict.seated else 'not seated'}: {verdict.reason}")

twice = [drop(0.002)[1] for _ in range(2)]
print("the same again, to the last bit:", np.array_equal(*twice))
