"""A stand-in with a tiny editor and judge behind it, and how it is called."""

from __future__ import annotations

import base64
import io
import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from fakes.checkers import answer as checklist
from PIL import Image

from adapters.imaging.decode import decode_rgb
from adapters.standin.app import build_app
from adapters.standin.faults import Faults
from adapters.standin.serving import running
from adapters.standin.work import StandinWork
from domain.edits import Edited, EditOutcome, EditRequest, JudgeReply, NoImage, Refused, Ticket


def encode(image: Image.Image, kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


def noise(width: int = 48, height: int = 32, seed: int = 0) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


PNG = encode(noise())
JPEG = encode(noise(seed=1), "JPEG")


def decode(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def inverted(data: bytes) -> bytes:
    return encode(Image.fromarray(255 - decode_rgb(data)))


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def data_url(data: bytes = PNG, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{b64(data)}"


def gemini_image(answer: httpx.Response) -> bytes:
    [part] = answer.json()["candidates"][0]["content"]["parts"]
    return base64.b64decode(part["inlineData"]["data"])


def openai_image(answer: httpx.Response) -> bytes:
    [data] = answer.raise_for_status().json()["data"]
    return base64.b64decode(data["b64_json"])


@dataclass
class Inverter:
    """Answers with the negative; a prompt can ask for other ends."""

    requests: list[EditRequest] = field(default_factory=list)
    slow_s: float = 0

    def submit(self, request: EditRequest) -> Ticket:
        self.requests.append(request)
        return Ticket(provider_id=None, outcome=self._end(request))

    def collect(self, ticket: Ticket) -> EditOutcome:
        return ticket.held_outcome()

    def _end(self, request: EditRequest) -> EditOutcome:
        time.sleep(self.slow_s)
        if request.prompt == "refuse":
            return Refused("not allowed")
        if request.prompt == "say nothing":
            return NoImage("nothing came")
        if request.prompt == "crash":
            raise KeyError("a bug in the editor")
        return Edited(inverted(request.image))


SCORES = {
    "type": "OBJECT",
    "properties": {
        "reasoning": {"type": "STRING"},
        "editing_success": {"type": "NUMBER", "minimum": 0, "maximum": 10},
        "overediting": {"type": "INTEGER"},
    },
}
STATE = {"hats": ["cap"], "hair color": None, "glasses": []}


@dataclass
class Judging:
    """Scores what it is told to; sees what it is told to."""

    success: float = 8
    overediting: float = 7.5
    made: bool = True
    state: dict[str, Any] = field(default_factory=lambda: dict(STATE))
    scored: list[tuple[bytes, bytes, str]] = field(default_factory=list)
    tracked: list[bytes] = field(default_factory=list)

    def score(self, before: bytes, after: bytes, prompt: str) -> JudgeReply:
        self.scored.append((before, after, prompt))
        scores = {"editing_success": self.success, "overediting": self.overediting}
        return JudgeReply(json.dumps(scores), "j-1")

    def check_step(self, before: bytes, after: bytes, prompt: str) -> JudgeReply:
        self.scored.append((before, after, prompt))
        return JudgeReply(checklist(made=self.made), "j-1")

    def track(self, image: bytes) -> JudgeReply:
        self.tracked.append(image)
        return JudgeReply(json.dumps(self.state), "j-1")


class Place:
    """A running stand-in and how it is called."""

    def __init__(self, client: httpx.Client, editor: Inverter, judge: Judging) -> None:
        self.client = client
        self.url = str(client.base_url).rstrip("/")
        self.editor = editor
        self.judge = judge

    def counts(self, provider: str) -> dict[str, Any]:
        return self.client.get("/standin/counts").raise_for_status().json()[provider]

    def script(self, *faults: Any, **more: Any) -> None:
        self.client.post("/standin/script", json={"faults": faults, **more}).raise_for_status()

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.client.get(path, **options)

    def gemini(self, prompt: str = "smile", image: bytes = PNG, **config: Any) -> httpx.Response:
        parts = [{"inlineData": {"data": b64(image), "mime_type": "image/png"}}, {"text": prompt}]
        body = {"contents": [{"role": "user", "parts": parts}], "generationConfig": config}
        return self.client.post("/google/v1beta/models/flash-image:generateContent", json=body)

    def gemini_judgement(
        self, schema: dict[str, Any], *images: bytes, key: str = "responseSchema"
    ) -> httpx.Response:
        parts: list[Any] = [{"text": "Judge. <instruction> Add a hat </instruction>"}]
        parts += [{"inline_data": {"data": b64(image), "mimeType": "image/png"}} for image in images]
        config = {key: schema, "responseMimeType": "application/json", "seed": 7}
        body = {"contents": [{"parts": parts}], "generationConfig": config}
        return self.client.post("/google/v1/models/flash:generateContent", json=body)

    def openai(self, prompt: str = "smile", image: bytes = PNG, **fields: Any) -> httpx.Response:
        files = {"image": ("in.png", image, "image/png")}
        data = {"model": "gpt-image-2", "prompt": prompt, **fields}
        return self.client.post("/openai/v1/images/edits", data=data, files=files)

    def fal(
        self, prompt: str = "smile", endpoint: str = "fal-ai/flux-pro/kontext", **arguments: Any
    ) -> httpx.Response:
        body = {"prompt": prompt, "image_url": data_url(), **arguments}
        return self.client.post(f"/fal/queue/{endpoint}", json=body)

    def fal_result(self, submitted: httpx.Response) -> httpx.Response:
        job = submitted.raise_for_status().json()
        self.wait(lambda: self.get(job["status_url"]).json()["status"] == "COMPLETED")
        return self.get(job["response_url"])

    def fal_file(self, submitted: httpx.Response) -> httpx.Response:
        [image] = self.fal_result(submitted).raise_for_status().json()["images"]
        return self.get(image["url"])

    def replicate(self, prompt: str = "smile", model: str = "acme/paint", **more: Any) -> httpx.Response:
        headers = {"Prefer": "wait", **more.pop("headers", {})}
        body = {"input": {"prompt": prompt, "image": data_url(), **more}}
        return self.client.post(f"/replicate/v1/models/{model}/predictions", json=body, headers=headers)

    def ask(self, provider: str, prompt: str = "smile") -> httpx.Response:
        return getattr(self, {"google": "gemini"}.get(provider, provider))(prompt)

    def wait(self, done: Callable[[], Any]) -> None:
        end = time.monotonic() + 20
        while not done():
            assert time.monotonic() < end, "it takes too long"
            time.sleep(0.01)


@contextmanager
def started(
    state: Path | None = None, required_key: str | None = None, slow_s: float = 0, **faults: Any
) -> Iterator[Place]:
    editor, judge = Inverter(slow_s=slow_s), Judging()
    work = StandinWork(editor, judge, judge, checker=judge)
    with (
        running(build_app(work, Faults(**faults), state, required_key)) as url,
        httpx.Client(base_url=url, timeout=20) as client,
    ):
        yield Place(client, editor, judge)


Start = Callable[..., AbstractContextManager[Place]]
