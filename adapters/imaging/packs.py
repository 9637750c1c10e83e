"""Finding the files of a face pack and laying them out as insightface wants them.

A pack is assembled in a cache directory from exactly its listed files: the folders it comes from hold
other ONNX files too, and insightface opens whatever it finds.
"""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from adapters.imaging.face_models import FaceModels, Module, check_pack, load_face_models
from domain.errors import WeightsError
from domain.keys import fingerprint
from domain.suites import FacePack


class PackSettings(BaseSettings):
    """Where face packs are, and on which ONNX Runtime providers they run."""

    model_config = SettingsConfigDict(env_prefix="FACEDRIFT_")

    pack_root: Path = Path("~/.insightface/models")
    cache: Path = Path("~/.cache/facedrift")
    pack_download: bool = True
    """Whether insightface may download a pack that is not on disk."""
    onnx_providers: tuple[str, ...] = Field(default=("CPUExecutionProvider",), min_length=1)
    """In order of preference; one that is missing is an error unless the CPU is in the list too."""
    recognition_batch: int | None = Field(default=None, ge=1)
    """Faces in one call of the recognition model; None for 4 on a CPU and 32 elsewhere."""


def open_pack(pack: FacePack, settings: PackSettings, modules: Sequence[Module]) -> FaceModels:
    """Load some modules of a pack.

    Raises:
        WeightsError: a file is missing or altered; the message says what to do.
        DefinitionError: a provider of `FACEDRIFT_ONNX_PROVIDERS` cannot be used here.
    """
    missing = {"detection", *modules} - {file.task for file in pack.files}
    if missing:
        raise WeightsError(f"the face pack {pack.id!r} has no model for {', '.join(sorted(missing))}")
    return load_face_models(
        assemble(pack, settings),
        expected={file.name: file.sha256 for file in pack.files},
        modules=modules,
        providers=settings.onnx_providers,
        batch=settings.recognition_batch,
    )


def assemble(pack: FacePack, settings: PackSettings) -> Path:
    """A directory that holds exactly the pack's files, each checked by its sha256."""
    expected = {file.name: file.sha256 for file in pack.files}
    target = settings.cache.expanduser() / "packs" / f"{pack.id}-{fingerprint(expected)[:12]}"
    if _is_whole(target, expected):
        return target
    source = _source(pack, settings)
    try:
        check_pack(source, expected)
    except WeightsError as error:
        raise WeightsError(f"{error}; to get the pack {pack.id!r}: {pack.install}") from error
    try:
        _copy(source, target, tuple(expected))
    except OSError as error:
        raise WeightsError(
            f"the face pack {pack.id!r} cannot be copied to {target} ({error.strerror or error}); "
            "point FACEDRIFT_CACHE to a directory that can be written"
        ) from error
    return target


def _is_whole(target: Path, expected: dict[str, str]) -> bool:
    try:
        check_pack(target, expected)
    except WeightsError:
        return False
    return True


def _source(pack: FacePack, settings: PackSettings) -> Path:
    if pack.python_package:
        spec = importlib.util.find_spec(pack.python_package)
        if spec is None or not spec.submodule_search_locations:
            raise WeightsError(f"the face pack {pack.id!r} is not installed; {pack.install}")
        return Path(spec.submodule_search_locations[0]) / (pack.package_folder or "")
    folder = settings.pack_root.expanduser() / pack.id
    if all((folder / file.name).is_file() for file in pack.files):
        return folder
    if not settings.pack_download:
        raise WeightsError(f"the face pack {pack.id!r} is not in {folder}; {pack.install}")
    _download(pack, settings.pack_root.expanduser())
    return folder


def _download(pack: FacePack, root: Path) -> None:
    from insightface.utils import (  # pyright: ignore[reportMissingTypeStubs]
        ensure_available,  # pyright: ignore[reportUnknownVariableType]
    )

    try:
        with contextlib.redirect_stdout(sys.stderr):  # insightface reports its download on stdout
            ensure_available(root.name, pack.id, root=str(root.parent))
    except (OSError, RuntimeError, ValueError) as error:
        raise WeightsError(
            f"the face pack {pack.id!r} is not in {root} and could not be downloaded "
            f"({type(error).__name__}); {pack.install}"
        ) from error


def _copy(source: Path, target: Path, names: Sequence[str]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        temporary = target / f".{uuid.uuid4().hex}"
        shutil.copyfile(source / name, temporary)
        temporary.replace(target / name)
