"""Names on the hub: what a person may type for a model, and where its files go."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.models.hub.remote import (
    Reference,
    RemoteFile,
    RemoteModel,
    file_version,
    group_models,
    local_parts,
    parse_reference,
)
from tests.hub_server import COMMIT


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("owner/name-GGUF", Reference("owner/name-GGUF")),
        (" owner/name:Q4_K_M ", Reference("owner/name", quantization="Q4_K_M")),
        ("https://huggingface.co/o/n", Reference("o/n")),
        ("https://huggingface.co/o/n/tree/main", Reference("o/n", "main")),
        ("https://hf-mirror.example/o/n/blob/main/sub/a%20b.gguf", Reference("o/n", "main", "sub/a b.gguf")),
        ("https://huggingface.co/o/n/resolve/v1/a.gguf?download=true", Reference("o/n", "v1", "a.gguf")),
        ("hf.co/o/n:Q8_0", Reference("o/n", quantization="Q8_0")),
        ("https://huggingface.co/o/n/raw/v1/a.gguf", Reference("o/n", "v1", "a.gguf")),
        ("https://huggingface.co/o/n?show_file_info=sub%2Fa.gguf", Reference("o/n", file="sub/a.gguf")),
        ("https://huggingface.co/api/models/o/n", Reference("o/n")),
        ("owner/name/sub/a.gguf", Reference("owner/name", file="sub/a.gguf")),
        ("llama 3 instruct", None),
        ("owner/", None),
        ("a/b/c", None),
        ("../../etc", None),
        ("https://[", None),
        ("https://huggingface.co/", None),
        ("x" * 10_000, None),
    ],
)
def test_what_a_person_may_type(text: str, reference: Reference | None) -> None:
    assert parse_reference(text) == reference


def test_a_repository_s_models() -> None:
    files = [
        RemoteFile("README.md", 10, None),
        RemoteFile("mmproj-F16.gguf", 10, None),
        RemoteFile("m-imatrix.gguf", 10, None),
        RemoteFile("empty.gguf", 0, None),
        RemoteFile("m.Q4_K_M.gguf", 400, None),
        RemoteFile("m-UD-IQ2_XXS.gguf", 200, None),
        RemoteFile("BF16/m-BF16-00002-of-00002.gguf", 700, None),
        RemoteFile("BF16/m-BF16-00001-of-00002.gguf", 800, None),
        RemoteFile("half-00001-of-00002.gguf", 5, None),
    ]
    models = group_models("o/n", COMMIT, files)
    assert [(model.name, model.quantization, model.size_bytes, len(model.files)) for model in models] == [
        ("m-UD-IQ2_XXS", "UD-IQ2_XXS", 200, 1),
        ("m.Q4_K_M", "Q4_K_M", 400, 1),
        ("m-BF16", "BF16", 1500, 2),
    ]
    assert models[2].files[0].path.endswith("00001-of-00002.gguf")


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("a.gguf", ("o", "n", "a.gguf")),
        ("sub/a b.gguf", ("o", "n", "sub", "a b.gguf")),
        ('a:"b".gguf', ("o", "n", "a__b_.gguf")),
        ("con.gguf", ("o", "n", "_con.gguf")),
        ("..\\..\\x.gguf", ("o", "n", ".._.._x.gguf")),
    ],
)
def test_where_a_file_goes(path: str, parts: tuple[str, ...]) -> None:
    file = RemoteFile(path, 1, None)
    assert local_parts(RemoteModel("o/n", COMMIT, (file,)), file) == parts


@pytest.mark.parametrize("path", ["../x.gguf", "a/../../x.gguf", "/etc/x.gguf", "x" * 300 + ".gguf"])
def test_no_name_leads_out_of_the_folder(path: str) -> None:
    file = RemoteFile(path, 1, None)
    with pytest.raises(EngineError) as raised:
        local_parts(RemoteModel("o/n", COMMIT, (file,)), file)
    assert raised.value.code is ErrorCode.HUB_NAME_INVALID


@pytest.mark.parametrize("commit", ["../../../x", COMMIT, ""])
def test_no_commit_leads_out_of_the_folder_either(commit: str) -> None:
    told = RemoteFile("m.gguf", 1, "ab" * 32)
    untold = RemoteFile("m.gguf", 1, None)
    model = RemoteModel("o/n", commit, (told,))
    assert file_version(model, told) == "ab" * 6
    assert re.fullmatch("[0-9a-f]{12}", file_version(model, untold))
    assert file_version(model, untold) != file_version(replace(model, commit="another"), untold)
