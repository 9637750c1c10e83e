"""Whether the printed tables agree with each other: checks that need no run of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from domain.printed import PrintedCell, PrintedPaper

Check = Literal["average", "groups", "distance", "counts", "order"]
CHECKS: dict[Check, str] = {
    "average": "Avg. is the mean of the four test sets, weighted by sessions",
    "groups": "the means of two groups, weighted by sessions, give the overall mean",
    "distance": "a Wasserstein distance is at least the difference of the means",
    "counts": "sessions by gender and by age add up to the same",
    "order": "the group at the left is the worse one",
}

COUNTED = {"celeba": "18", "celebset": "20"}
"""The tables whose counts cover all sessions of a dataset."""
MEANS = {"1": "mean_drop_fss", "2": "mean_sc", "4": "mean_oer"}
HIGH_IS_GOOD = frozenset({"mean_sc"})
GROUP_COUNTS = {"M": "18", "F": "18", "Y": "19", "O": "19"}

Cell = tuple[str, str, str]
"""Dataset, model and test set."""


@dataclass(frozen=True)
class Closure:
    """One check of printed numbers against each other."""

    check: Check
    table: str
    dataset: str
    model: str
    test_set: str
    metric: str
    printed: float
    expected: float
    tolerance: float
    """What rounding allows."""
    holds: bool
    slips: tuple[int, ...]
    """Known slips that explain a check that fails."""


def closures(paper: PrintedPaper) -> list[Closure]:
    """Every check, in the order of the printed tables."""
    held = _Printed(paper)
    return [*held.averages(), *held.groups(), *held.distances(), *held.counts(), *held.orders()]


class _Printed:
    """The printed cells by what they are."""

    def __init__(self, paper: PrintedPaper) -> None:
        self._paper = paper
        self._sessions: dict[tuple[str, Cell], float] = {}
        self._by_group: dict[tuple[str, Cell, str], float] = {}
        self._overall: dict[tuple[str, Cell], PrintedCell] = {}
        self._pairs: dict[tuple[str, Cell, str], list[PrintedCell]] = {}
        self._wd: dict[tuple[str, Cell, str], list[PrintedCell]] = {}
        for cell in paper.cells:
            self._file(cell)

    def _file(self, cell: PrintedCell) -> None:
        where = (cell.dataset, cell.model, cell.test_set)
        if cell.metric == "n_sessions":
            place = (cell.table, where)
            self._sessions[place] = self._sessions.get(place, 0) + cell.number
            self._by_group[cell.table, where, cell.group] = cell.number
        elif cell.table in MEANS:
            self._overall[cell.metric, where] = cell
        elif cell.metric.startswith("mean_") and cell.rank is not None:
            self._pairs.setdefault((cell.table, where, cell.metric), []).append(cell)
        elif cell.metric.startswith("wd_"):
            self._wd.setdefault((cell.table, where, cell.metric.removeprefix("wd_")), []).append(cell)

    def averages(self) -> Iterator[Closure]:
        for (metric, (dataset, model, test_set)), cell in self._overall.items():
            if test_set != "avg":
                continue
            parts = {
                held: part
                for (name, (d, m, held)), part in self._overall.items()
                if (name, d, m) == (metric, dataset, model) and held != "avg"
            }
            weights = {held: self._sessions[COUNTED[dataset], (dataset, model, held)] for held in parts}
            mean = _weighted({held: part.number for held, part in parts.items()}, weights)
            off = _weighted({held: part.half_unit for held, part in parts.items()}, weights)
            yield self._closure("average", cell, mean, cell.half_unit + off)

    def groups(self) -> Iterator[Closure]:
        for (_, where, metric), cells in self._pairs.items():
            tables = {GROUP_COUNTS.get(cell.group) for cell in cells}
            [table] = tables if len(tables) == 1 else [None]
            if table is None or where[0] != "celeba" or (metric, where) not in self._overall:
                continue
            weights = {cell.group: self._by_group[table, where, cell.group] for cell in cells}
            overall = self._overall[metric, where]
            mean = _weighted({cell.group: cell.number for cell in cells}, weights)
            yield self._closure(
                "groups", cells[0], mean, cells[0].half_unit + overall.half_unit, overall.number
            )

    def distances(self) -> Iterator[Closure]:
        for (table, where, metric), cells in self._pairs.items():
            tested = self._wd.get((table, where, metric.removeprefix("mean_")), [])
            if len(tested) != 1 or len({cell.group for cell in cells}) != 2:
                continue
            least = abs(cells[0].number - cells[1].number)
            off = tested[0].half_unit + 2 * cells[0].half_unit
            yield self._closure("distance", tested[0], least, off, is_bound=True)

    def counts(self) -> Iterator[Closure]:
        for (table, where), total in self._sessions.items():
            if table == "18":
                cell = self._first("19", where)
                yield self._closure("counts", cell, total, 0.0, self._sessions["19", where])

    def orders(self) -> Iterator[Closure]:
        for (_, _, metric), cells in self._pairs.items():
            left, right = sorted(cells, key=lambda cell: cell.rank or 0)
            sign = -1 if metric in HIGH_IS_GOOD else 1
            yield self._closure("order", left, sign * right.number, 0.0, sign * left.number, is_bound=True)

    def _first(self, table: str, where: Cell) -> PrintedCell:
        return next(
            cell
            for cell in self._paper.cells
            if cell.table == table and (cell.dataset, cell.model, cell.test_set) == where
        )

    def _closure(
        self,
        check: Check,
        cell: PrintedCell,
        expected: float,
        tolerance: float,
        printed: float | None = None,
        *,
        is_bound: bool = False,
    ) -> Closure:
        value = cell.number if printed is None else printed
        short = expected - value if is_bound else abs(expected - value)
        return Closure(
            check, cell.table, cell.dataset, cell.model, cell.test_set, cell.metric, value, expected,
            tolerance, short <= tolerance + 1e-9, self._paper.slips_of(cell),
        )  # fmt: skip


def _weighted(values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(values[name] * weights[name] for name in values) / sum(weights[name] for name in values)
