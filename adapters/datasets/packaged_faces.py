"""Real faces out of installed packages, so that nothing has to be downloaded or shipped.

The group photo that insightface ships for its own smoke test, cut into its six faces, and the
astronaut of scikit-image (Eileen Collins, NASA, public domain). The photos stay where they are
installed: they are never copied into this project. Nobody's gender, skin tone or age is guessed.
"""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from adapters.datasets.source import SourcePhoto
from adapters.imaging.decode import decode_rgb
from domain.dataset_options import ASTRONAUT_LICENCE, T1_LICENCE, DatasetOptions
from domain.errors import DefinitionError
from domain.keys import sha256
from domain.photos import LeftOut

WIDTH_PX = 384
"""Cut-outs are enlarged to this width (Lanczos), lossless."""


@dataclass(frozen=True)
class Picture:
    """A file of an installed package."""

    package: str
    path: str
    sha256: str
    licence: str
    cuts: tuple[tuple[str, tuple[int, int, int, int]], ...]
    """Subject, and x1, y1, x2, y2 around one face with room for a hat."""
    author: str = "not stated"


GROUP = Picture(
    package="insightface",
    path="data/images/t1.jpg",
    sha256="47f682e945b659f93a9e490b9c9c4a2a864abe64dace9e1a2893845ddfd69489",
    licence=T1_LICENCE,
    cuts=(
        ("group-1", (0, 137, 254, 481)),
        ("group-2", (191, 21, 448, 357)),
        ("group-3", (388, 135, 651, 497)),
        ("group-4", (675, 219, 921, 555)),
        ("group-5", (826, 0, 1090, 291)),
        ("group-6", (1066, 170, 1280, 469)),
    ),
)
ASTRONAUT = Picture(
    package="skimage",
    path="data/astronaut.png",
    sha256="88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
    licence=ASTRONAUT_LICENCE,
    cuts=(("astronaut", (110, 0, 350, 270)),),
    author="NASA",
)
PICTURES = (GROUP, ASTRONAUT)


class PackagedFaces:
    """Seven people with one photo each."""

    @classmethod
    def build(cls, root: Path, options: DatasetOptions) -> PackagedFaces:
        """The same everywhere."""
        return cls()

    def read(self) -> Iterator[SourcePhoto | LeftOut]:
        """One cut-out a person."""
        for picture in PICTURES:
            pixels = decode_rgb(picture_bytes(picture))
            for subject, (x1, y1, x2, y2) in picture.cuts:
                cut = Image.fromarray(pixels[y1:y2, x1:x2])
                height = round(cut.height * WIDTH_PX / cut.width)
                out = io.BytesIO()
                cut.resize((WIDTH_PX, height), Image.Resampling.LANCZOS).save(out, "PNG")
                source = f"{picture.package}/{picture.path}"
                yield SourcePhoto(subject, subject, out.getvalue(), source, picture.licence)


def picture_bytes(picture: Picture) -> bytes:
    """The file; raises DefinitionError where it is not there or is another."""
    spec = importlib.util.find_spec(picture.package)
    if spec is None or not spec.submodule_search_locations:
        raise DefinitionError(f"the package {picture.package!r} is not installed")
    try:
        data = (Path(spec.submodule_search_locations[0]) / picture.path).read_bytes()
    except OSError as error:
        raise DefinitionError(
            f"{picture.path} of the installed {picture.package} cannot be read: {error.strerror or error}"
        ) from error
    if sha256(data) != picture.sha256:
        raise DefinitionError(
            f"{picture.path} of the installed {picture.package} is not the picture that was cut; "
            "install the locked version"
        )
    return data
