"""Says in a line whether a model fits this machine, and how."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from app.look import i18n
from engine.api.plan import Choice, Home
from engine.api.sentences import Sentence

translate = QCoreApplication.translate


@dataclass(frozen=True)
class FitWords:
    """``color`` is the name of a token; ``tip`` says why."""

    line: str
    color: str
    tip: str = ""


def waiting() -> FitWords:
    """While nobody knows yet."""
    return FitWords(translate("FitWords", "Looking whether it fits…"), "text_3")


def of_choice(choice: Choice) -> FitWords:
    """The settings that were chosen, and why."""
    tip = "\n".join(map(i18n.in_words, choice.reasons))
    if not choice.fits:
        return FitWords(translate("FitWords", "Does not fit into the free memory"), "danger", tip)
    if choice.home is Home.GPU:
        home, color = translate("FitWords", "Fits on the GPU"), "success"
    elif choice.home is Home.PARTLY:
        home = translate("FitWords", "{0} of {1} layers on the GPU").format(choice.plan.n_gpu_layers, choice.n_layer)
        color = "warning"
    else:
        home, color = translate("FitWords", "Fits, on the processor"), "success"
    settings = choice.settings
    parts = [
        home,
        translate("FitWords", "{0} tokens").format(i18n.number(settings.n_ctx or choice.plan.n_ctx)),
        translate("FitWords", "K/V {0}").format(settings.type_k.value),
        translate("FitWords", "takes {0}").format(i18n.bytes_text(choice.plan.total_bytes)),
    ]
    return FitWords(" · ".join(parts), color, tip)


def of_problem(sentence: Sentence) -> FitWords:
    """Why it can't be told, or can't be used at all."""
    return FitWords(i18n.in_words(sentence), "danger")
