"""The files beside a document that follow from the journal: the list, the log, copies, lessons, further views."""

from __future__ import annotations

from holdfast.core.state import State
from holdfast.documents.files import Documents
from holdfast.plain.plainjson import object_in


def amiss(documents: Documents, state: State) -> list[str]:
    """Those that are missing, or torn where they are JSON."""
    spoken = documents.dialect(state.dialect)
    listed = (spoken.index([], None, "", state.session)[0],) if spoken.index else ()
    views = spoken.views(state) if spoken.views else {}
    texts = [spoken.log(state)] if spoken.log else []
    texts += [spoken.learnings(state)] if spoken.learnings and state.learnings_count else []
    found = []
    for path in (*listed, *views, *documents.checkpoints.paths(state), *texts):
        if documents.elsewhere(state, path):
            continue
        data = documents.read(state, path)
        if data is None or (path not in texts and object_in(data) is None):
            found.append(path)
    return found
