"""The first job: robots build a kit of gears from an order.

Shows:

- a laboratory for one of the cells that ship with Cellwright
- an order done by Cellwright's own controller, which sees what the sensors say and nothing else
- the report: what was done when, and the judge's verdict, which knows the truth
"""

import cellwright as cw

with cw.Lab.from_cell("aprs", seed=7) as lab:
    report = lab.run(order="kit_m2l1")

for action in report.order.actions:
    true = sum(one.value == "true" for one in action.predicates)
    print(f"{action.start_s:6.2f} s  {action.action}: {true} of {len(action.predicates)} predicates are true")

for item in report.scored.items:
    print(f"{item.name}: {item.points:g} of {item.most:g} points: {item.reason}")
print(f"{report.status}: score {100 * report.score:.0f} of 100 after {report.time_s:.1f} s of simulation")
