"""The call journal: a paid call is written down before it is sent, and picked up where it was left.

Of each sending of a call there is an intent, then a ticket where the provider gives one, and an `end` when
it came to nothing. An outcome ends the story. So after a kill at any moment the journal says whether the
call was never sent, has a job to collect, or may have been paid without an answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from adapters.base import Editor, HasHistory, ObjectStore
from domain import keys
from domain.edits import EditRequest, Ticket
from domain.errors import UnresolvedError
from domain.records import CallEnd, CallIntent, CallLost, CallTicket
from domain.suites import CallRules
from tasks import ledger, owners

LOOK_AGAIN_S = 2.0
CLOCKS_DIFFER_S = 60.0
"""A provider's clock may be so far behind ours."""
_IN_FLIGHT: dict[str, Journal] = {}
"""The calls that this process is making now."""


@dataclass(frozen=True)
class Turn:
    """What is to be done about a call: collect the ticket, or, where there is none, send it."""

    send: int
    ticket: Ticket | None
    lost: int = 0
    """Earlier sendings that may have been paid and came to nothing."""


class Journal:
    """The story of one call; to be entered (`with`) while the call is made."""

    def __init__(
        self,
        key: str,
        provider: str,
        store: ObjectStore,
        rules: CallRules,
        *,
        on_lost: Callable[[], None] = lambda: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._key = key
        self._provider = provider
        self._store = store
        self._rules = rules
        self._on_lost = on_lost
        self._sleep = sleep

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        if _IN_FLIGHT.get(self._key) is self:
            del _IN_FLIGHT[self._key]

    def turn(self, request: EditRequest, editor: Editor) -> Turn | None:
        """Decide what to do, and claim a sending when that is to send; None when the outcome is there by now.

        Raises:
            UnresolvedError: the call may have been paid as often as the suite allows.
        """
        send, lost, over, why = 1, 0, set[str](), ""
        while True:
            if lost > self._rules.max_resends:
                raise UnresolvedError(
                    f"the call may have been paid {lost} times and came to nothing each time (last: {why}); "
                    f"look at the account of {self._provider}, then raise calls.max_resends of the suite to "
                    "send it again",
                    provider=self._provider,
                    model=request.model,
                )
            if self._claim(send, request.model):
                return Turn(send, None, lost)
            end = ledger.read(self._store, self._name(send, "end"), CallEnd)
            if end is not None:
                if known := self._ticket(send):
                    over.add(known.provider_id or "")
                send, lost, why = send + 1, lost + end.maybe_paid, end.reason
                continue
            ticket = self._ticket(send) or self._follow_up(send, request, editor, over)
            if ticket is not None:
                return Turn(send, ticket, lost)
            if self._store.head(keys.outcome(self._key)) is not None:
                return None  # another process stored it while this one waited

    def keep_ticket(self, send: int, provider_id: str, *, recovered: bool = False) -> None:
        """Write down the job that a provider made of the call."""
        ticket = CallTicket(provider_id=provider_id, at=_now().isoformat(), recovered=recovered)
        ledger.write_new(self._store, self._name(send, "ticket"), ticket)

    def lose(self, send: int, reason: str) -> None:
        """The answer of a sending is lost; the provider's history may still know the job."""
        ledger.write_new(self._store, self._name(send, "lost"), CallLost(reason=reason[:500]))

    def end(self, send: int, reason: str, *, maybe_paid: bool) -> None:
        """A sending came to nothing; one that may have been paid is counted, once."""
        end = CallEnd(reason=reason[:500], maybe_paid=maybe_paid)
        if ledger.write_new(self._store, self._name(send, "end"), end) and maybe_paid:
            self._on_lost()

    def _name(self, send: int, what: keys.JournalEntry) -> str:
        return keys.journal(self._key, send, what)

    def _claim(self, send: int, model: str) -> bool:
        intent = CallIntent(
            key=self._key,
            send=send,
            provider=self._provider,
            model=model,
            owner=owners.this_process(),
            at=_now().isoformat(),
        )
        first = _IN_FLIGHT.setdefault(self._key, self) is self
        claimed = ledger.write_new(self._store, self._name(send, "intent"), intent)
        if first and not claimed:
            del _IN_FLIGHT[self._key]
        return claimed

    def _ticket(self, send: int) -> Ticket | None:
        ticket = ledger.read(self._store, self._name(send, "ticket"), CallTicket)
        return Ticket(provider_id=ticket.provider_id) if ticket else None

    def _follow_up(self, send: int, request: EditRequest, editor: Editor, over: set[str]) -> Ticket | None:
        """An intent and nothing else: wait while it is in flight, then look for its job, then give it up."""
        intent = ledger.read(self._store, self._name(send, "intent"), CallIntent)
        if intent is None:
            return None  # taken away meanwhile: the caller claims it anew
        at = datetime.fromisoformat(intent.at)
        if self._in_flight(send, intent, at):
            self._sleep(LOOK_AGAIN_S)
            return self._ticket(send)
        while isinstance(editor, HasHistory):
            found = editor.find(request, at - timedelta(seconds=CLOCKS_DIFFER_S), over)
            if found is not None and found.provider_id is not None:
                self.keep_ticket(send, found.provider_id, recovered=True)
                return found
            if _now() - at > timedelta(seconds=self._rules.history_wait_s):
                break
            self._sleep(LOOK_AGAIN_S)
        self.end(send, "its answer was lost", maybe_paid=True)
        return None

    def _in_flight(self, send: int, intent: CallIntent, at: datetime) -> bool:
        if self._store.head(self._name(send, "lost")) is not None:
            return False
        if intent.owner == owners.this_process():
            return self._key in _IN_FLIGHT
        return owners.may_live(intent.owner) and _now() - at < timedelta(seconds=self._rules.lease_s)


def _now() -> datetime:
    return datetime.now(UTC)
