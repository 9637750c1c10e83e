"""From the two input tables to every table of the first report."""

from metrics.leaderboard import POOLED, coverage, leaderboard, progression
from metrics.overedit_tables import missed_edits, overediting_matrix
from metrics.session_scores import IntervalRule, ScoringRules, score_sessions

__all__ = [
    "POOLED",
    "IntervalRule",
    "ScoringRules",
    "coverage",
    "leaderboard",
    "missed_edits",
    "overediting_matrix",
    "progression",
    "score_sessions",
]
