"""`cellwright plan --check`: whether a plan file solves a problem file, from any planner."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from cellwright.cli.output import print_json, say
from cellwright.core.errors import BadInput
from cellwright.knowledge.pddl import check_plan, read_steps, read_task

__all__ = ["check_files", "read_text"]

MOST_BYTES = 64_000_000


def check_files(domain: Path, problem: Path, plan: Path, *, as_json: bool) -> int:
    """Prints whether a plan solves a problem, and which step fails on what; returns 0 when it does, 1 when not.

    Raises:
        BadInput: A file that cannot be read, or is none of PDDL.
    """
    texts = [read_text(path) for path in (domain, problem, plan)]
    task = read_task(texts[0], texts[1], str(domain), str(problem))
    found = check_plan(task, read_steps(texts[2], str(plan)))
    if as_json:
        print_json(
            {
                "valid": found.valid,
                "reason": found.reason,
                "step": found.step,
                "line": found.line,
                "action": found.action,
                "steps": found.steps,
                "cost": found.cost,
                "makespan_s": found.makespan_s,
                "files": [domain, problem, plan],
            }
        )
    elif found.valid:
        more = "" if found.cost is None else f", cost {found.cost:g}"
        more += "" if found.makespan_s is None else f", {found.makespan_s:g} s"
        say(Text("valid", "green"), f": {found.steps} steps reach the goal of {problem}{more}")
    else:
        say(Text("not valid", "red"), f": {plan}: {found.reason}")
    return 0 if found.valid else 1


def read_text(path: Path) -> str:
    """Returns the text of a file that the user named.

    Raises:
        BadInput: It cannot be read, or is no text.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadInput(f"{path} has {path.stat().st_size} bytes; allowed are {MOST_BYTES}")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{path} is no text in UTF-8") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
