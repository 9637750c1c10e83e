"""How the tables of a report are worded: names, order, rules and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.pages.paper_table import Mark, PaperCell
from domain.suites import AxisDefinition, Rules

NOTHING = "–"
"""Printed where a number is not determined; beside it stands n = 0."""

TEST_SETS = {"hair": "Hair", "accessories": "Accessories", "pose": "Pose", "multi_axis": "Multi-axis"}
"""The paper's test sets in the order of its tables."""

PAPER_DATASETS = ("celeba", "celebset")
LOW_IS_GOOD, HIGH_IS_GOOD = "low is good", "high is good"


@dataclass(frozen=True)
class Metric:
    """A score as tables print it."""

    column: str
    title: str
    factor: float
    """From the unit of means to points of 100."""
    direction: str

    @property
    def is_low_good(self) -> bool:
        """Whether low values are good."""
        return self.direction == LOW_IS_GOOD


METRICS = (
    Metric("drop_fss", "Drop_FSS (%)", 1.0, LOW_IS_GOOD),
    Metric("sc", "SC × 100", 100.0, HIGH_IS_GOOD),
    Metric("oer", "OER × 100", 100.0, LOW_IS_GOOD),
)


@dataclass(frozen=True)
class Wording:
    """What a table needs besides its numbers."""

    rules: Rules
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Printed name of a model, in the order of the tables; its id where it is not here."""
    controls: frozenset[str] = frozenset()
    """Models that never lead a table."""
    axes: Sequence[AxisDefinition] = ()

    def model(self, name: str) -> str:
        """The printed name of a model."""
        return self.names.get(name, name) + (" (control)" if name in self.controls else "")

    def models(self, found: Iterable[str]) -> list[str]:
        """Models in the order of the tables, those without a name last."""
        order = {name: place for place, name in enumerate(self.names)}
        return sorted(set(found), key=lambda name: (order.get(name, len(order)), name))

    def group(self, axis: AxisDefinition, name: str | None) -> str:
        """The printed name of a group."""
        return "unknown" if name is None else axis.labels.get(name, name)


def rules_text(rules: Rules) -> str:
    """The rules in force, as every table prints them."""
    drawn = f" ({rules.resamples} resamples, seed {rules.seed})" if rules.interval == "bootstrap" else ""
    return (
        f"no face = {rules.no_face}, change = {rules.change}, occlusion = {rules.occlusion}, "
        f"interval = {rules.interval}{drawn}, test unit = {rules.unit}, "
        f"permutations = {rules.permutations} (seed {rules.permutation_seed})"
    )


def test_sets(found: Iterable[str]) -> list[str]:
    """Test sets in the order of the tables, unknown ones last."""
    order = list(TEST_SETS)
    return sorted(set(found), key=lambda name: (order.index(name) if name in order else len(order), name))


def test_set_title(name: str) -> str:
    """The heading of a test set."""
    return TEST_SETS.get(name, name)


def file_name(*parts: str) -> str:
    """A name of files, of letters, digits, dots, dashes and underscores only."""
    return "_".join(re.sub(r"[^A-Za-z0-9.-]+", "_", part).strip("_") for part in parts)


def axis_title(axis: AxisDefinition) -> str:
    """An axis in words: its demographics."""
    return " × ".join(axis.values)


def numbers(metric: str, axis: AxisDefinition) -> str:
    """The paper's table or tables of a metric along an axis; empty where it has none."""
    place = {"drop_fss": 0, "sc": 1, "oer": 2}.get(metric)
    if place is None:
        return ""
    of_axis = {
        ("gender",): f"Table {5 + 2 * place}",
        ("gender", "skin"): f"Table {6 + 2 * place}",
        ("age",): f"Tables {22 + 2 * place} and {23 + 2 * place}",
    }
    return of_axis.get(tuple(sorted(axis.values)), "")


def number_text(value: float | None, digits: int) -> str:
    """A number with so many digits, a dash where there is none; never "-0.0"."""
    if value is None:
        return NOTHING
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if not float(text) else text


def estimate_cell(
    row: Mapping[str, Any], name: str, digits: int, factor: float = 1.0, unit: str = "n"
) -> PaperCell:
    """A mean with half its interval and n, from columns `<name>`, `_low`, `_high` and `_n`."""
    mean, low, high = (row[column] for column in (name, f"{name}_low", f"{name}_high"))
    half = "" if low is None or high is None else number_text((high - low) / 2 * factor, digits)
    text = number_text(None if mean is None else mean * factor, digits)
    return PaperCell(text, half, f"{unit} = {row[f'{name}_n']}")


def extremes(values: Sequence[float | None], *, low_is_good: bool) -> list[frozenset[Mark]]:
    """The marks of the best and the worst of several values; none where they do not differ."""
    held = [value for value in values if value is not None]
    if len(held) < 2 or min(held) == max(held):
        return [frozenset() for _ in values]
    best, worst = (min(held), max(held)) if low_is_good else (max(held), min(held))
    marks: dict[float, frozenset[Mark]] = {worst: frozenset({"worst"}), best: frozenset({"best"})}
    return [frozenset() if value is None else marks.get(value, frozenset()) for value in values]
