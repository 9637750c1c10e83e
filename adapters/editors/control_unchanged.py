"""A control: returns its input. What is measured on it is the noise of the measuring."""

from __future__ import annotations

from adapters.base import EditorContext, NoSettings
from domain.edits import Edited, EditOutcome, EditRequest, Ticket
from domain.model_cards import ModelCard

VERSION = "1"


class UnchangedEditor:
    """Answers every edit with the very bytes it was given."""

    @classmethod
    def build(cls, card: ModelCard, context: EditorContext) -> UnchangedEditor:
        """An editor for a card."""
        NoSettings.model_validate(card.settings)
        return cls()

    def submit(self, request: EditRequest) -> Ticket:
        """The input, as the outcome."""
        return Ticket(outcome=Edited(image=request.image, served_version=VERSION))

    def collect(self, ticket: Ticket) -> EditOutcome:
        """The outcome that the ticket holds."""
        return ticket.held_outcome()
