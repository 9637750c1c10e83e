"""Whatever lies in a folder: each file gets a row with a stable reason, none ends the run or eats memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from odd_images import USED, refused_images, sound_images
from PIL import Image

from adapters.datasets.source import SourcePhoto
from adapters.imaging.decode import decode_rgb

ROOT = Path(__file__).parents[3]
MOST_MB = 1000
PREPARE = """
import json, sys, warnings
from pathlib import Path
warnings.simplefilter("ignore")
from adapters.datasets.folder import FolderDataset
from domain.suites import DatasetChoice
from tasks import wiring
from tasks.preparing import prepare
from tasks.preparing_pages import write_dataset
folder = Path(sys.argv[1])
choice = DatasetChoice(id="odd", adapter="folder", path=str(folder))
embedder, identity = wiring.embedder("mobile"), wiring.embedder_identity("mobile")
found = prepare(choice, FolderDataset(folder), embedder, identity, wiring.store())
write_dataset(found, wiring.store())
[peak] = [line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
names = {photo.id: photo.source for photo in found.photos}
used = {
    photo.source: {
        "source": photo.source, "fss0": photo.fss0, "notes": photo.notes,
        "near": [names[name] for name in photo.near_duplicates],
    }
    for photo in found.photos
}
left = {item.source: [item.reason, item.detail] for item in found.left_out}
print(json.dumps({"used": used, "left": left, "peak_mb": int(peak) / 1024}))
"""


@pytest.fixture(scope="module")
def expected(
    tmp_path_factory: pytest.TempPathFactory, faces: list[SourcePhoto]
) -> tuple[Path, dict[str, str]]:
    """A folder of odd files, and what must become of each."""
    root = tmp_path_factory.mktemp("odd")
    face = np.asarray(Image.fromarray(decode_rgb(faces[0].data)).resize((288, 390)))
    (root / "p").mkdir()
    wanted: dict[str, str] = {}
    for name, data, becomes in (*sound_images(face), *refused_images(face)):
        (root / "p" / name).write_bytes(data)
        wanted[f"p/{name}"] = becomes
    (root / "p" / "folder.jpg").mkdir()
    (root / "p" / "folder.jpg" / "inside.png").write_bytes(faces[1].data)
    wanted["p/folder.jpg/inside.png"] = USED
    os.mkfifo(root / "p" / "pipe.jpg")
    (root / "p" / "gone.jpg").symlink_to(root / "nowhere")
    (root / "p" / "circle.jpg").symlink_to(root / "p" / "circle.jpg")
    (root / "p" / os.fsdecode(b"not-utf8-\xff.jpg")).write_bytes(b"no")
    wanted |= dict.fromkeys(("p/pipe.jpg", "p/gone.jpg", "p/circle.jpg"), "unreadable")
    wanted["p/not-utf8-\\xff.jpg"] = "not_an_image"
    return root, wanted


@pytest.fixture(scope="module")
def prepared(expected: tuple[Path, dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> dict:
    """What a fresh process made of them, and the most memory it took.

    The peak of its own memory: what `getrusage` tells also covers the process that started it.
    """
    store = tmp_path_factory.mktemp("odd-store")
    done = subprocess.run(
        [sys.executable, "-c", PREPARE, str(expected[0])],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        env=os.environ | {"FACEDRIFT_STORE": str(store), "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_each_file_gets_a_row_with_its_reason(expected: tuple[Path, dict[str, str]], prepared: dict):
    found = {name: reason for name, (reason, _) in prepared["left"].items()}
    found |= dict.fromkeys(prepared["used"], USED)
    assert found == expected[1]
    assert sum(becomes != USED for becomes in expected[1].values()) >= 30
    assert sum(becomes == USED for becomes in expected[1].values()) >= 25


def test_what_is_used_shows_the_person_upright_and_in_its_colours(prepared: dict):
    """All ways of saving the photo are near-copies of the first: nothing lies on its side or is inverted."""
    [base] = [photo for photo in prepared["used"].values() if photo["fss0"] is not None]
    others = set(prepared["used"]) - {base["source"], "p/folder.jpg/inside.png"}
    assert set(base["near"]) == others


def test_files_of_several_frames_say_so(prepared: dict):
    noted = {name for name, photo in prepared["used"].items() if photo["notes"] == ["first_of_several"]}
    kinds = ("animated.gif", "animated.png", "animated.webp", "pages.tiff", "stereo.mpo")
    assert noted == {f"p/{name}" for name in kinds}


def test_a_format_that_is_not_read_comes_with_a_remedy(prepared: dict):
    for name in ("p/phone.heic", "p/drawing.svg", "p/icon.ico"):
        assert prepared["left"][name][1].endswith("save it as JPEG or PNG")


def test_the_memory_stays_below_a_gigabyte(prepared: dict):
    assert 150 < prepared["peak_mb"] < MOST_MB
