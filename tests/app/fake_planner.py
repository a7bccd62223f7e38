"""A planner without a process: it notes the questions, and answers for a machine with little memory."""

from __future__ import annotations

from dataclasses import replace

from engine.api.errors import ErrorCode
from engine.api.messages import Failed, FindFit, FitFound, MemoryPlanned, PlanAnswer, PlanQuestion
from engine.api.plan import DevicePlan, Fit, MemoryPlan, PlanWarning, PlanWarningCode, Proposal, Refusal
from engine.api.sentences import Bytes, say
from engine.api.settings import CacheType, FlashAttention, LoadSettings
from engine.client.plan_queue import OnAnswer, PlanQueue

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
    """Its process is the test: it answers at once, or with ``answers_by_hand`` when the test says so.

    ``asked`` are the questions that came to the process, in order; ``askers`` all who asked.
    """

    def __init__(self, *, answers_by_hand: bool = False) -> None:
        self.answers_by_hand = answers_by_hand
        self.asked: list[PlanQuestion] = []
        self.askers: list[str] = []
        self.is_closed = False
        self.types_match = False
        self._questions = PlanQueue()

    def ask(self, asker: str, question: PlanQuestion, on_answer: OnAnswer, *, is_urgent: bool = False) -> None:
        self.askers.append(asker)
        self._questions.put(asker, question, on_answer, is_urgent=is_urgent)
        self._take()
        if not self.answers_by_hand:
            self.answer_all()

    def forget(self, asker: str) -> None:
        self._questions.forget(asker)

    def close(self) -> None:
        self.is_closed = True

    def answer(self) -> None:
        """Answer what the process is working on; it takes the next question."""
        assert self._questions.asked is not None
        self._questions.answer(self.answer_to(self._questions.asked))
        self._take()

    def answer_all(self) -> None:
        while self._questions.asked is not None:
            self.answer()

    def _take(self) -> None:
        if self._questions.is_waiting:
            self.asked.append(self._questions.take())

    def answer_to(self, question: PlanQuestion) -> PlanAnswer:
        settings = question.settings
        if settings.type_v.is_quantized and settings.flash_attn is FlashAttention.OFF:
            if not isinstance(question, FindFit):
                return Failed(None, ErrorCode.SETTING_INVALID, NEEDS_FLASH)
            mended = replace(settings, flash_attn=FlashAttention.AUTO)
            return FitFound(Fit(LARGEST_F16, (Proposal(mended, plan(mended)),)))
        found = plan(settings)
        if not isinstance(question, FindFit):
            return MemoryPlanned(replace(found, types_must_match=self.types_match))
        smaller = replace(settings, type_k=CacheType.Q8_0, type_v=CacheType.Q8_0)
        return FitFound(Fit(LARGEST_F16, () if found.fits else (Proposal(smaller, plan(smaller)),)))
