"""The tiny models of the tests: the same spec gives the same bytes, and impossible specs are refused."""

from __future__ import annotations

import pytest

from tests.tiny import ARCHITECTURES, TinySpec, write_tiny_model


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_same_spec_gives_the_same_bytes(tmp_path, arch):
    first, second = (write_tiny_model(tmp_path / name, TinySpec(arch=arch)) for name in ("a.gguf", "b.gguf"))
    assert first.read_bytes() == second.read_bytes()


def test_another_seed_gives_other_weights_in_the_same_shape(tmp_path):
    first = write_tiny_model(tmp_path / "a.gguf", TinySpec())
    second = write_tiny_model(tmp_path / "b.gguf", TinySpec(seed=1))
    assert first.read_bytes() != second.read_bytes()
    assert first.stat().st_size == second.stat().st_size


@pytest.mark.parametrize("fields", [{"arch": "llama99"}, {"n_head_kv": (1, 2, 3)}, {"n_head": (4,)}])
def test_impossible_specs_are_refused(tmp_path, fields):
    with pytest.raises(ValueError, match=r"tiny model for|one number per layer"):
        write_tiny_model(tmp_path / "x.gguf", TinySpec(**fields))
