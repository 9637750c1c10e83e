"""The prepared photos of a dataset as files in a folder, for whoever writes prompt chains for them."""

from __future__ import annotations

from pathlib import Path

from domain import keys
from domain.errors import DefinitionError
from tasks import ledger, wiring

PAGES = ("attribution.csv", "attribution.md", "summary.md", "contact-sheet-001.jpg")


def write_files(manifest: str, folder: Path) -> int:
    """Write each photo as `<id>.png`, with its authors and what was left out beside; returns how many files.

    Raises:
        DefinitionError: the folder cannot be written.
    """
    store = wiring.store()
    files = {name: store.get(keys.dataset_page(manifest, name)) for name in PAGES}
    written = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for photo in wiring.dataset(manifest).base:
            data = ledger.read_image(store, photo.image_sha256, photo.extension)
            (folder / f"{photo.id}.{photo.extension}").write_bytes(data)
            written += 1
        for name, data in files.items():
            if data is not None:
                (folder / name).write_bytes(data)
                written += 1
    except OSError as error:
        raise DefinitionError(f"{str(folder)!r} cannot be written: {error.strerror}", field="out") from error
    return written
