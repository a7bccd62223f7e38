"""Languages: which translation is in force, and numbers, sizes and times as its people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, QTime, QTranslator

LANGUAGES = {"en": "English", "zh_CN": "简体中文"}
"""Complete languages, each named as its people do."""
SYSTEM = "system"


class Languages(QObject):
    """Installs translators; every pane retranslates itself on the LanguageChange event that Qt then sends."""

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder = folder
        self._installed: list[QTranslator] = []
        self._language = "en"
        self._choice: str | None = None

    @property
    def language(self) -> str:
        """The language in force, a key of LANGUAGES."""
        return self._language

    @property
    def choice(self) -> str | None:
        """What was chosen: a key of LANGUAGES, or SYSTEM; None before anything was."""
        return self._choice

    def choose(self, choice: str) -> None:
        """Put a language in force; SYSTEM, and anything unknown, takes the system's."""
        self._choice = choice if choice in LANGUAGES else SYSTEM
        language = self._choice if self._choice != SYSTEM else system_language(QLocale.system())
        self._language = language
        QLocale.setDefault(_locale(language, QLocale.system()))
        for old in self._installed:
            QCoreApplication.removeTranslator(old)
        qt_folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        self._installed = [
            translator
            for name, folder in ((f"qtbase_{language}", qt_folder), (f"kvasir_{language}", str(self.folder)))
            if (translator := self._loaded(name, folder)) is not None
        ]
        for translator in self._installed:
            QCoreApplication.installTranslator(translator)

    def _loaded(self, name: str, folder: str) -> QTranslator | None:
        translator = QTranslator(self)
        if translator.load(name, folder):
            return translator
        translator.deleteLater()
        return None


def system_language(locale: QLocale) -> str:
    """The complete language that suits a system best."""
    return "zh_CN" if locale.language() == QLocale.Language.Chinese else "en"


def _locale(language: str, system: QLocale) -> QLocale:
    """The system's own locale, as people set it, where it speaks the language; else a plain one."""
    plain = QLocale(language)
    return system if system.language() == plain.language() else plain


def number(value: float, decimals: int = 0) -> str:
    """A number with the separators of the language."""
    if decimals == 0:
        return QLocale().toString(round(value))
    return QLocale().toString(float(value), "f", decimals)


def percent(fraction: float) -> str:
    """A fraction from 0 to 1 in whole per cent."""
    return QCoreApplication.translate("Numbers", "{0} %").format(number(fraction * 100))


def bytes_text(n_bytes: float, n_decimals: int = 1) -> str:
    """An amount of memory in binary units (KiB, MiB, GiB)."""
    return QLocale().formattedDataSize(round(n_bytes), n_decimals, QLocale.DataSizeFormat.DataSizeIecFormat)


def time_text(moment: datetime) -> str:
    """The time of day."""
    return QLocale().toString(QTime(moment.hour, moment.minute), QLocale.FormatType.ShortFormat)


FEWEST_LETTERS = 8
"""A pattern with less than this in one piece would match anything."""


class EngineWords:
    """Says in the language in force what the engine says in English.

    ``sentences`` are the engine's sentences as the translations know them, with ``{}`` where a name or a number stands.
    A sentence that is not among them is shown as it came.
    """

    CONTEXT = "Engine"

    def __init__(self, sentences: Iterable[str]) -> None:
        self._sentences = tuple(sentences)

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        """Made when the first sentence comes, which is seldom while the window opens."""
        found: list[tuple[re.Pattern[str], str]] = []
        for sentence in self._sentences:
            pieces = sentence.split("{}")
            if len(pieces) > 1 and len(max(pieces, key=len)) >= FEWEST_LETTERS:
                pattern = "(.{0,2000}?)".join(re.escape(piece) for piece in pieces)
                found.append((re.compile(pattern, re.DOTALL), sentence))
        # The most specific one first.
        return sorted(found, key=lambda entry: -len(entry[1]))

    def translate(self, sentence: str) -> str:
        """The sentence in the language in force."""
        if sentence in self._sentences:
            return QCoreApplication.translate(self.CONTEXT, sentence)
        for pattern, source in self._patterns:
            if (match := pattern.fullmatch(sentence)) is not None:
                translated = QCoreApplication.translate(self.CONTEXT, source)
                return fill(translated, match.groups())
        return sentence


def fill(template: str, values: Iterable[str]) -> str:
    """Put values in place of each ``{}`` or ``{0}``, ``{1}`` …; braces in the values stay as they are."""
    given = list(values)
    order = iter(range(len(given)))

    def value(match: re.Match[str]) -> str:
        index = int(match[1]) if match[1] else next(order, len(given))
        return given[index] if index < len(given) else match[0]

    return re.sub(r"\{(\d?)\}", value, template)
