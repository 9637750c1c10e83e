"""Google's Gemini API: images come and go inside the JSON, refusals are answers with status 200."""

from __future__ import annotations

import json
import uuid

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adapters.standin.answers import CannotAnswer, answer, broken
from adapters.standin.desk import Desk
from adapters.standin.faults import Draw, Faults
from adapters.standin.lines import ShortBody
from adapters.standin.wire import (
    Json,
    Object,
    a_list,
    a_text,
    a_whole,
    an_object,
    either,
    from_base64,
    read_object,
    sniff,
    to_base64,
)
from adapters.standin.work import Call, Made
from domain.errors import PhotoError

_RPC = "type.googleapis.com/google.rpc"
_IMAGE_TOKENS = 1290
_REFUSAL = (
    "Unable to show the generated image. The image was filtered out because it violates Google's "
    "Responsible AI practices. Support code: 42876398"
)
_SEED_FREE = ("seed",)


def routes(desk: Desk) -> list[Route]:
    """The paths of Gemini."""
    api = _Gemini(desk)
    return [
        route
        for version in ("v1", "v1beta")
        for route in (
            Route(f"/google/{version}/models/{{model}}:generateContent", api.generate, methods=["POST"]),
            Route(f"/google/{version}/models/{{model}}", api.model, methods=["GET"]),
        )
    ]


class _Forms:
    def rate_limited(self, faults: Faults) -> Response:
        violation = _violation("GenerateRequestsPerMinutePerProjectPerModel", "10")
        delay: Object = {"@type": f"{_RPC}.RetryInfo", "retryDelay": f"{faults.retry_after_s:g}s"}
        response = _error(
            429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).", violation, delay
        )
        if faults.google_retry_after_header:
            response.headers["retry-after"] = f"{faults.retry_after_s:g}"
        return response

    def server_error(self) -> Response:
        return _error(500, "INTERNAL", "An internal error has occurred. Please retry.")

    def quota(self) -> Response:
        text = "You exceeded your current quota, please check your plan and billing details."
        delay: Object = {"@type": f"{_RPC}.RetryInfo", "retryDelay": "37s"}
        violation = _violation("GenerateRequestsPerDayPerProjectPerModel", "250")
        return _error(429, "RESOURCE_EXHAUSTED", text, violation, delay)

    def bad_key(self) -> Response:
        info: Object = {
            "@type": f"{_RPC}.ErrorInfo",
            "reason": "API_KEY_INVALID",
            "domain": "googleapis.com",
            "metadata": {"service": "generativelanguage.googleapis.com"},
        }
        return _error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", info)

    def missing_model(self, model: str) -> Response:
        text = f"models/{model} is not found for API version v1beta, or is not supported for generateContent."
        return _error(404, "NOT_FOUND", text)


_FORMS = _Forms()


class _Gemini:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def model(self, request: Request) -> Response:
        """What is known of one model; costs nothing."""
        name = request.path_params["model"]
        self._desk.accounts.count("google", "lookups")
        refused = self._desk.free_call("google", "lookup", _key(request), _FORMS, name)
        return refused or JSONResponse(
            {
                "name": f"models/{name}",
                "version": "001",
                "displayName": name,
                "description": "Stand-in",
                "inputTokenLimit": 32768,
                "outputTokenLimit": 32768,
                "supportedGenerationMethods": ["generateContent", "countTokens"],
            }
        )

    async def generate(self, request: Request) -> Response:
        """An edit or a judgement."""
        model = request.path_params["model"]
        self._desk.accounts.count("google", "posts")
        body = await read_object(request)
        refused = self._desk.turned_away("google", _key(request), model, _FORMS)
        if refused is not None:
            return refused
        call = None if body is None else _read(model, body)
        if isinstance(call, str) or call is None:
            self._desk.accounts.count("google", "bad_request")
            return _error(400, "INVALID_ARGUMENT", call or "Invalid JSON payload received.")
        self._desk.accounts.count("google", f"{call.kind}_posts")
        fate = self._desk.admit(request, call, _FORMS)
        if isinstance(fate, Response):
            return fate
        self._desk.accept(call, fate)
        lost = self._desk.silence(fate)
        if lost is not None:
            return lost
        content = await (self._edit(call, fate) if call.kind == "edit" else self._judge(call, fate))
        if isinstance(content, Response):
            return content
        whole = {**content, "modelVersion": model, "responseId": uuid.uuid4().hex[:22]}
        return (ShortBody if fate.fault == "short_body" else Response)(
            json.dumps(whole), media_type="application/json; charset=UTF-8"
        )

    async def _edit(self, call: Call, fate: Draw) -> Object | Response:
        made = await self._desk.edit_now(call, fate)
        if made.kind == "unreadable":
            return _error(400, "INVALID_ARGUMENT", "Unable to process input image. Please retry or report.")
        return _edited(made, fate)

    async def _judge(self, call: Call, fate: Draw) -> Object | Response:
        await self._desk.pause(fate.latency_s)
        if fate.fault == "refused":
            self._desk.accounts.count("google", "refused")
            return _refusal(fate)
        schema = _schema(an_object(call.settings.get("generationConfig")))
        try:
            text, _ = await self._desk.by_worker(lambda: answer(self._desk.work, schema, call))
        except (CannotAnswer, PhotoError) as error:
            return _error(400, "INVALID_ARGUMENT", str(error))
        self._desk.accounts.count("google", "judge_calls")
        return _answered([{"text": broken(text) if fate.fault == "bad_json" else text}], 120)


def _read(model: str, body: Object) -> Call | str:
    """The call, or what is wrong with it."""
    config = an_object(either(body, "generationConfig", "generation_config"))
    pictures: list[bytes] = []
    texts: list[str] = []
    contents = [*a_list(body.get("contents")), either(body, "systemInstruction", "system_instruction")]
    for part in (part for content in contents for part in a_list(an_object(content).get("parts"))):
        inline = an_object(either(an_object(part), "inlineData", "inline_data"))
        if not inline:
            texts.append(a_text(an_object(part).get("text")))
            continue
        data = from_base64(a_text(inline.get("data")))
        if data is None:
            return "Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), not Base64"
        declared = a_text(either(inline, "mimeType", "mime_type"))
        if sniff(data) != declared:
            return f"Unhandled generated data mime type: {sniff(data)}, declared as {declared}"
        pictures.append(data)
    kind = "judge" if _schema(config) else "edit"
    if not pictures and kind == "edit":
        return "* GenerateContentRequest.contents: an image is required"
    plain_config: Object = {name: value for name, value in config.items() if name not in _SEED_FREE}
    settings: Object = {
        "generationConfig": plain_config,
        "safetySettings": either(body, "safetySettings", "safety_settings"),
    }
    prompt = "\n".join(text for text in texts if text)
    return Call("google", kind, model, tuple(pictures), prompt, a_whole(config.get("seed")), settings)


def _schema(config: Object) -> Object:
    names = ("responseSchema", "response_schema", "responseJsonSchema", "response_json_schema")
    return an_object(either(config, *names))


def _edited(made: Made, fate: Draw) -> Object:
    if made.kind == "refused":
        return _refusal(fate)
    if made.kind == "no_image":
        return _answered([{"text": "I can describe the picture, but I have not changed it."}], 24)
    inline: Object = {"mimeType": made.content_type, "data": to_base64(made.data)}
    return _answered([{"inlineData": inline}], _IMAGE_TOKENS, "IMAGE")


def _refusal(fate: Draw) -> Object:
    if fate.form == 1:
        return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": _usage(0, "TEXT")}
    candidate: Object = {
        "content": {"role": "model"},
        "finishReason": "IMAGE_SAFETY",
        "finishMessage": _REFUSAL,
        "index": 0,
    }
    return {"candidates": [candidate], "usageMetadata": _usage(0, "IMAGE")}


def _answered(parts: list[Json], tokens: int, modality: str = "TEXT") -> Object:
    content: Object = {"role": "model", "parts": parts}
    candidate: Object = {"content": content, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": _usage(tokens, modality)}


def _usage(tokens: int, modality: str) -> Object:
    return {
        "promptTokenCount": 270,
        "candidatesTokenCount": tokens,
        "totalTokenCount": 270 + tokens,
        "promptTokensDetails": [
            {"modality": "TEXT", "tokenCount": 12},
            {"modality": "IMAGE", "tokenCount": 258},
        ],
        "candidatesTokensDetails": [{"modality": modality, "tokenCount": tokens}],
    }


def _error(code: int, status: str, message: str, *details: Object) -> JSONResponse:
    error: Object = {"code": code, "message": message, "status": status}
    if details:
        error["details"] = list(details)
    return JSONResponse({"error": error}, code)


def _violation(quota_id: str, value: str) -> Object:
    violation: Object = {
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_requests",
        "quotaId": quota_id,
        "quotaValue": value,
    }
    return {"@type": f"{_RPC}.QuotaFailure", "violations": [violation]}


def _key(request: Request) -> str | None:
    return request.headers.get("x-goog-api-key") or request.query_params.get("key")
