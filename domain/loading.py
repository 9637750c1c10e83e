"""Reading definition files: YAML behind strict models; errors name file, line, field and allowed values."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from domain.errors import DefinitionError
from domain.model_cards import ModelCard
from domain.sessions import SessionSet
from domain.suites import FacePack, Suite
from domain.taxonomy import Taxonomy

Definition = TypeVar("Definition", bound=BaseModel)

_FOLDERS = {
    Taxonomy: "taxonomies",
    SessionSet: "sessions",
    ModelCard: "models",
    Suite: "suites",
    FacePack: "packs",
}


def parse(text: str, kind: type[Definition], file: str) -> Definition:
    """Validate the text of one definition file.

    Raises:
        DefinitionError: naming the file, the line, the field and, where they are known, the allowed values.
    """
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        _no_repeated_keys(node, file)
        value: object = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise DefinitionError(f"not valid YAML: {error.problem}", file=file, line=line) from error
    except yaml.YAMLError as error:
        raise DefinitionError(f"not valid YAML: {error}", file=file) from error
    if not isinstance(value, dict):
        raise DefinitionError("the file must hold one mapping of fields", file=file, line=1)
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise _definition_error(error, kind, node, file) from error


def load(kind: type[Definition], name: str) -> Definition:
    """The packaged definition of that kind and id.

    Raises:
        DefinitionError: there is none; the message offers close matches.
    """
    known = names(kind)
    if name not in known:
        label = _FOLDERS[kind]  # pyright: ignore[reportArgumentType]
        close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise DefinitionError(f"no definition {name!r} in {label}{hint}", allowed=tuple(known))
    return _cached(kind, name)


def load_suite(name_or_path: str) -> Suite:
    """A packaged suite by its id, or a suite file by its path."""
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        return load(Suite, name_or_path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"the suite file cannot be read: {error}", file=str(path)) from error
    return parse(text, Suite, str(path))


def names(kind: type[BaseModel]) -> tuple[str, ...]:
    """Ids of all packaged definitions of a kind, sorted."""
    return tuple(
        sorted(f.name.removesuffix(".yaml") for f in _folder(kind).iterdir() if f.name.endswith(".yaml"))
    )


@cache
def _cached(kind: type[Any], name: str) -> Any:
    file = f"{name}.yaml"
    found = parse((_folder(kind) / file).read_text(encoding="utf-8"), kind, f"{_FOLDERS[kind]}/{file}")
    if found.id != name:
        raise DefinitionError(f"id {found.id!r} differs from the file's name", file=file, field="id")
    return found


def _folder(kind: type[BaseModel]) -> Traversable:
    return resources.files("domain") / "definitions" / _FOLDERS[kind]  # pyright: ignore[reportArgumentType]


def _no_repeated_keys(node: yaml.Node | None, file: str) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                raise DefinitionError(
                    f"{key.value!r} is given twice", file=file, line=key.start_mark.line + 1
                )
            seen.add(key.value)
            _no_repeated_keys(value, file)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _no_repeated_keys(item, file)


def _definition_error(
    error: ValidationError, kind: type[BaseModel], node: yaml.Node | None, file: str
) -> DefinitionError:
    first = error.errors()[0]
    allowed: tuple[str, ...] = ()
    if first["type"] == "extra_forbidden":
        message, allowed = "unknown field", _fields_at(kind, first["loc"][:-1])
    else:
        message = first["msg"]
    context: Mapping[str, Any] = first.get("ctx", {})
    if first["type"] == "literal_error":
        allowed = (str(context.get("expected", "")),)
        message = f"{first['input']!r} is not a choice here"
    more = error.error_count() - 1
    if more:
        message += f" (and {more} more problem{'s' if more > 1 else ''} in this file)"
    return DefinitionError(
        message,
        file=file,
        line=_line(node, first["loc"]),
        field=".".join(str(part) for part in first["loc"]) or None,
        allowed=allowed,
    )


def _fields_at(kind: type[BaseModel], loc: tuple[int | str, ...]) -> tuple[str, ...]:
    current: Any = kind
    for part in loc:
        if isinstance(part, int):
            continue
        annotation = current.model_fields[part].annotation
        inner = [a for a in (annotation, *getattr(annotation, "__args__", ())) if hasattr(a, "model_fields")]
        if not inner:
            return ()
        current = inner[0]
    return tuple(current.model_fields)


def _line(root: yaml.Node | None, loc: tuple[int | str, ...]) -> int | None:
    if root is None:
        return None
    node: Any = root
    line: int = root.start_mark.line + 1
    for part in loc:
        if isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if key.value == str(part)]
            if not found:
                break
            line, node = found[0][0].start_mark.line + 1, found[0][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line
