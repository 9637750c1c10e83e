"""Files of sessions that somebody wrote by hand; needs no Prefect, so that a look at one is quick."""

from __future__ import annotations

from pathlib import Path

from domain import loading
from domain.errors import DefinitionError
from domain.file_findings import Finding
from domain.session_lint import lint
from domain.sessions import SessionSet
from domain.taxonomy import Taxonomy
from tasks.definitions import load, names


def lint_file(path: Path, taxonomy: str = "") -> list[Finding]:
    """Every problem of a file of sessions; DefinitionError when it, or the taxonomy, cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise DefinitionError(f"the file cannot be read: {error}", file=str(path)) from error
    known, packaged = names(Taxonomy), loading.names(SessionSet)
    if taxonomy:
        load(Taxonomy, taxonomy)
    taken = (
        packaged if path.stem not in packaged or text != loading.packaged_text(SessionSet, path.stem) else ()
    )
    found = lint(
        text,
        lambda name: load(Taxonomy, name) if name in known else None,
        known,
        taxonomy,
        name=path.stem,
        taken=taken,
    )
    if path.suffix != ".yaml":
        end = Finding(
            1, "file_name", f"only files that end in .yaml are found, not {path.name!r}", is_error=False
        )
        found = [end, *found]
    return found
