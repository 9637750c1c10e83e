"""Reading definition files: YAML behind strict models; errors name file, line, field and allowed values."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from domain.chains import ChainSet
from domain.errors import DefinitionError
from domain.groups import GroupDefinitions, shown
from domain.judge_cards import JudgeCard
from domain.model_cards import ModelCard
from domain.provider_cards import ProviderCard
from domain.sessions import SessionSet
from domain.suites import FacePack, Suite
from domain.taxonomy import Taxonomy

Definition = TypeVar("Definition", bound=BaseModel)

_FOLDERS: dict[type[BaseModel], str] = {
    Taxonomy: "taxonomies",
    SessionSet: "sessions",
    ChainSet: "chains",
    ModelCard: "models",
    JudgeCard: "judges",
    ProviderCard: "providers",
    Suite: "suites",
    FacePack: "packs",
    GroupDefinitions: "groups",
}


def parse(text: str, kind: type[Definition], file: str) -> Definition:
    """Validate the text of one definition file.

    Raises:
        DefinitionError: naming the file, the line, the field and, where they are known, the allowed values.
    """
    node, value = _read_yaml(text, file)
    if not isinstance(value, dict):
        raise DefinitionError("the file must hold one mapping of fields", file=file, line=1)
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise _definition_error(error, kind, node, file) from error


def load(kind: type[Definition], name: str, folders: Sequence[Path] = ()) -> Definition:
    """The definition of that kind and id: packaged, or from a folder of the user's own.

    Args:
        kind: Model of the definition.
        name: Its id, which is its file's name.
        folders: Folders with the same sub-folders as `domain/definitions/`.

    Raises:
        DefinitionError: there is none (the message offers close matches), or it is defined twice.
    """
    known = names(kind, folders)
    if name not in known:
        close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise DefinitionError(f"no definition {name!r} in {_label(kind)}{hint}", allowed=known)
    own = [folder for folder in folders if (folder / _label(kind) / f"{name}.yaml").is_file()]
    if not own:
        return _packaged(kind, name)
    if len(own) > 1 or name in names(kind):
        raise DefinitionError(f"{_label(kind)} {name!r} is defined twice; give yours another id")
    return _read(own[0] / _label(kind) / f"{name}.yaml", kind, name)


def load_suite(name_or_path: str, folders: Sequence[Path] = ()) -> Suite:
    """A suite by its id, or a suite file by its path, with the demographics of the file that it names.

    Raises:
        DefinitionError: as `load`, or an axis compares what is no group.
    """
    path = Path(name_or_path)
    is_file = path.suffix in (".yaml", ".yml")
    suite = _read(path, Suite, None) if is_file else load(Suite, name_or_path, folders)
    shared = load(GroupDefinitions, suite.demographics_file, folders) if suite.demographics_file else None
    try:
        return suite.with_demographics(shared.demographics if shared else {})
    except DefinitionError as error:
        file = str(path) if is_file else f"suites/{name_or_path}.yaml"
        loc = tuple(int(part) if part.isdecimal() else part for part in (error.field or "").split("."))
        line = line_of(_read_yaml(path.read_text(encoding="utf-8"), file)[0], loc) if is_file else None
        raise DefinitionError(
            error.message, file=file, line=line, field=error.field, allowed=error.allowed
        ) from error


def prompt(name: str, folders: Sequence[Path] = ()) -> str:
    """The text of a versioned prompt, such as `consistency.v1`; raises DefinitionError."""
    places: list[Path | Traversable] = [resources.files("domain") / "definitions" / "prompts"]
    places += [folder / "prompts" for folder in folders]
    known = {
        file.name.removesuffix(".md"): file for place in places if place.is_dir() for file in place.iterdir()
    }
    if name not in known:
        raise DefinitionError(f"no prompt {name!r}", allowed=tuple(sorted(known)))
    return known[name].read_text(encoding="utf-8")


def names(kind: type[BaseModel], folders: Sequence[Path] = ()) -> tuple[str, ...]:
    """Ids of all definitions of a kind, sorted."""
    places = (_folder(kind), *(folder / _label(kind) for folder in folders))
    files = [file.name for place in places if place.is_dir() for file in place.iterdir()]
    return tuple(sorted({name.removesuffix(".yaml") for name in files if name.endswith(".yaml")}))


def _read(path: Path | Traversable, kind: type[Definition], name: str | None) -> Definition:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a path with a null character
        raise DefinitionError(f"the file cannot be read: {error}", file=str(path)) from error
    found: Any = parse(text, kind, str(path))
    if name is not None and found.id != name:
        raise DefinitionError(f"id {found.id!r} differs from the file's name", file=str(path), field="id")
    return found


@cache
def _packaged(kind: type[Any], name: str) -> Any:
    return _read(_folder(kind) / f"{name}.yaml", kind, name)


def packaged_text(kind: type[BaseModel], name: str) -> str:
    """The text of a packaged definition."""
    return (_folder(kind) / f"{name}.yaml").read_text(encoding="utf-8")


def _label(kind: type[BaseModel]) -> str:
    return _FOLDERS[kind]


def _folder(kind: type[BaseModel]) -> Traversable:
    return resources.files("domain") / "definitions" / _label(kind)


def _read_yaml(text: str, file: str) -> tuple[yaml.Node | None, object]:
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        _no_repeated_keys(node, file)
        return node, yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise DefinitionError(f"not valid YAML: {error.problem}", file=file, line=line) from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: such as the date 2026-13-45
        raise DefinitionError(f"not valid YAML: {error}", file=file) from error
    except RecursionError as error:
        raise DefinitionError("nested too deeply", file=file) from error


def _no_repeated_keys(node: yaml.Node | None, file: str) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise DefinitionError("the name of a field must be plain text", file=file, line=line)
            if key.value in seen:
                raise DefinitionError(f"{key.value!r} is given twice", file=file, line=line)
            seen.add(key.value)
            _no_repeated_keys(value, file)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _no_repeated_keys(item, file)


def settings_error(
    error: ValidationError, kind: type[BaseModel], name: str | None, field: str = "settings"
) -> DefinitionError:
    """What is wrong with the settings of a definition, as the adapter that they are for says.

    Args:
        error: What validating them raised.
        kind: Of the definition.
        name: Its id; None where the settings are from nowhere but the command line.
        field: That holds them.
    """
    first = _first(error)
    message, allowed = ("unknown setting", ()) if first["type"] == "extra_forbidden" else _said(first)
    return DefinitionError(
        message,
        file=None if name is None else f"{_label(kind)}/{name}.yaml",
        field=".".join((field, *map(str, first["loc"]))),
        allowed=allowed,
    )


def _said(first: ErrorDetails) -> tuple[str, tuple[str, ...]]:
    """What is wrong with a value, with the value where it is short, and what is allowed."""
    context: Mapping[str, Any] = first.get("ctx", {})
    if first["type"] == "literal_error":
        allowed = tuple(re.findall("'([^']*)'", str(context["expected"])))
        return f"{first['input']!r} is not a choice here", allowed
    if first["type"] == "value_error":
        return str(context["error"]), ()
    given: object = first["input"]
    if isinstance(given, str | int | float) and first["type"] != "missing":
        return f"{first['msg']}, not {shown(str(given))!r}", ()
    return first["msg"], ()


def problem_of(
    first: ErrorDetails, kind: type[BaseModel], node: yaml.Node | None, file: str
) -> DefinitionError:
    """One problem of a definition that does not validate, with its line and what is allowed there."""
    if first["type"] == "extra_forbidden":
        message, allowed = "unknown field", _fields_at(kind, first["loc"][:-1])
    else:
        message, allowed = _said(first)
    return DefinitionError(
        message,
        file=file,
        line=line_of(node, first["loc"]),
        field=".".join(str(part) for part in first["loc"]) or None,
        allowed=allowed,
    )


def _first(error: ValidationError) -> ErrorDetails:
    problems = error.errors()
    return next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])  # most likely a slip


def _definition_error(
    error: ValidationError, kind: type[BaseModel], node: yaml.Node | None, file: str
) -> DefinitionError:
    found, more = problem_of(_first(error), kind, node, file), error.error_count() - 1
    if more:
        found.message += f" (and {more} more problem{'s' if more > 1 else ''} in this file)"
    return found


def _fields_at(kind: type[BaseModel], loc: tuple[int | str, ...]) -> tuple[str, ...]:
    """The fields of the model that stands at a place of a definition; none where that is no model."""
    held: tuple[Any, ...] = (kind,)
    for part in loc:
        held = tuple(inner for one in held for inner in _inside(one, part))
    return tuple(name for one in held if _is_model(one) for name in one.model_fields)


def _inside(kind: Any, part: int | str) -> tuple[Any, ...]:
    """What may stand at a field of a model, a key of a mapping a place of a list; a union's members apart."""
    if _is_model(kind):
        return _members(kind.model_fields[part].annotation) if part in kind.model_fields else ()
    held = [one for one in get_args(kind) if one is not Ellipsis]
    if isinstance(get_origin(kind), type) and issubclass(get_origin(kind), Mapping):
        return _members(held[1])
    if isinstance(part, int):
        return tuple(member for one in held for member in _members(one))
    return ()


def _members(annotation: Any) -> tuple[Any, ...]:
    """The types of a union, and what is behind `Annotated`."""
    if get_origin(annotation) is Annotated:
        return _members(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return tuple(member for one in get_args(annotation) for member in _members(one))
    return (annotation,)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def line_of(root: yaml.Node | None, loc: tuple[int | str, ...]) -> int | None:
    """The line on which a field of a file begins, or the nearest that is there; None without a file."""
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
