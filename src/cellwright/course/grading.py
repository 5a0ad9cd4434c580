"""Grades of a folder of submissions: every student's programs on every seed, as a table."""

from __future__ import annotations

import ast
import csv
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from cellwright.core.errors import BadInput, OutputError
from cellwright.core.files import read_text
from cellwright.course.exercise import EXERCISES
from cellwright.course.scoring import ExerciseScore, score_program

__all__ = ["Grade", "find_submissions", "grade_folder", "seed_of", "write_grades"]

SEEDS_OF_STUDENTS = 2**31
COLUMNS = ("student", "exercise", "points", "lowest", "passed", "seeds", "points_by_seed", "like", "problem")


@dataclass(frozen=True, kw_only=True)
class Grade:
    """The scores of one student's program.

    Attributes:
        student: The name of the student, by that of the folder or the file.
        exercise: The exercise.
        scores: One for each seed; none when the file cannot be used.
        like: Other students whose program is the same but for names, numbers and comments.
        problem: Why it cannot be used, or how it failed first.
    """

    student: str
    exercise: str
    scores: tuple[ExerciseScore, ...] = ()
    like: tuple[str, ...] = ()
    problem: str = ""

    @property
    def points(self) -> float:
        """The mean over its seeds."""
        return round(fmean([score.points for score in self.scores]), 1) if self.scores else 0.0

    def row(self) -> list[object]:
        """Returns its line of the table."""
        points = [score.points for score in self.scores]
        return [
            self.student,
            self.exercise,
            self.points,
            min(points, default=0.0),
            f"{sum(score.passed for score in self.scores)}/{len(points)}",
            " ".join(str(score.seed) for score in self.scores),
            " ".join(f"{value:g}" for value in points),
            " ".join(self.like),
            self.problem,
        ]


def seed_of(student: str, key: str = "") -> int:
    """Returns the seed of a student's own variant; with a key that only the lecturer knows it cannot be foreseen."""
    digest = hashlib.sha256(f"{key}\0{student.strip().lower()}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % SEEDS_OF_STUDENTS


def find_submissions(folder: Path) -> dict[tuple[str, str], Path]:
    """Returns student and exercise -> file: of STUDENT/EXERCISE.py or STUDENT_EXERCISE.py.

    Raises:
        BadInput: It is no folder, or nothing in it is a submission.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder: name one with STUDENT/EXERCISE.py or STUDENT_EXERCISE.py in it")
    found: dict[tuple[str, str], Path] = {}
    for path in sorted([*folder.glob("*/*.py"), *folder.glob("*.py")]):
        student, _, name = path.stem.rpartition("_")
        if path.parent != folder:
            student, name = path.parent.name, path.stem
        if name in EXERCISES and student:
            found[student, name] = path
    if not found:
        raise BadInput(f"{folder}: no submission; they are STUDENT/EXERCISE.py or STUDENT_EXERCISE.py ({_names()})")
    return found


def grade_folder(
    folder: Path,
    seeds: Sequence[int] | None,
    key: str = "",
    say: Callable[[str], None] = lambda _text: None,
) -> list[Grade]:
    """Scores every submission of a folder.

    Args:
        folder: Where they are.
        seeds: The same for all; None gives each student one of their own.
        key: Makes seeds of students unforeseeable.
        say: Told of every program.
    """
    files = find_submissions(folder)
    twins = _twins(files)
    grades = []
    for (student, exercise), path in files.items():
        chosen = (seed_of(student, key),) if seeds is None else seeds
        grade = _grade(student, exercise, path, chosen, twins.get((student, exercise), ()))
        say(f"{student}, {exercise}: {grade.points:g} points" + (f"; {grade.problem}" if grade.problem else ""))
        grades.append(grade)
    return grades


def write_grades(grades: Iterable[Grade], path: Path) -> None:
    """Writes the table as CSV."""
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(grade.row() for grade in grades)
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None


def _grade(student: str, exercise: str, path: Path, seeds: Sequence[int], like: tuple[str, ...]) -> Grade:
    scores = list[ExerciseScore]()
    try:
        for seed in seeds:
            scores.append(score_program(exercise, path, seed))
    except BadInput as error:
        return Grade(student=student, exercise=exercise, like=like, problem=str(error))
    problem = next((score.problem for score in scores if score.problem), "")
    return Grade(student=student, exercise=exercise, scores=tuple(scores), like=like, problem=problem)


def _names() -> str:
    return ", ".join(EXERCISES)


def _twins(files: Mapping[tuple[str, str], Path]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Returns for each submission the students with the same one, but for names, numbers and comments."""
    forms: dict[tuple[str, str], list[str]] = {}
    own: dict[tuple[str, str], tuple[str, str]] = {}
    for (student, exercise), path in files.items():
        form = _form(path)
        if form:
            own[student, exercise] = exercise, form
            forms.setdefault((exercise, form), []).append(student)
    return {which: tuple(name for name in forms[form] if name != which[0]) for which, form in own.items()}


def _form(path: Path) -> str:
    """Returns what is left of a program without names, numbers, texts and comments; nothing of an unreadable one."""
    try:
        return _form_of(ast.parse(read_text(path)))
    except (BadInput, SyntaxError, ValueError, MemoryError, RecursionError):
        return ""


def _form_of(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        for name in ("id", "arg", "attr", "name", "value"):
            if isinstance(getattr(node, name, None), str | int | float | complex | bytes):
                setattr(node, name, "")
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()
