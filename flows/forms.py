"""The flows' parameters as Prefect's UI shows them: with the definitions that are there as drop-downs.

The lists are made when a deployment is created, and so hold one's own definitions as well; the server then
refuses any other value.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from domain.judge_cards import JudgeRole
from domain.model_cards import ModelCard
from domain.requests import (
    DraftChainsRequest,
    PrepareRequest,
    RefreshRequest,
    RetryRequest,
    RunRequest,
    WriteSessionsRequest,
)
from domain.suites import Suite
from domain.taxonomy import Taxonomy
from domain.vote_requests import CollectRequest, MatchesRequest, SimulateRequest
from tasks.definitions import names
from tasks.writers import writers


class DropDowns:
    """Gives the fields of a request the values that are allowed."""

    def __init__(self, writes: JudgeRole = "sessions") -> None:
        self._writes: JudgeRole = writes
        """What the writer of a request shall write."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The schema of the request, with its choices."""
        schema = handler(core)
        fields: dict[str, Any] = handler.resolve_ref_schema(schema)["properties"]
        choices = {
            "suite": names(Suite),
            "suites": names(Suite),
            "models": names(ModelCard),
            "taxonomy": names(Taxonomy),
            "writer": writers(self._writes),
        }
        for field, allowed in choices.items():
            if field in fields:
                fields[field].get("items", fields[field])["enum"] = sorted(allowed)
        return schema


PrepareForm = Annotated[PrepareRequest, DropDowns()]
RunForm = Annotated[RunRequest, DropDowns()]
RetryForm = Annotated[RetryRequest, DropDowns()]
RefreshForm = Annotated[RefreshRequest, DropDowns()]
WriteSessionsForm = Annotated[WriteSessionsRequest, DropDowns()]
DraftChainsForm = Annotated[DraftChainsRequest, DropDowns("chains")]
MatchesForm = Annotated[MatchesRequest, DropDowns()]
CollectForm = Annotated[CollectRequest, DropDowns()]
SimulateForm = Annotated[SimulateRequest, DropDowns()]
