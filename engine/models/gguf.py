"""A model's properties, read from its GGUF header without loading it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.api.settings import LoadSettings
from engine.models import architecture, ggml
from engine.models.header import TensorInfo
from engine.models.layers import LayerShape, ModelLayers, model_layers
from engine.models.metadata import Metadata
from engine.models.rope import DEFAULT_BASE, Rope
from engine.models.shards import read_shards

_LEARNED_POSITIONS = "position_embd.weight"


class Attention(StrEnum):
    """How query heads share K and V: not at all, in groups, all of them, or as one compressed latent."""

    MHA = "mha"
    GQA = "gqa"
    MQA = "mqa"
    MLA = "mla"
    NONE = "none"


class Positions(StrEnum):
    """The kind of position encoding."""

    ROPE = "rope"
    MROPE = "mrope"
    LEARNED = "learned"
    NONE = "none"


class ModelKind(StrEnum):
    """The purpose of the file; only CHAT models can generate."""

    CHAT = "chat"
    EMBEDDING = "embedding"
    PROJECTOR = "projector"
    ADAPTER = "adapter"


@dataclasses.dataclass(frozen=True)
class ModelInfo:
    """A model as its files describe it. Sizes are in bytes, `n_swa` and `n_ctx_train` in tokens.

    `files` are all shards in order; llama.cpp loads the first. `n_swa` is 0 without a sliding window.
    `is_architecture_known`: it is in this version's tables; whether it can be loaded is llama.cpp's decision.
    `is_geometry_exact` is False where llama.cpp keeps more per token than K and V, or the header names no heads.
    """

    files: tuple[Path, ...]
    kind: ModelKind
    architecture: str
    name: str
    licence: str
    quantization: str
    size_bytes: int
    n_params: int
    n_embd: int
    n_vocab: int
    n_ctx_train: int
    layers: tuple[LayerShape, ...]
    n_swa: int
    is_mla: bool
    widest_row_v: int
    positions: Positions
    rope: Rope
    tokenizer: str
    chat_template: str | None
    bos_token_id: int | None
    eos_token_id: int | None
    is_architecture_known: bool
    is_geometry_exact: bool

    @property
    def path(self) -> Path:
        """The file to load: the first shard."""
        return self.files[0]

    @property
    def n_layer(self) -> int:
        return len(self.layers)

    @property
    def n_head(self) -> tuple[int, ...]:
        """Query heads of each layer."""
        return tuple(layer.n_head for layer in self.layers)

    @property
    def n_head_kv(self) -> tuple[int, ...]:
        """K and V heads of each layer."""
        return tuple(layer.n_head_kv for layer in self.layers)

    @property
    def recurrent_layers(self) -> tuple[int, ...]:
        """Indices of the layers with a recurrent state instead of, or in addition to, K and V."""
        return tuple(index for index, layer in enumerate(self.layers) if layer.is_recurrent)

    @property
    def window_layers(self) -> tuple[int, ...]:
        """Indices of the sliding-window layers."""
        return tuple(index for index, layer in enumerate(self.layers) if layer.is_window)

    def n_ctx_reach(self, settings: LoadSettings) -> int:
        """The longest context in tokens that its positions support; 0 if the file doesn't say."""
        return self.rope.reach(self.n_ctx_train, settings) if self.has_rope else self.n_ctx_train

    @property
    def has_rope(self) -> bool:
        return self.positions in (Positions.ROPE, Positions.MROPE)

    @property
    def is_recurrent(self) -> bool:
        """Whether all memory is recurrent state, of constant size."""
        return bool(self.recurrent_layers) and not any(layer.has_cells for layer in self.layers)

    @property
    def is_hybrid(self) -> bool:
        """Whether it has both recurrent state and K and V."""
        return bool(self.recurrent_layers) and not self.is_recurrent

    @property
    def attention(self) -> Attention:
        """The kind of all attention layers; GQA if they differ."""
        if self.is_mla:
            return Attention.MLA
        kinds = {_attention_of(layer) for layer in self.layers if layer.row_k > 0}
        if not kinds:
            return Attention.NONE
        return kinds.pop() if len(kinds) == 1 else Attention.GQA


def read_model_info(path: Path) -> ModelInfo:
    """Read the header of the model at `path`, its file or any of its shards; no weights are read.

    Raises EngineError: what `read_header` raises, MODEL_SHARD_MISSING, and MODEL_DAMAGED where the header
    contradicts itself. A projector or an embedding model is not an error here: see `require_chat_model`.
    """
    shards = read_shards(path)
    header = shards[0][1]
    metadata = Metadata(header.metadata, shards[0][0].name)
    tensors = [tensor for _, one in shards for tensor in one.tensors]
    kind = _kind(metadata)
    if not tensors:
        raise metadata.damaged("it holds no weights")
    is_model = kind in (ModelKind.CHAT, ModelKind.EMBEDDING)
    shapes = model_layers(metadata) if is_model else ModelLayers((), 0, False, 0)
    name = metadata.architecture
    return ModelInfo(
        files=tuple(shard for shard, _ in shards),
        kind=kind,
        architecture=name,
        name=metadata.text("general.name") or path.stem,
        licence=metadata.text("general.license"),
        quantization=_quantization(metadata, tensors),
        size_bytes=sum(one.file_bytes for _, one in shards),
        n_params=sum(tensor.n_elements for tensor in tensors),
        n_embd=metadata.count(".embedding_length", 0),
        n_vocab=metadata.list_length("tokenizer.ggml.tokens") or metadata.count(".vocab_size", 0),
        n_ctx_train=metadata.required_count(".context_length") if is_model else 0,
        layers=shapes.layers,
        n_swa=shapes.n_swa,
        is_mla=shapes.is_mla,
        widest_row_v=shapes.widest_row_v,
        positions=_positions(metadata, tensors),
        rope=_rope(metadata),
        tokenizer=metadata.text("tokenizer.ggml.model"),
        chat_template=metadata.text("tokenizer.chat_template") or None,
        bos_token_id=metadata.optional_count("tokenizer.ggml.bos_token_id"),
        eos_token_id=metadata.optional_count("tokenizer.ggml.eos_token_id"),
        is_architecture_known=name in architecture.KNOWN,
        is_geometry_exact=_is_geometry_exact(name, shapes),
    )


def _is_geometry_exact(name: str, shapes: ModelLayers) -> bool:
    """Whether the header determines the cache's size; a header without heads does not."""
    with_cells = [layer for layer in shapes.layers if layer.has_cells]
    return (
        name in architecture.KNOWN
        and name not in architecture.WITH_FURTHER_CACHES
        and (not with_cells or any(layer.row_k for layer in with_cells))
    )


def require_chat_model(info: ModelInfo) -> None:
    """Raise MODEL_IS_PROJECTOR, MODEL_IS_ADAPTER or MODEL_IS_EMBEDDING for a file that cannot answer."""
    file_name = info.path.name
    if info.kind is ModelKind.PROJECTOR:
        raise EngineError(
            ErrorCode.MODEL_IS_PROJECTOR,
            say("“{0}” translates pictures or sound for another model. Choose that model's own file.", file_name),
            f"architecture {info.architecture}",
        )
    if info.kind is ModelKind.ADAPTER:
        raise EngineError(
            ErrorCode.MODEL_IS_ADAPTER,
            say("“{0}” is a LoRA adapter, a change to another model. Choose that model's own file.", file_name),
            f"architecture {info.architecture}",
        )
    if info.kind is ModelKind.EMBEDDING:
        raise EngineError(
            ErrorCode.MODEL_IS_EMBEDDING,
            say("“{0}” is an embedding model, which turns text into numbers. Choose a model that chats.", file_name),
            f"architecture {info.architecture}",
        )


def _attention_of(layer: LayerShape) -> Attention:
    if layer.n_head_kv >= layer.n_head:
        return Attention.MHA
    return Attention.MQA if layer.n_head_kv == 1 else Attention.GQA


def _kind(metadata: Metadata) -> ModelKind:
    declared = metadata.text("general.type", "model")
    if metadata.architecture in architecture.PROJECTORS or declared == "mmproj":
        return ModelKind.PROJECTOR
    if declared == "adapter":
        return ModelKind.ADAPTER
    # Pooling 0 means "none": the output is one vector per token, so it may be a chat model.
    if metadata.architecture in architecture.EMBEDDERS or metadata.count(".pooling_type", 0) > 0:
        return ModelKind.EMBEDDING
    return ModelKind.CHAT


def _quantization(metadata: Metadata, tensors: Sequence[TensorInfo]) -> str:
    """The quantization's usual name; without one in the header, the type of most weights."""
    file_type = metadata.optional_count("general.file_type")
    if file_type in ggml.FILE_TYPES:
        return ggml.FILE_TYPES[file_type]
    weights: Counter[str] = Counter()
    for tensor in tensors:
        weights[tensor.type.name] += tensor.n_elements
    return weights.most_common(1)[0][0].upper()


def _positions(metadata: Metadata, tensors: Sequence[TensorInfo]) -> Positions:
    if any(tensor.name == _LEARNED_POSITIONS for tensor in tensors):
        return Positions.LEARNED
    if metadata.architecture in architecture.WITHOUT_ROPE:
        return Positions.NONE
    sections = metadata.numbers(".rope.dimension_sections")
    return Positions.MROPE if len(sections) > 1 and min(sections[:2]) > 0 else Positions.ROPE


def _rope(metadata: Metadata) -> Rope:
    factor = _sensible(metadata.number(".rope.scaling.factor", 0.0) or metadata.number(".rope.scale_linear", 0.0), 1.0)
    scaling = metadata.text(".rope.scaling.type", "linear")
    # llama.cpp treats a missing factor as 1, i.e. no scaling; longrope has its own factors.
    if scaling in ("linear", "yarn") and factor == 1.0:
        scaling = "none"
    return Rope(
        base=_sensible(metadata.number(".rope.freq_base", 0.0), DEFAULT_BASE),
        scaling=scaling,
        factor=factor,
        n_ctx_original=metadata.count(".rope.scaling.original_context_length", 0),
        is_off=metadata.text(".rope.scaling.type") == "none",
    )


def _sensible(number: float, default: float) -> float:
    """A positive finite number; the default for 0, which means unset, and for invalid values."""
    return number if 1e-6 < number < 1e15 else default
