from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from adapters.imaging.packs import PackSettings, assemble, open_pack
from domain.errors import WeightsError
from domain.keys import sha256
from domain.loading import load
from domain.suites import FacePack

DETECTOR, RECOGNIZER = "scrfd_500m_bnkps.onnx", "w600k_mbf.onnx"


def settings_in(folder: Path, **options: object) -> PackSettings:
    return PackSettings(
        cache=folder / "cache", pack_root=folder / "models", **{"pack_download": False, **options}
    )


@pytest.fixture
def on_disk(tmp_path: Path, face_pack: FacePack, pack_settings: PackSettings) -> FacePack:
    """The same pack as somebody's own folder below `pack_root`."""
    shutil.copytree(assemble(face_pack, pack_settings), tmp_path / "models" / face_pack.id)
    return face_pack.model_copy(update={"python_package": None, "package_folder": None})


def test_exactly_the_listed_files_are_laid_out(tmp_path: Path, face_pack: FacePack):
    target = assemble(face_pack, settings_in(tmp_path))
    assert {file.name for file in target.iterdir()} == {file.name for file in face_pack.files}
    assert all(sha256((target / file.name).read_bytes()) == file.sha256 for file in face_pack.files)
    assert assemble(face_pack, settings_in(tmp_path)) == target


def test_a_folder_of_ones_own(tmp_path: Path, on_disk: FacePack):
    (tmp_path / "models" / on_disk.id / "another.onnx").write_bytes(b"not ours")
    models = open_pack(on_disk, settings_in(tmp_path), ("detection", "recognition"))
    assert models.providers() == ("CPUExecutionProvider",)


def test_a_package_that_is_not_installed(tmp_path: Path, face_pack: FacePack):
    pack = face_pack.model_copy(update={"python_package": "no_such_package_of_weights"})
    with pytest.raises(
        WeightsError, match="'mobile' is not installed; install the extra: uv sync --extra quickstart"
    ):
        open_pack(pack, settings_in(tmp_path), ("detection",))


def test_a_pack_that_is_not_on_disk(tmp_path: Path):
    with pytest.raises(
        WeightsError, match=r"'buffalo_l' is not in .*models/buffalo_l; let insightface download it"
    ):
        open_pack(load(FacePack, "buffalo_l"), settings_in(tmp_path), ("detection",))


def test_a_download_without_a_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(WeightsError, match=r"could not be downloaded .*; let insightface download it"):
        open_pack(load(FacePack, "buffalo_l"), settings_in(tmp_path, pack_download=True), ("detection",))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", [DETECTOR, RECOGNIZER])
def test_a_file_that_is_cut_short(tmp_path: Path, on_disk: FacePack, name: str):
    file = tmp_path / "models" / on_disk.id / name
    file.write_bytes(file.read_bytes()[:-1000])
    with pytest.raises(WeightsError, match=f"{name} is not the expected one.*install the extra: uv sync"):
        open_pack(on_disk, settings_in(tmp_path), ("detection", "recognition"))
    assert not (tmp_path / "cache").exists()


def test_an_empty_file(tmp_path: Path, on_disk: FacePack):
    (tmp_path / "models" / on_disk.id / RECOGNIZER).write_bytes(b"")
    with pytest.raises(WeightsError, match=f"{RECOGNIZER} is not the expected one"):
        open_pack(on_disk, settings_in(tmp_path), ("detection", "recognition"))


def test_a_missing_file(tmp_path: Path, on_disk: FacePack):
    (tmp_path / "models" / on_disk.id / RECOGNIZER).unlink()
    with pytest.raises(WeightsError, match=r"'mobile' is not in .*; install the extra: uv sync"):
        open_pack(on_disk, settings_in(tmp_path), ("detection", "recognition"))


def test_an_empty_folder(tmp_path: Path, on_disk: FacePack):
    shutil.rmtree(tmp_path / "models" / on_disk.id)
    (tmp_path / "models" / on_disk.id).mkdir()
    with pytest.raises(WeightsError, match="is not in"):
        open_pack(on_disk, settings_in(tmp_path), ("detection", "recognition"))


@pytest.mark.parametrize("damage", [b"", b"half", None])
def test_a_damaged_copy_in_the_cache_is_made_again(tmp_path: Path, face_pack: FacePack, damage: bytes | None):
    target = assemble(face_pack, settings_in(tmp_path))
    if damage is None:
        (target / DETECTOR).unlink()
    else:
        (target / DETECTOR).write_bytes(damage)
    open_pack(face_pack, settings_in(tmp_path), ("detection",))
    expected = {file.name: file.sha256 for file in face_pack.files}
    assert sha256((target / DETECTOR).read_bytes()) == expected[DETECTOR]


def test_a_cache_that_cannot_be_written(tmp_path: Path, face_pack: FacePack):
    (tmp_path / "file").write_bytes(b"in the way")
    settings = PackSettings(cache=tmp_path / "file", pack_root=tmp_path / "models")
    with pytest.raises(WeightsError, match=r"'mobile' cannot be copied to .*FACEDRIFT_CACHE"):
        open_pack(face_pack, settings, ("detection",))


@pytest.mark.parametrize("left", ["detection", "recognition"])
def test_a_pack_without_a_model_that_is_needed(tmp_path: Path, face_pack: FacePack, left: str):
    pack = face_pack.model_copy(update={"files": tuple(f for f in face_pack.files if f.task == left)})
    with pytest.raises(WeightsError, match="has no model for"):
        open_pack(pack, settings_in(tmp_path), ("detection", "recognition"))


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FACEDRIFT_PACK_ROOT", "/weights")
    monkeypatch.setenv("FACEDRIFT_PACK_DOWNLOAD", "false")
    monkeypatch.setenv("FACEDRIFT_ONNX_PROVIDERS", '["CUDAExecutionProvider", "CPUExecutionProvider"]')
    settings = PackSettings()
    assert settings.pack_root == Path("/weights")
    assert settings.pack_download is False
    assert settings.onnx_providers == ("CUDAExecutionProvider", "CPUExecutionProvider")
