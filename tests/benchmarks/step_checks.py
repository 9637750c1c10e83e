"""How often the local step checker agrees with what the scene editor did, at the size of prepared photos.

    python -m tests.benchmarks.step_checks --chains 14

Random edits of the editor's grammar, one after the other, a quarter of them missed on purpose, with faces
that drift or not. Every disagreement is printed. The figures in docs/methods.md are from this file.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # as pytest does

from scenes import PHOTOS, Scenes, any_prompt, photo, truth

from adapters.imaging.decode import decode_rgb
from adapters.imaging.packs import PackSettings, open_pack
from adapters.imaging.scene_finding import find_things
from adapters.imaging.scene_prompts import ITEMS
from adapters.judges.local_steps import LocalStepChecker
from domain.edits import Edited
from domain.judging import parse_checklist
from domain.loading import load
from domain.suites import FacePack

STEPS = 5
DRIFTS = (0.0, 0.01, 0.035)


def main(chains: int, scale: float, seed: int) -> None:
    """Print what was agreed on and what not."""
    pack = load(FacePack, "mobile")
    faces = open_pack(pack, PackSettings(), ("detection", "landmark_2d_106", "recognition"))
    scenes, checker, rng = Scenes(faces), LocalStepChecker(faces), random.Random(seed)
    found, spent = Counter[tuple[bool, bool]](), 0.0
    for chain in range(chains):
        for name in PHOTOS:
            image, drift = photo(name, scale), rng.choice(DRIFTS)
            earlier: list[str] = []
            for _ in range(STEPS):
                there = [f"{t.colour} {t.kind}" for t in find_things(decode_rgb(image)) if t.kind in ITEMS]
                prompt = any_prompt(rng, there)
                outcome = scenes.ask(image, prompt, seed=chain, miss_rate=0.25, face_drift=drift)
                if not isinstance(outcome, Edited):
                    continue
                began = time.perf_counter()
                answer = parse_checklist(json.dumps(checker.check(image, outcome.image, prompt)))
                spent += time.perf_counter() - began
                told = truth(outcome)["made"]
                found[told, answer.made] += 1
                if told != answer.made:
                    say(f"{name} {chain} drift {drift}: {prompt!r} after {earlier}: {truth(outcome)}")
                    say(f"    {answer}")
                image, earlier = outcome.image, [*earlier, prompt] if told else earlier
    n = sum(found.values())
    say(f"{n} edits, {spent / n:.2f} s a check")
    say(f"made: {found[True, True]} passed, {found[True, False]} failed")
    say(f"not made: {found[False, False]} failed, {found[False, True]} passed")


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chains", type=int, default=14, help="Of five edits, for each of the six photos.")
    parser.add_argument("--scale", type=float, default=1.0, help="1 for 1024 or 1248 pixels.")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    main(given.chains, given.scale, given.seed)
