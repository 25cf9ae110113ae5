"""The words and places of the gated dialect, and how they stand for the engine's."""

from __future__ import annotations

from holdfast.core import cycle, lifecycle, queries
from holdfast.core.state import State
from holdfast.documents.lens.fields import spelled, words
from holdfast.documents.lens.spec import Json

HOME = "workflow"
FEATURE_FOLDER = "00-feature"
DESCRIPTION = f"{FEATURE_FOLDER}/description.md"
DOCUMENT, STATUS_FILE, JOURNAL = "workflow-state.json", "status.json", "journal.jsonl"
BRANCHES = "feature/"
"""How the branch of every feature begins."""
CANCELLATION = "cancellation.md"
REVIEWS = "reviews"
CREATORS, REVIEWERS = ("creator", "*-creator"), ("reviewer", "*-reviewer")
LEADS = ("orchestrator", "*-orchestrator")
PHASES = ("01-requirements", "02-architecture", "03-implementation", "04-testing", "05-documentation")
CODE = ("03-implementation", "04-testing")
"""The phases whose work is also the code, where no definition says so."""
PENDING, IN_PROGRESS, IN_REVIEW = "pending", "in_progress", "in_review"
USER_REVIEW, APPROVED, ESCALATED = "user_review", "approved", "escalated"
PHASE_WORDS = spelled(
    pending=(lifecycle.PENDING,),
    in_progress=(lifecycle.ACTIVE,),
    in_review=(lifecycle.IN_REVIEW,),
    user_review=(lifecycle.WAITING,),
    approved=(lifecycle.DONE, lifecycle.SKIPPED),
    escalated=(lifecycle.ESCALATED, lifecycle.FAILED, lifecycle.BLOCKED),
)
WORKFLOW_WORDS = spelled(
    in_progress=("in_progress", "waiting", "paused"),
    escalated=("escalated", "blocked", "failed"),
    completed=("completed",),
    finalized=("finalized",),
    cancelled=("cancelled",),
)
PHASE = words(PHASE_WORDS)
WORKFLOW = words(WORKFLOW_WORDS, {"abandoned": "cancelled"})
FEATURES = f"{FEATURE_FOLDER}/features.md"
OUTPUTS = {
    "01-requirements": ("requirements",),
    "02-architecture": ("architecture",),
    "03-implementation": ("plan", "changes"),
    "04-testing": ("test-plan", "coverage-report"),
    "05-documentation": ("user-docs", "api-docs"),
}
"""What a phase has to hand in, where no definition says so: documents in its folder, without their ending."""
MARK = "[workflow] "
"""How the message of every commit of a workspace begins."""
FINALIZED_FROM = "finalized_from"
"""The value of the context that keeps the commit which the end of a feature began with."""
FINALIZED_TO = "finalized_to"
"""The value of the context that keeps the last commit of the end of a feature."""
BASE = "base"
"""The value of the context that keeps which branch a feature is merged into."""
REMOTE = "remote"
"""The value of the context that keeps the addresses that the base is heard from and that the feature is pushed to: the
first as the feature began, all of them once a person confirmed them."""
CONFIRMED = "confirmed"
"""The value of the context that keeps the digest of what a person let go out with the end, beside what was approved."""
GIVEN_UP = "given_up"
"""The value of the context that keeps the sums of lines which a person decided against, when two journals differed."""
RESERVED_KEYS = (
    *("slug", "workspace", "seeded", "pr_url", "pr_number", "last_reviewed_at", "reviewed_ids"),
    *(FINALIZED_FROM, FINALIZED_TO, BASE, REMOTE, CONFIRMED),
    GIVEN_UP,
)
RESERVED = ("workflow", "all", "status", "list", "help", *PHASES)
SHORTEST_SLUG, LONGEST_SLUG = 2, 64
SLUG = Json(rf"^(?!({'|'.join(RESERVED)})$)[a-z0-9]+(-[a-z0-9]+)*$", minLength=SHORTEST_SLUG, maxLength=LONGEST_SLUG)
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_SLUG = _LETTERS | {"-"}
PUBLISHED = "published"
"""What the context says of a workspace whose docs are published and committed."""


def is_slug(text: object) -> bool:
    if not isinstance(text, str) or not SHORTEST_SLUG <= len(text) <= LONGEST_SLUG or text in RESERVED:
        return False
    ends = text[0] in _LETTERS and text[-1] in _LETTERS
    return ends and _SLUG.issuperset(text) and "--" not in text


def entry(slug: str) -> str:
    """The line by which a feature is known in the list of features."""
    return f"- Slug: `{slug}`"


def home(state: State) -> str:
    """The folder of a feature, from the top of the worktree."""
    return f"{HOME}/{state.id}"


def is_deleted(state: State) -> bool:
    return state.context.get(queries.WORKSPACE) == queries.DELETED


def current_phase(state: State) -> str:
    """The phase that is worked on; the last one when all are done."""
    at = queries.current(state)
    return at.split("/")[0] if at else state.plan.children("")[-1]


def iterations(state: State, phase: str) -> int:
    return cycle.iterations(state.plan.step(phase).review, state.step(phase))


def max_iterations(state: State, phase: str) -> int:
    review = state.plan.step(phase).review
    return review.max if review else 0


def outputs(state: State, phase: str) -> dict[str, str]:
    """The documents that a phase has to hand in."""
    return {name: f"{home(state)}/{phase}/{name}.md" for name in state.plan.step(phase).outputs}


def beside(state: State, phase: str) -> dict[str, str]:
    """What else goes with a phase: the list of features with the first one."""
    is_first = phase == state.plan.children("")[0]
    return {"features": f"{home(state)}/{FEATURES}"} if is_first else {}


def review_file(state: State, phase: str) -> str:
    """Where the review of what was handed in last belongs."""
    return f"{home(state)}/{phase}/{REVIEWS}/review-{max(iterations(state, phase), 1)}.md"
