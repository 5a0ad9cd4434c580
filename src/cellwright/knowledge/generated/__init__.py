"""Everything here but this line is made from the ontology by `make regenerate`."""
