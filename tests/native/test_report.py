"""What llama.cpp's log says becomes numbers, and no line can stop the reading."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from engine.native.report import MIB, Buffer, KvCache, RecurrentState, is_same_size, read_context, read_load

LOAD = """\
model has unused tensor blk.9.extra.weight (size = 4096 bytes) -- ignoring
load_tensors: layer   0 assigned to device CPU, is_swa = 0
load_tensors: layer   1 assigned to device CUDA0, is_swa = 1
load_tensors: layer   2 assigned to device CUDA0, is_swa = 0
load_tensors:   CPU_Mapped model buffer size =    28.69 MiB
load_tensors:        CUDA0 model buffer size =  1024.00 MiB
""".splitlines()

CONTEXT = """\
llama_context: n_ctx                 = 2048
llama_context: n_batch               = 512
llama_context: n_ubatch              = 128
llama_context: flash_attn            = auto
llama_context:  CUDA_Host  output buffer size =     0.19 MiB
llama_kv_cache_iswa: creating non-SWA KV cache, size = 2048 cells
llama_kv_cache: layer   0: filtered
llama_kv_cache: layer   1: dev = CUDA0
llama_kv_cache:      CUDA0 KV buffer size =     0.50 MiB
llama_kv_cache: size =    0.50 MiB (  2048 cells,   1 layers,  1/1 seqs), K (f16):    0.25 MiB, V (q8_0):    0.13 MiB
llama_kv_cache: attn_rot_k = 0, n_embd_head_k_all = 64
llama_kv_cache: attn_rot_v = 1, n_embd_head_k_all = 64
llama_kv_cache: layer   0: dev = CPU
llama_kv_cache: size =    0.94 MiB (   768 cells,   1 layers,  1/1 seqs), K (f16):    0.47 MiB, V (q8_0):    0.25 MiB
llama_memory_recurrent, layer   2: dev = CUDA0
llama_memory_recurrent: layer   3: skipped
llama_memory_recurrent:      CUDA0 RS buffer size =     0.04 MiB
llama_memory_recurrent: size =    0.04 MiB (     1 cells,   1 layers,  1 seqs  0 rs_seq), R (f32):    0.01 MiB
resolve_fused_ops: Flash Attention enabled
sched_reserve:      CUDA0 compute buffer size =   102.51 MiB
sched_reserve:  CUDA_Host compute buffer size =     3.27 MiB
""".splitlines()


def test_a_load() -> None:
    report = read_load(LOAD)
    assert report.layer_devices == ("CPU", "CUDA0", "CUDA0")
    assert report.model_buffers == (Buffer("CPU_Mapped", round(28.69 * MIB)), Buffer("CUDA0", 1024 * MIB))
    assert report.unused_tensors == {"blk.9.extra.weight"}


def test_a_context() -> None:
    report = read_context(CONTEXT)
    assert (report.n_ctx, report.n_batch, report.n_ubatch) == (2048, 512, 128)
    assert report.flash_attn
    assert (report.has_rotated_k, report.has_rotated_v, report.is_v_padded) == (False, True, False)
    assert report.caches == (
        KvCache(2048, ((1, "CUDA0"),), MIB // 4, round(0.13 * MIB)),
        KvCache(768, ((0, "CPU"),), round(0.47 * MIB), MIB // 4),
    )
    assert report.recurrent == (RecurrentState(1, ((2, "CUDA0"),), round(0.04 * MIB)),)
    assert report.kv_buffers == (Buffer("CUDA0", MIB // 2),)
    assert report.recurrent_buffers == (Buffer("CUDA0", round(0.04 * MIB)),)
    assert report.compute_buffers == (Buffer("CUDA0", round(102.51 * MIB)), Buffer("CUDA_Host", round(3.27 * MIB)))
    assert report.output_buffers == (Buffer("CUDA_Host", round(0.19 * MIB)),)


def test_how_flash_attention_ended() -> None:
    asked = "llama_context: flash_attn            = {}"
    assert read_context([asked.format("enabled")]).flash_attn
    assert not read_context([asked.format("disabled")]).flash_attn
    mismatch = "resolve_fused_ops: layer 0 is assigned to device X but Flash Attention is assigned to device CPU (…)"
    ended = "resolve_fused_ops: Flash Attention not supported, set to disabled"
    report = read_context([asked.format("auto"), mismatch, ended])
    assert report.device_mismatch
    assert not report.flash_attn


def test_a_padded_v() -> None:
    line = "llama_kv_cache: the V embeddings have different sizes across layers and FA is not enabled - padding V cache"
    assert read_context([f"{line} to 64"]).is_v_padded


@given(st.data())
def test_no_line_stops_the_reading(data: st.DataObject) -> None:
    lines = LOAD + CONTEXT
    source = random.Random(data.draw(st.integers()))
    pieces = [source.choice(lines)[: source.randrange(120)] + source.choice(lines) for _ in range(20)]
    pieces.append(data.draw(st.text(max_size=60)))
    load, context = read_load(pieces), read_context(pieces)
    assert all(buffer.n_bytes >= 0 for buffer in (*load.model_buffers, *context.compute_buffers))
    assert context.n_ctx >= 0


@given(st.integers(0, 1 << 44))
def test_a_size_is_told_from_what_the_log_makes_of_it(n_bytes: int) -> None:
    logged = round(float(f"{n_bytes / MIB:.2f}") * MIB)
    assert is_same_size(n_bytes, logged)
    assert not is_same_size(n_bytes + MIB // 50 + n_bytes // 2**22, logged)
