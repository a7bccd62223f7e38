"""Chat templates that behave as those of well-known models do, and the vocabulary each one needs."""

from __future__ import annotations

from dataclasses import dataclass

from engine.text.template import ChatTemplate
from tests.engine.text.fake_vocabulary import CHATML, FakeVocabulary

SMOLLM = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou help.<|im_end|>\n' }}{% endif %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
LLAMA2 = (
    "{% if messages[0].role == 'system' %}{% set system = messages[0].content %}{% set rest = messages[1:] %}"
    "{% else %}{% set system = false %}{% set rest = messages %}{% endif %}"
    "{% for m in rest %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}"
    "{% if loop.index0 == 0 and system is not false %}"
    "{% set content = '<<SYS>>\n' + system + '\n<</SYS>>\n\n' + m.content %}"
    "{% else %}{% set content = m.content %}{% endif %}"
    "{% if m.role == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}"
    "{% else %}{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
)
LLAMA2_DEFAULT = LLAMA2.replace("{% set system = false %}", "{% set system = 'You help.' %}")
VICUNA = (
    "{% if messages[0].role == 'system' %}{{ messages[0].content + '\n\n' }}{% set rest = messages[1:] %}"
    "{% else %}{{ 'A chat with an assistant.\n\n' }}{% set rest = messages %}{% endif %}"
    "{% for m in rest %}{% if m.role == 'user' %}{{ 'USER: ' + m.content + '\n' }}"
    "{% else %}{{ 'ASSISTANT: ' + m.content + eos_token + '\n' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}"
)
LLAMA3 = (
    "{% for m in messages %}{% set text = '<|start_header_id|>' + m.role + '<|end_header_id|>\n\n'"
    " + m.content | trim + '<|eot_id|>' %}{% if loop.first %}{% set text = bos_token + text %}{% endif %}"
    "{{ text }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate') }}{% endif %}"
    "{% set role = 'model' if m.role == 'assistant' else m.role %}"
    "{{ '<start_of_turn>' + role + '\n' + m.content | trim + '<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)
MISTRAL = (
    "{{ bos_token }}{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate user/assistant') }}{% endif %}"
    "{% if m.role == 'user' %}{{ '[INST] ' + m.content + ' [/INST]' }}"
    "{% elif m.role == 'assistant' %}{{ m.content + eos_token }}{% endif %}{% endfor %}"
)
QWEN3 = """\
{%- set ns = namespace(last_query=-1) %}
{%- for m in messages %}{% if m.role == 'user' %}{% set ns.last_query = loop.index0 %}{% endif %}{% endfor %}
{%- for m in messages %}
{%- if m.role == 'assistant' %}
{%- set content = m.content %}{% set reasoning = '' %}
{%- if m.reasoning_content is string %}{% set reasoning = m.reasoning_content %}
{%- elif '</think>' in content %}
{%- set reasoning = content.split('</think>')[0].split('<think>')[-1] %}
{%- set content = content.split('</think>')[-1].lstrip('\n') %}{% endif %}
{{- '<|im_start|>assistant\n' }}
{%- if loop.index0 > ns.last_query %}
{{- '<think>\n' + reasoning.strip('\n') + '\n</think>\n\n' + content.lstrip('\n') }}
{%- else %}{{ content }}{% endif %}
{{- '<|im_end|>\n' }}
{%- else %}
{{- '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>' + '\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{% endif %}
{%- endif %}"""
DEEPSEEK_R1 = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}{{ m.content }}"
    "{% elif m.role == 'user' %}{{ '<｜User｜>' + m.content }}"
    "{% else %}{% set content = m.content %}"
    "{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}"
    "{{ '<｜Assistant｜>' + content + '<｜end▁of▁sentence｜>' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<｜Assistant｜><think>\n' }}{% endif %}"
)
PHI3 = (
    "{% for m in messages %}{{ '<|' + m.role + '|>\n' + m.content + '<|end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}"
)
GPT_OSS = (
    "<|start|>system<|message|>You help.<|end|>{% for m in messages %}"
    "{% if m.role == 'system' %}<|start|>developer<|message|>{{ m.content }}<|end|>"
    "{% elif m.role == 'user' %}<|start|>user<|message|>{{ m.content }}<|end|>"
    "{% else %}<|start|>assistant<|channel|>final<|message|>{{ m.content }}"
    "{% if loop.last and not add_generation_prompt %}<|return|>{% else %}<|end|>{% endif %}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)
TYPED = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% for part in m.content %}"
    "{% if part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
DROPS_SYSTEM = (
    "{% for m in messages %}{% if m.role != 'system' %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass(frozen=True)
class Model:
    """A template and a vocabulary that belong together."""

    name: str
    vocabulary: FakeVocabulary
    template: ChatTemplate


def model(name: str) -> Model:
    """The model of this name."""
    source, vocabulary = _MODELS[name]
    return Model(name, vocabulary, ChatTemplate(source, vocabulary))


_SPM = ("<s>", "</s>", "<unk>")
_LLAMA3_CONTROL = ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
_MODELS = {
    "smollm": (SMOLLM, FakeVocabulary(bos="<|im_start|>", eos="<|im_end|>")),
    "llama2": (LLAMA2, FakeVocabulary(_SPM, bos="<s>", eos="</s>", add_bos=True, space_prefix=True)),
    "llama2_default": (LLAMA2_DEFAULT, FakeVocabulary(_SPM, bos="<s>", eos="</s>", add_bos=True, space_prefix=True)),
    "vicuna": (VICUNA, FakeVocabulary(_SPM, bos="<s>", eos="</s>")),
    "llama3": (LLAMA3, FakeVocabulary(_LLAMA3_CONTROL, bos="<|begin_of_text|>", eos="<|eot_id|>", add_bos=True)),
    "gemma": (
        GEMMA,
        FakeVocabulary(
            ("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"), ("<td>", "\n\n\n"),
            bos="<bos>", eos="<eos>", add_bos=True,
        ),
    ),
    "mistral": (
        MISTRAL,
        FakeVocabulary((*_SPM, "[INST]", "[/INST]"), bos="<s>", eos="</s>", add_bos=True, space_prefix=True),
    ),
    "qwen3": (QWEN3, FakeVocabulary(CHATML, ("<think>", "</think>"), bos="<|endoftext|>", eos="<|im_end|>")),
    "r1": (
        DEEPSEEK_R1,
        FakeVocabulary(
            ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>"),
            ("<think>", "</think>"),
            bos="<｜begin▁of▁sentence｜>", eos="<｜end▁of▁sentence｜>", add_bos=True,
        ),
    ),
    "phi3": (
        PHI3,
        FakeVocabulary(
            (*_SPM, "<|user|>", "<|assistant|>", "<|system|>", "<|end|>", "<|endoftext|>"),
            bos="<s>", eos="<|endoftext|>", add_bos=True, space_prefix=True,
        ),
    ),
    "gpt_oss": (
        GPT_OSS,
        FakeVocabulary(
            ("<|start|>", "<|message|>", "<|channel|>", "<|end|>", "<|return|>"), bos="<|start|>", eos="<|return|>"
        ),
    ),
    "typed": (TYPED, FakeVocabulary()),
    "drops_system": (DROPS_SYSTEM, FakeVocabulary()),
}  # fmt: skip
MODELS = tuple(_MODELS)
WITH_OWN_SYSTEM = ("smollm", "vicuna", "llama2_default", "gpt_oss")
"""Those whose template writes a system prompt where the chat has none."""
