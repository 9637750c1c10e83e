"""CelebA: photos of 10,177 people, with attributes, identities and partitions.

Reads the authors' files, flat or split into `Anno/`, `Eval/` and `Img/`, and Kaggle's CSV copy with its
nested folder, which has no identities. Boxes are those of the in-the-wild photos: they are checked, and
applied to no photo. `Male` and `Young` are labels of a photo, not of a person.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from adapters.datasets.about import ABOUT
from adapters.datasets.celeba_tables import (
    ATTRIBUTES,
    LAYOUTS,
    Annotations,
    find_annotations,
    read_annotations,
)
from adapters.datasets.files import FoundPhoto, Listed, Note, names_in, opened, printable
from adapters.datasets.source import SourcePhoto, slug
from domain.dataset_options import CelebaOptions
from domain.errors import DefinitionError
from domain.photos import LeftOut

FOLDERS = {
    "aligned": ("img_align_celeba/img_align_celeba", "img_align_celeba", "Img/img_align_celeba"),
    "wild": ("img_celeba/img_celeba", "img_celeba", "Img/img_celeba"),
}
IMAGES = (".jpg", ".jpeg", ".png")
PARTITIONS = ("train", "valid", "test")


def _strays(tables: list[Annotations], names: list[str]) -> Iterator[LeftOut | Note]:
    """Rows of any file that are again about a photo, or about none: faulty ones, and a count of others."""
    for table in tables:
        yield from table.strays
        yield from table.about_nothing(names)
        others = len(table.numbers.keys() - set(names))
        if others:
            yield Note(f"{table.stem}: {others} rows are about photos that list_attr_celeba does not name")


class CelebaDataset:
    """The photos of one partition or all, by identity and name."""

    def __init__(self, root: Path, options: CelebaOptions) -> None:
        """Raise DefinitionError where photos or annotations are missing or the layout is not known."""
        self._options = options
        self._root = root
        for name, group in options.groups.items():
            if group.attribute not in ATTRIBUTES:
                raise DefinitionError(
                    f"CelebA has no attribute {group.attribute!r}",
                    field=f"dataset.options.groups.{name}.attribute",
                    allowed=ATTRIBUTES,
                )
        self._folder = self._image_folder()
        self._need("attributes")
        if options.people == "identities":
            self._need(
                "identities",
                "A copy without identities (Kaggle's has none) says not who is who; get the authors' file, "
                "or set `people: one_per_photo`",
            )
        if options.partition != "all":
            self._need("partitions", "Without it no partition can be chosen; set `partition: all`")

    @classmethod
    def build(cls, root: Path, options: CelebaOptions) -> CelebaDataset:
        """The dataset in a folder."""
        return cls(root, options)

    def read(self) -> Iterator[SourcePhoto | LeftOut]:
        """Every photo of the partition, by identity."""
        return opened(self.files())

    def files(self) -> Iterator[Listed]:
        """The same, unread."""
        options = self._options
        attributes = self._annotations("attributes", tuple(g.attribute for g in options.groups.values()))
        by_identity = options.people == "identities"
        identities = self._annotations("identities") if by_identity else Annotations()
        partitions = self._annotations("partitions") if options.partition != "all" else Annotations()
        checks = [self._annotations("boxes"), self._annotations(f"landmarks_{options.images}")]
        tables = [attributes, identities, partitions, *checks]
        present, people = set(names_in(self._folder)), identities.numbers
        names = sorted({*attributes.numbers, *attributes.faults}, key=lambda n: (people.get(n, (0,)), n))
        yield from _strays(tables, names)
        chosen = [name for name in names if self._is_chosen(name, partitions)]
        labels = {
            name: self._labels(attributes.numbers[name]) for name in chosen if name in attributes.numbers
        }
        if by_identity:
            yield from self._conflicts(labels, people)
        yield from self._others(names, partitions)
        ids: dict[str, str] = {}
        for name in chosen:
            problem = self._problem(name, tables, people, checks[0], present)
            source = f"{self._folder.name}/{name}"
            if problem:
                yield LeftOut(source=source, reason=problem[0], detail=problem[1])
                continue
            stem = slug(Path(name).stem, ids, owner=name)
            subject = f"{people[name][0]:05d}" if by_identity else stem
            path, licence = str(self._folder / name), ABOUT["celeba"].licence
            yield FoundPhoto(stem, subject, path, source, licence, labels[name])
        for name in sorted(present - set(names)):
            source = printable(f"{self._folder.name}/{name}")
            yield LeftOut(
                source=source, reason="not_in_list", detail="no row of list_attr_celeba is about it"
            )

    def _problem(
        self,
        name: str,
        tables: list[Annotations],
        people: Mapping[str, tuple[int, ...]],
        boxes: Annotations,
        present: set[str],
    ) -> tuple[str, str] | None:
        faults = [table.faults[name] for table in tables if name in table.faults]
        if faults:
            return "malformed_row", "; ".join(f"{where}: {what}" for where, what in faults)
        if self._options.people == "identities" and name not in people:
            return "no_identity", "identity_CelebA.txt has no row for it"
        *_, width, height = boxes.numbers.get(name, (1, 1))
        if self._options.zero_boxes == "leave_out" and (width <= 0 or height <= 0):
            return "zero_box", f"its face box, of the in-the-wild photo, is {width} × {height}"
        return None if name in present else ("missing_file", f"not in {self._folder.name}/")

    def _is_chosen(self, name: str, partitions: Annotations) -> bool:
        """In the partition; one whose partition cannot be read is left out later, with the reason."""
        if self._options.partition == "all" or name in partitions.faults:
            return True
        return partitions.numbers.get(name) == (PARTITIONS.index(self._options.partition),)

    def _others(self, names: list[str], partitions: Annotations) -> Iterator[LeftOut]:
        """One row for each partition that was not asked for, and one for photos in none."""
        if self._options.partition == "all":
            return
        counts = Counter(partitions.numbers.get(name) for name in names if name not in partitions.faults)
        for number, partition in enumerate(PARTITIONS):
            if partition != self._options.partition and counts[(number,)]:
                detail = f"{counts[(number,)]} photos of the partition {partition}"
                yield LeftOut(source="list_eval_partition", reason="other_partition", detail=detail)
        if counts[None]:
            detail = f"{counts[None]} photos without a row"
            yield LeftOut(source="list_eval_partition", reason="no_partition", detail=detail)

    def _labels(self, numbers: tuple[int, ...]) -> dict[str, str]:
        pairs = zip(self._options.groups.items(), numbers, strict=True)
        return {name: group.present if value == 1 else group.absent for (name, group), value in pairs}

    def _conflicts(
        self, labels: dict[str, dict[str, str]], people: Mapping[str, tuple[int, ...]]
    ) -> Iterator[Note]:
        """Count people whose photos differ in a group; by majority, give all of their photos one value."""
        for group in self._options.groups:
            votes: defaultdict[tuple[int, ...], Counter[str]] = defaultdict(Counter)
            for name, held in labels.items():
                if name in people:
                    votes[people[name]][held[group]] += 1
            split = {person: count for person, count in votes.items() if len(count) > 1}
            if not split:
                continue
            told = f"{group}: the photos of {len(split)} of {len(votes)} people differ"
            if self._options.conflicts == "per_image":
                yield Note(f"{told}; each photo keeps its own label (`conflicts: per_image`)")
                continue
            ties = {person for person, count in split.items() if len({*count.values()}) == 1}
            yield Note(
                f"{told}; each person has what most photos say, and {len(ties)} with a tie are unknown"
            )
            for name, held in labels.items():
                person = people.get(name, (0,))
                if person in ties:
                    del held[group]
                elif person in split:
                    held[group] = split[person].most_common(1)[0][0]

    def _annotations(self, kind: str, keep: tuple[str, ...] | None = None) -> Annotations:
        path = find_annotations(self._root, kind)
        return read_annotations(path, kind, keep) if path else Annotations()

    def _need(self, kind: str, why: str = "") -> None:
        if find_annotations(self._root, kind) is None:
            stem = LAYOUTS[kind].stem
            raise DefinitionError(
                f"no {stem}.txt in {str(self._root)!r}. {why or ABOUT['celeba'].get}", field="dataset.path"
            )

    def _image_folder(self) -> Path:
        places = [self._root / folder for folder in FOLDERS[self._options.images]]
        for place in places:
            if place.is_dir() and any(Path(name).suffix.lower() in IMAGES for name in names_in(place)):
                return place
        raise DefinitionError(
            f"no folder {FOLDERS[self._options.images][1]!r} with photos in {str(self._root)!r}; if they are "
            f"still in an archive, unpack it there. {ABOUT['celeba'].get}",
            field="dataset.path",
        )
