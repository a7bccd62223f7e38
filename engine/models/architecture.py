"""Properties of each architecture that llama.cpp's code hard-codes and a GGUF header does not contain.

Source: LLM_ARCH_NAMES in llama-arch.cpp, `load_arch_hparams` in src/models, `create_memory` and
`llama_model_rope_type` in llama-model.cpp (llama.cpp as in llama-cpp-python 0.3.36).
"""

from __future__ import annotations

import dataclasses


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PROJECTORS = frozenset({"clip"})

EMBEDDERS = _names(
    """bert modern-bert nomic-bert nomic-bert-moe neo-bert jina-bert-v2 jina-bert-v3 eurobert
    gemma-embedding llama-embed t5encoder wavtokenizer-dec"""
)

# Diffusion models generate a whole answer at once; like embedding models, they have no cache in llama.cpp.
WITHOUT_CACHE = EMBEDDERS | frozenset({"dream", "llada", "llada-moe", "rnd1"})

RECURRENT = frozenset({"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"})

# Hybrid models, by the rule that decides which layers are recurrent.
HYBRID_BY_HEADS = _names("jamba plamo2 granitehybrid lfm2 lfm2moe kimi-linear bailingmoe3 kimi-k3 glm5-next")
HYBRID_BY_HEADS_AND_WIDTH = frozenset({"nemotron_h", "nemotron_h_moe"})
HYBRID_BY_INTERVAL = {"qwen3next": 4, "qwen35": 4, "qwen35moe": 4, "qwen4exp": 4, "minimax-01": 8}
HYBRID_EVERYWHERE = frozenset({"falcon-h1"})
HYBRID = HYBRID_BY_HEADS | HYBRID_BY_HEADS_AND_WIDTH | frozenset(HYBRID_BY_INTERVAL) | HYBRID_EVERYWHERE

WITHOUT_ROPE = RECURRENT | _names(
    """clip gpt2 gptj mpt refact bloom jamba jina-bert-v2 t5 t5encoder jais wavtokenizer-dec nemotron_h
    nemotron_h_moe kimi-linear kimi-k3 glm5-next"""
)

# Architectures with caches other than K and V (indexers, compressed copies), or with layers that the header does
# not count: only llama.cpp can measure their memory.
WITH_FURTHER_CACHES = _names(
    """minimax-m3 glm-dsa deepseek32 deepseek4 dots3note glm5-next hy_v4 qwen4exp dflash eagle3 nanbeige
    graniteswitch t5 gemma4-assistant"""
)

KNOWN = (
    PROJECTORS
    | WITHOUT_CACHE
    | RECURRENT
    | HYBRID
    | WITHOUT_ROPE
    | WITH_FURTHER_CACHES
    | _names(
        """llama llama4 deci falcon grok gptneox baichuan starcoder stablelm qwen qwen2 qwen2moe qwen2vl qwen3
    qwen3moe qwen3vl qwen3vlmoe phi2 phi3 phimoe plamo plamo3 codeshell orion internlm2 minicpm minicpm3
    gemma gemma2 gemma3 gemma3n gemma4 starcoder2 maple xverse command-r cohere2 cohere2moe dbrx olmo
    olmo2 olmoe muse-glimmer openelm arctic deepseek deepseek2 deepseek2-ocr chatglm glm4 glm4moe bitnet
    jais2 nemotron exaone exaone4 exaone-moe granite granitemoe granite_swa chameleon plm bailingmoe
    bailingmoe2 dots1 arcee afmoe laguna ernie4_5 ernie4_5-moe hunyuan-moe hunyuan-dense hunyuan_vl
    hy_v3 smollm3 gpt-oss smallthinker seed_oss grovemoe apertus hrm_text minimax-m2 cogvlm
    pangu-embedded mistral3 mistral4 paddleocr mimo2 step35 spark2_5 maincoder talkie mellum qwen3tts
    pockettts"""
    )
)


@dataclasses.dataclass(frozen=True)
class WindowRule:
    """The rule by which an architecture selects its sliding-window layers.

    Every `every`-th layer has full attention, the others a window: the last layer of each group is the full one, or
    the first with `dense_first`. The header may override the number, or give a list; without `every` it must give
    the list. `size` is the window in tokens if the header has none (None: no window); `fixed` overrides the header.
    """

    every: int | None = None
    dense_first: bool = False
    size: int | None = None
    fixed: bool = False

    def is_window(self, layer: int, every: int) -> bool:
        """Whether the layer has a window when every `every`-th layer sees everything (0: none does)."""
        if every == 0:
            return True
        return layer % every != 0 if self.dense_first else layer % every < every - 1


# Architectures whose sliding window llama.cpp implements; for all others it ignores the header's window.
WINDOWS: dict[str, WindowRule] = {
    "afmoe": WindowRule(4),
    "cohere2": WindowRule(4),
    "cohere2moe": WindowRule(4, dense_first=True),
    "deepseek4": WindowRule(0),
    "dots3note": WindowRule(),
    "exaone-moe": WindowRule(4, size=128),
    "exaone4": WindowRule(4, size=4096),
    "gemma-embedding": WindowRule(6),
    "gemma2": WindowRule(2, size=4096),
    "gemma3": WindowRule(6),
    "gemma3n": WindowRule(5),
    "gemma4": WindowRule(),
    "gemma4-assistant": WindowRule(),
    "gpt-oss": WindowRule(2),
    "granite_swa": WindowRule(),
    "laguna": WindowRule(4, dense_first=True),
    "lfm2": WindowRule(0),
    "llama4": WindowRule(4, size=8192, fixed=True),
    "maple": WindowRule(),
    "mellum": WindowRule(4),
    "mimo2": WindowRule(),
    "modern-bert": WindowRule(3, dense_first=True),
    "muse-glimmer": WindowRule(4),
    "olmo2": WindowRule(4),
    "plamo3": WindowRule(8),
    "smallthinker": WindowRule(4, dense_first=True, size=4096, fixed=True),
    "spark2_5": WindowRule(),
    "step35": WindowRule(),
}

# exaone4 has windows only in its 64-layer size.
EXAONE4_LAYERS_WITH_WINDOW = 64

# gemma3n: only the first layers have a cache of their own; the others reuse it.
GEMMA3N_LAYERS_WITH_CACHE = 20
