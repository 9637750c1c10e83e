"""What OpenAI is asked: edits as a form or as JSON, and judgements."""

from __future__ import annotations

from starlette.datastructures import UploadFile
from starlette.requests import Request

from adapters.standin.wire import Object, a_list, a_text, an_object, from_data_url, read_object
from adapters.standin.work import Call
from domain import keys

_TYPES = ("image/png", "image/jpeg", "image/webp")
_PICTURE_FIELDS = ("image", "image[]")


async def read_form(request: Request) -> Call | str:
    """The call of a form, or what is wrong with it."""
    pictures: list[bytes] = []
    settings: Object = {}
    async with request.form() as form:
        for name, value in form.multi_items():
            if not isinstance(value, UploadFile):
                settings[name] = value
                continue
            if value.content_type not in _TYPES:
                return f"Invalid file 'image': unsupported mimetype ('{value.content_type}')."
            data = await value.read()
            if name in _PICTURE_FIELDS:
                pictures.append(data)
            else:
                settings[name] = keys.sha256(data)
    return _edit_call(settings, pictures)


async def read_json(request: Request) -> Call | str:
    """The call of a JSON body, or what is wrong with it."""
    body = await read_object(request)
    if body is None:
        return "The body is not a JSON object."
    urls = [a_text(an_object(item).get("image_url")) for item in a_list(body.get("images"))]
    found = [from_data_url(url) for url in urls]
    pictures = [picture[0] for picture in found if picture is not None]
    settings: Object = {name: value for name, value in body.items() if name != "images"}
    return _edit_call(settings, pictures)


def _edit_call(settings: Object, pictures: list[bytes]) -> Call | str:
    if not pictures:
        return "Missing required parameter: 'image'."
    prompt = a_text(settings.pop("prompt", ""))
    if not prompt:
        return "Missing required parameter: 'prompt'."
    model = a_text(settings.pop("model", ""))
    return Call("openai", "edit", model, tuple(pictures), prompt, None, settings)


def read_judgement(body: Object) -> Call | str:
    """The judgement that is asked for, or what is wrong with it."""
    pictures: list[bytes] = []
    texts = [a_text(body.get("instructions"))]
    asked = body.get("input")
    if isinstance(asked, str):
        texts.append(asked)
    for message in map(an_object, a_list(asked)):
        content = message.get("content")
        if isinstance(content, str):
            texts.append(content)
        for part in map(an_object, a_list(content)):
            inline = from_data_url(a_text(part.get("image_url")))
            if inline is not None:
                pictures.append(inline[0])
            texts.append(a_text(part.get("text")))
    form = an_object(an_object(body.get("text")).get("format"))
    schema = an_object(form.get("schema"))
    if not schema:
        return "Missing required parameter: 'text.format.schema'."
    settings: Object = {
        name: value for name, value in body.items() if name not in ("input", "model", "instructions", "text")
    }
    prompt = "\n".join(text for text in texts if text)
    return Call(
        "openai",
        "judge",
        a_text(body.get("model")),
        tuple(pictures),
        prompt,
        None,
        {**settings, "schema": schema},
    )
