"""What a model's header says about it, for every kind of attention."""

from __future__ import annotations

import dataclasses
import pickle

import gguf
import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.models.gguf import Attention, ModelKind, Positions, read_model_info, require_chat_model
from tests.engine.models import raw_gguf as raw
from tests.tiny import ARCHITECTURES, CHATML


@pytest.fixture
def info_of(tmp_path):
    def read(*pairs: bytes):
        path = tmp_path / "model.gguf"
        path.write_bytes(raw.model(*pairs))
        return read_model_info(path)

    return read


def other_architecture(name: str, *pairs: bytes) -> bytes:
    """A sound file of another architecture; the pairs' keys begin with its name."""
    needed = [
        raw.pair("general.architecture", raw.STRING, name),
        raw.pair(f"{name}.block_count", raw.U32, 8),
        raw.pair(f"{name}.context_length", raw.U32, 512),
        raw.pair(f"{name}.embedding_length", raw.U32, 64),
        raw.pair(f"{name}.attention.head_count", raw.U32, 4),
    ]
    given = [pair for pair in pairs if b"head_count" in pair[:60]]
    return raw.gguf(
        [*(needed[:-1] if given else needed), *pairs],
        [raw.tensor("token_embd.weight", (64, 4))],
        data=bytes(1024),
    )


class TestAttention:
    @pytest.mark.parametrize(
        ("spec", "kind"),
        [
            ({"n_head_kv": 4}, Attention.MHA),
            ({"n_head_kv": 2}, Attention.GQA),
            ({"n_head_kv": 1}, Attention.MQA),
            ({"arch": "gpt2", "n_head_kv": 4}, Attention.MHA),
            ({"arch": "deepseek2"}, Attention.MLA),
            ({"arch": "deepseek2", "mla": False}, Attention.MHA),
            ({"arch": "deci", "n_head_kv": (1, 4)}, Attention.GQA),
            ({"arch": "lfm2", "n_head_kv": (0, 1)}, Attention.MQA),
            ({"arch": "mamba"}, Attention.NONE),
        ],
    )
    def test_kind(self, tiny_model, spec, kind):
        assert read_model_info(tiny_model(**spec)).attention is kind

    def test_heads_of_each_layer(self, tiny_model):
        info = read_model_info(tiny_model(arch="deci", n_layer=4, n_head=(4, 2, 4, 0), n_head_kv=(2, 1, 0, 0)))
        assert info.n_head == (4, 2, 4, 0)
        assert info.n_head_kv == (2, 1, 0, 0)
        assert [layer.row_k for layer in info.layers] == [64, 32, 0, 0]

    def test_different_sizes_of_k_and_v(self, tiny_model):
        layer = read_model_info(tiny_model(arch="deepseek2", mla=False, head_size_v=64)).layers[0]
        assert (layer.head_size_k, layer.head_size_v) == (64, 64)
        layer = read_model_info(tiny_model(arch="deepseek2", mla=False, head_size_v=96)).layers[0]
        assert (layer.head_size_k, layer.head_size_v) == (64, 96)
        assert (layer.row_k, layer.row_v) == (4 * 64, 4 * 96)

    def test_mla_stores_one_latent_row_and_no_v(self, tiny_model):
        layer = read_model_info(tiny_model(arch="deepseek2")).layers[0]
        assert (layer.row_k, layer.row_v) == (64 + 32, 0)
        assert (layer.mha_row_k, layer.mha_row_v) == (4 * (32 + 32), 4 * 32)

    def test_without_kv_heads_every_head_has_its_own(self, info_of):
        assert info_of().n_head_kv == (2,)

    def test_head_size_comes_from_the_width_unless_given(self, info_of):
        assert info_of().layers[0].head_size_k == 32
        given = info_of(
            raw.pair("llama.attention.key_length", raw.U32, 48),
            raw.pair("llama.attention.value_length", raw.U32, 16),
        )
        assert (given.layers[0].head_size_k, given.layers[0].head_size_v) == (48, 16)

    def test_head_sizes_go_by_the_first_layer(self, tmp_path):
        # llama.cpp has no head size at all where the first layer has no heads; only plamo2 reads it all the same.
        path = tmp_path / "model.gguf"
        for name, size in (("deci", 0), ("plamo2", 32)):
            heads = raw.array(raw.U32, [0, 4, 4, 4, 4, 4, 4, 4])
            path.write_bytes(
                other_architecture(
                    name,
                    raw.pair(f"{name}.attention.head_count", raw.ARRAY, heads),
                    raw.pair(f"{name}.attention.key_length", raw.U32, 32),
                )
            )
            assert read_model_info(path).layers[1].head_size_k == size

    def test_an_unequal_list_of_layers_with_prediction_layers(self, tmp_path):
        path = tmp_path / "model.gguf"
        path.write_bytes(
            other_architecture(
                "qwen35",
                raw.pair("qwen35.nextn_predict_layers", raw.U32, 1),
                raw.pair("qwen35.attention.recurrent_layers", raw.ARRAY, raw.array(raw.BOOL, [True] * 3 + [False] * 5)),
            )
        )
        info = read_model_info(path)
        assert (info.n_layer, info.recurrent_layers) == (7, (0, 1, 2))


class TestWindows:
    @pytest.mark.parametrize(
        ("pattern", "windows"),
        [(None, (0, 1, 2, 3, 4, 6)), (2, (0, 2, 4, 6)), (1, ())],
    )
    def test_gemma3_pattern(self, tiny_model, pattern, windows):
        info = read_model_info(tiny_model(arch="gemma3", n_layer=7, swa_pattern=pattern))
        assert info.n_swa == 64
        assert info.window_layers == windows

    def test_a_listed_pattern(self, tmp_path):
        path = tmp_path / "model.gguf"
        listed = [True, True, False, True, False, False, True, True]
        path.write_bytes(
            other_architecture(
                "gemma4",
                raw.pair("gemma4.attention.sliding_window", raw.U32, 128),
                raw.pair("gemma4.attention.sliding_window_pattern", raw.ARRAY, raw.array(raw.BOOL, listed)),
                raw.pair("gemma4.attention.key_length_swa", raw.U32, 8),
                raw.pair("gemma4.attention.value_length_swa", raw.U32, 8),
                raw.pair("gemma4.attention.shared_kv_layers", raw.U32, 3),
            )
        )
        info = read_model_info(path)
        assert info.window_layers == (0, 1, 3, 6, 7)
        assert [layer.head_size_k for layer in info.layers[:3]] == [8, 8, 16]
        assert [layer.has_cells for layer in info.layers] == [True] * 5 + [False] * 3

    @pytest.mark.parametrize(
        ("name", "n_swa", "windows"),
        [
            ("gpt-oss", 100, (0, 2, 4, 6)),
            ("cohere2moe", 100, (1, 2, 3, 5, 6, 7)),
            ("llama4", 8192, (0, 1, 2, 4, 5, 6)),
            ("smallthinker", 4096, (1, 2, 3, 5, 6, 7)),
            ("phi3", 0, ()),
            ("exaone4", 0, ()),
        ],
    )
    def test_architectures_have_their_own_rules(self, tmp_path, name, n_swa, windows):
        path = tmp_path / "model.gguf"
        path.write_bytes(other_architecture(name, raw.pair(f"{name}.attention.sliding_window", raw.U32, 100)))
        info = read_model_info(path)
        assert (info.n_swa, info.window_layers) == (n_swa, windows)

    def test_no_window_in_the_header_is_none_in_the_cache(self, tmp_path):
        path = tmp_path / "model.gguf"
        path.write_bytes(other_architecture("gemma3"))
        assert read_model_info(path).n_swa == 0
        path.write_bytes(other_architecture("gemma2"))
        assert read_model_info(path).n_swa == 4096


class TestRecurrence:
    def test_a_recurrent_model_has_no_cells(self, tiny_model):
        info = read_model_info(tiny_model(arch="mamba"))
        assert info.is_recurrent
        assert not info.is_hybrid
        assert not any(layer.has_cells for layer in info.layers)
        # (kernel - 1) x inner for the convolution, state x inner for the state.
        assert info.layers[0].state_size == 3 * 256 + 16 * 256

    def test_a_hybrid_model_has_both(self, tiny_model):
        info = read_model_info(tiny_model(arch="lfm2", n_layer=3, n_head_kv=(0, 2, 0)))
        assert info.is_hybrid
        assert not info.is_recurrent
        assert info.recurrent_layers == (0, 2)
        assert [layer.row_k for layer in info.layers] == [0, 64, 0]
        assert [layer.state_size for layer in info.layers] == [2 * 128, 0, 2 * 128]

    def test_hybrids_by_interval(self, tmp_path):
        path = tmp_path / "model.gguf"
        path.write_bytes(other_architecture("qwen3next"))
        assert read_model_info(path).recurrent_layers == (0, 1, 2, 4, 5, 6)
        path.write_bytes(other_architecture("qwen3next", raw.pair("qwen3next.full_attention_interval", raw.U32, 2)))
        assert read_model_info(path).recurrent_layers == (0, 2, 4, 6)

    def test_falcon_h1_has_both_in_every_layer(self, tmp_path):
        path = tmp_path / "model.gguf"
        path.write_bytes(other_architecture("falcon-h1", raw.pair("falcon-h1.ssm.state_size", raw.U32, 4)))
        info = read_model_info(path)
        assert all(layer.is_recurrent and layer.has_cells for layer in info.layers)
        assert info.is_hybrid

    def test_nemotron_h_has_layers_of_three_kinds(self, tmp_path):
        path = tmp_path / "model.gguf"
        path.write_bytes(
            other_architecture(
                "nemotron_h",
                raw.pair(
                    "nemotron_h.attention.head_count_kv",
                    raw.ARRAY,
                    raw.array(raw.U32, [0, 0, 2, 0, 0, 2, 0, 0]),
                ),
                raw.pair("nemotron_h.attention.head_count", raw.U32, 4),
                raw.pair("nemotron_h.feed_forward_length", raw.ARRAY, raw.array(raw.U32, [0, 9, 0, 0, 9, 0, 0, 9])),
            )
        )
        info = read_model_info(path)
        assert info.recurrent_layers == (0, 3, 6)
        assert [index for index, layer in enumerate(info.layers) if layer.has_cells] == [2, 5]


class TestPositions:
    @pytest.mark.parametrize(
        ("arch", "positions"),
        [
            ("llama", Positions.ROPE),
            ("qwen2vl", Positions.MROPE),
            ("gpt2", Positions.LEARNED),
            ("mamba", Positions.NONE),
        ],
    )
    def test_kind(self, tiny_model, arch, positions):
        assert read_model_info(tiny_model(arch=arch, n_head_kv=4)).positions is positions

    def test_scaling(self, info_of):
        assert info_of().rope.scaling == "none"
        rope = info_of(
            raw.pair("llama.rope.freq_base", raw.F32, 500000.0),
            raw.pair("llama.rope.scaling.type", raw.STRING, "yarn"),
            raw.pair("llama.rope.scaling.factor", raw.F32, 4.0),
            raw.pair("llama.rope.scaling.original_context_length", raw.U32, 128),
        ).rope
        assert (rope.base, rope.scaling, rope.factor, rope.n_ctx_original) == (500000.0, "yarn", 4.0, 128)

    def test_a_factor_of_one_is_no_scaling(self, info_of):
        assert info_of(raw.pair("llama.rope.scaling.factor", raw.F32, 1.0)).rope.scaling == "none"


class TestFacts:
    def test_all_of_a_tiny_model(self, tiny_model):
        path = tiny_model(n_ctx_train=1024)
        info = read_model_info(path)
        assert info.files == (path,)
        assert (info.architecture, info.name, info.licence) == ("llama", "tiny llama", "mit")
        assert (info.kind, info.quantization, info.tokenizer) == (ModelKind.CHAT, "F32", "llama")
        assert (info.n_layer, info.n_embd, info.n_vocab, info.n_ctx_train) == (2, 128, 288, 1024)
        assert (info.bos_token_id, info.eos_token_id) == (1, 2)
        assert info.chat_template == CHATML
        assert info.size_bytes == path.stat().st_size
        assert info.n_params == sum(int(tensor.n_elements) for tensor in gguf.GGUFReader(path).tensors)
        assert info.is_architecture_known
        assert info.is_geometry_exact

    def test_no_template(self, tiny_model):
        assert read_model_info(tiny_model(chat_template=None)).chat_template is None

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_it_crosses_a_process_border(self, tiny_model, arch):
        info = read_model_info(tiny_model(arch=arch))
        assert pickle.loads(pickle.dumps(info)) == info
        assert dataclasses.replace(info) == info

    def test_file_types_have_names_and_unknown_ones_the_weights(self, info_of):
        assert info_of(raw.pair("general.file_type", raw.U32, 15)).quantization == "Q4_K_M"
        assert info_of(raw.pair("general.file_type", raw.U32, 9999)).quantization == "F32"
        assert info_of().quantization == "F32"

    def test_an_unknown_architecture_is_only_a_flag(self, tmp_path):
        path = tmp_path / "model.gguf"
        path.write_bytes(other_architecture("llama99"))
        info = read_model_info(path)
        assert not info.is_architecture_known
        assert not info.is_geometry_exact
        assert info.n_layer == 8

    def test_a_header_without_heads_says_nothing_of_the_cache(self, tmp_path):
        for name, is_exact in (("llama", False), ("mamba", True)):
            pairs = [
                raw.pair("general.architecture", raw.STRING, name),
                *(raw.pair(f"{name}.{key}", raw.U32, 64) for key in ("context_length", "embedding_length")),
                raw.pair(f"{name}.block_count", raw.U32, 2),
            ]
            path = tmp_path / f"{name}.gguf"
            path.write_bytes(raw.gguf(pairs, [raw.tensor("token_embd.weight", [8, 4])], data=bytes(128)))
            assert read_model_info(path).is_geometry_exact is is_exact

    def test_a_token_id_that_means_none(self, info_of):
        assert info_of(raw.pair("tokenizer.ggml.bos_token_id", raw.U32, 2**32 - 1)).bos_token_id is None

    def test_layers_that_only_predict_are_not_counted(self, tmp_path):
        path = tmp_path / "model.gguf"
        path.write_bytes(other_architecture("glm4moe", raw.pair("glm4moe.nextn_predict_layers", raw.U32, 1)))
        assert read_model_info(path).n_layer == 7

    @pytest.mark.parametrize(
        "pair",
        [
            raw.pair("llama.attention.head_count_kv", raw.ARRAY, raw.array(raw.U32, [1, 2])),
            raw.pair("llama.attention.head_count_kv", raw.STRING, "two"),
            raw.pair("llama.attention.key_length", raw.I32, -4),
            raw.pair("llama.rope.freq_base", raw.F32, float("nan")),
            raw.pair("llama.nextn_predict_layers", raw.U32, 1),
        ],
    )
    def test_a_header_that_contradicts_itself_is_damaged(self, info_of, pair):
        with pytest.raises(EngineError) as caught:
            info_of(pair)
        assert caught.value.code is ErrorCode.MODEL_DAMAGED

    @pytest.mark.parametrize("missing", ["block_count", "context_length", "embedding_length", "architecture"])
    def test_what_a_model_must_say(self, tmp_path, missing):
        path = tmp_path / "model.gguf"
        pairs = [pair for pair in raw.llama_pairs() if missing.encode() not in pair]
        path.write_bytes(raw.gguf(pairs, [raw.tensor("t", (4,))], data=bytes(16)))
        with pytest.raises(EngineError) as caught:
            read_model_info(path)
        assert caught.value.code is ErrorCode.MODEL_DAMAGED

    def test_a_vocabulary_without_weights_is_no_model(self, tmp_path):
        path = tmp_path / "model.gguf"
        path.write_bytes(raw.gguf(raw.llama_pairs()))
        with pytest.raises(EngineError) as caught:
            read_model_info(path)
        assert caught.value.code is ErrorCode.MODEL_DAMAGED


class TestFilesThatCannotChat:
    @pytest.mark.parametrize(
        ("content", "kind", "code"),
        [
            (
                raw.gguf(
                    [raw.pair("general.architecture", raw.STRING, "clip")],
                    [raw.tensor("v", (4,))],
                    data=bytes(16),
                ),
                ModelKind.PROJECTOR,
                ErrorCode.MODEL_IS_PROJECTOR,
            ),
            (other_architecture("bert"), ModelKind.EMBEDDING, ErrorCode.MODEL_IS_EMBEDDING),
            (
                raw.model(raw.pair("llama.pooling_type", raw.U32, 3)),
                ModelKind.EMBEDDING,
                ErrorCode.MODEL_IS_EMBEDDING,
            ),
            (
                raw.gguf(
                    [
                        raw.pair("general.architecture", raw.STRING, "llama"),
                        raw.pair("general.type", raw.STRING, "adapter"),
                    ],
                    [raw.tensor("a", (4,))],
                    data=bytes(16),
                ),
                ModelKind.ADAPTER,
                ErrorCode.MODEL_IS_ADAPTER,
            ),
        ],
    )
    def test_they_are_read_and_refused_for_chat(self, tmp_path, content, kind, code):
        path = tmp_path / "other.gguf"
        path.write_bytes(content)
        info = read_model_info(path)
        assert info.kind is kind
        with pytest.raises(EngineError) as caught:
            require_chat_model(info)
        assert caught.value.code is code
        assert path.name in caught.value.message

    def test_a_chat_model_passes(self, tiny_model, info_of):
        require_chat_model(read_model_info(tiny_model()))
        require_chat_model(info_of(raw.pair("llama.pooling_type", raw.U32, 0)))
