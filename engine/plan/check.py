"""Validates load settings before the load."""

from __future__ import annotations

import dataclasses

from engine.api.declarations import checked
from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import Notice, NoticeCode
from engine.api.sentences import Sentence, say
from engine.api.settings import FlashAttention, LoadSettings, PolicySettings
from engine.cache import window
from engine.cache.memory import MemoryKind
from engine.models import geometry
from engine.models.gguf import ModelInfo

WITHOUT_FLASH_ATTENTION = frozenset({"grok"})
"""Architectures whose flash attention llama.cpp switches off, whatever is asked."""
_WITH_STATE = frozenset({"deepseek4"})
"""Architectures whose compressed rows give no token up, although their header tells of no recurrent layer."""
_WITH_EQUAL_TYPES = frozenset({"deepseek4"})
"""Architectures beside MLA that llama.cpp gives one cache for K and V."""


def check_load(info: ModelInfo, settings: LoadSettings) -> tuple[LoadSettings, tuple[Notice, ...]]:
    """The loadable settings, and a notice for each one that had to be adjusted.

    Raises EngineError(SETTING_INVALID), with advice, for what llama.cpp would refuse or crash on. Automatic flash
    attention with a quantized V is valid: llama.cpp then turns it on.
    """
    settings = checked(settings)
    if settings.n_ctx is None and info.n_ctx_train <= 0:
        raise _refused(
            say("This model doesn't say how long a text it was trained for: set a context window."), settings
        )
    _check_types(info, settings)
    return _clamped(info, settings)


def check_policy_of_model(info: ModelInfo, load: LoadSettings, policy: PolicySettings) -> None:
    """Raise EngineError(SETTING_INVALID) for a policy that the model's memory or the context window rules out.

    Checked with the header before a load, and again with the created context, whose values are authoritative.
    """
    kind = MemoryKind.ATTENTION
    if info.recurrent_layers or info.architecture in _WITH_STATE:
        kind = MemoryKind.RECURRENT if info.is_recurrent else MemoryKind.HYBRID
    n_ctx = load.n_ctx_or(info.n_ctx_train)
    if n_ctx > 0:
        window.check_policy(checked(policy), kind, geometry.n_cells(n_ctx))


def types_must_match(info: ModelInfo) -> bool:
    """Whether llama.cpp stores this model's K and V in one tensor."""
    return info.is_mla or info.architecture in _WITH_EQUAL_TYPES


def _check_types(info: ModelInfo, settings: LoadSettings) -> None:
    type_k, type_v = settings.type_k, settings.type_v
    if types_must_match(info) and type_k is not type_v:
        raise _refused(
            say(
                "This model keeps K and V as one, so their types can't differ: use {0} or {1} for both.", type_k, type_v
            ),
            settings,
        )
    for name, cache_type, sizes in (
        ("K", type_k, [layer.head_size_k for layer in info.layers]),
        ("V", type_v, [layer.head_size_v for layer in info.layers]),
    ):
        block = geometry.block_size(cache_type)
        unfit = next((size for size in sizes if size % block), None)
        if unfit is not None:
            raise _refused(
                say(
                    "{0} can't store this model's {1}: its blocks of {2} don't divide the head size {3}. Use f16, "
                    "bf16 or f32 for {1}.",
                    cache_type,
                    name,
                    block,
                    unfit,
                ),
                settings,
            )
    if not type_v.is_quantized:
        return
    if info.architecture in WITHOUT_FLASH_ATTENTION:
        raise _refused(
            say("This model runs without flash attention, and V in {0} needs it: use f16 for V.", type_v), settings
        )
    if settings.flash_attn is FlashAttention.OFF:
        raise _refused(
            say("V in {0} needs flash attention: set flash attention to auto or on, or use f16 for V.", type_v),
            settings,
        )


def _clamped(info: ModelInfo, settings: LoadSettings) -> tuple[LoadSettings, tuple[Notice, ...]]:
    """Limit the batch to the context and the micro-batch to the batch; defaults are adjusted without a notice."""
    n_batch = min(settings.n_batch, geometry.n_cells(settings.n_ctx_or(info.n_ctx_train)))
    n_ubatch = min(settings.n_ubatch, n_batch)
    notices = []
    if n_batch != settings.n_batch != LoadSettings.n_batch:
        notices.append(
            _adjusted(say("Batches have {0} tokens, not {1}: no more fit the context.", n_batch, settings.n_batch))
        )
    elif n_ubatch != settings.n_ubatch != LoadSettings.n_ubatch:
        notices.append(
            _adjusted(say("Micro-batches have {0} tokens, not {1}: no more fit a batch.", n_ubatch, settings.n_ubatch))
        )
    return dataclasses.replace(settings, n_batch=n_batch, n_ubatch=n_ubatch), tuple(notices)


def _adjusted(sentence: Sentence) -> Notice:
    return Notice(NoticeCode.SETTING_ADJUSTED, sentence)


def _refused(sentence: Sentence, settings: LoadSettings) -> EngineError:
    cache = f"n_ctx={settings.n_ctx} type_k={settings.type_k} type_v={settings.type_v} flash_attn={settings.flash_attn}"
    return EngineError(ErrorCode.SETTING_INVALID, sentence, cache)
