"""One paid call, with every way it can end written into its journal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from adapters.base import Editor, HasHistory
from domain.edits import EditOutcome, EditRequest, Ticket
from domain.errors import AmbiguousError, FatalError, ProviderError, QuotaError, TransientError
from tasks.journal import Journal, Turn


@dataclass(frozen=True)
class Call:
    """How a call ended."""

    outcome: EditOutcome
    collected: bool = False
    """True when nothing was sent: the job of an earlier call was collected."""
    lost: int = 0
    """Earlier calls that may have been paid and came to nothing."""


@contextmanager
def paid_call(journal: Journal | None, request: EditRequest, editor: Editor) -> Iterator[Call | None]:
    """Make a call, or pick up the one that was made; None when another process has stored the outcome.

    The body keeps the outcome; an AmbiguousError that it raises, because what came back is worth nothing,
    is written down as well.
    """
    if journal is None:
        yield Call(editor.collect(editor.submit(request)))
        return
    with journal:
        turn = journal.turn(request, editor)
        if turn is None:
            yield None
            return
        ticket = turn.ticket or _send(journal, turn, request, editor)
        outcome = _collect(journal, turn, ticket, editor)
        try:
            yield Call(outcome, collected=turn.ticket is not None, lost=turn.lost)
        except AmbiguousError as error:
            journal.end(turn.send, str(error), maybe_paid=True)
            raise


def _send(journal: Journal, turn: Turn, request: EditRequest, editor: Editor) -> Ticket:
    try:
        ticket = editor.submit(request)
    except (TransientError, QuotaError, FatalError) as error:
        journal.end(turn.send, f"not accepted: {error}", maybe_paid=False)
        raise
    except BaseException as error:  # whatever it was, the call may have been accepted
        # Only our own errors are cleaned; the text of any other may quote a key.
        reason = str(error) if isinstance(error, ProviderError) else type(error).__name__
        if isinstance(editor, HasHistory):
            journal.lose(turn.send, reason)
        else:
            journal.end(turn.send, reason, maybe_paid=True)
        raise
    if ticket.provider_id is not None:
        journal.keep_ticket(turn.send, ticket.provider_id)
    return ticket


def _collect(journal: Journal, turn: Turn, ticket: Ticket, editor: Editor) -> EditOutcome:
    try:
        return editor.collect(ticket)
    except ProviderError as error:
        if error.job_over:
            journal.end(turn.send, str(error), maybe_paid=isinstance(error, AmbiguousError))
        raise
