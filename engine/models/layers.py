"""The cache layout of every layer of a model, derived from the header as llama.cpp does it."""

from __future__ import annotations

import dataclasses

from engine.models import architecture
from engine.models.metadata import Metadata

# LLAMA_MAX_LAYERS; the other bounds only keep products small.
MAX_LAYERS = 512
_MAX_HEADS = 1 << 16
_MAX_SIZE = 1 << 20


@dataclasses.dataclass(frozen=True)
class LayerShape:
    """One layer, in elements; a row is what one cell holds.

    `n_head`, `n_head_kv`, `head_size_k` and `head_size_v` are as the file has them. `row_k` and `row_v` are
    what is stored (0 without cells; MLA stores no V), `mha_row_k` and `mha_row_v` what would be stored if
    every head had its own. `state_size` is the recurrent state, f32, which does not grow with the text.
    """

    n_head: int
    n_head_kv: int
    head_size_k: int
    head_size_v: int
    is_window: bool
    is_recurrent: bool
    has_cells: bool
    row_k: int
    row_v: int
    mha_row_k: int
    mha_row_v: int
    state_size: int


@dataclasses.dataclass(frozen=True)
class ModelLayers:
    """All layers that are evaluated, with properties common to them.

    `n_swa` is the window's size in tokens (0: none). `widest_row_v` is over all layers of the file: without
    flash attention llama.cpp gives each layer's V that width.
    """

    layers: tuple[LayerShape, ...]
    n_swa: int
    is_mla: bool
    widest_row_v: int


@dataclasses.dataclass(frozen=True)
class _Heads:
    """Heads and head sizes, for all layers and for those with a window."""

    n_head: tuple[int, ...]
    n_head_kv: tuple[int, ...]
    size_k: int
    size_v: int
    window_size_k: int
    window_size_v: int

    def sizes(self, is_window: bool) -> tuple[int, int]:
        return (self.window_size_k, self.window_size_v) if is_window else (self.size_k, self.size_v)


def model_layers(metadata: Metadata) -> ModelLayers:
    """Derive all layers; EngineError(MODEL_DAMAGED) if the header contradicts itself."""
    n_all = metadata.required_count(".block_count", MAX_LAYERS)
    n_extra = metadata.count(".nextn_predict_layers", 0)
    if n_extra >= n_all:
        raise metadata.damaged(f"{n_extra} of {n_all} layers would be for prediction only")
    heads = _heads(metadata, n_all)
    recurrent = _recurrent_layers(metadata, n_all, heads)
    n_swa, windows = _windows(metadata, n_all, n_all - n_extra, recurrent)
    mla_sizes = (
        metadata.count(".attention.key_length_mla", 0, _MAX_SIZE),
        metadata.count(".attention.value_length_mla", 0, _MAX_SIZE),
    )
    with_cells = _layers_with_cells(metadata, n_all, recurrent)
    state_size = _state_size(metadata, heads)
    is_mla = all(mla_sizes)
    layers = []
    for layer in range(n_all - n_extra):
        size_k, size_v = heads.sizes(windows[layer])
        n_head, n_head_kv = heads.n_head[layer], heads.n_head_kv[layer]
        has_cells = with_cells[layer]
        n_mha = n_head if has_cells and n_head_kv else 0
        layers.append(
            LayerShape(
                n_head=n_head,
                n_head_kv=n_head_kv,
                head_size_k=size_k,
                head_size_v=size_v,
                is_window=windows[layer],
                is_recurrent=recurrent[layer],
                has_cells=has_cells,
                row_k=n_head_kv * size_k if has_cells else 0,
                row_v=n_head_kv * size_v if has_cells and not is_mla else 0,
                mha_row_k=n_mha * (mla_sizes[0] if is_mla else size_k),
                mha_row_v=n_mha * (mla_sizes[1] if is_mla else size_v),
                state_size=state_size if recurrent[layer] else 0,
            )
        )
    widest = max(heads.n_head_kv[layer] * heads.sizes(windows[layer])[1] for layer in range(n_all))
    return ModelLayers(tuple(layers), n_swa, is_mla, widest)


def _heads(metadata: Metadata, n_all: int) -> _Heads:
    n_head = metadata.counts(".attention.head_count", n_all, (0,) * n_all, _MAX_HEADS)
    n_head_kv = metadata.counts(".attention.head_count_kv", n_all, n_head, _MAX_HEADS)
    # llama.cpp checks only the first layer: if it has no heads, head sizes are used only for plamo2.
    size_k = size_v = 0
    if n_head[0] > 0:
        size_k = size_v = metadata.required_count(".embedding_length", _MAX_SIZE) // n_head[0]
    if n_head[0] > 0 or metadata.architecture == "plamo2":
        size_k = metadata.count(".attention.key_length", size_k, _MAX_SIZE)
        size_v = metadata.count(".attention.value_length", size_v, _MAX_SIZE)
    window_size_k = metadata.count(".attention.key_length_swa", size_k, _MAX_SIZE)
    window_size_v = metadata.count(".attention.value_length_swa", size_v, _MAX_SIZE)
    return _Heads(n_head, n_head_kv, size_k, size_v, window_size_k, window_size_v)


def _recurrent_layers(metadata: Metadata, n_all: int, heads: _Heads) -> tuple[bool, ...]:
    name = metadata.architecture
    if name in architecture.RECURRENT or name in architecture.HYBRID_EVERYWHERE:
        return (True,) * n_all
    without_heads = tuple(n_head_kv == 0 for n_head_kv in heads.n_head_kv)
    if name in architecture.HYBRID_BY_HEADS:
        return without_heads
    if name in architecture.HYBRID_BY_HEADS_AND_WIDTH:
        widths = _feed_forward_widths(metadata, n_all)
        return tuple(alone and width == 0 for alone, width in zip(without_heads, widths, strict=True))
    if name in architecture.HYBRID_BY_INTERVAL:
        if metadata.has(".attention.recurrent_layers"):
            return tuple(map(bool, metadata.counts(".attention.recurrent_layers", n_all, ())))
        every = metadata.count(".full_attention_interval", architecture.HYBRID_BY_INTERVAL[name]) or 1
        return tuple((layer + 1) % every != 0 for layer in range(n_all))
    return (False,) * n_all


def _feed_forward_widths(metadata: Metadata, n_all: int) -> tuple[int, ...]:
    return metadata.counts(".feed_forward_length", n_all, (0,) * n_all)


def _layers_with_cells(metadata: Metadata, n_all: int, recurrent: tuple[bool, ...]) -> tuple[bool, ...]:
    name = metadata.architecture
    if name in architecture.WITHOUT_CACHE or name in architecture.RECURRENT:
        return (False,) * n_all
    if name in architecture.HYBRID_EVERYWHERE:
        return (True,) * n_all
    with_cells = tuple(not is_recurrent for is_recurrent in recurrent)
    if name in architecture.HYBRID_BY_HEADS_AND_WIDTH:
        widths = _feed_forward_widths(metadata, n_all)
        return tuple(one and width == 0 for one, width in zip(with_cells, widths, strict=True))
    if name == "gemma3n":
        n_own = architecture.GEMMA3N_LAYERS_WITH_CACHE
    else:
        n_own = n_all - metadata.count(".attention.shared_kv_layers", 0) if name == "gemma4" else n_all
    return tuple(one and layer < n_own for layer, one in enumerate(with_cells))


def _windows(metadata: Metadata, n_all: int, n_used: int, recurrent: tuple[bool, ...]) -> tuple[int, tuple[bool, ...]]:
    """The window's size and the layers that have one."""
    nowhere = (False,) * n_all
    rule = architecture.WINDOWS.get(metadata.architecture)
    if rule is None:
        return 0, nowhere
    if metadata.architecture == "exaone4" and n_used != architecture.EXAONE4_LAYERS_WITH_WINDOW:
        return 0, nowhere
    n_swa = metadata.count(".attention.sliding_window", rule.size or 0)
    if n_swa == 0:
        return 0, nowhere
    if rule.fixed and rule.size is not None:
        n_swa = rule.size
    key = ".attention.sliding_window_pattern"
    if metadata.is_list(key):
        listed = metadata.counts(key, n_all, ())
        return n_swa, tuple(bool(one) for one in listed)
    if rule.every is None:
        return n_swa, nowhere
    # lfm2 has no pattern: all its attention layers have the window.
    every = metadata.count(key, rule.every) if rule.every else 0
    return n_swa, tuple(
        layer < n_used and not recurrent[layer] and rule.is_window(layer, every) for layer in range(n_all)
    )


def _state_size(metadata: Metadata, heads: _Heads) -> int:
    """Elements of one recurrent layer's state: the convolution state plus the recurrent state itself."""
    n_embd = metadata.required_count(".embedding_length", _MAX_SIZE)
    kernel = metadata.count(".ssm.conv_kernel", 0, _MAX_SIZE)
    if wkv_size := metadata.count(".wkv.head_size", 0, _MAX_SIZE):
        return metadata.count(".token_shift_count", 2, _MAX_SIZE) * n_embd + n_embd * wkv_size
    if kda_size := metadata.count(".kda.head_dim", 0, _MAX_SIZE):
        remembered = 3 * (kernel - 1 if kernel else 3) * heads.n_head[0] * kda_size
        return remembered + kda_size * kda_size * heads.n_head[0]
    inner = metadata.count(".ssm.inner_size", 0, _MAX_SIZE)
    state = metadata.count(".ssm.state_size", 0, _MAX_SIZE)
    if cached := metadata.count(".shortconv.l_cache", 0, _MAX_SIZE):
        return n_embd * (cached - 1) + state * inner
    groups = metadata.count(".ssm.group_count", 0, _MAX_SIZE)
    remembered = max(kernel - 1, 0) * (inner + 2 * groups * state)
    if metadata.architecture == "minimax-01":
        return remembered + heads.size_k * heads.size_k * heads.n_head[0]
    return remembered + state * inner
