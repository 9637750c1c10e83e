"""What a run may spend, kept before each call and not after it."""

from __future__ import annotations

from domain.errors import BudgetError


class Budget:
    """A cap in dollars; None is no cap. What may have been paid counts as paid."""

    def __init__(self, cap_usd: float | None) -> None:
        self.cap_usd = cap_usd
        self.spent_usd = 0.0
        self.maybe_paid_usd = 0.0
        """Of calls whose answer was lost."""
        self.asked_usd = 0.0
        """What the answers of a judge have cost."""
        self._reserved_usd = 0.0

    @property
    def left_usd(self) -> float | None:
        """What is neither spent nor set aside; None without a cap."""
        if self.cap_usd is None:
            return None
        return max(0.0, self.cap_usd - self._gone_usd - self._reserved_usd)

    def reserve(self, price_usd: float) -> bool:
        """Set the price of a call aside; False when it would pass the cap, and the call must not be made."""
        total = self._gone_usd + self._reserved_usd + price_usd
        # Prices are decimal fractions that binary ones only come close to.
        if self.cap_usd is not None and price_usd > 0 and total > self.cap_usd + 1e-9:
            return False
        self._reserved_usd += price_usd
        return True

    def settle(self, price_usd: float, cost_usd: float) -> None:
        """A call has ended: what was set aside for it gives way to what it cost."""
        self._reserved_usd -= price_usd
        self.spent_usd += cost_usd

    def error(self, what: str, price_usd: float) -> BudgetError:
        """Why no further call is made, and what to do."""
        return BudgetError(
            f"the next {what} costs ${price_usd:g} and would pass the cap of ${self.cap_usd or 0:.2f} left "
            f"here, of which ${self._gone_usd:.2f} are spent; raise max_cost_usd and run again to go on"
        )

    @property
    def _gone_usd(self) -> float:
        return self.spent_usd + self.maybe_paid_usd + self.asked_usd
