"""A planner without a process: it notes the questions, and answers for a machine with little memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from engine.api.errors import ErrorCode
from engine.api.messages import Event, Failed, FindFit, FitFound, MemoryPlanned, PlanMemory
from engine.api.plan import DevicePlan, Fit, MemoryPlan, PlanWarning, PlanWarningCode, Proposal, Refusal
from engine.api.sentences import Bytes, say
from engine.api.settings import CacheType, FlashAttention, LoadSettings

MIB = 2**20
FREE = 430 * MIB
WEIGHTS, COMPUTE = 100 * MIB, 50 * MIB
TOKEN_BYTES = {CacheType.F16: 16_384, CacheType.Q8_0: 8_704, CacheType.Q4_0: 4_608}
"""Of K, and the same of V."""
LARGEST_F16 = 8000
WARNING = say(
    "Without flash attention the compute buffers grow with the context window: they take {0}.", Bytes(COMPUTE)
)
NEEDS_FLASH = say(
    "V in {0} needs flash attention: set flash attention to auto or on, or use f16 for V.", CacheType.Q8_0
)


def plan(settings: LoadSettings, free_bytes: int = FREE) -> MemoryPlan:
    n_ctx = settings.n_ctx or 8192
    k, v = n_ctx * TOKEN_BYTES[settings.type_k], n_ctx * TOKEN_BYTES[settings.type_v]
    is_off = settings.flash_attn is FlashAttention.OFF
    return MemoryPlan(
        n_ctx=n_ctx,
        n_gpu_layers=0,
        kv_bytes_k=k,
        kv_bytes_v=v,
        can_shift=True,
        flash_attn=not is_off,
        devices=(DevicePlan("CPU", WEIGHTS, k + v, 0, COMPUTE, 0, free_bytes, 2 * free_bytes),),
        warnings=(PlanWarning(PlanWarningCode.COMPUTE_GROWS, WARNING),) if is_off else (),
        refusals=(Refusal("type_v", "q8_0", NEEDS_FLASH),) if is_off else (),
    )


class FakePlanner:
    """Answers at once, or with ``answers_by_hand`` when the test says so."""

    def __init__(self, post: Callable[[Event], None], *, answers_by_hand: bool = False) -> None:
        self.post = post
        self.answers_by_hand = answers_by_hand
        self.asked: list[PlanMemory] = []
        self.is_closed = False
        self.types_match = False

    def ask(self, question: PlanMemory) -> None:
        self.asked.append(question)
        if not self.answers_by_hand:
            self.answer(question)

    def answer(self, question: PlanMemory) -> None:
        settings = question.settings
        if settings.type_v.is_quantized and settings.flash_attn is FlashAttention.OFF:
            if isinstance(question, FindFit):
                mended = replace(settings, flash_attn=FlashAttention.AUTO)
                self.post(FitFound(question.request_id, Fit(LARGEST_F16, (Proposal(mended, plan(mended)),))))
            else:
                self.post(Failed(question.request_id, ErrorCode.SETTING_INVALID, NEEDS_FLASH))
            return
        found = plan(settings)
        if not isinstance(question, FindFit):
            self.post(MemoryPlanned(question.request_id, replace(found, types_must_match=self.types_match)))
            return
        smaller = replace(settings, type_k=CacheType.Q8_0, type_v=CacheType.Q8_0)
        proposals = () if found.fits else (Proposal(smaller, plan(smaller)),)
        self.post(FitFound(question.request_id, Fit(LARGEST_F16, proposals)))

    def close(self) -> None:
        self.is_closed = True
