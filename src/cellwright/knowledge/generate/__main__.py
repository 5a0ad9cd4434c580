"""`python -m cellwright.knowledge.generate` writes everything that is made from the ontology."""

from cellwright.knowledge.generate import regenerate

for path in regenerate():
    print(path.name)
