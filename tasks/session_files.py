"""Files of sessions that somebody wrote by hand; needs no Prefect, so that a look at one is quick."""

from __future__ import annotations

from pathlib import Path

from domain.errors import DefinitionError
from domain.session_lint import Finding, lint
from domain.taxonomy import Taxonomy
from tasks.definitions import load, names


def lint_file(path: Path, taxonomy: str = "") -> list[Finding]:
    """Every problem of a file of sessions; DefinitionError when it, or the taxonomy, cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise DefinitionError(f"the file cannot be read: {error}", file=str(path)) from error
    known = names(Taxonomy)
    if taxonomy:
        load(Taxonomy, taxonomy)
    return lint(text, lambda name: load(Taxonomy, name) if name in known else None, known, taxonomy)
