"""`cellwright bench`: measurements."""

import typer

app = typer.Typer(no_args_is_help=True, help="Measurements, as ratios taken in one run.")
