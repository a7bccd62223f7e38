"""Headers of well-known models as Q4_K_M, in files whose weights are holes: real to everything but a load."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import gguf
import numpy as np

GIB = 2**30
_F32, _Q4, _Q6 = gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.Q4_K, gguf.GGMLQuantizationType.Q6_K


@dataclasses.dataclass(frozen=True)
class RealModel:
    """`published_gb` is the size of the file that people download, in 10^9 bytes."""

    arch: str
    n_layer: int
    n_embd: int
    n_head: int
    n_head_kv: int
    n_ff: int
    n_vocab: int
    n_ctx_train: int
    published_gb: float
    head_size: int = 128
    n_swa: int = 0
    is_tied: bool = False


MODELS = {
    "Llama-2-7B": RealModel("llama", 32, 4096, 32, 32, 11_008, 32_000, 4096, 4.08),
    "Llama-3.1-8B": RealModel("llama", 32, 4096, 32, 8, 14_336, 128_256, 131_072, 4.92),
    "Qwen2.5-7B": RealModel("qwen2", 28, 3584, 28, 4, 18_944, 152_064, 32_768, 4.68),
    "Mistral-7B": RealModel("llama", 32, 4096, 32, 8, 14_336, 32_768, 32_768, 4.37),
    "Gemma-3-12B": RealModel("gemma3", 48, 3840, 16, 8, 15_360, 262_144, 131_072, 7.30, 256, 1024, True),
    "Phi-4": RealModel("phi3", 40, 5120, 40, 10, 17_920, 100_352, 16_384, 9.05),
}


def write_real_header(path: Path, model: RealModel) -> Path:
    """Write the header; the file then has the size of the real one, and takes next to nothing on the disk."""
    writer = gguf.GGUFWriter(path, model.arch)
    writer.add_name(path.stem)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_K_M)
    writer.add_context_length(model.n_ctx_train)
    writer.add_embedding_length(model.n_embd)
    writer.add_block_count(model.n_layer)
    writer.add_feed_forward_length(model.n_ff)
    writer.add_head_count(model.n_head)
    writer.add_head_count_kv(model.n_head_kv)
    writer.add_key_length(model.head_size)
    writer.add_value_length(model.head_size)
    writer.add_rope_dimension_count(model.head_size)
    writer.add_layer_norm_rms_eps(1e-5)
    if model.n_swa:
        writer.add_sliding_window(model.n_swa)
    writer.add_vocab_size(model.n_vocab)
    writer.add_tokenizer_model("no_vocab")
    writer.add_chat_template("{{ messages }}")
    n_bytes = _Tensors(writer, model).add_all()
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
    data_offset = -(-path.stat().st_size // gguf.GGUF_DEFAULT_ALIGNMENT) * gguf.GGUF_DEFAULT_ALIGNMENT
    with path.open("r+b") as file:
        file.truncate(data_offset + n_bytes)
    return path


class _Tensors:
    """Adds a model's tensors to a writer, and counts their bytes."""

    def __init__(self, writer: gguf.GGUFWriter, model: RealModel) -> None:
        self._writer = writer
        self._model = model
        self._n_bytes = 0

    def add_all(self) -> int:
        model = self._model
        self._add("token_embd.weight", model.n_vocab, model.n_embd, kind=_Q6 if model.is_tied else _Q4)
        self._add("output_norm.weight", model.n_embd)
        if not model.is_tied:
            self._add("output.weight", model.n_vocab, model.n_embd, kind=_Q6)
        for layer in range(model.n_layer):
            self._add_layer(layer, f"blk.{layer}.")
        return self._n_bytes

    def _add_layer(self, layer: int, prefix: str) -> None:
        model = self._model
        n_embd, n_ff = model.n_embd, model.n_ff
        n_q, n_kv = model.n_head * model.head_size, model.n_head_kv * model.head_size
        fine = _Q6 if self._is_fine(layer) else _Q4
        self._add(prefix + "attn_norm.weight", n_embd)
        self._add(prefix + "ffn_norm.weight", n_embd)
        if model.arch == "phi3":
            self._add(prefix + "attn_qkv.weight", n_q + 2 * n_kv, n_embd, kind=gguf.GGMLQuantizationType.Q5_K)
            self._add(prefix + "ffn_up.weight", 2 * n_ff, n_embd, kind=_Q4)
        else:
            self._add(prefix + "attn_q.weight", n_q, n_embd, kind=_Q4)
            self._add(prefix + "attn_k.weight", n_kv, n_embd, kind=_Q4)
            self._add(prefix + "attn_v.weight", n_kv, n_embd, kind=fine)
            self._add(prefix + "ffn_gate.weight", n_ff, n_embd, kind=_Q4)
            self._add(prefix + "ffn_up.weight", n_ff, n_embd, kind=_Q4)
        self._add(prefix + "attn_output.weight", n_embd, n_q, kind=_Q4)
        self._add(prefix + "ffn_down.weight", n_embd, n_ff, kind=fine)
        if model.arch == "qwen2":
            for name, n_rows in (("q", n_q), ("k", n_kv), ("v", n_kv)):
                self._add(f"{prefix}attn_{name}.bias", n_rows)
        if model.arch == "gemma3":
            for name in ("attn_q_norm", "attn_k_norm"):
                self._add(f"{prefix}{name}.weight", model.head_size)
            for name in ("post_attention_norm", "post_ffw_norm"):
                self._add(f"{prefix}{name}.weight", n_embd)

    def _is_fine(self, layer: int) -> bool:
        """Q4_K_M gives the first and last eighth of the layers, and every third between, more bits."""
        n, eighth = self._model.n_layer, self._model.n_layer // 8
        return layer < eighth or layer >= 7 * n // 8 or (layer - eighth) % 3 == 2

    def _add(self, name: str, *shape: int, kind: gguf.GGMLQuantizationType = _F32) -> None:
        block, n_block_bytes = gguf.GGML_QUANT_SIZES[kind]
        n_bytes = int(np.prod(shape)) // block * n_block_bytes
        self._writer.add_tensor_info(name, shape, np.dtype(np.float32), n_bytes, raw_dtype=kind)
        alignment = gguf.GGUF_DEFAULT_ALIGNMENT
        self._n_bytes = -(-self._n_bytes // alignment) * alignment + n_bytes
