"""How quickly the sidebar and the search answer with many chats, and what keeping words costs.

Run by hand: pytest tests/bench/bench_chats.py -s; CHATS=500 for fewer than 5,000.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace
from itertools import accumulate
from time import perf_counter

import pytest
from PySide6.QtWidgets import QApplication, QMainWindow

from app.chats.sidebar import Sidebar
from app.commands.actions import Actions
from app.look.theme import Theme
from app.store.records import Changes, Chat, Turn
from app.store.store import ChatStore
from engine.api.messages import Message

pytestmark = pytest.mark.bench

N_CHATS = int(os.environ.get("CHATS", "5000"))
N_MESSAGES = 200
N_WORDS = 30_000
REPEATS = 5
CHINESE = 4
"""Every n-th chat is in Chinese."""


class Prose:
    """Words as often as in a language: the n-th most frequent 1/n times as often as the first."""

    def __init__(self) -> None:
        self.chance = random.Random(1)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self.words = ["".join(self.chance.choices(letters, k=self.chance.randint(2, 10))) for _ in range(N_WORDS)]
        self.weights = list(accumulate(1 / (rank + 2) for rank in range(N_WORDS)))

        # Ideographs are words of their own, and a few of them make most of any Chinese text.
        self.ideographs = [chr(0x4E00 + 5 * n) for n in range(3500)]
        self.ideograph_weights = list(accumulate(1 / (rank + 2) for rank in range(len(self.ideographs))))

    def text(self) -> str:
        return " ".join(self.chance.choices(self.words, cum_weights=self.weights, k=self.chance.randint(10, 50)))

    def chinese(self) -> str:
        n_characters = self.chance.randint(30, 150)
        return "".join(self.chance.choices(self.ideographs, cum_weights=self.ideograph_weights, k=n_characters))


def fill(store: ChatStore, prose: Prose) -> None:
    for number in range(N_CHATS):
        say = prose.chinese if number % CHINESE == 0 else prose.text
        turns = tuple(
            Turn(i + 1, Message("assistant" if i % 2 else "user", say()), parent=i or None) for i in range(N_MESSAGES)
        )
        store.save(Chat(f"c{number}", say()[:40]), Changes(turns))


def milliseconds(do) -> str:
    """The quickest of a few times, and the slowest, which is mostly the first."""
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        do()
        times.append((perf_counter() - start) * 1000)
    return f"{min(times):.0f} to {max(times):.0f} ms"


def test_many_chats(qapp: QApplication, tmp_path, capsys):
    prose = Prose()
    store = ChatStore(tmp_path / "chats.db")
    start = perf_counter()
    fill(store, prose)
    filled = perf_counter() - start
    window = QMainWindow()
    theme = Theme(qapp)
    sidebar = Sidebar(theme, Actions(window, theme), window)
    window.show()
    sidebar.set_source(store.chats, store.search)

    def show_all() -> None:
        sidebar.model.show_rows([])
        sidebar.refresh()
        qapp.processEvents()

    words = prose.words
    wanted = {
        "most frequent": words[0],
        "2 frequent": f"{words[1]} {words[2]}",
        "middle": words[500],
        "rare": words[-1],
    }
    wanted |= {"1 letter": "a", "2 letters": "th", "prefix": max(words[:300], key=len)[:5], "none": "zzzzq"}
    common, middle = prose.ideographs[0], prose.ideographs[400]
    wanted |= {"1 ideograph": common, "2 ideographs": common + middle, "rare ideograph": prose.ideographs[-1]}
    lines = [
        f"{N_CHATS:,} chats × {N_MESSAGES}, {(tmp_path / 'chats.db').stat().st_size / 2**20:.0f} MiB in {filled:.0f} s"
    ]
    lines.append(f"sidebar, all rows anew: {milliseconds(show_all)}")
    lines += [f"search, {name}: {milliseconds(lambda text=text: store.search(text))}" for name, text in wanted.items()]
    long = Turn(9_999_999, Message("assistant", prose.text() * 40))
    chat = store.load("c0").chat
    texts = iter(range(1000))

    def save() -> None:
        message = Message("assistant", f"{long.message.text}{next(texts)}")
        store.save(chat, Changes((replace(long, message=message),)))

    lines.append(f"keeping an answer of {len(long.message.text) // 1000} KB: {milliseconds(save)}")
    store.close()
    window.deleteLater()
    with capsys.disabled():
        print("\n" + "\n".join(lines))
