"""Languages: which translation is in force, and numbers, sizes and times as its people write them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, QTime, QTranslator

from app.look.foreign_text import visible
from engine.api.sentences import Bytes, Sentence, Value, bounded, fill

LANGUAGES = {"en": "English", "zh_CN": "简体中文"}
"""Complete languages, each named as its people do."""
SYSTEM = "system"
_MOST = 2**63 - 1
"""The largest number that Qt writes; the headers of files may claim larger ones."""


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


def in_words(sentence: Sentence) -> str:
    """What the engine says, in the language in force."""
    text = QCoreApplication.translate("Engine", sentence.text)
    if text == sentence.text:
        # A word that settings declare: it has the translation of their panel.
        text = QCoreApplication.translate("Settings", sentence.text)
    return fill(text, map(_shown, sentence.arguments))


def _shown(value: Value) -> str:
    match value:
        case Sentence():
            return in_words(value)
        case Bytes():
            return bytes_text(min(value.n, _MOST))
        case int():
            return number(max(-_MOST, min(value, _MOST)))
        case _:
            return visible(bounded(value))
