"""Working through a batch so that one bad unit costs no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from domain.errors import IncompleteError, PhotoError, StoreError

Unit = TypeVar("Unit")


def one_by_one(units: Iterable[Unit], work: Callable[[Unit], bool]) -> int:
    """How many units were worked on now.

    Raises:
        IncompleteError: an image of some units is gone, altered or unreadable; the others are done.
    """
    done, problems = 0, list[str]()
    for unit in units:
        try:
            done += work(unit)
        except (StoreError, PhotoError) as error:
            problems.append(str(error))
    if problems:
        raise IncompleteError(f"{len(problems)} left out: {problems[0]}", done=done)
    return done
