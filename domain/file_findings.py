"""Everything that is wrong with a definition file, each with its line, whatever the file defines.

Reading stops only at broken YAML: what can be looked at is looked at, however wrong the rest is.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import yaml
from pydantic import BaseModel, ValidationError

from domain.loading import line_of, problem_of

Loc = tuple[int | str, ...]
"""Where a value stands in a file: names of fields and places in lists."""


@dataclass(frozen=True, order=True)
class Finding:
    """One problem at one line."""

    line: int
    code: str
    message: str
    is_error: bool = True
    allowed: tuple[str, ...] = ()
    """The values that would do, or the nearest ones."""

    def text(self, file: str) -> str:
        """As one line that editors can jump to."""
        kind = "error" if self.is_error else "warning"
        more = f"; allowed or nearest: {', '.join(self.allowed)}" if self.allowed else ""
        return f"{file}:{self.line}: {kind}: {self.message} [{self.code}]{more}"


@dataclass(frozen=True)
class Read:
    """A file as far as it can be read."""

    fields: dict[str, Any] = field(default_factory=dict[str, Any])
    node: yaml.Node | None = None
    """None when nothing can be looked at."""
    found: tuple[Finding, ...] = ()
    """Tabs, fields that are given twice, and why there is nothing to look at."""

    def at(self, *loc: int | str) -> int:
        """The line of a field, or the nearest that is there."""
        return line_of(self.node, loc) or 1


def read(text: str) -> Read:
    """Read a file of one mapping, with what is wrong about it as YAML."""
    tabs = [
        Finding(number, "tab", "a tab; YAML wants spaces")
        for number, line in enumerate(text.splitlines(), 1)
        if "\t" in line
    ]
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        value: object = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        broken = _broken(error)
        return Read(found=(*tabs, *([] if broken.line in {tab.line for tab in tabs} else [broken])))
    if node is None or not isinstance(value, dict):
        return Read(found=(*tabs, Finding(1, "yaml", "the file must hold one mapping of fields")))
    return Read(cast(dict[str, Any], value), node, (*tabs, *_repeated_keys(node)))


def in_order(found: Iterable[Finding]) -> list[Finding]:
    """Each finding once, by line, errors first."""
    return sorted(set(found), key=lambda one: (one.line, not one.is_error, one.code, one.message))


def identity(file: Read, name: str, taken: Sequence[str]) -> Iterator[Finding]:
    """A set is looked up by its file's name, and packaged ids are taken."""
    set_id, line = file.fields.get("id"), file.at("id")
    if name and isinstance(set_id, str) and set_id != name:
        yield Finding(line, "wrong_name", f"the id {set_id!r} differs from the file's name", allowed=(name,))
    if set_id in taken:
        yield Finding(line, "taken", f"{set_id!r} is a packaged set, which never changes; take another id")


def schema(file: Read, kind: type[BaseModel]) -> Iterator[Finding]:
    """Every field that is unknown, missing or of a value that is not allowed."""
    try:
        kind.model_validate(file.fields)
    except ValidationError as error:
        everything = error.errors()
        missing = {details["loc"] for details in everything if details["type"] == "missing"}
        slips = dict(_slips((one["loc"] for one in everything if one["type"] == "extra_forbidden"), missing))
        for details in everything:
            loc = details["loc"]
            if loc in slips.values():
                continue  # its slip says so
            inner = any(other["loc"][: len(loc)] == loc and other is not details for other in everything)
            if not loc or (details["type"] == "too_short" and inner):
                continue  # named twice, which has its own line; a list that is short of what is wrong
            problem = problem_of(details, kind, file.node, "")
            code = "unknown_field" if details["type"] == "extra_forbidden" else "bad_value"
            meant = f"; did you mean {slips[loc][-1]}?" if loc in slips else ""
            text = f"{problem.message} ({_place(file.fields, loc)}){meant}"
            yield Finding(problem.line or 1, code, text, allowed=() if meant else problem.allowed)


def _slips(unknown: Iterable[Loc], missing: Iterable[Loc]) -> Iterator[tuple[Loc, Loc]]:
    """Unknown fields that must be meant for one that is missing beside them, each with that one."""
    left = set(missing)
    for loc in unknown:
        beside = {str(one[-1]): one for one in left if one[:-1] == loc[:-1]}
        near = difflib.get_close_matches(str(loc[-1]), sorted(beside), n=1, cutoff=0.75)
        if near:
            left.discard(beside[near[0]])
            yield loc, beside[near[0]]


def _place(fields: object, loc: Loc) -> str:
    """A field as people find it: an entry of a list is called by its photo or its id, where it has one."""
    owner, parts, value = "", list[str](), fields
    for number, part in enumerate(loc, 1):
        parts.append(str(part))
        if isinstance(part, int) and isinstance(value, list) and part < len(cast(list[object], value)):
            value = cast(list[object], value)[part]
        else:
            value = cast(Mapping[object, object], value).get(part) if isinstance(value, dict) else None
        named = cast(Mapping[object, object], value if isinstance(value, dict) else {})
        kind = next((name for name in ("photo", "id") if isinstance(named.get(name), str)), None)
        if kind and isinstance(part, int) and number < len(loc):
            owner, parts = f" of {'' if kind == 'id' else 'photo '}{named[kind]!r}", []
    return f"field {'.'.join(parts)!r}{owner}"


def _repeated_keys(root: yaml.Node) -> Iterator[Finding]:
    waiting, met = [root], set[int]()  # an anchor may lead back to where it stands
    while waiting:
        node = waiting.pop()
        if id(node) in met:
            continue
        met.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += cast(list[yaml.Node], node.value)
        if not isinstance(node, yaml.MappingNode):
            continue
        seen: set[str] = set()
        for key, value in cast(list[tuple[yaml.Node, yaml.Node]], node.value):
            if str(key.value) in seen:
                text = f"{key.value!r} is given twice; the last one counts"
                yield Finding(key.start_mark.line + 1, "repeated_field", text)
            seen.add(str(key.value))
            waiting.append(value)


def _broken(error: yaml.YAMLError | ValueError | RecursionError) -> Finding:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return Finding(error.problem_mark.line + 1, "yaml", f"not valid YAML: {error.problem}")
    return Finding(1, "yaml", f"not valid YAML: {error}" if str(error) else "nested too deeply")
