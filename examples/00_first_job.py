"""The first job: a robot takes a gear from its tray and sets it into a kit.

Shows:

- a laboratory for one of the cells that ship with Cellwright
- a job done by Cellwright's own controller, which sees what the sensors say and nothing else
- the report: what was done when, and the judge's verdict, which knows the truth
"""

import cellwright as cw

with cw.Lab.from_cell("aprs", seed=7) as lab:
    report = cw.run_transfer(lab, cw.TransferJob(robot="fanuc", kit="kit_m2l1_tray", slot="slot_1"))

for step in report.steps:
    print(f"{step.start_s:6.2f} s  {step.name:10}  {step.detail}")

seating = report.seating
print(f"done: {report.done}; {seating.part} is in {seating.slot}")
print(f"{seating.centre_error_m * 1000:.2f} mm off the slot's centre; {report.time_s:.2f} s of simulation")
