"""A task planner of your own: registered by name, it plans like those that come with the package.

Shows:

- `cw.plan_order`: a plan from a cell's drawings, with its length and the bound that no plan can beat
- a planner: a class with `plan`, which gets a state without poses (parts are counted) and returns steps
- `cw.TASK_PLANNERS`, by which it is found; an installed package names it in the entry-point group `cellwright.planners`
- the validator, which shares no code with any planner and names the step that cannot be done

What plans are made of comes from `cellwright.planning`: steps, results, the validator.
"""

from dataclasses import replace

import cellwright as cw
from cellwright.planning import Action, PlanResult, PlanStatus, Verb, validate_timed


@cw.TASK_PLANNERS.register("one_by_one")
class OneByOne:
    """Lets the first robot that reaches it bring each missing part, one after the other."""

    def plan(self, request):
        """Returns the steps; kits whose tray still has to be fetched are beyond it."""
        self.request, self.now_s, self.steps = request, 0.0, []
        for job in request.jobs:
            for sku, count in job.started.open_slots.items():
                for _ in range(count):
                    self.bring(job.started, sku)
        bound_s = sum(request.durations.part_s * len(job.design.slots) for job in request.jobs) / 2  # two robots
        return PlanResult(
            status=PlanStatus.SOLVED,
            planner="one_by_one",
            actions=tuple(self.steps),
            cost=self.now_s,
            makespan_s=self.now_s,
            lower_bound=bound_s,
        )

    def bring(self, kit, sku):
        """Plans the way of one part from its tray into a kit."""
        trays = [tray.name for tray in self.request.state.parts_trays if tray.sku == sku]
        robots = [robot for robot in self.request.state.robots if kit.place in robot.reach]
        robot, tray = next((r, tray) for r in robots for tray in trays if tray in r.reach)
        for verb in (Verb.LOOK_PART, Verb.SET_GRASP, Verb.TAKE_PART, Verb.LOOK_SLOT, Verb.PLACE_PART):
            place = {Verb.LOOK_PART: tray, Verb.TAKE_PART: tray, Verb.SET_GRASP: ""}.get(verb, kit.place)
            duration_s = self.request.durations.of(verb)
            when = {"start_s": self.now_s, "duration_s": duration_s}
            self.steps.append(Action(verb, robot.name, robot.tool, sku, place, kit.name, **when))
            self.now_s += duration_s


for name in ("sequencer", "scheduler", "one_by_one"):
    result = cw.plan_order("aprs", "kit_m2l1", quantity=2, planner=name)
    print(f"{name}: {len(result.actions)} steps, {result.makespan_s:.1f} s, {result.ratio:.2f} of the bound")

planner = OneByOne()
result = cw.plan_order("aprs", "kit_m2l1", quantity=2, planner=planner)
print("valid:", validate_timed(planner.request, result).valid)
print("without its first step:", validate_timed(planner.request, replace(result, actions=result.actions[1:])).reason)
