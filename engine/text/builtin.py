"""Built-in chat templates for models without a template of their own."""

from __future__ import annotations

from dataclasses import dataclass

from engine.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class ChatForm:
    """A built-in chat template: Jinja2 source, and the control tokens that a vocabulary must have to use it."""

    name: str
    needs: frozenset[str]
    source: str
    stop_strings: tuple[str, ...] = ()


_EACH = "{% for message in messages %}"
_PROMPT = "{% endfor %}{% if add_generation_prompt %}"

_TAGGED = (
    # Templates without a system role get the system message in the first user turn.
    "{% if messages and messages[0].role == 'system' %}"
    "{% set system = messages[0].content ~ '\\n\\n' %}{% set rest = messages[1:] %}"
    "{% else %}{% set system = '' %}{% set rest = messages %}{% endif %}{{ bos_token }}"
)

_FORMS = (
    ChatForm(
        "ChatML",
        frozenset({"<|im_start|>", "<|im_end|>"}),
        _EACH + "{{ '<|im_start|>' ~ message.role ~ '\\n' ~ message.content ~ '<|im_end|>\\n' }}"
        + _PROMPT + "{{ '<|im_start|>assistant\\n' }}{% endif %}",
    ),
    ChatForm(
        "Llama 3",
        frozenset({"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}),
        "{{ bos_token }}" + _EACH
        + "{{ '<|start_header_id|>' ~ message.role ~ '<|end_header_id|>\\n\\n'"
        " ~ message.content | trim ~ '<|eot_id|>' }}"
        + _PROMPT + "{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}",
    ),
    ChatForm(
        "Gemma",
        frozenset({"<start_of_turn>", "<end_of_turn>"}),
        _TAGGED + "{% for message in rest %}"
        "{% set role = 'model' if message.role == 'assistant' else 'user' %}"
        "{{ '<start_of_turn>' ~ role ~ '\\n' }}"
        "{% if loop.first %}{{ system }}{% endif %}"
        "{{ message.content | trim ~ '<end_of_turn>\\n' }}"
        + _PROMPT + "{{ '<start_of_turn>model\\n' }}{% endif %}",
    ),
    ChatForm(
        "Phi",
        frozenset({"<|user|>", "<|assistant|>", "<|end|>"}),
        _EACH + "{{ '<|' ~ message.role ~ '|>\\n' ~ message.content ~ '<|end|>\\n' }}"
        + _PROMPT + "{{ '<|assistant|>\\n' }}{% endif %}",
    ),
    ChatForm(
        "DeepSeek",
        frozenset({"<｜User｜>", "<｜Assistant｜>"}),
        "{{ bos_token }}" + _EACH
        + "{% if message.role == 'user' %}{{ '<｜User｜>' ~ message.content }}"
        "{% elif message.role == 'assistant' %}{{ '<｜Assistant｜>' ~ message.content ~ eos_token }}"
        "{% else %}{{ message.content ~ '\\n\\n' }}{% endif %}"
        + _PROMPT + "{{ '<｜Assistant｜>' }}{% endif %}",
    ),
    ChatForm(
        "Mistral",
        frozenset({"[INST]", "[/INST]"}),
        _TAGGED + "{% for message in rest %}{% if message.role == 'user' %}"
        "{{ '[INST]' }}{% if loop.first %}{{ system }}{% endif %}{{ message.content ~ '[/INST]' }}"
        "{% else %}{{ message.content ~ eos_token }}{% endif %}{% endfor %}",
    ),
)  # fmt: skip

_PLAIN = ChatForm(
    "plain “User: … Assistant: …”",
    frozenset(),
    _EACH + "{% if message.role == 'system' %}{{ message.content ~ '\\n\\n' }}"
    "{% else %}{{ message.role | capitalize ~ ': ' ~ message.content ~ '\\n\\n' }}{% endif %}"
    + _PROMPT + "{{ 'Assistant:' }}{% endif %}",
    stop_strings=("\nUser:",),
)  # fmt: skip


def form_for(vocabulary: Vocabulary) -> ChatForm:
    """The first template whose control tokens the vocabulary has, else a plain-text one for any model."""
    known = {*vocabulary.control_spellings(), *vocabulary.user_defined_spellings()}
    return next((form for form in _FORMS if form.needs <= known), _PLAIN)
