"""What the tests of remote editors share: cards, requests, and what holds of every error and outcome."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from builders import encoded, noise

from adapters.base import Editor, EditorContext
from adapters.imaging.face_models import FaceModels
from adapters.registry import editor_class
from domain.edits import Edited, EditOutcome, EditRequest
from domain.errors import ProviderError
from domain.keys import sha256
from domain.loading import load
from domain.model_cards import ModelCard
from domain.taxonomy import Taxonomy

SECRET = "sk-live-4f9a0e-NEVER-TO-BE-SHOWN"
PICTURE = encoded(noise(48, 40))

_SETTINGS: dict[str, dict[str, Any]] = {
    "google": {"aspect_ratio": "3:2"},
    "openai": {"quality": "high"},
    "fal": {"arguments": {"num_inference_steps": 30}, "image_field": "image_url"},
    "replicate": {"arguments": {"go_fast": False}, "image_field": "input_image"},
    "xai": {"resolution": "1k", "quality": "medium"},
    "byteplus": {"size": "2K"},
}
_ENDPOINTS = {"fal": "acme/paint/edit", "replicate": "acme/paint"}
VARIABLES = {
    "google": "GEMINI_API_KEY",
    "fal": "FAL_KEY",
    "replicate": "REPLICATE_API_TOKEN",
    "openai": "OPENAI_API_KEY",
    "xai": "XAI_API_KEY",
    "byteplus": "ARK_API_KEY",
}


def a_card(provider: str, **fields: Any) -> ModelCard:
    base: dict[str, Any] = {
        "id": "a-model",
        "name": "A model",
        "lab": "Acme",
        "provider": provider,
        "endpoint": _ENDPOINTS.get(provider, "paint-1"),
        "settings": _SETTINGS[provider],
        "price_usd": 0.04,
        "typical_latency_s": 5,
        "seed_support": provider not in ("openai", "xai"),
        "shape_policy": "any",
        "released": "2026-01-01",
        "checked_on": "2026-11-30",
        "source": "test",
    }
    return ModelCard.model_validate(base | fields)


def build(provider: str, standin_url: str | None = None, **fields: Any) -> Any:
    """A remote editor; none of them looks at photos or faces."""
    context = EditorContext(
        taxonomy=load(Taxonomy, "face-edit-attributes"),
        pool=(),
        load_photo=lambda photo: b"",
        face_models=cast(Callable[[], FaceModels], lambda: None),
        standin_url=standin_url,
    )
    return editor_class(provider).build(a_card(provider, **fields), context)


def a_request(prompt: str = "Add a red hat", image: bytes = PICTURE, **fields: Any) -> EditRequest:
    return EditRequest("a-model", image, sha256(image), prompt, **{"seed": 11, **fields})


def ask(editor: Editor, request: EditRequest) -> EditOutcome:
    return editor.collect(editor.submit(request))


def edited(outcome: EditOutcome) -> Edited:
    assert isinstance(outcome, Edited), outcome
    return outcome


def failure(kind: type[ProviderError], provider: str, do: Callable[[], object]) -> ProviderError:
    """The error that `do` ends in, seen to be of exactly this kind, complete and fit to travel."""
    with pytest.raises(ProviderError) as caught:
        do()
    error = caught.value
    assert type(error) is kind, repr(error)
    assert error.provider == provider
    assert error.model == _ENDPOINTS.get(provider, "paint-1")
    told = "".join(traceback.format_exception(error))
    for shown in (str(error), repr(error), repr(error.__dict__), told):
        assert SECRET not in shown
    assert "base64" not in str(error).replace("bad_base64", "").replace("no base64", "")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), again.__dict__) == (str(error), error.__dict__)
    return error


def no_secret_in(shown: Sequence[object]) -> None:
    for each in shown:
        assert SECRET not in repr(each)
        if isinstance(each, BaseException):
            assert SECRET not in "".join(traceback.format_exception(each)), "a cause quotes the key"
