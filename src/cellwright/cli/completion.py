"""Shell completion for bash, zsh and fish: a script that knows every command, so that the shell starts nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from cellwright.core.errors import OutputError, UnknownName

__all__ = ["SHELLS", "completion_script", "install_completion", "this_shell"]

SHELLS = ("bash", "zsh", "fish")
FILES = {
    "file": "mcap", "log": "mcap", "a": "mcap", "b": "mcap", "trial file": "yaml", "crcl check": "xml",
    "crcl send": "xml",
}  # fmt: skip
"""Argument, or command and argument -> ending of its files."""


def this_shell() -> str:
    """Returns the user's shell.

    Raises:
        UnknownName: It is none that is known.
    """
    name = Path(os.environ.get("SHELL", "bash")).name
    if name not in SHELLS:
        raise UnknownName("shell", name, SHELLS)
    return name


def completion_script(shell: str, app: typer.Typer) -> str:
    """Returns the script; names of cells, orders and robots are those that are installed now."""
    if shell not in SHELLS:
        raise UnknownName("shell", shell, SHELLS)
    root = typer.main.get_command(app)
    words = {path: _words(command, path) for path, command in _commands(root)}
    return _fish(words) if shell == "fish" else _bash(words, is_zsh=shell == "zsh")


def install_completion(shell: str, app: typer.Typer) -> list[str]:
    """Writes the script where the shell looks, and returns what to tell.

    Raises:
        OutputError: It cannot be written.
    """
    script, home = completion_script(shell, app), Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME", home / ".local/share"))
    config = Path(os.environ.get("XDG_CONFIG_HOME", home / ".config"))
    file = {
        "bash": data / "bash-completion/completions/cellwright",
        "zsh": data / "cellwright/completion.zsh",
        "fish": config / "fish/completions/cellwright.fish",
    }[shell]
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(script, encoding="utf-8")
    except OSError as error:
        raise OutputError(file, error.strerror or str(error)) from None
    hint = {
        "bash": f"where the package bash-completion is not installed, add to ~/.bashrc: source {file}",
        "zsh": f"add to ~/.zshrc: source {file}",
        "fish": "",
    }[shell]
    return [f"{file}; it works in a new shell", *([hint] if hint else [])]


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yields every command with the words that lead to it."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, (*path, name))


def _words(command: Any, path: tuple[str, ...]) -> dict[str, list[str]]:
    """Returns what may follow: names under "", options under "-", and under an option what it takes."""
    found: dict[str, list[str]] = {"": list(getattr(command, "commands", {})), "-": ["--help"]}
    for parameter in command.params:
        values = _values(parameter.name, path)
        if parameter.param_type_name == "argument":
            found[""] += values
            ending = FILES.get(" ".join((*path[-2:], parameter.name)), FILES.get(" ".join(path[-2:])))
            ending = ending or (FILES.get(parameter.name) if path[:1] == ("log",) else None)
            found["*"] = [ending or ("yaml" if parameter.name in ("cell", "file") else "*")]
        else:
            long = [option for option in parameter.opts if option.startswith("--")]
            found["-"] += long
            if not getattr(parameter, "is_flag", False):
                for option in long:
                    found[option] = values
    return found


def _values(name: str, path: tuple[str, ...]) -> list[str]:
    """Returns the names that a parameter takes."""
    from cellwright.cells import CELLS, load_cell
    from cellwright.orders import DESIGNS
    from cellwright.orders.pick_order import PICK_ORDERS

    if name == "cell":
        return sorted(CELLS)
    if name == "order":
        return sorted([*DESIGNS, *PICK_ORDERS])
    if name in ("robot", "robots"):
        return sorted({robot for cell in CELLS for robot in load_cell(CELLS.get(cell)).robots})
    if name == "name" and path == ("experiment", "run"):
        from cellwright.experiments import EXPERIMENTS

        return sorted(EXPERIMENTS)
    fixed = {
        "recovery": ["full", "none", "retry"],
        "source": ["camera", "state"],
        "fidelity": ["kinematic", "physics"],
    }
    return fixed.get(name, [])


def _files(option: str, values: list[str]) -> str:
    """Returns the pattern of the files that an option takes: none where it takes one of a few words."""
    return "*" if not values or option in ("--order", "--cell") else ""


def _bash(words: dict[tuple[str, ...], dict[str, list[str]]], *, is_zsh: bool) -> str:
    cases = []
    for path, own in words.items():
        place = " ".join(path)
        takes = "".join(
            f'        "{place}|{option}") names="{" ".join(values)}"; files="{_files(option, values)}" ;;\n'
            for option, values in own.items()
            if option.startswith("--")
        )
        ending = own.get("*", [""])[0]
        cases.append(
            f'{takes}        "{place}|-") names="{" ".join(own["-"])}"; files="" ;;\n'
            f'        "{place}|") names="{" ".join(own[""])}"; files="{ending}" ;;\n'
        )
    groups = " ".join(dict.fromkeys(path[0] for path in words if len(path) == 2))
    begin = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n" if is_zsh else ""
    return f"""{begin}# Completion of cellwright, made by `cellwright --show-completion`.
_cellwright() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" place="" one names="" files="" index
    for ((index = 1; index < COMP_CWORD; index++)); do
        one="${{COMP_WORDS[index]}}"
        if [[ "$one" == -* ]]; then continue; fi
        if [[ -z "$place" ]]; then place="$one"
        elif [[ " {groups} " == *" $place "* ]]; then place="$place $one"; break
        else break; fi
    done
    local key=""
    if [[ "$before" == --* ]]; then key="$before"; fi
    if [[ "$word" == -* ]]; then key="-"; fi
    for one in "$place|$key" "$place|"; do
        case "$one" in
{"".join(cases)}        esac
        if [[ -n "$names$files" ]]; then break; fi
    done
    COMPREPLY=($(compgen -W "$names" -- "$word"))
    if [[ "$files" == "*" ]]; then COMPREPLY+=($(compgen -f -- "$word"))
    elif [[ -n "$files" ]]; then COMPREPLY+=($(compgen -f -X "!*.$files" -- "$word") $(compgen -d -S / -- "$word")); fi
}}
complete -o filenames -F _cellwright cellwright
"""


def _fish(words: dict[tuple[str, ...], dict[str, list[str]]]) -> str:
    lines = ["# Completion of cellwright, made by `cellwright --show-completion`.", "complete -c cellwright -f"]
    for path, own in words.items():
        seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in path) or "__fish_use_subcommand"
        inner = own[""] if any(other[: len(path)] == path and len(other) > len(path) for other in words) else []
        if inner and path:
            seen_none = f"{seen}; and not __fish_seen_subcommand_from {' '.join(inner)}"
            lines.append(f"complete -c cellwright -n '{seen_none}' -a '{' '.join(inner)}'")
        elif own[""]:
            lines.append(f"complete -c cellwright -n '{seen}' -a '{' '.join(own[''])}'")
        if ending := own.get("*", [""])[0]:
            pattern = "" if ending == "*" else f".{ending}"
            lines.append(f"complete -c cellwright -n '{seen}' -a '(__fish_complete_suffix {pattern or '.'})'")
        for option in own["-"]:
            takes = own.get(option)
            rest = "" if takes is None else " -r -F"
            if takes:
                rest = f" {'-r -F' if _files(option, takes) else '-x'} -a '{' '.join(takes)}'"
            lines.append(f"complete -c cellwright -n '{seen}' -l {option.removeprefix('--')}{rest}")
    return "\n".join(lines) + "\n"
