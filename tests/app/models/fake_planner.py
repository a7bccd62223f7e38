"""A planner without llama.cpp: what fits is said by the names of the files."""

from __future__ import annotations

from pathlib import Path

from engine.api.errors import ErrorCode
from engine.api.messages import Failed, FindFit, FitFound, PlanAnswer, PlanQuestion, SettingsChosen
from engine.api.plan import Choice, DevicePlan, Fit, Home, MemoryPlan, Proposal
from engine.api.sentences import Bytes, say
from engine.api.settings import CacheType, LoadSettings
from tests.app import fake_planner

GIB = 2**30
REFUSED = say("This is a “{0}” model, which this version can't run: it needs a newer Kvasir.", "nonsense")


def choice_of(path: str) -> Choice:
    """Huge ones don't fit, large ones partly, the others on the GPU."""
    name = Path(path).name
    home = Home.PARTLY if "large" in name else Home.GPU
    n_gpu = 20 if home is Home.PARTLY else 33
    free = 8 * GIB
    devices = (
        DevicePlan("CPU", GIB, 0, 0, GIB // 8, 0, free, 2 * free),
        DevicePlan("GPU0", 4 * GIB, GIB, 0, GIB // 4, 0, free, free),
    )
    plan = MemoryPlan(32_768, n_gpu, GIB // 2, GIB // 2, True, True, devices, ())
    settings = LoadSettings(n_ctx=32_768, type_k=CacheType.Q8_0, type_v=CacheType.Q8_0, n_gpu_layers=n_gpu)
    if "huge" in name:
        missing = say(
            "Even with the shortest context {0} of memory are missing: choose a smaller file.", Bytes(7 * GIB // 2)
        )
        return Choice(settings, plan, Home.CPU, 33, False, (missing,))
    some = say("{0} of {1} layers fit on the GPU; the processor computes the others, which is slower.", 20, 33)
    reason = say("All {0} layers fit on the GPU.", 33) if home is Home.GPU else some
    return Choice(settings, plan, home, 33, True, (reason,))


def fit_of(path: str) -> Fit:
    """Large ones fit with a change, huge ones never, the others as they are."""
    name = Path(path).name
    if "huge" in name:
        return Fit(None, ())
    choice = choice_of(path)
    return Fit(32_768, (Proposal(choice.settings, choice.plan),) if "large" in name else ())


class FakePlanner(fake_planner.FakePlanner):
    """Knows the models of this folder."""

    def answer_to(self, question: PlanQuestion) -> PlanAnswer:
        if "refused" in question.path:
            return Failed(None, ErrorCode.MODEL_ARCHITECTURE_UNKNOWN, REFUSED)
        if isinstance(question, FindFit):
            return FitFound(fit_of(question.path))
        return SettingsChosen(choice_of(question.path))
