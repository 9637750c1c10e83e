"""What holds of the source as a whole."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[2]
ROOMS = ("domain", "adapters", "metrics", "tasks", "flows")
SOURCES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
SETTINGS_BASE = "BaseSettings"


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def test_imports_keep_to_their_directions(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    monkeypatch.chdir(ROOT)
    code = lint_imports(no_cache=True, show_timings=False)
    assert code == 0, capfd.readouterr().out


WITHOUT = """
import importlib, pkgutil, sys, warnings
warnings.simplefilter("ignore")
room, *blocked = sys.argv[1:]
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in blocked:
            raise ImportError(f"{name} is not for this room")
sys.meta_path.insert(0, Blocked())
package = importlib.import_module(room)
found = [m.name for m in pkgutil.walk_packages(package.__path__, room + ".")]
for name in found:
    importlib.import_module(name)
print(len(found))
"""


@pytest.mark.parametrize(
    ("room", "blocked"),
    [
        ("domain", ["prefect", "numpy", "polars", "PIL", "cv2", "httpx", "pydantic_settings", "insightface"]),
        ("metrics", ["prefect", "PIL", "cv2", "onnxruntime", "insightface", "pydantic_settings"]),
        ("adapters", ["prefect", "polars", "openai", "xai_sdk", "byteplussdkarkruntime", "rapidata"]),
    ],
)
def test_a_room_imports_without_what_it_must_not_know(room: str, blocked: list[str]):
    done = python(WITHOUT, room, *blocked)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 8


def test_no_other_distribution_ships_our_names():
    shipped = importlib.metadata.packages_distributions()
    assert "pytest" in shipped
    assert {room: others for room in ROOMS if (others := set(shipped.get(room, [])) - {"facedrift"})} == {}


@pytest.mark.parametrize("folder", ["docker", "deployments", "tests"])
def test_folders_that_are_no_packages(folder: str):
    """`docker` is also the name of the Docker SDK, which a package here would hide."""
    assert list((ROOT / folder).rglob("__init__.py")) == []


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_file_fits_in_the_head(path: Path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize("room", ["flows", "tasks"])
def test_no_module_is_named_like_one_of_the_standard_library(room: str):
    names = {module.name for module in pkgutil.iter_modules([str(ROOT / room)])}
    assert names
    assert not names & sys.stdlib_module_names


def test_a_flow_module_holds_a_flow_of_its_name():
    for path in (ROOT / "flows").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        flows = [
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and any("flow" in ast.unparse(decorator) for decorator in node.decorator_list)
        ]
        assert flows in ([], [path.stem]), path


HELP = """
import sys
from flows.cli import main
sys.argv = ["facedrift", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
heavy = {
    "prefect", "google.genai", "fal_client", "replicate", "openai", "starlette", "polars", "cv2", "numpy",
    "matplotlib", "boto3", "botocore", "insightface", "onnxruntime", "skimage", "scipy",
}
print(sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["run", "--help"],
        ["doctor", "--help"],
        ["sessions", "write", "--help"],
        ["rank", "--help"],
        ["chains", "draft", "--help"],
        ["matches", "make", "--help"],
        ["votes", "collect", "--help"],
    ],
)
def test_help_comes_without_the_heavy_packages(arguments: list[str]):
    done = python(HELP, *arguments)
    assert done.returncode == 0, done.stderr
    assert "Usage:" in done.stdout
    assert done.stderr.strip() == "[]"


def test_every_error_has_one_home():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name.endswith("Error"):
                assert name_of(path) in ("domain/errors.py", "domain/judging.py"), f"{node.name} in {path}"


def environment_uses(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Each `os.environ`, `os.getenv`, … with whether it reads or sets."""
    setters: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            setters.add(id(node.value))
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "setdefault"
        ):
            setters.add(id(node.func.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in (
            "os.environ",
            "os.getenv",
            "os.environb",
        ):
            yield ("sets" if id(node) in setters else "reads"), node
        names = {alias.name for alias in node.names} if isinstance(node, ast.ImportFrom) else set()
        if names & {"environ", "getenv", "environb"}:
            yield "reads", node


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_only_settings_classes_read_the_environment(path: Path):
    uses = [how for how, _ in environment_uses(ast.parse(path.read_text(encoding="utf-8")))]
    assert uses.count("reads") == 0
    assert not uses or name_of(path) in ("flows/environment.py", "flows/server_process.py")


@pytest.mark.parametrize(
    ("code", "uses"),
    [
        ("import os\nos.environ['A']", ["reads"]),
        ("import os\nos.environ.get('A')", ["reads"]),
        ("import os\nos.getenv('A')", ["reads"]),
        ("from os import environ", ["reads"]),
        ("import os\nos.environ['A'] = 'b'", ["sets"]),
        ("import os\nos.environ.setdefault('A', 'b')", ["sets"]),
        ("import os\nos.path", []),
    ],
)
def test_the_check_above_can_fail(code: str, uses: list[str]):
    assert [how for how, _ in environment_uses(ast.parse(code))] == uses


def test_settings_classes_are_in_adapters_and_tasks_and_share_a_prefix():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and SETTINGS_BASE in map(ast.unparse, node.bases):
                assert path.relative_to(ROOT).parts[0] in ("adapters", "tasks")
                assert "env_prefix" in ast.unparse(node), node.name


def test_importing_reads_no_settings():
    """A wrong variable is the business of whoever needs it, not of an import."""
    code = (
        "import sys, warnings; warnings.simplefilter('ignore'); import tasks.wiring, adapters.imaging.packs"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        env={"FACEDRIFT_PACK_DOWNLOAD": "perhaps", "FACEDRIFT_ONNX_PROVIDERS": "no json", "HOME": "/nowhere"},
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_it_is_for(room: str):
    assert (importlib.import_module(room).__doc__ or "").strip()
