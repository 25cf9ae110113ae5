"""Tables of tasks: a row with a check box is a task."""

from __future__ import annotations

from _collections_abc import Sequence

from holdfast.markdown.text import line_of, says_something
from holdfast.systems.skill.boxes import BOX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from markdown_it.token import Token

CELL = r"(?:[-*+]\s+)?"
_TEXT_COLUMN = r"(?i)\W*(?:sub-?)?(?:tasks?|descriptions?|what|titles?|names?|items?|steps?|to-?do|summary)\W*"


class Table:
    """The cells of a table; `boxed` has the number of the cell with a box for each row of the body, or -1."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        import re

        rows: list[tuple[int, list[str]]] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append((line_of(token), []))
            elif token.type == "inline":
                rows[-1][1].append(token.content.strip())
        (_, self.head), *self.body = rows
        self.boxed = [
            next((n for n, cell in enumerate(cells) if re.match(CELL + BOX, cell)), -1) for _, cells in self.body
        ]

    @property
    def has_boxes(self) -> bool:
        return max(self.boxed, default=-1) >= 0

    def task(self, cells: list[str], at: int) -> tuple[str, str]:
        """Box and text of a row, and its description: the other cells.

        The text is beside the box, else in the column of tasks, else the first words.
        """
        import re

        box = re.sub(f"^{CELL}", "", cells[at])
        mark = re.match(BOX, box)
        assert mark is not None
        others = [n for n, cell in enumerate(cells) if n != at and cell]
        where, head = at, self.head
        if not says_something(box[mark.end() :]):
            named = [n for n in others if n < len(head) and re.fullmatch(_TEXT_COLUMN, head[n])]
            where = next(iter(named or [n for n in others if re.search(r"[^\W\d_]", cells[n])]), at)
            box = f"{mark[0].rstrip()} {cells[where]}" if where != at else box
        rest = [n for n in others if n != where]
        return box, "\n".join(f"{head[n]}: {cells[n]}" if n < len(head) and head[n] else cells[n] for n in rest)
