"""Which ONNX Runtime provider faces are read on, and what is said when it is not the one asked for."""

from __future__ import annotations

import logging

import numpy as np
import onnxruntime
import pytest

from adapters.imaging.face_models import CPU, FaceModels, usable_providers
from adapters.imaging.packs import PackSettings, open_pack
from domain.errors import DefinitionError
from domain.suites import FacePack

CUDA, TENSORRT = "CUDAExecutionProvider", "TensorrtExecutionProvider"


@pytest.mark.parametrize(
    ("wanted", "there", "used"),
    [
        ([CPU], [CUDA, CPU], [CPU]),
        ([CUDA], [CUDA, CPU], [CUDA]),
        ([CUDA, CPU], [TENSORRT, CUDA, CPU], [CUDA, CPU]),
    ],
)
def test_what_is_there_is_used(
    wanted: list[str], there: list[str], used: list[str], caplog: pytest.LogCaptureFixture
):
    assert usable_providers(wanted, there) == used
    assert not caplog.records


@pytest.mark.parametrize("wanted", [[CUDA], [TENSORRT, CUDA], ["CudaExecutionProvider"], []])
def test_one_that_is_missing_is_an_error_that_says_what_to_do(wanted: list[str]):
    with pytest.raises(DefinitionError, match="install onnxruntime-gpu in place of onnxruntime") as caught:
        usable_providers(wanted, [CPU])
    assert "add CPUExecutionProvider" in str(caught.value)
    assert caught.value.field == "FACEDRIFT_ONNX_PROVIDERS"
    assert caught.value.allowed == (CPU,)


def test_the_cpu_may_stand_in_and_that_is_said(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING, "facedrift.faces"):
        assert usable_providers([CUDA, CPU], [CPU]) == [CPU]
    assert caplog.messages == [f"{CUDA} cannot be used here: faces are read on {CPU}"]


needs_no_cuda = pytest.mark.skipif(
    CUDA in onnxruntime.get_available_providers(), reason="this ONNX Runtime has CUDA"
)


@needs_no_cuda
def test_a_pack_that_asks_for_cuda_only(face_pack: FacePack, pack_settings: PackSettings):
    settings = pack_settings.model_copy(update={"onnx_providers": (CUDA,)})
    with pytest.raises(DefinitionError, match=f"{CUDA} is asked for"):
        open_pack(face_pack, settings, ("detection",))


@needs_no_cuda
def test_a_pack_that_may_fall_back_tells_what_it_runs_on(face_pack: FacePack, pack_settings: PackSettings):
    settings = pack_settings.model_copy(update={"onnx_providers": (CUDA, CPU)})
    assert open_pack(face_pack, settings, ("detection",)).providers() == (CPU,)


def test_a_provider_that_is_listed_and_does_not_start(
    face_pack: FacePack, pack_settings: PackSettings, monkeypatch: pytest.MonkeyPatch
):
    """As onnxruntime-gpu without a driver: it lists CUDA, and its sessions run on the CPU."""
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [CUDA, CPU])
    monkeypatch.setattr("adapters.imaging.face_models.FaceAnalysis", OnCpuAllTheSame)
    settings = pack_settings.model_copy(update={"onnx_providers": (CUDA,)})
    with pytest.raises(DefinitionError, match=f"{CUDA} is asked for"):
        open_pack(face_pack, settings, ("detection",))
    settings = pack_settings.model_copy(update={"onnx_providers": (CUDA, CPU)})
    assert open_pack(face_pack, settings, ("detection",)).providers() == (CPU,)


class Session:
    def get_providers(self) -> list[str]:
        return [CPU]


class Recognizer:
    """Gives each crop its mean, and notes how many it was given at a time."""

    def __init__(self, batch: int | str) -> None:
        self.input_shape = [batch, 3, 112, 112]
        self.session = Session()
        self.sizes: list[int] = []

    def get_feat(self, crops: list[np.ndarray]) -> np.ndarray:
        self.sizes.append(len(crops))
        if isinstance(self.input_shape[0], int):
            assert len(crops) == self.input_shape[0]
        return np.array([[crop.mean(), 1.0] for crop in crops])


class OnCpuAllTheSame:
    def __init__(self, **_: object) -> None:
        self.models = {"detection": Recognizer("N")}

    def prepare(self, **_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("batch", "setting", "sizes"),
    [
        ("N", None, [4, 4, 1]),
        ("N", 32, [9]),
        ("N", 2, [2, 2, 2, 2, 1]),
        (1, None, [1] * 9),
        (1, 32, [1] * 9),
        (6, 2, [6, 6]),
    ],
)
def test_crops_go_in_batches_that_the_model_takes(batch: int | str, setting: int | None, sizes: list[int]):
    recognizer = Recognizer(batch)
    app = OnCpuAllTheSame()
    app.models["recognition"] = recognizer
    crops = [np.full((112, 112, 3), 20 * n, np.uint8) for n in range(9)]
    found = FaceModels(app, setting).embed(crops)
    assert recognizer.sizes == sizes
    means = np.array([20.0 * n for n in range(9)])
    assert found[:, 0] == pytest.approx(means / np.hypot(means, 1), abs=1e-6)


def test_the_batch_is_a_setting(monkeypatch: pytest.MonkeyPatch):
    assert PackSettings().recognition_batch is None
    monkeypatch.setenv("FACEDRIFT_RECOGNITION_BATCH", "16")
    assert PackSettings().recognition_batch == 16
