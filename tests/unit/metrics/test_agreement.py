from __future__ import annotations

from metrics.agreement import tracker_accuracy, tracker_confusion
from metrics.frames import TRACKER_ACCURACY, TRACKER_CONFUSION

CELLS = [
    ("hats", ("beanie hat",), ("beanie hat",)),
    ("hats", ("beanie hat",), ("bucket hat",)),
    ("hats", (), ()),
    ("hats", (), None),
    ("hair color", {"black hair", "brown hair"}, ["brown hair", "black hair"]),
    ("hair color", ("black hair",), ("black hair", "brown hair")),
    ("hair color", ("black hair",), ()),
    ("glasses", None, ("round glasses",)),
]


def test_accuracy_is_equality_of_sets():
    found = tracker_accuracy(CELLS)
    assert found.schema == TRACKER_ACCURACY
    assert found.rows() == [
        ("glasses", 0, 0, None, 1, 0),
        ("hair color", 3, 1, 1 / 3, 0, 0),
        ("hats", 3, 2, 2 / 3, 0, 1),
    ]


def test_confusion_where_both_sides_name_at_most_one():
    found = tracker_confusion(CELLS)
    assert found.schema == TRACKER_CONFUSION
    assert found.rows() == [
        ("hair color", "black hair", "None[hair color]", 1, 2),
        ("hats", "None[hats]", "None[hats]", 1, 0),
        ("hats", "beanie hat", "beanie hat", 1, 0),
        ("hats", "beanie hat", "bucket hat", 1, 0),
    ]


def test_order_of_cells_does_not_matter():
    assert tracker_accuracy(CELLS[::-1]).equals(tracker_accuracy(CELLS))
    assert tracker_confusion(CELLS[::-1]).equals(tracker_confusion(CELLS))


def test_no_cell_gives_no_row():
    assert tracker_accuracy([]).rows() == []
    assert tracker_confusion([]).schema == TRACKER_CONFUSION
