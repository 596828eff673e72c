"""Challenges in predicting performance: data, rules, submissions, scoring, and the server that runs them.

Each name is loaded from its module when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redelve.later import names_in

if TYPE_CHECKING:
    from redelve.challenge.answering import entry_of_estimator, entry_of_method
    from redelve.challenge.challenge_folder import (
        Challenge,
        ChallengeDataset,
        ChallengeLimits,
        challenge_text,
        read_challenge,
    )
    from redelve.challenge.examples import example, real_example
    from redelve.challenge.packing import (
        PublicData,
        entries_in,
        pack,
        pack_bytes,
        read_downloads,
        read_public,
    )
    from redelve.challenge.patterns import Patterns, patterns_from
    from redelve.challenge.phases import PHASES, Phase, Phases, instant_in
    from redelve.challenge.preparation import (
        add_dataset,
        challenge_sizes,
        prepare_challenge,
        prepare_dataset,
        usual_phases,
    )
    from redelve.challenge.ranked_boards import (
        BoardRow,
        OverallRow,
        RankedEntry,
        Ranking,
        final_ranking,
        is_rankable,
        last_complete,
        latest_of_each,
        leaderboard,
    )
    from redelve.challenge.score_figure import score_figure
    from redelve.challenge.scoring import (
        DatasetScores,
        PartScores,
        outcomes_of,
        score_dataset,
        score_part,
        score_submission,
        scores_from_json,
        scores_to_json,
    )
    from redelve.challenge.submissions import (
        ArchiveLimits,
        DatasetEntry,
        Submission,
        SubmissionError,
        read_submission,
    )

_LATER = {
    "answering": (
        "entry_of_estimator",
        "entry_of_method",
    ),
    "examples": (
        "example",
        "real_example",
    ),
    "score_figure": ("score_figure",),
    "challenge_folder": (
        "Challenge",
        "ChallengeDataset",
        "ChallengeLimits",
        "challenge_text",
        "read_challenge",
    ),
    "packing": (
        "PublicData",
        "entries_in",
        "pack",
        "pack_bytes",
        "read_downloads",
        "read_public",
    ),
    "patterns": (
        "Patterns",
        "patterns_from",
    ),
    "phases": (
        "PHASES",
        "Phase",
        "Phases",
        "instant_in",
    ),
    "preparation": (
        "add_dataset",
        "challenge_sizes",
        "prepare_challenge",
        "prepare_dataset",
        "usual_phases",
    ),
    "ranked_boards": (
        "OverallRow",
        "RankedEntry",
        "Ranking",
        "BoardRow",
        "final_ranking",
        "is_rankable",
        "last_complete",
        "latest_of_each",
        "leaderboard",
    ),
    "scoring": (
        "DatasetScores",
        "PartScores",
        "outcomes_of",
        "score_dataset",
        "score_part",
        "score_submission",
        "scores_from_json",
        "scores_to_json",
    ),
    "submissions": (
        "ArchiveLimits",
        "DatasetEntry",
        "Submission",
        "SubmissionError",
        "read_submission",
    ),
}

__all__ = [
    "PHASES",
    "ArchiveLimits",
    "BoardRow",
    "Challenge",
    "ChallengeDataset",
    "ChallengeLimits",
    "DatasetEntry",
    "DatasetScores",
    "OverallRow",
    "PartScores",
    "Patterns",
    "Phase",
    "Phases",
    "PublicData",
    "RankedEntry",
    "Ranking",
    "Submission",
    "SubmissionError",
    "add_dataset",
    "challenge_sizes",
    "challenge_text",
    "entries_in",
    "entry_of_estimator",
    "entry_of_method",
    "example",
    "final_ranking",
    "instant_in",
    "is_rankable",
    "last_complete",
    "latest_of_each",
    "leaderboard",
    "outcomes_of",
    "pack",
    "pack_bytes",
    "patterns_from",
    "prepare_challenge",
    "prepare_dataset",
    "read_challenge",
    "read_downloads",
    "read_public",
    "read_submission",
    "real_example",
    "score_dataset",
    "score_figure",
    "score_part",
    "score_submission",
    "scores_from_json",
    "scores_to_json",
    "usual_phases",
]

__getattr__ = names_in(__name__, _LATER)


def __dir__() -> list[str]:
    return __all__
