"""The judge of one run: everything that looks at the truth, wired together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from cellwright.core.bus import Bus
from cellwright.core.messages import JudgeEvent, Verdict
from cellwright.judge.allowed_contact import AllowedContact
from cellwright.judge.collision import CollisionMonitor
from cellwright.judge.drops import DropMonitor
from cellwright.judge.faults import FaultCfg, FaultScheduler, FilteredSensor
from cellwright.judge.hand_monitor import HandMonitor
from cellwright.judge.kit import KitVerdict, judge_kit
from cellwright.judge.kitting_contacts import allowed_kitting_contacts
from cellwright.judge.oracle import ReachTest, Recoverability, SightTest, judge_recoverable
from cellwright.judge.score import Points, Score, score_run
from cellwright.orders import KitDesign
from cellwright.sim import Stepper, World

__all__ = ["EVENTS_TOPIC", "VERDICT_TOPIC", "Judge"]

EVENTS_TOPIC, VERDICT_TOPIC = "/judge/events", "/judge/verdict"


class Judge:
    """Watches a run from its beginning, applies its faults, and judges it at its end.

    Args:
        world: What is really there.
        stepper: By whose time.
        bus: The bus for faults and verdicts, which only judge and recorder hear.
        sensors: Those that faults may concern.
        faults: The faults to apply.
        allowed_contacts: The pairs that may touch; by default what is ordinary in kitting.

    Attributes:
        hands: What the grippers hold.
        drops: What fell.
        collisions: What touched and should not have.
        faults: What was, and will be, done to the world.
    """

    def __init__(
        self,
        world: World,
        stepper: Stepper,
        bus: Bus,
        sensors: Sequence[FilteredSensor] = (),
        faults: Sequence[FaultCfg] = (),
        allowed_contacts: Sequence[AllowedContact] | None = None,
    ) -> None:
        self._world = world
        self._bus = bus
        self._sequence = self._events = 0
        self.hands = HandMonitor(world, stepper)
        self.drops = DropMonitor(world, stepper, self.hands)
        self.collisions = CollisionMonitor(
            world, stepper, allowed_kitting_contacts(world) if allowed_contacts is None else allowed_contacts
        )
        self.faults = FaultScheduler(world, stepper, bus, self.hands, faults, sensors)
        bus.declare(VERDICT_TOPIC, Verdict)
        bus.declare(EVENTS_TOPIC, JudgeEvent)
        self.drops.on_drop = lambda drop: self._tell("drop", drop.time_s, drop.part, str(drop))
        self.collisions.on_hit = lambda hit: self._tell(
            "hit", hit.start_s, hit.first, f"{hit.first} hit {hit.second} at {hit.start_s:.2f} s"
        )

    def kits(self, wanted: Mapping[str, KitDesign]) -> tuple[KitVerdict, ...]:
        """Returns the verdicts on kits, tray by tray, now."""
        return tuple(judge_kit(self._world, tray, design) for tray, design in wanted.items())

    def score(
        self, wanted: Mapping[str, KitDesign], *, par_s: float, limit_s: float, points: Points | None = None
    ) -> Score:
        """Returns the score of the run, as if it ended now; also told on the bus."""
        now_s = self._world.clock.time_s
        kits, hits, drops = self.kits(wanted), self.collisions.hits, self.drops.drops
        score = score_run(kits, hits, drops, now_s, par_s=par_s, limit_s=limit_s, points=points)
        self._bus.publish(VERDICT_TOPIC, score.message(self._world.clock.time_ns, self._sequence))
        self._sequence += 1
        return score

    def recoverable(
        self,
        wanted: Mapping[str, KitDesign],
        reaches: ReachTest,
        robots: Collection[str] | None = None,
        sees: SightTest | None = None,
    ) -> Recoverability:
        """Returns whether the wanted kits can be completed from how things are now; ask when they are at rest."""
        return judge_recoverable(self._world, wanted, reaches, hand_monitor=self.hands, robots=robots, sees=sees)

    def _tell(self, kind: str, time_s: float, subject: str, text: str) -> None:
        header = (round(time_s * 1e9), self._events, "judge")
        self._bus.publish(EVENTS_TOPIC, JudgeEvent(*header, kind=kind, subject=subject, text=text))
        self._events += 1

    def stop(self) -> None:
        """Ends faults and collision checks; what faults changed for a while is restored."""
        self.faults.stop()
        self.collisions.stop()
