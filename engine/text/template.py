"""A model's chat template: its own, or a built-in one where it has none that works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.api.chat import Notice, NoticeCode
from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import Sentence, say
from engine.text import builtin
from engine.text.sandbox import MAX_RENDERED, TemplateSandbox, TooMuch
from engine.text.vocabulary import Vocabulary

MAX_SOURCE = 262_144
"""Characters of a template; the longest known ones have a tenth of that."""


class ChatTemplate:
    """Writes a chat as one text, in the form the model was trained on.

    `source` is Jinja2. `stop_strings` end an answer where the form has no token for it. `notices` tell what
    was done when the template was chosen.
    """

    def __init__(
        self,
        source: str,
        vocabulary: Vocabulary,
        *,
        stop_strings: tuple[str, ...] = (),
        notices: tuple[Notice, ...] = (),
    ) -> None:
        """Raises EngineError(TEMPLATE_FAILED) when `source` is no Jinja2, or too long."""
        self.source = source
        self.stop_strings = stop_strings
        self.notices = notices
        self._variables = {
            "bos_token": _spelling(vocabulary, vocabulary.bos),
            "eos_token": _spelling(vocabulary, vocabulary.eos),
            "tools": None,
            "documents": None,
        }
        if len(source) > MAX_SOURCE:
            raise _failure(f"the template has {len(source)} characters")
        try:
            self._compiled = TemplateSandbox().from_string(source)
        # A template is someone else's code: whatever it raises, the answer is the same sentence.
        except Exception as error:
            raise _failure(f"{type(error).__name__}: {error}") from error

    def render(self, messages: Sequence[Mapping[str, Any]], *, add_generation_prompt: bool) -> str:
        """The chat as text. Raises EngineError(TEMPLATE_FAILED) for anything the template raises."""
        chunks: list[str] = []
        n_characters = 0
        try:
            for chunk in self._compiled.generate(
                messages=messages, add_generation_prompt=add_generation_prompt, **self._variables
            ):
                n_characters += len(chunk)
                if n_characters > MAX_RENDERED:
                    raise TooMuch(f"more than {MAX_RENDERED} characters")
                chunks.append(chunk)
        except Exception as error:
            raise _failure(f"{type(error).__name__}: {error}") from error
        return "".join(chunks)


def load_template(vocabulary: Vocabulary, source: str | None) -> ChatTemplate:
    """The model's own template if `source` is one; else a built-in one for `vocabulary`, and a notice."""
    if source is None or not source.strip():
        return _built_in(vocabulary, NoticeCode.TEMPLATE_MISSING, say("This model has no chat template."))
    try:
        return ChatTemplate(source, vocabulary)
    except EngineError:
        return _built_in(vocabulary, NoticeCode.TEMPLATE_UNUSABLE, say("This model's chat template can't be read."))


def _built_in(vocabulary: Vocabulary, code: NoticeCode, reason: Sentence) -> ChatTemplate:
    form = builtin.form_for(vocabulary)
    sentence = say(
        "{0} Kvasir uses the {1} form instead; answers may be worse than the model can do.", reason, form.name
    )
    return ChatTemplate(form.source, vocabulary, stop_strings=form.stop_strings, notices=(Notice(code, sentence),))


def _spelling(vocabulary: Vocabulary, token: int | None) -> str:
    return "" if token is None else vocabulary.spelling(token)


def _failure(detail: str) -> EngineError:
    return EngineError(
        ErrorCode.TEMPLATE_FAILED,
        say("This model's chat template can't write this chat: start a new chat, or choose another model."),
        detail,
    )
