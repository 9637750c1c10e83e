"""Whether the columns that `per_group` names are there, asked before anything is decoded or embedded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from adapters.datasets.files import FoundPhoto, ListsFiles
from adapters.datasets.source import DatasetSource
from domain.errors import DefinitionError
from domain.suites import DatasetChoice

GroupsOf = Callable[[Mapping[str, str]], list[str]]
"""The groups of a photo by its labels, each as "name=value"."""


def check_source(choice: DatasetChoice, source: DatasetSource, groups_of: GroupsOf) -> None:
    """Raise DefinitionError where no file of a source is in any group of a column that is named."""
    if choice.per_group and choice.per_group.columns and isinstance(source, ListsFiles):
        found = (item.groups for item in source.files() if isinstance(item, FoundPhoto))
        check_labels(choice, found, groups_of)


def check_labels(choice: DatasetChoice, found: Iterable[Mapping[str, str]], groups_of: GroupsOf) -> None:
    """The same of photos by their labels; of none at all nothing is said."""
    if not (choice.per_group and choice.per_group.columns):
        return
    labels, held = set[str](), set[str]()
    kinds = {tuple(sorted(one.items())) for one in found}
    for kind in kinds:
        labels.update(name for name, _ in kind)
        held.update(group.partition("=")[0] for group in groups_of(dict(kind)))
    problem = problem_of(choice, held, labels) if kinds else None
    if problem:
        raise problem


def problem_of(choice: DatasetChoice, held: set[str], labels: set[str]) -> DefinitionError | None:
    """What is wrong with the columns that `per_group` names.

    Args:
        choice: The dataset.
        held: Columns of groups of which some photo has one.
        labels: Columns that some photo has.
    """
    columns = choice.per_group.columns if choice.per_group else ()
    absent = [name for name in columns if name not in held]
    if not absent:
        return None
    text = f"no photo is in a group of {', '.join(map(repr, absent))}"
    if any(name in labels for name in absent):
        text += "; numbers are groups by the ranges of a demographic, or where an axis lists them"
    return DefinitionError(
        text if held else f"{text}, or of anything else",
        field="dataset.per_group.columns",
        allowed=tuple(sorted(held)),
    )
