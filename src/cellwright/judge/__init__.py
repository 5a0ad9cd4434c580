"""The judge: sees the truth and says what was achieved."""

from cellwright.judge.collision import CollisionMonitor, Hit, Permit
from cellwright.judge.seating import Seating, judge_slot

__all__ = ["CollisionMonitor", "Hit", "Permit", "Seating", "judge_slot"]
