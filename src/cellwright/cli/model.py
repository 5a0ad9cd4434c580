"""`cellwright model`: list and show what cells are made of."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import mujoco
import typer

from cellwright.catalogue import KINDS, find_model
from cellwright.cli.output import console, prepare_output, print_json, table
from cellwright.models import build
from cellwright.sim.render import auto_view, choose_renderer, dress_stage, save_png

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Models: robots, tools, parts, trays, furniture.")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command("list")
def list_models(as_json: Json = False) -> None:
    """Lists all models by kind."""
    rows = [(kind, name, registry.get(name).title) for kind, registry in KINDS.items() for name in registry]
    if as_json:
        print_json({"models": [dict(zip(("kind", "name", "title"), row, strict=True)) for row in rows]})
        return
    table(None, ["kind", "model", "title"], rows)


@app.command()
def show(
    model: Annotated[str, typer.Argument(help="A model's name.")],
    picture: Annotated[Path | None, typer.Option(help="Also render it to this PNG file.")] = None,
    as_json: Json = False,
) -> None:
    """Shows a model's figures, each with its source."""
    kind, figures = find_model(model)
    compiled = build(figures).compile()
    values = {f.name: getattr(figures, f.name) for f in fields(figures) if f.name not in ("name", "title", "sources")}
    summary = {
        "bodies": compiled.nbody - 1,
        "joints": compiled.njnt,
        "geoms": compiled.ngeom,
        "triangles": compiled.nmeshface,
    }
    if as_json:
        plain = {key: _plain(value) for key, value in values.items()}
        print_json(
            {
                "model": model,
                "kind": kind,
                "title": figures.title,
                "figures": plain,
                "sources": dict(figures.sources),
                "compiled": summary,
            }
        )
    else:
        console.print(f"[bold]{figures.title}[/] ({kind} {model})")
        table(
            None, ["figure", "value", "source"], [(k, _text(v), figures.sources.get(k, "")) for k, v in values.items()]
        )
        console.print("\ncompiled: " + ", ".join(f"{count} {what}" for what, count in summary.items()))
    if picture is not None:
        prepare_output(picture)
        spec = build(figures)
        dress_stage(spec)
        scene = spec.compile()
        data = mujoco.MjData(scene)
        mujoco.mj_forward(scene, data)
        save_png(choose_renderer().render(scene, data, auto_view(scene)), picture)


def _text(value: Any) -> str:
    if isinstance(value, tuple) and value and hasattr(value[0], "name"):
        return ", ".join(item.name for item in value)
    return str(dict(value)) if hasattr(value, "items") else str(value)


def _plain(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__"):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if hasattr(value, "items"):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
