"""Who made the photos of a dataset, under which licence, and what was changed: published with every site."""

from __future__ import annotations

import csv
import io

from adapters.pages.markdown import escaped
from domain.photos import Dataset, Photo

COLUMNS = ("id", "author", "source", "licence", "changes")


def attribution_csv(dataset: Dataset) -> str:
    """One photo a row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_row(photo) for photo in dataset.base)
    return out.getvalue()


def attribution_markdown(dataset: Dataset) -> str:
    """The same as a table."""
    lines = [COLUMNS, ["---"] * len(COLUMNS), *(map(escaped, _row(photo)) for photo in dataset.base)]
    rows = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    what = (
        "Every photo was cropped or resized as its row says. Authors do not endorse what was done with them."
    )
    return f"# Authors of the photos of {escaped(dataset.id)}\n\n{what}\n\n{rows}\n"


def _row(photo: Photo) -> tuple[str, ...]:
    author = photo.original.author if photo.original else ""
    return (photo.id, author or "not stated", photo.source, photo.licence, changes(photo))


def changes(photo: Photo) -> str:
    """What was done to an original, in words."""
    made = photo.original
    if made is None:
        return "none"
    crop = made.crop
    done: list[str] = []
    if (crop.width, crop.height) != (made.width, made.height):
        done.append(
            f"cropped from {made.width}×{made.height} to {crop.width}×{crop.height} at {crop.x}, {crop.y}"
            + (" (placed by hand)" if made.crop_placed else "")
        )
    if (crop.width, crop.height) != (photo.width, photo.height):
        how = "enlarged" if photo.width > crop.width else "reduced"
        done.append(f"{how} to {photo.width}×{photo.height}")
    return "; ".join((*done, "saved as PNG in sRGB"))
