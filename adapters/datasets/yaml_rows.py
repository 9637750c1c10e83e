"""A YAML list of photos, read as the rows of a table are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml

from adapters.datasets.files import printable
from adapters.datasets.tables import TableRow
from adapters.datasets.text_files import unreadable
from domain.errors import DefinitionError

SUFFIXES = (".yaml", ".yml")


class YamlTable:
    """A list whose items say what they know of one photo each; all values are taken as text."""

    def __init__(self, path: Path) -> None:
        """Raise DefinitionError for a file that is no such list."""
        self.path = path
        try:
            root = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=yaml.SafeLoader)
        except (OSError, UnicodeDecodeError) as error:
            raise unreadable(error, path) from error
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 1 if mark else None
            said = getattr(error, "problem", None) or str(error)
            raise DefinitionError(f"not YAML: {said}", file=str(path), line=line) from error
        if not isinstance(root, yaml.SequenceNode):
            raise DefinitionError("the file holds no list of photos, each begun with '-'", file=str(path))
        self._rows = tuple(map(_row, root.value))
        self.columns = tuple(dict.fromkeys(name for row in self._rows for name in row.values))
        """Every name that is used, in the order of its first use."""

    def rows(self) -> Iterator[TableRow]:
        """Every item, in order."""
        yield from self._rows


def _row(item: yaml.Node) -> TableRow:
    line = item.start_mark.line + 1
    if not isinstance(item, yaml.MappingNode):
        return TableRow(line, {}, "not a set of `name: value`")
    values: dict[str, str] = {}
    problems: list[str] = []
    for name, value in item.value:
        key = printable(str(name.value))
        if not isinstance(value, yaml.ScalarNode):
            problems.append(f"{key} is not one value")
        elif key in values:
            problems.append(f"{key} is stated twice")
        else:
            is_nothing = value.tag == "tag:yaml.org,2002:null"
            values[key] = "" if is_nothing else printable(value.value.strip())
    return TableRow(line, values, "; ".join(problems) or None)
