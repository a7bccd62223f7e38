"""The report of the `inspect` command, as data or as a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.api.settings import CacheType
from engine.models import geometry
from engine.models.gguf import ModelInfo, read_model_info


def inspect_report(path: Path) -> dict[str, Any]:
    """Everything the header says about the model at `path`, ready for JSON; raises as `read_model_info` does.

    `n_head_kv` has one number per layer; `n_head` and the head sizes are one number where all layers agree, a
    list where they don't. Sizes are in bytes. `kv_bytes_per_token` has each cache type for both K and V, None
    where a type cannot hold the model's heads; `kv_bytes` is the whole cache at the trained length.
    """
    info = read_model_info(path)
    return {
        "path": str(info.path),
        "files": len(info.files),
        "kind": info.kind.value,
        "name": info.name,
        "architecture": info.architecture,
        "architecture_known": info.is_architecture_known,
        "licence": info.licence,
        "quantization": info.quantization,
        "size_bytes": info.size_bytes,
        "n_params": info.n_params,
        "n_vocab": info.n_vocab,
        "n_ctx_train": info.n_ctx_train,
        "n_layer": info.n_layer,
        "n_embd": info.n_embd,
        "n_head": _one_or_all(info.n_head),
        "n_head_kv": list(info.n_head_kv),
        "head_size_k": _one_or_all(tuple(layer.head_size_k for layer in info.layers)),
        "head_size_v": _one_or_all(tuple(layer.head_size_v for layer in info.layers)),
        "attention": info.attention.value,
        "n_swa": info.n_swa,
        "window_layers": list(info.window_layers),
        "recurrent_layers": list(info.recurrent_layers),
        "recurrent": info.is_recurrent,
        "hybrid": info.is_hybrid,
        "positions": info.positions.value,
        "rope_base": info.rope.base,
        "rope_scaling": info.rope.scaling,
        "rope_factor": info.rope.factor,
        "chat_template": info.chat_template is not None,
        **_cost(info),
    }


def inspect_table(report: Mapping[str, Any]) -> str:
    """The report of `inspect_report` for a person to read."""
    rows = [
        ("Model", f"{report['name']} ({report['architecture']}, {report['quantization']})"),
        ("File", f"{report['path']}{_shards(report['files'])}"),
        ("Size", f"{_mib(report['size_bytes'])}, {report['n_params']:,} parameters"),
        ("Licence", report["licence"] or "not named"),
        ("Kind", report["kind"] + ("" if report["architecture_known"] else ", unknown architecture")),
        ("Trained length", f"{report['n_ctx_train']:,} tokens"),
        ("Layers", f"{report['n_layer']}, {report['n_embd']} wide"),
        ("Attention", _attention(report)),
        ("Query heads", _per_layer(report["n_head"])),
        ("KV heads", _per_layer(_one_or_all(tuple(report["n_head_kv"])))),
        ("Head size K", _per_layer(report["head_size_k"])),
        ("Head size V", _per_layer(report["head_size_v"])),
        ("Positions", _positions(report)),
        ("Chat template", "yes" if report["chat_template"] else "none"),
    ]
    if report["recurrent_layers"]:
        state = f"{_mib(report['recurrent_bytes'])} in {_indices(report, 'recurrent')}"
        rows.append(("Recurrent state", state))
    for kind, cost in report["kv_bytes_per_token"].items():
        if cost is None:
            text = "not possible: its blocks do not divide this model's heads"
        else:
            text = f"{cost:,} bytes per token, {_mib(report['kv_bytes'][kind])} at the trained length"
        rows.append((f"KV {kind}", text))
    if not report["kv_exact"]:
        rows.append(("Note", "this architecture may keep more per token than K and V"))
    width = max(len(label) for label, _ in rows)
    return "\n".join(f"{label:<{width}}  {text}" for label, text in rows)


def _cost(info: ModelInfo) -> dict[str, Any]:
    per_token: dict[str, int | None] = {}
    whole: dict[str, int | None] = {}
    for kind in CacheType:
        can_hold = geometry.can_hold_heads(info, kind, kind)
        # A projector has no context and no layers, so its bytes per token are 0.
        shape = geometry.CacheShape(info.n_ctx_train or 1, kind, kind)
        per_token[kind.value] = geometry.kv_bytes_per_token(info, kind, kind) if can_hold else None
        whole[kind.value] = geometry.kv_bytes(info, shape).total if can_hold else None
    return {
        "kv_exact": info.is_geometry_exact,
        "kv_bytes_per_token": per_token,
        "kv_bytes": whole,
        "mha_kv_bytes_per_token": geometry.mha_bytes_per_token(info, CacheType.F16, CacheType.F16),
        "gqa_saving": round(geometry.shared_heads_saving(info), 6),
        "recurrent_bytes": geometry.recurrent_bytes(info),
    }


def _attention(report: Mapping[str, Any]) -> str:
    text = str(report["attention"]).upper()
    if report["gqa_saving"] > 0:
        mha = report["mha_kv_bytes_per_token"]
        text += f", {report['gqa_saving']:.0%} smaller than MHA's {mha:,} bytes per token (f16)"
    if report["n_swa"]:
        text += f"; window of {report['n_swa']:,} tokens in {_indices(report, 'window')}"
    return text


def _positions(report: Mapping[str, Any]) -> str:
    if report["positions"] not in ("rope", "mrope"):
        return str(report["positions"])
    text = f"{str(report['positions']).upper()}, base {report['rope_base']:g}"
    if report["rope_scaling"] != "none":
        text += f", {report['rope_scaling']} × {report['rope_factor']:g}"
    return text


def _indices(report: Mapping[str, Any], kind: str) -> str:
    layers = report[f"{kind}_layers"]
    if len(layers) == report["n_layer"]:
        return "all layers"
    return f"{len(layers)} of {report['n_layer']} layers ({', '.join(map(str, layers))})"


def _one_or_all(per_layer: tuple[int, ...]) -> int | list[int]:
    return per_layer[0] if len(set(per_layer)) == 1 else list(per_layer)


def _per_layer(values: int | list[int]) -> str:
    if isinstance(values, int):
        return str(values)
    return " ".join(map(str, values)) + " (layer by layer)" if values else "none"


def _shards(count: int) -> str:
    return f" and {count - 1} more" if count > 1 else ""


def _mib(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:,.2f} MiB"
