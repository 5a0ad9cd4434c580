"""A course in mobile robotics: exercises for e-pucks, each different by its seed, and their scoring."""

from cellwright.course.exercise import EXERCISES, Exercise, ExerciseItem, ExerciseRun
from cellwright.course.exercises import starter_text
from cellwright.course.grading import Grade, find_submissions, grade_folder, seed_of, write_grades
from cellwright.course.scoring import ExerciseScore, score_program

__all__ = [
    "EXERCISES",
    "Exercise",
    "ExerciseItem",
    "ExerciseRun",
    "ExerciseScore",
    "Grade",
    "find_submissions",
    "grade_folder",
    "score_program",
    "seed_of",
    "starter_text",
    "write_grades",
]
