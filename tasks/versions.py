"""What code made a result."""

from __future__ import annotations

import importlib.metadata
import subprocess
from pathlib import Path

PACKAGES = (
    "prefect",
    "insightface",
    "onnxruntime",
    "onnxruntime-gpu",
    "numpy",
    "pillow",
    "opencv-python-headless",
    "google-genai",
    "fal-client",
    "replicate",
    "openai",
    "xai-sdk",
    "byteplus-python-sdk-v2",
)
"""Packages whose version can change a result; recorded with each run."""


def package_versions() -> dict[str, str]:
    """Versions of the packages that matter, as installed."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def code_version() -> str:
    """Version of this code, with the commit where there is one."""
    version = importlib.metadata.version("facedrift")
    try:
        commit = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--exclude=*"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return version
    return f"{version}+{commit}"
