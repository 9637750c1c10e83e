"""Files of prompt chains that somebody wrote or edited; needs no Prefect, so that a look at one is quick."""

from __future__ import annotations

from pathlib import Path

from adapters.base import ObjectStore
from adapters.stores.settings import place
from domain import keys, loading
from domain.chain_drafting import DraftChainSet
from domain.chain_lint import lint_chains, median_words
from domain.chains import ChainSet
from domain.errors import DefinitionError
from domain.file_findings import Finding
from domain.versions import VERSION_SUFFIX, version_of
from tasks import wiring
from tasks.chain_photos import measured


def lint_chain_file(path: Path, photos: str = "") -> tuple[list[Finding], float | None]:
    """Every problem of a file of prompt chains, and the words of its median prompt.

    Args:
        path: The file.
        photos: A table of photos, or a dataset, to hold the chains against; empty for neither.

    Raises:
        DefinitionError: the file, the table or the dataset cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise DefinitionError(f"the file cannot be read: {error}", file=str(path)) from error
    packaged = loading.names(ChainSet)
    is_packaged = path.stem in packaged and text == loading.packaged_text(ChainSet, path.stem)
    found = lint_chains(
        text,
        name=path.stem,
        taken=() if is_packaged else packaged,
        photos=measured(photos) if photos else None,
        drafted=drafted_prompts(path.stem),
    )
    if path.suffix != ".yaml":
        end = Finding(
            1, "file_name", f"only files that end in .yaml are found, not {path.name!r}", is_error=False
        )
        found = [end, *found]
    return found, median_words(text)


def drafted_prompts(set_id: str) -> dict[str, tuple[str, ...]] | None:
    """The prompts that the store has under the id of a set, by photo; None when it has none."""
    where = place()
    if isinstance(where, Path) and not where.is_dir():
        return None
    try:
        key = keys.chain_set(VERSION_SUFFIX.sub("", set_id), version_of(set_id))
    except ValueError:
        return None  # no id, which the linter says
    found = stored(wiring.store(), key)
    return None if found is None else {chain.photo: chain.prompts for chain in found.chains}


def stored(store: ObjectStore, key: str) -> DraftChainSet | None:
    """A set of the store, or None when there is none."""
    data = store.get(key)
    return None if data is None else loading.parse(data.decode(), DraftChainSet, key)
