"""A model in several files is one model, whichever of them is chosen."""

from __future__ import annotations

import shutil

import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.models.gguf import read_model_info


@pytest.fixture
def folder(tiny_model, tmp_path):
    """A folder with a model in three files."""
    first = tiny_model(max_tensors_per_shard=8)
    for shard in first.parent.glob(first.name.replace("00001-of", "*-of")):
        shutil.copy(shard, tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    return tmp_path


def refusal(path) -> EngineError:
    with pytest.raises(EngineError) as caught:
        read_model_info(path)
    return caught.value


def test_any_shard_gives_the_whole_model(folder, tiny_model):
    shards = sorted(folder.iterdir())
    infos = [read_model_info(shard) for shard in shards]
    assert infos[0] == infos[1] == infos[2]
    assert infos[0].files == tuple(shards)
    assert infos[0].path == shards[0]
    whole = read_model_info(tiny_model())
    assert (infos[0].n_params, infos[0].layers) == (whole.n_params, whole.layers)
    assert infos[0].size_bytes == sum(shard.stat().st_size for shard in shards)


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_missing_shard_is_named(folder, missing):
    shards = sorted(folder.iterdir())
    gone = shards.pop(missing)
    gone.unlink()
    for shard in shards:
        error = refusal(shard)
        assert error.code is ErrorCode.MODEL_SHARD_MISSING
        assert gone.name in error.message


def test_a_renamed_shard_says_so(folder):
    renamed = sorted(folder.iterdir())[0].rename(folder / "model.gguf")
    error = refusal(renamed)
    assert error.code is ErrorCode.MODEL_SHARD_MISSING
    assert "-of-00003.gguf" in error.message


def test_a_shard_in_the_place_of_another_is_damage(folder):
    shards = sorted(folder.iterdir())
    shutil.copy(shards[0], shards[1])
    assert refusal(shards[0]).code is ErrorCode.MODEL_DAMAGED


def test_a_truncated_shard_is_named(folder):
    shards = sorted(folder.iterdir())
    shards[2].write_bytes(shards[2].read_bytes()[:-100])
    error = refusal(shards[0])
    assert error.code is ErrorCode.MODEL_TRUNCATED
    assert shards[2].name in error.message
