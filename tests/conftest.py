"""What all tests share: no network, real face models, real photos where there are some."""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from domain.loading import load
from domain.suites import FacePack

if TYPE_CHECKING:
    from servers.s3_endpoint import S3Server

    from adapters.datasets.source import SourcePhoto
    from adapters.embedders.insightface import InsightFaceEmbedder
    from adapters.imaging.face_models import FaceModels
    from adapters.imaging.packs import PackSettings


hypothesis.settings.register_profile("steady", deadline=None, derandomize=True)
hypothesis.settings.load_profile("steady")


class NetworkBlockedError(RuntimeError):
    """A test tried to leave this machine."""


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Sockets reach this machine only."""
    patch = pytest.MonkeyPatch()
    for name in ("connect", "connect_ex"):
        patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))
    look_up = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        _refuse(host)
        return look_up(host, *args, **kwargs)

    patch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield
    patch.undo()


def _guarded(connect: Any) -> Any:
    def guarded(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _refuse(address[0])
        return connect(self, address)

    return guarded


def _refuse(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost", socket.gethostname()):
        return
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        address = None
    if address is None or not (address.is_loopback or address.is_unspecified):
        raise NetworkBlockedError(f"tests do not reach the network: {name}")


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """What a command, or a library that sets up logging, does to our loggers is not the next test's."""
    logger = logging.getLogger("facedrift")
    before = logger.handlers[:], logger.level, logger.propagate
    yield
    logger.handlers[:], logger.level, logger.propagate = before
    for name, other in logging.root.manager.loggerDict.items():
        if name.startswith("facedrift") and isinstance(other, logging.Logger):
            other.disabled = False  # import-linter turns off all that are there


@pytest.fixture(scope="session")
def face_pack() -> FacePack:
    """The small real pack."""
    return load(FacePack, "mobile")


@pytest.fixture(scope="session")
def pack_settings(tmp_path_factory: pytest.TempPathFactory) -> PackSettings:
    """Settings with a cache of their own."""
    from adapters.imaging.packs import PackSettings

    folder = tmp_path_factory.mktemp("packs")
    return PackSettings(cache=folder / "cache", pack_root=folder / "models", pack_download=False)


@pytest.fixture(scope="session")
def models(face_pack: FacePack, pack_settings: PackSettings) -> FaceModels:
    """Detector, landmarks and recognition of the small real pack."""
    from adapters.imaging.packs import open_pack

    return open_pack(face_pack, pack_settings, ("detection", "recognition", "landmark_2d_106"))


@pytest.fixture(scope="session")
def embedder(models: FaceModels) -> InsightFaceEmbedder:
    """The real embedder on the small real pack."""
    from adapters.embedders.insightface import InsightFaceEmbedder

    return InsightFaceEmbedder(models)


@pytest.fixture(scope="session")
def faces() -> list[SourcePhoto]:
    """Seven real faces out of installed packages."""
    from adapters.datasets.packaged_faces import PackagedFaces
    from adapters.datasets.source import SourcePhoto

    return [photo for photo in PackagedFaces().read() if isinstance(photo, SourcePhoto)]


@pytest.fixture(scope="session")
def real_photos() -> Path:
    """A folder of `person/photo.jpg`, from FACEDRIFT_TEST_PHOTOS or beside the repository."""
    named = os.environ.get("FACEDRIFT_TEST_PHOTOS")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "photos"
    if not folder.is_dir():
        pytest.skip("no folder of test photos; point FACEDRIFT_TEST_PHOTOS to one")
    return folder


@pytest.fixture(scope="session")
def seaweed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A real S3 server with an empty bucket, for all tests that use a prefix of their own."""
    from servers.seaweedfs import seaweedfs

    with seaweedfs(tmp_path_factory.mktemp("seaweedfs")) as server:
        yield server


@pytest.fixture(scope="session")
def rclone_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A real S3 server that ignores the condition of a conditional write."""
    from servers.rclone import rclone

    with rclone(tmp_path_factory.mktemp("rclone")) as server:
        yield server


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    """One temporary Prefect server for all tests that run flows, set up as the command line does."""
    from prefect.testing.utilities import prefect_test_harness

    from flows.cli import PREFECT_DEFAULTS

    with pytest.MonkeyPatch.context() as patch:
        for name, value in PREFECT_DEFAULTS.items():
            if name.startswith("PREFECT_SERVER_"):
                patch.setenv(name, value)
        with prefect_test_harness(server_startup_timeout=300):
            yield
