"""A back end without llama.cpp: a fake memory, a small vocabulary, and answers that follow from what was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from engine.api.errors import EngineError, ErrorCode
from engine.api.facts import Device, DeviceMemory
from engine.api.messages import EngineReady
from engine.api.sentences import Sentence, say
from engine.api.settings import LoadSettings, SamplingSettings
from engine.cache.memory import MemoryKind, MemoryTraits
from engine.models.geometry import n_cells
from tests.engine.cache.fake_memory import FakeMemory
from tests.engine.text.fake_vocabulary import WORDS, FakeVocabulary

N_TRAINED = 4096
N_ANSWER = 6
"""Tokens of every answer."""
STEPS = ("open_model", "open_context", "evaluate_blank", "loaded_memory")
"""What a load does one after the other."""


class FakeContext(FakeMemory):
    """Writes the same words after the same text, and ends its turn after N_ANSWER tokens."""

    flash_attn = True

    def __init__(self, model: FakeModel, settings: LoadSettings) -> None:
        cells = n_cells(settings.n_ctx_or(model.n_ctx_train))
        kind = model.backend.kind
        traits = MemoryTraits(kind, cells, 0, kind is MemoryKind.ATTENTION, max(cells, model.n_ctx_train))
        super().__init__(traits, n_batch=64, n_ubatch=16)
        self.n_ubatch = 16
        self._model = model
        self._n_sampled = 0

    def evaluate_blank(self, n_tokens: int, *, interrupt: Callable[[], bool] | None = None) -> bool:
        self._model.backend.reach("evaluate_blank")
        self.clear()
        return interrupt is None or not interrupt()

    def synchronize(self) -> None:
        pass

    def sampler(self, settings: SamplingSettings, seed: int, recent_tokens: Sequence[int] = ()) -> FakeSampler:
        self._n_sampled = 0
        return FakeSampler()

    def sample(self, _sampler: object) -> int:
        self._n_sampled += 1
        vocabulary = self._model.vocabulary
        if self._n_sampled > N_ANSWER:
            return vocabulary.id_of("<|im_end|>")
        words = [vocabulary.id_of(word) for word in WORDS if word.isalpha()]
        return words[self.last_position() % len(words)]

    def close(self) -> None:
        self._model.backend.n_open -= 1


class FakeSampler:
    """Holds nothing: the context itself chooses, whatever the settings say."""

    def close(self) -> None:
        pass


class FakeModel:
    """A model of two layers in RAM."""

    n_ctx_train = N_TRAINED
    n_layer, n_layer_gpu = 2, 0
    library_version = "1"

    def __init__(self, backend: FakeBackend) -> None:
        self.backend = backend
        self.vocabulary = FakeVocabulary()

    def open_context(self, settings: LoadSettings) -> FakeContext:
        self.backend.reach("open_context")
        self.backend.n_open += 1
        self.backend.context = FakeContext(self, settings)
        return self.backend.context

    def close(self) -> None:
        self.backend.n_open -= 1


class FakeBackend:
    """Implements `engine.worker.backend.Backend`; fails at a step of a load where it is told to.

    It is its own meter.
    """

    def __init__(self, kind: MemoryKind = MemoryKind.ATTENTION) -> None:
        cpu = Device("CPU", "A processor", "cpu", "CPU", 1 << 40, 1 << 40)
        self.ready = EngineReady({"llama_cpp": "1"}, ("CPU",), (cpu,), "generic", ("generic",), process_id=1)
        self.unusable: tuple[str, ...] = ()
        self.damaged: tuple[str, ...] = ()
        self.unreachable: tuple[Sentence, ...] = ()
        self.kind = kind
        self.failing = ""
        self.n_open = 0
        """Models and contexts that are not closed."""
        self.context: FakeContext | None = None

    def reach(self, step: str) -> None:
        if step == self.failing:
            raise EngineError(ErrorCode.MODEL_LOAD_FAILED, say("It fails."), step)

    def open_model(self, path: Path, settings: LoadSettings, on_progress: Callable[[float], bool]) -> FakeModel:
        self.reach("open_model")
        for fraction in (0.5, 1.0):
            if not on_progress(fraction):
                raise EngineError(ErrorCode.MODEL_LOAD_FAILED, say("It was stopped."), str(fraction))
        self.n_open += 1
        return FakeModel(self)

    def open_meter(self) -> FakeBackend:
        return self

    def fit_gpu_layers(self, path: Path, settings: LoadSettings) -> int:
        raise AssertionError("there is no GPU")

    def loaded_memory(self, model: object, context: object, settings: LoadSettings) -> tuple[DeviceMemory, ...]:
        self.reach("loaded_memory")
        return (DeviceMemory("CPU", 1000, 500, 0, 100, 10),)

    def log_tail(self) -> str:
        return "the end of the log"

    def close(self) -> None:
        pass
