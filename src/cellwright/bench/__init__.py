"""Benches: measurements of the software itself, as figures with targets."""
