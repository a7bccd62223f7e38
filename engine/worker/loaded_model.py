"""A loaded model with its context, cache and template."""

from __future__ import annotations

import secrets
import time

from engine.api.chat import Message, Prompt, PromptNotice
from engine.api.errors import EngineError, ErrorCode
from engine.api.facts import CacheUsage, DeviceMemory, ModelFacts, SpanState
from engine.api.sentences import say
from engine.api.settings import LoadSettings
from engine.cache import window
from engine.cache.manager import CacheManager
from engine.cache.usage import n_until_eviction, spans
from engine.models.formula import kv_formula
from engine.models.geometry import CacheShape, kv_bytes, layer_bytes_per_token, layer_cells
from engine.models.gguf import ModelInfo
from engine.snapshots.active_chat import ActiveChat
from engine.snapshots.fingerprint import binding, model_digest
from engine.snapshots.tiers import Tiers
from engine.text.look import Look, look_nowhere
from engine.text.prompt import build_prompt
from engine.text.sandbox import MAX_RENDERED
from engine.text.template import Template
from engine.text.tokens import estimated_tokens
from engine.worker.backend import Context, Model

GPU_CHUNK_S = 0.15
"""A decode on a GPU can't be interrupted: prompts go there in chunks that take about this long."""
GPU_PROBE_TOKENS = 64
GPU_CHUNK_MIN = 4
LONG_CHARACTERS = 200_000
"""A message longer than this takes a moment to be made tokens of."""
HOPELESS_TIMES = 2
"""An estimate of so many times the room is never that wrong."""
CHAT_CHARACTERS_MAX = MAX_RENDERED // 2
"""Templates may say things twice."""


class LoadedModel:
    """A model, its context, the manager of its cache and the chat that is in it."""

    def __init__(
        self,
        info: ModelInfo,
        settings: LoadSettings,
        model: Model,
        context: Context,
        tiers: Tiers,
        template: Template,
    ) -> None:
        self.info = info
        self.settings = settings
        self.model = model
        self.context = context
        self.template = template
        # The template's own notices are reported with the load.
        self._told = set(template.notices)
        self.read_tps: float | None = None
        self.manager = CacheManager(context, feed_size=self._feed_size())
        self.shape = CacheShape(
            n_ctx=context.traits.n_cells,
            type_k=settings.type_k,
            type_v=settings.type_v,
            n_ubatch=context.n_ubatch,
            swa_full=settings.swa_full,
            flash_attn=context.flash_attn,
        )
        tiers.bind(self._binding())
        self.active = ActiveChat(self.manager, context.traits, tiers, self.used_kv_bytes)

    def _feed_size(self) -> int:
        """Prompt tokens per decode call: a micro-batch, or as many as a GPU evaluates in GPU_CHUNK_S."""
        context = self.context
        if not self.model.n_layer_gpu:
            return context.n_ubatch
        n_tokens = min(GPU_PROBE_TOKENS, context.n_ubatch)
        started = time.perf_counter()
        context.evaluate_blank(n_tokens)
        rate = n_tokens / max(1e-6, time.perf_counter() - started)
        chunk = GPU_CHUNK_MIN
        while chunk * 2 <= min(context.n_ubatch, rate * GPU_CHUNK_S):
            chunk *= 2
        return chunk

    def _binding(self) -> str:
        """The fingerprint of this context's snapshots."""
        try:
            model = model_digest(self.info.files)
        except OSError:
            # A random fingerprint, which never matches again.
            model = secrets.token_hex(16)
        return binding(
            model,
            self.settings,
            self.model.library_version,
            n_ctx=self.context.traits.n_cells,
            rope=self.info.rope.scaling,
            flash_attn=self.context.flash_attn,
        )

    def facts(self, devices: tuple[DeviceMemory, ...]) -> ModelFacts:
        """What was loaded, and what it really got."""
        info, context, settings = self.info, self.context, self.settings
        kv = kv_bytes(info, self.shape)
        policies = window.allowed_policies(context.traits.kind)
        return ModelFacts(
            path=str(info.path),
            name=info.name,
            architecture=info.architecture,
            quantization=info.quantization,
            n_params=info.n_params,
            size_bytes=info.size_bytes,
            n_layer=self.model.n_layer,
            n_layer_gpu=self.model.n_layer_gpu,
            n_ctx=context.traits.n_cells,
            n_ctx_train=self.model.n_ctx_train,
            n_batch=context.n_batch,
            n_ubatch=context.n_ubatch,
            type_k=settings.type_k,
            type_v=settings.type_v,
            flash_attn=context.flash_attn,
            kv_bytes_per_token=sum(
                layer_bytes_per_token(layer, settings.type_k, settings.type_v) for layer in info.layers
            ),
            kv_k_bytes=kv.k,
            kv_v_bytes=kv.v,
            policies=tuple(policies),
            default_policy=policies[0],
            devices=devices,
            kv_formula=kv_formula(info, self.shape),
            settings=settings,
            rope_stretch=info.rope.stretch(settings) if info.has_rope else 1.0,
        )

    def prompt(
        self, messages: tuple[Message, ...], *, continue_last: bool = False, look: Look = look_nowhere
    ) -> Prompt:
        """The chat's tokens; raises EngineError(TEMPLATE_FAILED, TEMPLATE_TIMEOUT, PROMPT_TOO_LONG)."""
        self._require_hope(messages)
        return build_prompt(self.model.vocabulary, self.template, messages, continue_last=continue_last, look=look)

    def _require_hope(self, messages: tuple[Message, ...]) -> None:
        """Raise EngineError(PROMPT_TOO_LONG) for a chat that is obviously too long, without tokenizing it."""
        newest = messages[-1].text if messages else ""
        n_room = self.context.traits.n_cells
        if len(newest) > LONG_CHARACTERS:
            n_tokens = estimated_tokens(self.model.vocabulary, newest)
            if n_tokens > HOPELESS_TIMES * n_room:
                raise EngineError(
                    ErrorCode.PROMPT_TOO_LONG,
                    say(
                        "This is too long by about {0} tokens: it has about {1} and there is room for {2}. Shorten it, "
                        "or load the model with a larger context window.",
                        n_tokens - n_room,
                        n_tokens,
                        n_room,
                    ),
                )
        n_characters = sum(len(message.text) + len(message.reasoning) for message in messages)
        if n_characters > CHAT_CHARACTERS_MAX:
            raise EngineError(
                ErrorCode.PROMPT_TOO_LONG,
                say(
                    "This chat is too long: it has {0} characters, and no more than {1} can be read. Start a new chat.",
                    n_characters,
                    CHAT_CHARACTERS_MAX,
                ),
            )

    def untold(self, prompt: Prompt) -> tuple[PromptNotice, ...]:
        """The prompt's notices that have not been reported before."""
        untold = tuple(notice for notice in prompt.notices if notice not in self._told)
        self._told.update(untold)
        return untold

    def used_kv_bytes(self, n_used: int) -> int:
        """Bytes of K and V in ``n_used`` cells; window layers have no more cells than their window."""
        settings = self.settings
        return sum(
            layer_bytes_per_token(layer, settings.type_k, settings.type_v)
            * min(n_used, layer_cells(self.info, layer, self.shape))
            for layer in self.info.layers
        )

    def usage(self, chat_id: str, n_reused: int, tokens_per_second: float | None = None) -> CacheUsage:
        """The current cache usage, for the chat in the context."""
        sequence, limits, counts = self.manager.sequence, self.manager.limits, self.manager.counts
        n_used, n_cells = sequence.n_cached, self.context.traits.n_cells
        return CacheUsage(
            chat_id=chat_id,
            n_cells=n_cells,
            n_used=n_used,
            n_sink=min(limits.n_sink, n_used),
            n_window=limits.n_window,
            n_evicted=sequence.count(SpanState.EVICTED),
            n_skipped=sequence.count(SpanState.SKIPPED),
            n_reused=n_reused,
            n_until_eviction=n_until_eviction(sequence, limits),
            n_renumbered=counts.n_renumbered,
            n_recomputed=counts.n_recomputed,
            next_position=sequence.next_position,
            used_bytes=self.used_kv_bytes(n_used),
            allocated_bytes=self.used_kv_bytes(n_cells),
            spans=spans(sequence, self.manager.turns, limits),
            tokens_per_second=tokens_per_second,
        )

    def close(self) -> None:
        self.context.close()
        self.model.close()
