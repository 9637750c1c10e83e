"""Everything that is wrong with a file of prompt chains, each with its line.

Errors make a step or a comparison meaningless. Warnings are what words alone cannot decide, and what may be
meant.
"""

from __future__ import annotations

import difflib
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from domain.chain_rules import STEPS, chain_problems
from domain.chains import DIMENSIONS, ChainSet
from domain.file_findings import Finding, Loc, Read, identity, in_order, read, schema
from domain.versions import VERSION_SUFFIX, id_of, version_of

MEASURED = tuple(name for name in DIMENSIONS if name != "edit_target")
"""The dimensions that the photo decides."""


@dataclass(frozen=True)
class _Chain:
    """A chain that can be looked at."""

    loc: Loc
    photo: str
    edit_target: str | None
    fields: Mapping[str, object]
    prompts: tuple[str, ...] | None
    """None when they cannot be looked at."""


def lint_chains(
    text: str,
    *,
    name: str = "",
    taken: Sequence[str] = (),
    photos: Mapping[str, Mapping[str, str]] | None = None,
    drafted: Mapping[str, tuple[str, ...]] | None = None,
) -> list[Finding]:
    """Every problem of a file of prompt chains, by line.

    Args:
        text: The file.
        name: Of the file, without `.yaml`, which the id must be; empty where any will do.
        taken: Ids that it cannot have.
        photos: What is measured of each photo of the dataset, by its id; None when that is not known.
        drafted: The prompts of the set of that id in the store, by photo; None when there is none.
    """
    file = read(text)
    if file.node is None:
        return sorted(file.found)
    chains = list(_chains(file.fields))
    found = [*file.found, *schema(file, ChainSet), *identity(file, name, taken), *_version(file)]
    found += _photos(chains, file)
    for chain in chains:
        found += _prompts(chain, file)
    found += _repeats(chains, file)
    if photos is not None:
        found += _against(chains, photos, file)
    if drafted is not None:
        found += _since(chains, drafted, file)
    return in_order(found)


def median_words(text: str) -> float | None:
    """Words of the median prompt of a file; None when none can be read."""
    counts = [len(one.split()) for chain in _chains(read(text).fields) for one in chain.prompts or ()]
    return statistics.median(counts) if counts else None


def _version(file: Read) -> Iterator[Finding]:
    """Every version is an id of its own, since results of two versions never mix."""
    set_id, version = file.fields.get("id"), file.fields.get("version")
    if not isinstance(set_id, str) or not isinstance(version, int):
        return
    if version_of(set_id) != version:
        plain = VERSION_SUFFIX.sub("", set_id)
        right = id_of(plain, version)
        text = f"the id {set_id!r} is not that of version {version}: each version has an id of its own"
        yield Finding(file.at("version"), "version", text, allowed=(right,))


def _photos(chains: Sequence[_Chain], file: Read) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for chain in chains:
        line = file.at(*chain.loc, "photo")
        before = first.setdefault(chain.photo, line)
        if before != line:
            text = f"photo {chain.photo!r} has a chain already, in line {before}; a photo has one"
            yield Finding(line, "duplicate_photo", text)


def _prompts(chain: _Chain, file: Read) -> Iterator[Finding]:
    if chain.prompts is None:
        return
    wanted = file.fields.get("steps", STEPS)
    steps = wanted if isinstance(wanted, int) else len(chain.prompts)
    for step, problem in chain_problems(chain.prompts, chain.edit_target, steps):
        loc = (*chain.loc, problem.field) if step is None else (*chain.loc, "prompts", step)
        yield Finding(file.at(*loc), problem.code, problem.message, problem.is_error, problem.allowed)


def _repeats(chains: Sequence[_Chain], file: Read) -> Iterator[Finding]:
    met: dict[tuple[str, ...], str] = {}
    for chain in chains:
        words = tuple(re.sub(r"\W+", " ", prompt.casefold()).strip() for prompt in chain.prompts or ())
        twin = met.setdefault(words, chain.photo) if words else chain.photo
        if twin != chain.photo:
            text = f"the prompts are those of photo {twin!r}; do they fit both?"
            yield Finding(file.at(*chain.loc, "prompts"), "same_prompts", text, is_error=False)


def _against(
    chains: Sequence[_Chain], photos: Mapping[str, Mapping[str, str]], file: Read
) -> Iterator[Finding]:
    """What disagrees with the photos that the chains are for."""
    for chain in chains:
        measured = photos.get(chain.photo)
        if measured is None:
            near = tuple(difflib.get_close_matches(chain.photo, photos, n=3, cutoff=0.5))
            text = f"no photo {chain.photo!r} among the {len(photos)} of the dataset"
            yield Finding(file.at(*chain.loc, "photo"), "unknown_photo", text, allowed=near)
            continue
        for name in MEASURED:
            said, seen = chain.fields.get(name), measured.get(name)
            if seen is not None and said is not None and str(said) != seen:
                text = f"{name} is {str(said)!r} here, and {seen!r} by measurement"
                yield Finding(file.at(*chain.loc, name), "differs", text, allowed=(seen,))
    missing = sorted(set(photos) - {chain.photo for chain in chains})
    if missing:
        more = f", and {len(missing) - 5} more" if len(missing) > 5 else ""
        text = f"photos without a chain: {', '.join(missing[:5])}{more}; they take part in nothing"
        yield Finding(file.at("chains"), "no_chain", text, is_error=False)


def _since(chains: Sequence[_Chain], drafted: Mapping[str, tuple[str, ...]], file: Read) -> Iterator[Finding]:
    changed = [chain.photo for chain in chains if drafted.get(chain.photo, chain.prompts) != chain.prompts]
    set_id = file.fields.get("id")
    if changed and isinstance(set_id, str):
        plain, version = VERSION_SUFFIX.sub("", set_id), version_of(set_id) + 1
        text = f"{len(changed)} chains differ from {set_id!r} in the store ({', '.join(changed[:5])}): once "
        text += f"a run has used it, this is version {version}, with the id {id_of(plain, version)}"
        yield Finding(file.at("id"), "changed", text, is_error=False)


def _chains(fields: Mapping[str, Any]) -> Iterator[_Chain]:
    """What can be looked at, however broken the rest is."""
    chains = fields.get("chains")
    for place, raw in enumerate(cast(list[Any], chains) if isinstance(chains, list) else []):
        if not isinstance(raw, dict):
            continue
        chain = cast(dict[str, Any], raw)
        prompts, target = chain.get("prompts"), chain.get("edit_target")
        held = cast(list[Any], prompts) if isinstance(prompts, list) else None
        fits = held is not None and all(isinstance(one, str) and one for one in held)
        known = target if target in DIMENSIONS["edit_target"] else None
        yield _Chain(
            ("chains", place), str(chain.get("photo")), known, chain, tuple(held or ()) if fits else None
        )
