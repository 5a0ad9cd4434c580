"""`cellwright course`: exercises with e-pucks: a file to begin with, a score, grades of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellwright.cli.output import err, prepare_output, print_json, say, table
from cellwright.core.errors import BadInput
from cellwright.core.files import refuse_existing
from cellwright.course import EXERCISES, ExerciseScore, grade_folder, score_program, seed_of, starter_text, write_grades
from cellwright.experiments.seeds import parse_seeds

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Exercises with e-pucks: a file to begin with, a score, grades.")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]
Name = Annotated[str, typer.Argument(metavar="EXERCISE", help="Which; see `cellwright course list`.")]


@app.command("list")
def list_exercises(as_json: Json = False) -> None:
    """Lists the exercises."""
    made = {name: EXERCISES.get(name)() for name in EXERCISES}
    if as_json:
        rows = [{"name": name, "title": e.title, "time_limit_s": e.time_limit_s} for name, e in made.items()]
        print_json({"exercises": rows})
        return
    table(None, ["exercise", "title"], [(name, e.title) for name, e in made.items()], markup=False)
    say()
    say("cellwright course start EXERCISE writes the file to begin with")


@app.command()
def start(
    exercise: Name,
    out: Annotated[Path | None, typer.Option(help="The file; EXERCISE.py by default.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Writes the file that an exercise begins with; the task is in it."""
    text = starter_text(exercise)
    path = out or Path(f"{exercise}.py")
    if not overwrite:
        refuse_existing(path)
    prepare_output(path)
    path.write_text(text, encoding="utf-8")
    say(f"{path} has the task; see what it does with")
    say(f"  cellwright course score {exercise} {path}")


@app.command()
def score(
    exercise: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The program.")],
    seeds: Annotated[str, typer.Option(help="Variants of the task: a seed, or as in 0..4.")] = "0",
    student: Annotated[str | None, typer.Option(help="The variant of this student instead.")] = None,
    record: Annotated[Path | None, typer.Option(help="A log of the run; `cellwright log trace` shows it.")] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Scores a program from 0 to 100, with reasons; exit 0 when it passes on every seed, else 1."""
    chosen = parse_seeds(seeds) if student is None else (seed_of(student),)
    if record is not None:
        if len(chosen) > 1:
            raise BadInput("--record takes one run: choose one seed")
        if not overwrite:
            refuse_existing(record)
        prepare_output(record)
    scores = []
    for seed in chosen:
        scores.append(score_program(exercise, file, seed, record))
        if not as_json:
            _show(scores[-1])
    if as_json:
        print_json({"file": str(file), "scores": [score.as_dict() for score in scores]})
    elif len(scores) > 1:
        say(f"mean of {len(scores)} seeds: {sum(score.points for score in scores) / len(scores):.1f} of 100 points")
    return 0 if all(score.passed for score in scores) else 1


@app.command()
def grade(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="STUDENT/EXERCISE.py or STUDENT_EXERCISE.py.")],
    out: Annotated[Path, typer.Option(help="The table, as CSV.")] = Path("grades.csv"),
    seeds: Annotated[str, typer.Option(help="The same variants for all, as in 0..4.")] = "0..4",
    own: Annotated[bool, typer.Option("--own-seeds", help="Give each student a variant of their own.")] = False,
    key: Annotated[str, typer.Option(help="A word of yours, so that nobody foresees their own variant.")] = "",
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Scores all programs of a folder, and writes a table of grades."""
    if not overwrite:
        refuse_existing(out)
    prepare_output(out)
    grades = grade_folder(folder, None if own else parse_seeds(seeds), key, lambda text: say(text, to=err))
    write_grades(grades, out)
    if as_json:
        print_json({"grades": [{"student": g.student, "exercise": g.exercise, "points": g.points} for g in grades]})
        return
    rows = [(g.student, g.exercise, f"{g.points:g}", " ".join(g.like), g.problem) for g in grades]
    table(None, ["student", "exercise", "points", "like", "problem"], rows, markup=False)
    say(f"all of it in {out}")


def _show(result: ExerciseScore) -> None:
    figures = ", ".join(f"{name} {value}" for name, value in result.task.items())
    rows = [(item.name, f"{item.points:.0f} of {item.of:.0f}", item.reason) for item in result.items]
    table(f"{result.exercise}, seed {result.seed}: {figures}", ["item", "points", "reason"], rows, markup=False)
    if result.problem:
        say(f"the program failed: {result.problem}")
    say(f"{result.points:g} of 100 points: {'passed' if result.passed else 'not passed'}")
