"""A small robot without physics behind a CRCL server: for first steps, and for trying out clients."""
