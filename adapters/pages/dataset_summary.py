"""A dataset's summary for people, as Markdown."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence

from adapters.pages.markdown import escaped
from domain.groups import number_in
from domain.photos import Dataset, LeftOut, Photo, PhotoPreparation, Preparation

MOST_ROWS = 200
"""Of people and of files left out; the Parquet tables hold all."""


def dataset_summary(dataset: Dataset, sheets: int, shown: int) -> str:
    """The summary of a dataset whose contact sheets show so many of its photos."""
    base = dataset.base
    parts = [
        f"# Photos of {escaped(dataset.id)}",
        f"{_what(dataset)}; {len(dataset.left_out)} files left out. Embedder "
        f"`{dataset.embedder_fingerprint[:16]}`.",
        *_choices(dataset.preparation),
        *_similarity(base),
        "## Groups",
        _counts("group of base photos", (group for photo in base for group in _groups(photo))),
        "## Licences",
        _counts("licence", (photo.licence for photo in dataset.photos)),
        "## Left out",
        _counts("reason", (item.reason for item in dataset.left_out)),
        _left_out(dataset.left_out),
        *(() if isinstance(dataset.preparation, PhotoPreparation) else ("## People", _people(dataset))),
        f"Contact sheets: {sheets}, with {shown} of {len(dataset.photos)} photos.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _what(dataset: Dataset) -> str:
    base, people = dataset.base, {photo.subject for photo in dataset.photos}
    if isinstance(dataset.preparation, PhotoPreparation):
        enlarged = sum("enlarged" in photo.notes for photo in base)
        return f"{len(base)} photos, which are edited and are their own references ({enlarged} enlarged)"
    references = len(dataset.photos) - len(base)
    return (
        f"{len(base)} base photos, which are edited, and {references} reference photos of "
        f"{len(people)} people"
    )


def _choices(made: Preparation | PhotoPreparation | None) -> list[str]:
    if made is None:
        return []
    if isinstance(made, PhotoPreparation):
        lines = [f"- {name}: {value}" for name, value in made.screening.model_dump().items()]
        lines.append(f"- licences besides CC0, CC BY and CC BY-SA: {'; '.join(made.licences) or 'none'}")
        lines.append(f"- version: prepare {made.prepare}, {made.dimensions}, decoder {made.decoder}")
        return ["## Choices", escaped_lines(lines)]
    above = made.near_duplicate_above
    lines = [
        f"- least FSS₀ of a base photo: {made.min_fss0:g}" + ("" if made.min_fss0 else " (all are kept)"),
        f"- near-duplicate: cosine above {above:g}, equal perceptual hash, or a mirror image; "
        + ("left out" if made.exclude_near_duplicates else "flagged, kept"),
        "- a person's only photo: "
        + (
            "its mirror image is the reference"
            if made.mirror_alone and not made.exclude_near_duplicates
            else "left out"
        ),
    ]
    if made.per_group:
        columns = " × ".join(made.per_group.columns) or "all photos"
        lines.append(f"- at most {made.per_group.n} base photos of {columns}, seed {made.per_group.seed}")
        beyond = [f"{count} of {name}" for name, count in made.not_chosen.items()]
        lines.append(f"- usable, but beyond that number: {', '.join(beyond) or 'none'}")
    return ["## Choices", escaped_lines(lines)]


def escaped_lines(lines: Sequence[str]) -> str:
    """A list whose items show as they are."""
    return "\n".join(f"- {escaped(line.removeprefix('- '))}" for line in lines)


def _similarity(base: Sequence[Photo]) -> list[str]:
    known = sorted(photo.fss0 for photo in base if photo.fss0 is not None)
    near = sum(bool(photo.near_duplicates) for photo in base)
    if not known:
        return []
    cuts = statistics.quantiles(known, n=10, method="inclusive") if len(known) > 1 else known * 9
    cells = [known[0], *(cuts[place] for place in (0, 4, 8)), known[-1], statistics.fmean(known)]
    heads = ("n", "least", "10 %", "median", "90 %", "most", "mean")
    return [
        "## FSS₀",
        "The highest cosine of a base photo to the person's references. "
        f"Of {len(base)} base photos {near} have a near-duplicate among their references.",
        _table(heads, [[str(len(known)), *(f"{cell:.3f}" for cell in cells)]]),
    ]


def _groups(photo: Photo) -> list[str]:
    held = sorted(photo.groups.items())
    if photo.original:  # measured, with few values
        return [f"{name}: {value}" for name, value in held]
    return [f"{name}: {'a number' if number_in(value) else value}" for name, value in held] or ["none stated"]


def _counts(what: str, values: Iterable[str]) -> str:
    counts = Counter(values)
    rows = [[escaped(value), str(n)] for value, n in sorted(counts.items(), key=lambda c: (-c[1], c[0]))]
    return _table((what, "n"), rows) if rows else "None."


def _left_out(items: Sequence[LeftOut]) -> str:
    rows = [[escaped(text) for text in (item.source, item.reason, item.detail)] for item in items[:MOST_ROWS]]
    return _table(("file", "reason", "detail"), rows) + _rest(len(items)) if rows else ""


def _people(dataset: Dataset) -> str:
    left = Counter(item.subject for item in dataset.left_out if item.subject)
    names = dict.fromkeys([*(photo.subject for photo in dataset.photos), *left])
    of: dict[str, list[Photo]] = {name: [] for name in names}
    for photo in dataset.base:
        of[photo.subject].append(photo)
    rows = [
        [
            escaped(name),
            str(len(of[name])),
            str(len(dataset.references(name))),
            str(left[name]),
            ", ".join(f"{photo.fss0:.3f}" for photo in of[name] if photo.fss0 is not None),
            str(sum(len(photo.near_duplicates) for photo in of[name])),
        ]
        for name in list(names)[:MOST_ROWS]
    ]
    heads = ("person", "base", "references", "left out", "FSS₀", "near-duplicates")
    return _table(heads, rows) + _rest(len(names))


def _rest(count: int) -> str:
    return f"\n\n… and {count - MOST_ROWS} more." if count > MOST_ROWS else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
