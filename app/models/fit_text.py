"""Says in a line whether a model fits this machine, and how."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from app.look import language
from engine.api.plan import Choice, Home
from engine.api.sentences import Sentence

translate = QCoreApplication.translate


@dataclass(frozen=True)
class FitText:
    """``color`` is the name of a token; ``tip`` says why."""

    line: str
    color: str
    tip: str = ""


def waiting() -> FitText:
    """While it is being found out."""
    return FitText(translate("FitText", "Looking whether it fits…"), "text_3")


def of_choice(choice: Choice) -> FitText:
    """The settings that were chosen, and why."""
    tip = "\n".join(map(language.in_words, choice.reasons))
    if not choice.fits:
        return FitText(translate("FitText", "Does not fit into the free memory"), "danger", tip)
    if choice.home is Home.GPU:
        home, color = translate("FitText", "Fits on the GPU"), "success"
    elif choice.home is Home.PARTLY:
        home = translate("FitText", "{0} of {1} layers on the GPU").format(choice.plan.n_gpu_layers, choice.n_layer)
        color = "warning"
    else:
        home, color = translate("FitText", "Fits, on the processor"), "success"
    settings = choice.settings
    parts = [
        home,
        translate("FitText", "{0} tokens").format(language.number(settings.n_ctx or choice.plan.n_ctx)),
        translate("FitText", "K/V {0}").format(settings.type_k.value),
        translate("FitText", "takes {0}").format(language.bytes_text(choice.plan.total_bytes)),
    ]
    return FitText(" · ".join(parts), color, tip)


def of_problem(sentence: Sentence) -> FitText:
    """Why it can't be told, or can't be used at all."""
    return FitText(language.in_words(sentence), "danger")
