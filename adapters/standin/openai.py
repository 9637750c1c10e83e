"""OpenAI: edits as a multipart form or as JSON, judgements by the Responses API."""

from __future__ import annotations

import json
import time
import uuid

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adapters.standin.answers import CannotAnswer, answer, broken
from adapters.standin.desk import Desk
from adapters.standin.faults import Draw, Faults
from adapters.standin.lines import ShortBody
from adapters.standin.openai_requests import read_form, read_json, read_judgement
from adapters.standin.wire import (
    Json,
    Object,
    a_text,
    an_object,
    read_object,
    to_base64,
)
from adapters.standin.work import Call
from domain.errors import PhotoError


def routes(desk: Desk) -> list[Route]:
    """The paths of OpenAI."""
    api = _OpenAI(desk)
    return [
        Route("/openai/v1/images/edits", api.edits, methods=["POST"]),
        Route("/openai/v1/responses", api.responses, methods=["POST"]),
        Route("/openai/v1/models/{model}", api.model, methods=["GET"]),
    ]


class _Forms:
    def rate_limited(self, faults: Faults) -> Response:
        response = _error(429, "Rate limit reached for images per minute.", "requests", "rate_limit_exceeded")
        response.headers["retry-after"] = f"{faults.retry_after_s:g}"
        response.headers["x-ratelimit-remaining-requests"] = "0"
        return response

    def server_error(self) -> Response:
        text = "The server had an error while processing your request. Sorry about that!"
        return _error(500, text, "server_error", None)

    def quota(self) -> Response:
        text = "You exceeded your current quota, please check your plan and billing details."
        return _error(429, text, "insufficient_quota", "insufficient_quota")

    def bad_key(self) -> Response:
        text = "Incorrect API key provided."
        return _error(401, text, "invalid_request_error", "invalid_api_key")

    def missing_model(self, model: str) -> Response:
        text = f"The model '{model}' does not exist or you do not have access to it."
        return _error(404, text, "invalid_request_error", "model_not_found", "model")


_FORMS = _Forms()


class _OpenAI:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def model(self, request: Request) -> Response:
        """What is known of one model; costs nothing."""
        name = request.path_params["model"]
        self._desk.accounts.count("openai", "lookups")
        refused = self._desk.free_call("openai", "lookup", _key(request), _FORMS, name)
        return refused or JSONResponse(
            {"id": name, "object": "model", "created": 1_750_000_000, "owned_by": "system"}
        )

    async def edits(self, request: Request) -> Response:
        """One edit, answered at once."""
        self._desk.accounts.count("openai", "posts", "edit_posts")
        is_form = request.headers.get("content-type", "").startswith("multipart/form-data")
        call = await (read_form(request) if is_form else read_json(request))
        model = call.model if isinstance(call, Call) else ""
        refused = self._desk.turned_away("openai", _key(request), model, _FORMS)
        if refused is not None:
            return refused
        if isinstance(call, str):
            return self._bad_request(call)
        fate = self._desk.admit(request, call, _FORMS)
        if isinstance(fate, Response):
            return fate
        self._desk.accept(call, fate)
        lost = self._desk.silence(fate)
        return lost or await self._edit(call, fate)

    async def _edit(self, call: Call, fate: Draw) -> Response:
        asked_format = a_text(call.settings.get("output_format")) or "png"
        made = await self._desk.edit_now(call, fate, asked_format)
        if made.kind == "refused":
            return _moderated()
        if made.kind == "unreadable":
            return _error(
                400,
                "Invalid image file or mode for image 1.",
                "image_generation_user_error",
                "invalid_image_file",
                "image",
            )
        images: list[Json] = [] if made.kind == "no_image" else [{"b64_json": to_base64(made.data)}]
        body: Object = {
            "created": int(time.time()),
            "background": "opaque",
            "output_format": made.content_type.removeprefix("image/") or asked_format,
            "quality": a_text(call.settings.get("quality")) or "auto",
            "size": f"{made.width}x{made.height}",
            "data": images,
            "usage": {
                "input_tokens": 340,
                "input_tokens_details": {"image_tokens": 323, "text_tokens": 17},
                "output_tokens": 1056,
                "total_tokens": 1396,
            },
        }
        return _sent(body, fate)

    async def responses(self, request: Request) -> Response:
        """One judgement."""
        self._desk.accounts.count("openai", "posts", "judge_posts")
        body = await read_object(request)
        call = "The body is not a JSON object." if body is None else read_judgement(body)
        model = call.model if isinstance(call, Call) else ""
        refused = self._desk.turned_away("openai", _key(request), model, _FORMS)
        if refused is not None:
            return refused
        if isinstance(call, str):
            return self._bad_request(call)
        fate = self._desk.admit(request, call, _FORMS)
        if isinstance(fate, Response):
            return fate
        self._desk.accept(call, fate)
        lost = self._desk.silence(fate)
        return lost or await self._judge(call, fate)

    async def _judge(self, call: Call, fate: Draw) -> Response:
        await self._desk.pause(fate.latency_s)
        if fate.fault == "refused":
            self._desk.accounts.count("openai", "refused")
            return _sent(_response(call, {"type": "refusal", "refusal": "I can't help with that."}), fate)
        schema = an_object(call.settings.get("schema"))
        try:
            text, _ = await self._desk.by_worker(lambda: answer(self._desk.work, schema, call))
        except (CannotAnswer, PhotoError) as error:
            return self._bad_request(str(error))
        self._desk.accounts.count("openai", "judge_calls")
        text = broken(text) if fate.fault == "bad_json" else text
        content: Object = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        return _sent(_response(call, content), fate)

    def _bad_request(self, text: str) -> Response:
        self._desk.accounts.count("openai", "bad_request")
        return _error(400, text, "invalid_request_error", "invalid_value")


def _response(call: Call, content: Object) -> Object:
    message: Object = {
        "id": f"msg_{uuid.uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [content],
    }
    return {
        "id": f"resp_{uuid.uuid4().hex}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": call.model,
        "output": [message],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": 900,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 120,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 1020,
        },
    }


def _sent(body: Object, fate: Draw) -> Response:
    kind = ShortBody if fate.fault == "short_body" else Response
    return kind(json.dumps(body), 200, {"x-request-id": _request_id()}, "application/json")


def _moderated() -> Response:
    text = (
        "Your request was rejected by the safety system. If you believe this is an error, contact us at "
        f"help.openai.com and include the request ID {_request_id()}. safety_violations=[sexual]."
    )
    return _error(400, text, "image_generation_user_error", "moderation_blocked")


def _error(status: int, text: str, kind: str, code: str | None, param: str | None = None) -> JSONResponse:
    body: Object = {"error": {"message": text, "type": kind, "param": param, "code": code}}
    return JSONResponse(body, status, {"x-request-id": _request_id()})


def _request_id() -> str:
    return f"req_{uuid.uuid4().hex}"


def _key(request: Request) -> str | None:
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    return value if scheme == "Bearer" else None
