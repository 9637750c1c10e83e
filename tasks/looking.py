"""Looking at a dataset without running anything: what is there, what is left out, and why."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from adapters.datasets.about import ABOUT
from adapters.datasets.files import FoundPhoto, ListsFiles, Note, listed_problem_of
from adapters.datasets.source import DatasetSource, SourcePhoto
from adapters.registry import DATASETS
from domain.dataset_options import OPTIONS
from domain.errors import DefinitionError
from domain.findings import Findings, GroupCount, LabelSummary, LeftOutCount
from domain.groups import group_notices, groups_of, summary_of
from domain.groups import shown as shortened
from domain.loading import settings_error
from domain.photos import LeftOut
from domain.suites import DatasetChoice, Suite
from metrics.group_axes import demographics
from tasks import wiring
from tasks.definitions import load_suite
from tasks.group_choice import problem_of
from tasks.group_tables import axes_of

EXAMPLES, LONG = 3, 300
ROW = ("status", "id", "subject", "role", "source", "reason", "detail", "labels", "groups", "licence")
"""Columns of the rows that can be written: `status` is `found` or `left_out`."""

Photo = FoundPhoto | SourcePhoto


@dataclass(frozen=True)
class Wanted:
    """The dataset that is looked at, and how its columns become groups."""

    choice: DatasetChoice
    suite: Suite | None = None

    def groups_of(self, labels: Mapping[str, str]) -> list[str]:
        """The groups of a photo, as the suite or else as it is."""
        return self.suite.groups_of(labels) if self.suite else groups_of(labels, {}, {})


def wanted(suite: str | None, adapter: str | None, path: str | None, options: Sequence[str]) -> Wanted:
    """What is to be looked at: the dataset of a suite, or one that is named by its adapter.

    Args:
        suite: Id or file of a suite.
        adapter: Instead of a suite, an adapter.
        path: Where the dataset is; of a suite's dataset, instead of what it says.
        options: Texts such as `partition=test`, values as in YAML; they add to those of the suite.

    Raises:
        DefinitionError: neither or both are named, or a field is wrong.
    """
    if (suite is None) == (adapter is None):
        raise DefinitionError("name a suite, or --adapter with --path")
    found = load_suite(suite) if suite is not None else None
    given = found.dataset.model_dump() if found else {"id": "look", "adapter": adapter}
    given["path"] = path if path is not None else given.get("path")
    given["options"] = {**given.get("options", {}), **dict(map(_option, options))}
    try:
        choice = DatasetChoice.model_validate(given)
    except ValidationError as error:
        raise settings_error(error, Suite, None, "dataset") from error
    return Wanted(choice, found)


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise DefinitionError(f"--option takes name=value, not {text!r}", field="option")
    try:
        return name, yaml.safe_load(value)
    except (yaml.YAMLError, ValueError) as error:
        raise DefinitionError(f"the value of --option {name} is no YAML: {error}", field="option") from error


def look(wanted: Wanted, rows: Path | None = None) -> Findings:
    """Read a dataset's files and tables, decode nothing, and sum up.

    Args:
        wanted: The dataset.
        rows: Where every photo and everything left out is written, one row each, as CSV.

    Raises:
        DefinitionError: the dataset is not what its adapter reads, or `rows` cannot be written.
    """
    source = wiring.dataset_source(wanted.choice)
    tally = _Tally(wanted)
    with _writer(rows) as write:
        for item in _listed(source):
            write(tally.add(item))
    return tally.findings()


def _listed(source: DatasetSource) -> Iterator[Photo | LeftOut | Note]:
    """What a source has; of files, those that could not be read are left out already."""
    if not isinstance(source, ListsFiles):
        yield from source.read()
        return
    for item in source.files():
        problem = listed_problem_of(Path(item.path)) if isinstance(item, FoundPhoto) else None
        if problem and isinstance(item, FoundPhoto):
            yield LeftOut(source=item.source, reason=problem[0], detail=problem[1])
        else:
            yield item


Cell = tuple[str, str | None]
"""Name of an axis or column, and the group in it; None for none."""


class _Tally:
    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._axes = axes_of(wanted.suite.axes) if wanted.suite else ()
        self._roles: Counter[str] = Counter()
        self._licences: Counter[str] = Counter()
        self._labels: dict[str, Counter[str]] = {}
        self._people: set[str] = set()
        self._held: set[str] = set()
        self._photos_of: Counter[Cell] = Counter()
        self._people_of: dict[Cell, set[str]] = {}
        self._reasons: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}
        self._notes: list[str] = []

    def add(self, item: Photo | LeftOut | Note) -> Sequence[str]:
        """Count an item; its row, or nothing."""
        if isinstance(item, Note):
            self._notes.append(item.text)
            return ()
        if isinstance(item, LeftOut):
            self._reasons[item.reason] += 1
            shown = self._examples.setdefault(item.reason, [])
            if len(shown) < EXAMPLES:
                shown.append(f"{shortened(item.source, LONG)}: {shortened(item.detail, LONG)}")
            return ("left_out", "", "", "", item.source, item.reason, item.detail, "", "", "")
        groups = self._wanted.groups_of(item.groups)
        self._people.add(item.subject)
        self._roles[item.role or "not stated"] += 1
        self._licences[item.licence] += 1
        for name, value in item.groups.items():
            self._labels.setdefault(name, Counter())[value] += 1
        held = demographics(groups)
        self._held |= held.keys()
        for cell in self._cells(held):
            self._photos_of[cell] += 1
            self._people_of.setdefault(cell, set()).add(item.subject)
        labels = "|".join(f"{name}={value}" for name, value in sorted(item.groups.items()))
        return ("found", item.id, item.subject, item.role or "", item.source, "", "", labels,
                "|".join(groups), item.licence)  # fmt: skip

    def _cells(self, held: Mapping[str, str]) -> Iterator[Cell]:
        """The group of a photo on every axis, and in every column that no axis has."""
        yield from ((axis.name, axis.group(held)) for axis in self._axes)
        compared = {name for axis in self._axes for name in axis.values}
        yield from ((name, value) for name, value in held.items() if name not in compared)

    def _groups(self) -> tuple[GroupCount, ...]:
        """In the order of the axes, those without a photo with 0; then the other columns."""
        cells: list[Cell] = [(axis.name, group) for axis in self._axes for group in axis.groups]
        cells += [(axis.name, None) for axis in self._axes if (axis.name, None) in self._photos_of]
        cells.sort(key=lambda cell: [axis.name for axis in self._axes].index(cell[0]))
        others = set(self._photos_of) - set(cells)
        return tuple(
            GroupCount(
                name=cell[0],
                group=cell[1],
                n_photos=self._photos_of[cell],
                n_people=len(self._people_of.get(cell, ())),
            )
            for cell in (*cells, *sorted(others, key=lambda cell: (cell[0], cell[1] or "")))
        )

    def findings(self) -> Findings:
        """The sums."""
        choice, suite = self._wanted.choice, self._wanted.suite
        notices = group_notices(self._labels, suite.demographics, suite.listed) if suite else ()
        refused = problem_of(choice, self._held, set(self._labels))
        if refused:
            notices = (f"a run is refused: {refused}", *notices)
        return Findings(
            dataset=choice.id,
            adapter=choice.adapter,
            n_photos=self._roles.total(),
            n_people=len(self._people),
            roles=dict(sorted(self._roles.items())),
            licences=dict(sorted(self._licences.items())),
            labels=tuple(
                LabelSummary(name=name, n_photos=counts.total(), holds=summary_of(counts))
                for name, counts in sorted(self._labels.items())
            ),
            groups=self._groups(),
            left_out=tuple(
                LeftOutCount(reason=reason, n=n, examples=tuple(self._examples[reason]))
                for reason, n in sorted(self._reasons.items(), key=lambda pair: (-pair[1], pair[0]))
            ),
            notes=(*self._notes, *notices),
        )


@contextmanager
def _writer(path: Path | None) -> Iterator[Callable[[Sequence[str]], None]]:
    """Writes rows, but those that are empty."""
    if path is None:
        yield lambda row: None
        return
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(ROW)
            yield lambda row: writer.writerow(row) if row else None
    except OSError as error:
        raise DefinitionError(f"{str(path)!r} cannot be written: {error.strerror}", field="rows") from error


@dataclass(frozen=True)
class Listed:
    """An adapter, as `facedrift datasets` shows it."""

    adapter: str
    reads: str
    layout: str
    licence: str
    options: tuple[str, ...]
    """Each with its default."""


def adapters() -> list[Listed]:
    """Every dataset adapter."""
    return [
        Listed(
            adapter=name,
            reads=ABOUT[name].title,
            layout=ABOUT[name].layout,
            licence=ABOUT[name].licence,
            options=tuple(
                f"{option}={json.dumps(value, ensure_ascii=False)}"
                for option, value in OPTIONS[name]().model_dump(mode="json").items()
            ),
        )
        for name in DATASETS
    ]
