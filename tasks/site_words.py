"""Stored names and numbers as they are read: words in place of names, units, digits that mean something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.runs import RunPlan

REASONS = {
    "below_threshold": "too few chains complete",
    "changes_shape": "most outputs have another shape than their input",
    "unfinished": "chains that errors left open decide",
}
SHARES = frozenset({"completion", "threshold", "rate", "share", "missed_true", "missed_measured"})
"""Columns that are shares of 1, beside those whose names end so."""
TEXTS = frozenset({"what", "reason", "role", "test_set", "axis", "metric", "outcome", "verdict", "sub_axis"})
"""Columns of stored names; what is in others may be anybody's own text."""
MODELS = frozenset({"model", "card"})


def words(name: str) -> str:
    """A stored name as it is read."""
    return name.replace("_", " ")


def names_of(run: RunPlan) -> dict[str, str]:
    """How the models of a run are called, by id: as on the board."""
    return {card.id: card.name or card.id for card in run.cards}


def heading(column: str) -> str:
    """The name of a column as it is read; a count says what it counts."""
    if column.endswith("_ms"):
        return words(column.removesuffix("_ms")) + " time"
    return words(column.removeprefix("n_"))


def shown(value: Any, column: str = "", names: Mapping[str, str] | None = None) -> str:
    """A value of a column as it is read.

    Args:
        value: What is stored.
        column: Its column, which says the unit.
        names: Models by id.
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(shown(item, column, names) for item in value)  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, str):
        return _text(value, column, names or {})
    if column.endswith("_ms"):
        return f"{value / 1000:.1f} s"
    return _number(value, column) if isinstance(value, float) else str(value)


def _text(value: str, column: str, names: Mapping[str, str]) -> str:
    if column in MODELS:
        return names.get(value, value)
    if column == "reason" and value in REASONS:
        return REASONS[value]
    return words(value) if column in TEXTS else value


def _number(value: float, column: str) -> str:
    if column in SHARES or column.endswith(("_share", "_rate")):
        return "< 0.1 %" if 0 < value < 0.0005 else f"{100 * value:.1f} %"
    if column in ("p", "p_adjusted"):
        return "< 0.001" if value < 0.0005 else f"{value:.3f}"
    if value.is_integer():
        return str(int(value))
    size = abs(value)
    return f"{value:.{0 if size >= 1000 else 1 if size >= 10 else 3}f}"
