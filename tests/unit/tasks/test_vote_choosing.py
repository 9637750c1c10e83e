"""Which match is laid before whom."""

from __future__ import annotations

from collections import Counter

from matches import some_matches

from domain.matches import Match
from domain.votes import VoteRules
from tasks.vote_choosing import LeastJudgedFirst

NO_GOLD = VoteRules(gold_first=0, gold_share=0.0)


def by_id(queue: list[Match]) -> dict[str, Match]:
    return {match.id: match for match in queue}


def test_the_least_judged_comes_first_and_what_lies_before_others_counts() -> None:
    queue, _ = some_matches(4)
    ids = [match.id for match in queue]
    chooser = LeastJudgedFirst(by_id(queue), NO_GOLD, {ids[0]: 2, ids[1]: 1})

    def shown(served: list[str], held: list[str]) -> str | None:
        found = chooser.next("anna", served, held)
        return found.match if found else None

    assert shown([], []) == ids[2]
    assert shown([], [ids[2]]) == ids[3]
    assert shown([ids[2], ids[3]], []) == ids[1]
    chooser.record(ids[2], "ben")
    chooser.record(ids[3], "ben")
    chooser.record(ids[3], "carl")
    assert shown([], []) == ids[1]  # 2, 1, 1, 2 votes: the first of the least
    assert shown(ids, []) is None


def test_matches_of_an_older_queue_are_ignored() -> None:
    queue, _ = some_matches(2)
    chooser = LeastJudgedFirst(by_id(queue), NO_GOLD, {"gone": 5})
    chooser.record("gone", "anna")
    found = chooser.next("anna", ["gone", queue[0].id], ["gone"])
    assert found is not None
    assert found.match == queue[1].id


def test_known_answers_come_first() -> None:
    queue, _ = some_matches(12, gold={5: "a", 9: "b"})
    chooser = LeastJudgedFirst(by_id(queue), VoteRules(gold_first=2, gold_share=0.0), {})
    served: list[str] = []
    while (found := chooser.next("anna", served, [])) is not None:
        served.append(found.match)
    places = [[match.id for match in queue].index(match) for match in served]
    assert places == [5, 9, 0, 1, 2, 3, 4, 6, 7, 8, 10, 11]


def test_sides_are_drawn_for_each_serving_and_do_not_change_with_a_restart() -> None:
    queue, _ = some_matches(300)

    def sides(name: str, seed: int = 0) -> list[str]:
        chooser, served = (
            LeastJudgedFirst(by_id(queue), NO_GOLD.model_copy(update={"seed": seed}), {}),
            list[str](),
        )
        found: list[str] = []
        while (one := chooser.next(name, served, [])) is not None:
            found.append(one.left)
            served.append(one.match)
        return found

    anna = sides("anna")
    assert anna == sides("anna")
    assert 110 < Counter(anna)["a"] < 190  # 150 ± 4.6 standard deviations
    differing = sum(one != other for one, other in zip(anna, sides("ben"), strict=True))
    assert 110 < differing < 190
    assert anna != sides("anna", seed=1)
