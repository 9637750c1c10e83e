"""A service that asks people, in this process: it remembers what it was given."""

from __future__ import annotations

from dataclasses import dataclass, field

from adapters.votes.source import VoteOrder
from domain.errors import AmbiguousError, FatalError


@dataclass
class Crowd:
    """As `adapters.votes.source.VoteService`."""

    orders: list[VoteOrder] = field(default_factory=list)
    seen: list[dict[str, bytes]] = field(default_factory=list)
    """Of each order the pictures, by their names."""
    loses: int = 0
    """Jobs that are given and whose id never arrives."""
    refuses: int = 0
    waits: str | None = None
    asked: int = 0

    def find(self, name: str) -> str | None:
        self.asked += 1
        found = [f"job-{n}" for n, order in enumerate(self.orders) if order.name == name]
        return found[-1] if found else None

    def give(self, order: VoteOrder) -> str:
        if self.refuses:
            self.refuses -= 1
            raise FatalError("no such audience", provider="crowd")
        self.orders.append(order)
        files = {path for one in order.matches for path in (one.original, one.face_a, one.face_b)}
        self.seen.append({path.name: path.read_bytes() for path in files})
        if self.loses:
            self.loses -= 1
            raise AmbiguousError("the answer was lost", provider="crowd")
        return f"job-{len(self.orders) - 1}"

    def pending(self, job_id: str) -> str | None:
        return self.waits
