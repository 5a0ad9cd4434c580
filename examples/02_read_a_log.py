"""Recording a run and reading the log.

Shows:

- a recording: everything that goes over the bus, in one MCAP file that ROS tools open too
- the log's table of contents, its metadata, its messages as objects and a topic as arrays
- that the same seed gives the same bytes; `compare`, from `cellwright.record`, also tells where two logs differ
"""

import tempfile
from pathlib import Path

import numpy as np

import cellwright as cw
from cellwright.record import compare

folder = Path(tempfile.mkdtemp())
for name in ("first.mcap", "second.mcap"):
    with cw.Lab.from_cell("aprs", seed=3) as lab:
        lab.record(folder / name)  # is closed with the laboratory
        lab.perform(lab.robot("fanuc").move_joints(np.radians([20, 10, 0, 0, -90, 0])))

log = cw.read_log(folder / "first.mcap")
print(f"cell {log.metadata['cell']}, seed {log.metadata['seed']}, {log.count} messages")
for topic in log.topics.values():
    print(f"{topic.name:32} {topic.type:32} {topic.count:5} {topic.rate_hz:6.1f} Hz")

# One message after the other ...
first = next(log.entries(["/fanuc/joint_states"])).message
print("first reading:", np.round(np.degrees(first.position), 2).tolist())

# ... or a whole topic as columns.
angles_deg = np.degrees(log.arrays("/fanuc/joint_states")["position"][:, 0])
print(f"joint_1 went from {angles_deg[0]:.1f} to {angles_deg[-1]:.1f} deg")

print("the two runs are", compare(log, cw.read_log(folder / "second.mcap")).sameness.value)
