"""xAI's image service over gRPC, saying what a test tells it to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
from xai_sdk.proto import image_pb2, image_pb2_grpc, models_pb2, models_pb2_grpc, usage_pb2


class GrokServer(image_pb2_grpc.ImageServicer, models_pb2_grpc.ModelsServicer):
    """Answers each call with `answer(context)`, and remembers requests and metadata."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.metadata: list[dict[str, str]] = []
        self.answer: Callable[[grpc.ServicerContext], Any] = lambda context: self.image("")
        self.host = ""
        self.closing = threading.Event()

    def image(self, encoded: str, allowed: bool = True) -> Any:
        usage = usage_pb2.SamplingUsage(prompt_tokens=5, total_tokens=7, cost_in_usd_ticks=600_000_000)
        image = image_pb2.GeneratedImage(base64=encoded, respect_moderation=allowed)
        return image_pb2.ImageResponse(images=[image], model="grok-served", usage=usage)

    def GenerateImage(self, request: Any, context: grpc.ServicerContext) -> Any:
        return self._note(request, context)

    def GetImageGenerationModel(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._note(request, context)
        return models_pb2.ImageGenerationModel(name=request.name)

    def _note(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.asked.append(request)
        self.metadata.append({item.key: str(item.value) for item in context.invocation_metadata()})
        return self.answer(context)

    def fail(self, code: grpc.StatusCode, details: str) -> None:
        self.asked.clear()
        self.answer = lambda context: context.abort(code, details)

    def hang(self) -> None:
        self.asked.clear()
        self.answer = lambda context: self.closing.wait(20) and self.image("")


@contextmanager
def grok_server() -> Iterator[GrokServer]:
    """A running server."""
    fake = GrokServer()
    with ThreadPoolExecutor(4) as threads:
        server = grpc.server(threads)
        image_pb2_grpc.add_ImageServicer_to_server(fake, server)
        models_pb2_grpc.add_ModelsServicer_to_server(fake, server)
        fake.host = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        try:
            yield fake
        finally:
            fake.closing.set()
            server.stop(0).wait()
