"""Writes tiny GGUF models with random weights, one kind of attention each, that llama.cpp really loads and decodes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

# Token ids of the vocabulary that every tiny model shares.
UNK, BOS, EOS, FIRST_BYTE = 0, 1, 2, 3
IM_START, IM_END = FIRST_BYTE + 256, FIRST_BYTE + 257

ARCHITECTURES = ("llama", "qwen2vl", "gemma3", "mamba", "lfm2", "deepseek2", "deci", "gpt2", "llama4")


@dataclasses.dataclass(frozen=True)
class TinySpec:
    """What a tiny model is made of; the same spec always gives the same bytes.

    `n_head` and `n_head_kv` are one number or one per layer (per-layer `n_head`: deci only; an lfm2 layer with 0 KV
    heads is a short convolution, a deci layer with 0 KV heads is linear, with 0 heads empty). `head_size_v` may differ
    from `head_size` only for deepseek2. `extra` holds further metadata, written as given. `weight_type` is f32 or q4_0,
    which llama.cpp repacks on many CPUs; matrices only.
    """

    arch: str = "llama"
    n_layer: int = 2
    n_head: int | tuple[int, ...] = 4
    n_head_kv: int | tuple[int, ...] = 2
    head_size: int = 32
    head_size_v: int | None = None
    n_ctx_train: int = 512
    n_swa: int = 64
    swa_pattern: int | None = None
    mla: bool = True
    chat_template: str | None = CHATML
    add_bos: bool = True
    seed: int = 0
    weight_scale: float = 0.08
    max_tensors_per_shard: int = 0
    weight_type: str = "f32"
    extra: tuple[tuple[str, str | bool | int | float | tuple[int, ...]], ...] = ()

    @property
    def heads(self) -> tuple[int, ...]:
        """Query heads of each layer."""
        return self.n_head if isinstance(self.n_head, tuple) else (self.n_head,) * self.n_layer

    @property
    def heads_kv(self) -> tuple[int, ...]:
        """KV heads of each layer."""
        return self.n_head_kv if isinstance(self.n_head_kv, tuple) else (self.n_head_kv,) * self.n_layer

    @property
    def n_embd(self) -> int:
        """Width of the residual stream."""
        return max(self.heads) * self.head_size

    @property
    def n_ff(self) -> int:
        """Width of the feed-forward layer."""
        return 2 * self.n_embd


def write_tiny_model(path: Path, spec: TinySpec) -> Path:
    """Write the model to `path`, or to `<stem>-00001-of-0000N.gguf` beside it with shards; returns the (first) file."""
    if spec.arch not in ARCHITECTURES:
        raise ValueError(f"no tiny model for {spec.arch!r}, only for {', '.join(ARCHITECTURES)}")
    if len(spec.heads) != spec.n_layer or len(spec.heads_kv) != spec.n_layer:
        raise ValueError("per-layer heads need one number per layer")
    writer = gguf.GGUFWriter(path, spec.arch, split_max_tensors=spec.max_tensors_per_shard)
    _Model(writer, spec).add_everything()
    writer.write_header_to_file(path=path)
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    n_shards = len(writer.tensors)
    writer.close()
    return path if n_shards == 1 else path.with_name(f"{path.stem}-00001-of-{n_shards:05d}.gguf")


def vocabulary() -> list[tuple[str, gguf.TokenType]]:
    """An SPM vocabulary: specials, every byte, the two ChatML controls, and the lower-case letters."""
    kinds = gguf.TokenType
    return [
        ("<unk>", kinds.UNKNOWN),
        ("<s>", kinds.CONTROL),
        ("</s>", kinds.CONTROL),
        *((f"<0x{byte:02X}>", kinds.BYTE) for byte in range(256)),
        ("<|im_start|>", kinds.CONTROL),
        ("<|im_end|>", kinds.CONTROL),
        *((letter, kinds.NORMAL) for letter in "▁abcdefghijklmnopqrstuvwxyz"),
    ]


class _Model:
    """Adds one spec's metadata and tensors to a writer."""

    def __init__(self, writer: gguf.GGUFWriter, spec: TinySpec) -> None:
        self._writer = writer
        self._spec = spec
        self._random = np.random.default_rng(spec.seed)

    def add_everything(self) -> None:
        spec = self._spec
        layer_of: dict[str, Callable[[int, str], None]] = {
            "mamba": self._add_mamba_layer,
            "deepseek2": self._add_mla_layer,
            "gpt2": self._add_gpt2_layer,
        }
        self._add_general()
        self._add_vocabulary()
        if spec.arch == "mamba":
            self._add_mamba_metadata()
        else:
            self._add_attention_metadata()
        for key, value in spec.extra:
            self._writer.add_key_value(key, list(value) if isinstance(value, tuple) else value, _value_type(value))
        self._add_weights("token_embd.weight", len(vocabulary()), spec.n_embd)
        self._add_ones("token_embd_norm.weight" if spec.arch == "lfm2" else "output_norm.weight", spec.n_embd)
        if spec.arch == "gpt2":
            self._add_weights("position_embd.weight", spec.n_ctx_train, spec.n_embd)
            self._add_weights("output_norm.bias", spec.n_embd)
        add_layer = layer_of.get(spec.arch, self._add_llama_layer)
        for layer in range(spec.n_layer):
            add_layer(layer, f"blk.{layer}.")

    # --- metadata ---

    def _add_general(self) -> None:
        spec, writer = self._spec, self._writer
        writer.add_name(f"tiny {spec.arch}")
        writer.add_license("mit")
        writer.add_file_type(gguf.LlamaFileType.ALL_F32)
        writer.add_context_length(spec.n_ctx_train)
        writer.add_embedding_length(spec.n_embd)
        writer.add_block_count(spec.n_layer)

    def _add_vocabulary(self) -> None:
        spec, writer = self._spec, self._writer
        tokens = vocabulary()
        writer.add_vocab_size(len(tokens))
        writer.add_tokenizer_model("llama")
        writer.add_token_list([text for text, _ in tokens])
        writer.add_token_scores([0.0] * len(tokens))
        writer.add_token_types([int(kind) for _, kind in tokens])
        writer.add_unk_token_id(UNK)
        writer.add_bos_token_id(BOS)
        writer.add_eos_token_id(EOS)
        writer.add_add_bos_token(spec.add_bos)
        writer.add_add_eos_token(False)
        writer.add_add_space_prefix(False)
        if spec.chat_template is not None:
            writer.add_chat_template(spec.chat_template)

    def _add_mamba_metadata(self) -> None:
        writer = self._writer
        writer.add_feed_forward_length(0)
        writer.add_head_count(0)
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_ssm_conv_kernel(_MAMBA_KERNEL)
        writer.add_ssm_inner_size(2 * self._spec.n_embd)
        writer.add_ssm_state_size(_MAMBA_STATE)
        writer.add_ssm_time_step_rank(_MAMBA_RANK)

    def _add_attention_metadata(self) -> None:
        spec, writer = self._spec, self._writer
        writer.add_feed_forward_length(spec.n_ff)
        writer.add_head_count(_one_or_all(spec.heads))
        if spec.arch == "gpt2":
            writer.add_layer_norm_eps(1e-5)
            writer.add_head_count_kv(_one_or_all(spec.heads_kv))
            return
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_rope_freq_base(10000.0)
        if spec.arch == "deepseek2":
            self._add_deepseek_metadata()
            return
        # llama.cpp takes lfm2's short convolutions from the list, even where all layers are alike.
        writer.add_head_count_kv(list(spec.heads_kv) if spec.arch == "lfm2" else _one_or_all(spec.heads_kv))
        writer.add_key_length(spec.head_size)
        writer.add_value_length(spec.head_size)
        writer.add_rope_dimension_count(spec.head_size)
        if spec.arch == "qwen2vl":
            quarter = spec.head_size // 4
            writer.add_rope_dimension_sections([quarter - quarter // 2, quarter // 2, quarter, 0])
        elif spec.arch == "gemma3":
            writer.add_sliding_window(spec.n_swa)
            if spec.swa_pattern is not None:
                writer.add_uint32("gemma3.attention.sliding_window_pattern", spec.swa_pattern)
        elif spec.arch == "lfm2":
            writer.add_shortconv_l_cache(3)

    def _add_deepseek_metadata(self) -> None:
        spec, writer = self._spec, self._writer
        value = spec.head_size_v or spec.head_size
        if spec.mla:
            writer.add_head_count_kv(1)
            writer.add_key_length(_KV_RANK + _ROPE_SIZE)
            writer.add_value_length(_KV_RANK)
            writer.add_key_length_mla(spec.head_size + _ROPE_SIZE)
            writer.add_value_length_mla(value)
        else:
            writer.add_head_count_kv(_one_or_all(spec.heads))
            writer.add_key_length(spec.head_size + _ROPE_SIZE)
            writer.add_value_length(value)
        writer.add_q_lora_rank(_Q_RANK)
        writer.add_kv_lora_rank(_KV_RANK)
        writer.add_rope_dimension_count(_ROPE_SIZE)
        writer.add_leading_dense_block_count(spec.n_layer)
        writer.add_expert_count(2)
        writer.add_expert_used_count(1)
        writer.add_expert_shared_count(1)
        writer.add_expert_feed_forward_length(32)
        writer.add_expert_weights_scale(1.0)

    # --- tensors: shapes are (rows, columns) as numpy has them ---

    def _add_weights(self, name: str, *shape: int) -> None:
        weights = self._random.standard_normal(shape, dtype=np.float32) * np.float32(self._spec.weight_scale)
        if self._spec.weight_type == "q4_0" and len(shape) == 2 and shape[1] % 32 == 0:
            packed = gguf.quants.quantize(weights, gguf.GGMLQuantizationType.Q4_0)
            self._writer.add_tensor(name, packed, raw_dtype=gguf.GGMLQuantizationType.Q4_0)
        else:
            self._writer.add_tensor(name, weights)

    def _add_ones(self, name: str, *shape: int) -> None:
        self._writer.add_tensor(name, np.ones(shape, np.float32))

    def _add_feed_forward(self, block: str) -> None:
        embd, ff = self._spec.n_embd, self._spec.n_ff
        self._add_ones(block + "ffn_norm.weight", embd)
        self._add_weights(block + "ffn_gate.weight", ff, embd)
        self._add_weights(block + "ffn_up.weight", ff, embd)
        self._add_weights(block + "ffn_down.weight", embd, ff)

    def _add_llama_layer(self, layer: int, block: str) -> None:
        spec = self._spec
        self._add_feed_forward(block)
        if spec.arch == "gemma3":
            self._add_ones(block + "post_attention_norm.weight", spec.n_embd)
            self._add_ones(block + "post_ffw_norm.weight", spec.n_embd)
        if spec.heads[layer] == 0:
            return
        self._add_ones(block + "attn_norm.weight", spec.n_embd)
        if spec.heads_kv[layer] > 0:
            self._add_attention(layer, block)
        elif spec.arch == "lfm2":
            self._add_weights(block + "shortconv.conv.weight", spec.n_embd, 3)
            self._add_weights(block + "shortconv.in_proj.weight", 3 * spec.n_embd, spec.n_embd)
            self._add_weights(block + "shortconv.out_proj.weight", spec.n_embd, spec.n_embd)
        else:
            self._add_weights(block + "attn_output.weight", spec.n_embd, spec.n_embd)

    def _add_attention(self, layer: int, block: str) -> None:
        spec = self._spec
        rows_q = spec.heads[layer] * spec.head_size
        rows_kv = spec.heads_kv[layer] * spec.head_size
        self._add_weights(block + "attn_q.weight", rows_q, spec.n_embd)
        self._add_weights(block + "attn_k.weight", rows_kv, spec.n_embd)
        self._add_weights(block + "attn_v.weight", rows_kv, spec.n_embd)
        self._add_weights(block + "attn_output.weight", spec.n_embd, rows_q)
        if spec.arch == "qwen2vl":
            self._add_weights(block + "attn_q.bias", rows_q)
            self._add_weights(block + "attn_k.bias", rows_kv)
            self._add_weights(block + "attn_v.bias", rows_kv)
        if spec.arch in ("gemma3", "lfm2"):
            self._add_ones(block + "attn_q_norm.weight", spec.head_size)
            self._add_ones(block + "attn_k_norm.weight", spec.head_size)

    def _add_mla_layer(self, layer: int, block: str) -> None:
        spec = self._spec
        n_head, embd, nope = spec.heads[layer], spec.n_embd, spec.head_size
        value = spec.head_size_v or spec.head_size
        self._add_feed_forward(block)
        self._add_ones(block + "attn_norm.weight", embd)
        self._add_weights(block + "attn_q_a.weight", _Q_RANK, embd)
        self._add_ones(block + "attn_q_a_norm.weight", _Q_RANK)
        self._add_weights(block + "attn_q_b.weight", n_head * (nope + _ROPE_SIZE), _Q_RANK)
        self._add_weights(block + "attn_kv_a_mqa.weight", _KV_RANK + _ROPE_SIZE, embd)
        self._add_ones(block + "attn_kv_a_norm.weight", _KV_RANK)
        if spec.mla:
            self._add_weights(block + "attn_k_b.weight", n_head, _KV_RANK, nope)
            self._add_weights(block + "attn_v_b.weight", n_head, value, _KV_RANK)
        else:
            self._add_weights(block + "attn_kv_b.weight", n_head * (nope + value), _KV_RANK)
        self._add_weights(block + "attn_output.weight", embd, n_head * value)

    def _add_gpt2_layer(self, layer: int, block: str) -> None:
        spec = self._spec
        embd, ff = spec.n_embd, spec.n_ff
        rows_qkv = embd + 2 * spec.heads_kv[layer] * spec.head_size
        for norm in ("attn_norm", "ffn_norm"):
            self._add_ones(f"{block}{norm}.weight", embd)
            self._add_weights(f"{block}{norm}.bias", embd)
        for name, rows, columns in (
            ("attn_qkv", rows_qkv, embd),
            ("attn_output", embd, embd),
            ("ffn_up", ff, embd),
            ("ffn_down", embd, ff),
        ):
            self._add_weights(f"{block}{name}.weight", rows, columns)
            self._add_weights(f"{block}{name}.bias", rows)

    def _add_mamba_layer(self, layer: int, block: str) -> None:
        embd = self._spec.n_embd
        inner = 2 * embd
        self._add_ones(block + "attn_norm.weight", embd)
        self._add_weights(block + "ssm_in.weight", 2 * inner, embd)
        self._add_weights(block + "ssm_conv1d.weight", inner, _MAMBA_KERNEL)
        self._add_weights(block + "ssm_conv1d.bias", inner)
        self._add_weights(block + "ssm_x.weight", _MAMBA_RANK + 2 * _MAMBA_STATE, inner)
        self._add_weights(block + "ssm_dt.weight", inner, _MAMBA_RANK)
        self._add_weights(block + "ssm_dt.bias", inner)
        self._writer.add_tensor(block + "ssm_a", -np.ones((inner, _MAMBA_STATE), np.float32))
        self._add_weights(block + "ssm_d", inner)
        self._add_weights(block + "ssm_out.weight", embd, inner)


_MAMBA_KERNEL, _MAMBA_STATE, _MAMBA_RANK = 4, 16, 8
_KV_RANK, _Q_RANK, _ROPE_SIZE = 64, 48, 32


def _one_or_all(per_layer: tuple[int, ...]) -> Any:
    return per_layer[0] if len(set(per_layer)) == 1 else list(per_layer)


def _value_type(value: object) -> gguf.GGUFValueType:
    types = gguf.GGUFValueType
    if isinstance(value, bool):
        return types.BOOL
    if isinstance(value, int):
        return types.UINT32 if 0 <= value < 2**32 else types.INT64
    if isinstance(value, float) and math.isfinite(value):
        return types.FLOAT32
    return types.ARRAY if isinstance(value, tuple) else types.STRING
