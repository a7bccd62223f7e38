"""What a person is told of a disk that takes nothing, and of one that takes all again."""

from __future__ import annotations

import pytest

from app.store.writer import StoreProblem, StoreProblemKind

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.mark.expected_log("chats: ")
@pytest.mark.parametrize("kind", [StoreProblemKind.DISK_FULL, StoreProblemKind.NOT_WRITABLE])
def test_what_is_no_longer_so_is_taken_back(start_desk, tmp_path, kind):
    desk = start_desk()
    problem = desk.program.chats.saver.problem
    problem.emit(StoreProblem(kind, tmp_path / "chats.db", detail="the system's words"))
    (told,) = desk.notices()
    assert "not kept yet" in told
    problem.emit(StoreProblem(StoreProblemKind.SAVED_AGAIN, tmp_path / "chats.db"))
    assert desk.notices() == ["Everything that was said is kept again."]
