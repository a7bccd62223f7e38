"""A model's chat template, with a built-in one as fallback."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from engine.api.chat import Message, PromptNotice, PromptNoticeCode
from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import Sentence, say
from engine.api.valid import valid_text
from engine.text import builtin
from engine.text.conversation import Shape
from engine.text.layout import Layout, lay_out
from engine.text.look import Look, look_nowhere
from engine.text.sandbox import MAX_RENDERED, TemplateSandbox, TooMuch
from engine.text.spellings import ControlSpellings, steering
from engine.text.vocabulary import Vocabulary

MAX_SOURCE = 262_144
"""Characters of a template; the longest known ones have a tenth of that."""


_TRIALS = (
    (Message("user", "1"),),
    (Message("user", "1"), Message("assistant", "2"), Message("user", "3")),
    (Message("system", "0"), Message("user", "1")),
)
"""Chats that every template for chats takes one of."""


@dataclass(frozen=True)
class TemplateTerms:
    """The vocabulary's terms that a template and its layout need: BOS, EOS, control tokens."""

    bos: str
    eos: str
    control: ControlSpellings

    @classmethod
    def of(cls, vocabulary: Vocabulary, source: str) -> TemplateTerms:
        """The terms of the template with this source."""
        control = (*vocabulary.control_spellings(), *steering(vocabulary.user_defined_spellings(), source))
        bos, eos = (_spelling(vocabulary, token) for token in (vocabulary.bos, vocabulary.eos))
        return cls(bos, eos, ControlSpellings(control))


class Template(Protocol):
    """Renders a chat as one text, in the format that the model was trained on.

    `source` is Jinja2; `control` are the spellings that must not come from a message. `stop_strings` end an answer if
    the format has no token for it. `notices` report how the template was chosen.
    """

    source: str
    control: ControlSpellings
    stop_strings: tuple[str, ...]
    notices: tuple[PromptNotice, ...]

    def lay_out(
        self, messages: Sequence[Message], look: Look = look_nowhere
    ) -> tuple[Layout, tuple[PromptNotice, ...]]:
        """The chat as text, and what was bent for it; raises EngineError for anything the template does."""
        ...

    def try_out(self) -> None:
        """Raises EngineError if the template renders no chat at all."""
        ...


class TemplateCode:
    """A template's code, run in this process without a time limit.

    `own_systems`: default system prompts of the template, as found by the layout.
    """

    def __init__(self, source: str, terms: TemplateTerms) -> None:
        """Compile; raises EngineError(TEMPLATE_FAILED) if `source` is not valid Jinja2, or too long."""
        self.source = source
        self.control = terms.control
        self.own_systems: dict[Shape, str] = {}
        self._variables = {"bos_token": terms.bos, "eos_token": terms.eos, "tools": None, "documents": None}
        if len(source) > MAX_SOURCE:
            raise template_failure(f"the template has {len(source)} characters")
        try:
            self._compiled = TemplateSandbox().from_string(source)
        # A template is third-party code: every exception gives the same error.
        except Exception as error:
            raise template_failure(f"{type(error).__name__}: {error}") from error

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
            raise template_failure(f"{type(error).__name__}: {error}") from error
        return valid_text("".join(chunks))

    def lay_out(
        self, messages: Sequence[Message], look: Look = look_nowhere
    ) -> tuple[Layout, tuple[PromptNotice, ...]]:
        """Render the chat, with notices of adaptations; raises EngineError(TEMPLATE_FAILED)."""
        look()
        return lay_out(self, messages, self.control)

    def try_out(self) -> None:
        """Raises EngineError(TEMPLATE_FAILED) if the template renders no chat at all."""
        failures: list[EngineError] = []
        for messages in _TRIALS:
            try:
                if self.lay_out(messages)[0].text:
                    return
                failures.append(template_failure("nothing was written"))
            except EngineError as error:
                failures.append(error)
        raise failures[0]


class ChatTemplate(TemplateCode):
    """A trusted template for a vocabulary, run in this process."""

    def __init__(
        self,
        source: str,
        vocabulary: Vocabulary,
        *,
        stop_strings: tuple[str, ...] = (),
        notices: tuple[PromptNotice, ...] = (),
    ) -> None:
        super().__init__(source, TemplateTerms.of(vocabulary, source))
        self.stop_strings = stop_strings
        self.notices = notices


def load_template(
    vocabulary: Vocabulary,
    source: str | None,
    open_template: Callable[[str, Vocabulary], Template] = ChatTemplate,
) -> Template:
    """The model's own template if `source` is usable; else a built-in one for `vocabulary`, with a notice.

    `open_template` decides where untrusted code runs.
    """
    if source is None or not source.strip():
        return _built_in(vocabulary, PromptNoticeCode.TEMPLATE_MISSING, say("This model has no chat template."))
    try:
        template = open_template(source, vocabulary)
        template.try_out()
    except EngineError as error:
        is_endless = error.code is ErrorCode.TEMPLATE_TIMEOUT
        return _built_in(
            vocabulary,
            PromptNoticeCode.TEMPLATE_UNUSABLE,
            say("This model's chat template does not come to an end.")
            if is_endless
            else say("This model's chat template can't be used."),
        )
    return template


def _built_in(vocabulary: Vocabulary, code: PromptNoticeCode, reason: Sentence) -> ChatTemplate:
    form = builtin.form_for(vocabulary)
    sentence = say(
        "{0} Kvasir uses the {1} form instead; answers may be worse than the model can do.", reason, form.name
    )
    return ChatTemplate(
        form.source, vocabulary, stop_strings=form.stop_strings, notices=(PromptNotice(code, sentence),)
    )


def _spelling(vocabulary: Vocabulary, token: int | None) -> str:
    return "" if token is None else vocabulary.spelling(token)


def template_failure(detail: str) -> EngineError:
    """The error for a template that fails or does not accept a chat."""
    return EngineError(
        ErrorCode.TEMPLATE_FAILED,
        say("This model's chat template can't write this chat: start a new chat, or choose another model."),
        detail,
    )
