"""`cellwright model check`: checks a model for what a physics engine and a planner need."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from cellwright.catalogue import find_model
from cellwright.checks.finding import Finding
from cellwright.cli.model_export import is_file
from cellwright.cli.output import print_json, table

__all__ = ["check", "findings_json", "show_findings"]


def check(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="A model's name, or a file: URDF, SDF, xacro, MJCF, YAML, STL, OBJ, DAE."),
    ],
    search: Annotated[
        list[Path] | None, typer.Option(help="With a file: a folder in which package:// and model:// are looked for.")
    ] = None,
    which: Annotated[str, typer.Option("--model", help="Which of several models of an SDF file.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Checks a model: mass, inertia, limits, contacts, energy drift, reach; exit 1 when something is wrong."""
    # draws in planners and solvers, which other commands spare
    from cellwright.checks.model import check_model
    from cellwright.checks.model_file import check_file

    if is_file(model):
        kind, findings = check_file(Path(model), search or [], which)
    else:
        kind, figures = find_model(model)
        findings = check_model(figures, kind)
    if as_json:
        print_json({"model": model, "kind": kind, **findings_json(findings)})
    else:
        show_findings(findings)
    return 0 if all(finding.ok for finding in findings) else 1


def findings_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """Returns findings for JSON."""
    listed = [
        {"check": f.check, "ok": f.ok, "detail": f.detail, "values": dict(f.values)}
        | ({} if f.ok else {"remedy": f.remedy})
        for f in findings
    ]
    return {"ok": all(f.ok for f in findings), "findings": listed}


def show_findings(findings: Sequence[Finding]) -> None:
    """Prints findings; under each error, its remedy."""
    rows = []
    for f in findings:
        text = f.detail if f.ok or not f.remedy else f"{f.detail}\n-> {f.remedy}"
        rows.append((f.check, Text("ok", "green") if f.ok else Text("wrong", "red"), text))
    table(None, ["check", "", "detail"], rows, markup=False)
