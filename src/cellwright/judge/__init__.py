"""The judge: sees the truth and says what was achieved."""

from cellwright.judge.seating import Seating, judge_slot

__all__ = ["Seating", "judge_slot"]
