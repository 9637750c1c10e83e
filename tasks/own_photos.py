"""A folder of one's own photos in place of a suite's."""

from __future__ import annotations

from pathlib import Path

from domain import keys
from domain.dataset_choice import DatasetChoice
from domain.dataset_options import OPTIONS, ScreenedOptions
from domain.errors import DefinitionError
from domain.suites import Suite
from tasks.definitions import load_suite
from tasks.preparing import screened_options


def everyday_suite(name: str, images_dir: str | None = None) -> Suite:
    """A suite of everyday photos, on a folder of one's own where one is named; raises DefinitionError."""
    suite = with_own_photos(load_suite(name), images_dir)
    if screened_options(suite.dataset) is None:
        raise DefinitionError(
            f"{suite.id!r} has no everyday photos: {suite.dataset.adapter!r} reads them, for `facedrift run`",
            field="dataset.adapter",
            allowed=tuple(name for name, kind in OPTIONS.items() if issubclass(kind, ScreenedOptions)),
        )
    return suite


def with_own_photos(suite: Suite, images_dir: str | None) -> Suite:
    """A suite on the photos of a folder; the suite itself where none is named.

    A suite of everyday photos reads the folder's table (`photos.csv`, or as its options say), any other takes
    each file for a photo.
    """
    if images_dir is None:
        return suite
    path = Path(images_dir).expanduser().absolute()
    name = f"folder-{keys.sha256(str(path).encode())[:8]}"
    if screened_options(suite.dataset):
        own = DatasetChoice(
            id=name,
            adapter="everyday_photos",
            path=str(path),
            options=suite.dataset.options if suite.dataset.adapter == "everyday_photos" else {},
        )
    else:
        own = DatasetChoice(
            id=name,
            adapter="folder",
            path=str(path),
            **suite.dataset.model_dump(include={"min_fss0", "exclude_near_duplicates", "mirror_alone"}),
        )
    return suite.model_copy(update={"dataset": own})
