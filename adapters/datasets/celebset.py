"""CelebSET: a list of photos of 80 people over the files of IMDB-WIKI, with gender, skin tone and age.

No list is public, so the user brings one; what its columns and values are called is data.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from adapters.datasets.about import ABOUT
from adapters.datasets.files import Listed, opened
from adapters.datasets.manifest import ManifestDataset
from adapters.datasets.source import SourcePhoto
from domain.dataset_options import CelebsetOptions
from domain.errors import DefinitionError
from domain.photos import LeftOut


class CelebsetDataset:
    """The photos of the list."""

    def __init__(self, root: Path, options: CelebsetOptions) -> None:
        """Raise DefinitionError where list or photos are missing, or the list has not the columns named."""
        table, images = root / options.manifest, root / options.images
        for place, field in ((table, "manifest"), (images, "images")):
            if not place.exists():
                raise DefinitionError(
                    f"CelebSET has no {str(place)!r}. {ABOUT['celebset'].get}",
                    field=f"dataset.options.{field}",
                )
        self._photos = ManifestDataset(table, options, folder=images, licence=ABOUT["celebset"].licence)

    @classmethod
    def build(cls, root: Path, options: CelebsetOptions) -> CelebsetDataset:
        """The list and photos in a folder."""
        return cls(root, options)

    def read(self) -> Iterator[SourcePhoto | LeftOut]:
        """Every photo of the list, subjects together."""
        return opened(self.files())

    def files(self) -> Iterator[Listed]:
        """The same, unread."""
        return self._photos.files()
