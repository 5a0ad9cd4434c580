"""Real and virtual in one cell: robots and detectors at addresses beside simulated ones, switched while it runs."""

__all__: list[str] = []
