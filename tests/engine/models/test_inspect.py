"""The report of `inspect`: its fields, its costs, and the table a person reads."""

from __future__ import annotations

import json

import pytest

from engine.api.settings import CacheType
from engine.models.inspect import inspect_report, inspect_table
from tests.tiny import ARCHITECTURES


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_it_is_json_and_a_table(tiny_model, arch):
    report = inspect_report(tiny_model(arch=arch))
    assert json.loads(json.dumps(report)) == report
    table = inspect_table(report)
    assert arch in table
    assert len({line.index(line.split("  ", 1)[1].strip()) for line in table.splitlines()}) == 1, "one column"


def test_fields_of_a_uniform_model(tiny_model):
    report = inspect_report(tiny_model())
    expected = {
        "architecture": "llama",
        "n_layer": 2,
        "n_head": 4,
        "n_head_kv": [2, 2],
        "head_size_k": 32,
        "head_size_v": 32,
        "n_ctx_train": 512,
        "n_swa": 0,
        "attention": "gqa",
        "gqa_saving": 0.5,
        "mha_kv_bytes_per_token": 1024,
        "recurrent_bytes": 0,
        "kv_exact": True,
    }
    assert {key: report[key] for key in expected} == expected
    assert set(report["kv_bytes_per_token"]) == set(CacheType)
    assert report["kv_bytes_per_token"]["f16"] == 512
    assert report["kv_bytes_per_token"]["q8_0"] == 272
    assert report["kv_bytes"]["f16"] == 512 * 512


def test_layers_that_differ_are_listed(tiny_model):
    report = inspect_report(tiny_model(arch="deci", n_head=(4, 2), n_head_kv=(2, 1)))
    assert report["n_head"] == [4, 2]
    assert report["n_head_kv"] == [2, 1]
    assert "4 2 (layer by layer)" in inspect_table(report)


def test_a_type_that_cannot_hold_the_heads_costs_nothing_known(tiny_model):
    report = inspect_report(tiny_model(head_size=80))
    assert report["kv_bytes_per_token"]["q8_0"] is None
    assert report["kv_bytes"]["q8_0"] is None
    assert report["kv_bytes_per_token"]["f16"] == 2 * 2 * 2 * 80 * 2
    assert "not possible" in inspect_table(report)


def test_windows_cost_less_at_the_trained_length(tiny_model):
    report = inspect_report(tiny_model(arch="gemma3", n_layer=6, n_ctx_train=4096))
    per_token = report["kv_bytes_per_token"]["f16"]
    # 5 of 6 layers have round_up_256(64 + 512) = 768 cells.
    assert report["kv_bytes"]["f16"] == per_token // 6 * (4096 + 5 * 768)
    assert "window of 64 tokens in 5 of 6 layers" in inspect_table(report)


def test_recurrent_state_stands_apart(tiny_model):
    report = inspect_report(tiny_model(arch="mamba"))
    assert report["attention"] == "none"
    assert report["kv_bytes_per_token"]["f16"] == 0
    assert report["recurrent_bytes"] == 2 * (3 + 16) * 256 * 4
    assert "in all layers" in inspect_table(report)
