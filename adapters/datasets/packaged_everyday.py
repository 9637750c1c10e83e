"""Photos of one to four people out of installed packages, for the packaged identity-drift demo.

Crops placed by hand of the two pictures of `packaged_faces`, of all three shapes; the pictures stay where
they are installed. The man who stands at the back looks away, so no crop has his face as its largest.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from adapters.datasets.packaged_faces import ASTRONAUT, GROUP, picture_bytes
from adapters.datasets.source import SourcePhoto
from domain.dataset_options import PackagedEverydayOptions
from domain.photos import Credit, CropArea, LeftOut

_CROPS = (
    ("astronaut", ASTRONAUT, (0, 0, 512, 512)),
    ("group-left", GROUP, (0, 80, 420, 630)),
    ("group-middle", GROUP, (386, 190, 504, 336)),
    ("group-right", GROUP, (980, 212, 300, 450)),
    ("group-three", GROUP, (0, 110, 690, 460)),
    ("group-four", GROUP, (0, 90, 885, 590)),
)
"""Id, picture, and x, y, width, height in its pixels: one, two, two, one, three and four faces."""


class PackagedEveryday:
    """Six photos, each named by what it shows."""

    @classmethod
    def build(cls, root: Path, options: PackagedEverydayOptions) -> PackagedEveryday:
        """The same everywhere; whether their licences are admitted is asked as of any photo."""
        return cls(options.licences)

    def __init__(self, licences: tuple[str, ...]) -> None:
        self._admitted = {licence.casefold() for licence in licences}

    def read(self) -> Iterator[SourcePhoto | LeftOut]:
        """One original for each crop."""
        for name, picture, (x, y, width, height) in _CROPS:
            source = f"{picture.package}/{picture.path}"
            if picture.licence.casefold() not in self._admitted:
                detail = f"{picture.licence!r} is not admitted; list it in the dataset's `licences`"
                yield LeftOut(source=source, reason="licence", detail=detail, subject=name)
                continue
            crop = CropArea(x=x, y=y, width=width, height=height)
            credit = Credit(row=f"{picture.package} {name}", author=picture.author, crop=crop)
            yield SourcePhoto(
                name, name, picture_bytes(picture), source, picture.licence, role="base", credit=credit
            )
