"""``perplexity``: how well a model predicts a text under a cache policy."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from engine.api.declarations import declarations
from engine.api.errors import EngineError, ErrorCode
from engine.api.options import EngineOptions
from engine.api.sentences import say
from engine.api.settings import LoadSettings, Policy, PolicySettings
from engine.commands import options
from engine.commands.isolated import run_isolated
from engine.commands.output import json_line

DENSE = "dense"
"""Nothing is evicted: the reference."""
TEXT_BYTES_MAX = 64 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``perplexity``."""
    options.add_model(parser)
    parser.add_argument("text", metavar="TEXTFILE", help="UTF-8 text to predict")
    policies = [DENSE, Policy.WINDOW, Policy.SINKS, Policy.RECOMPUTE]
    parser.add_argument("--policy", choices=[str(policy) for policy in policies], default=DENSE)
    parser.add_argument("--tokens", type=int, default=None, metavar="N", help="only the first N tokens")
    names = {"n_sink", "n_window", "n_evict"}
    options.add_settings(parser, LoadSettings, title="model and cache")
    options.add_settings(parser, PolicySettings, title="when the cache is full", only=names)


def run(args: argparse.Namespace) -> int:
    """Print the report; raises EngineError."""
    path = options.model_path(args)
    if args.tokens is not None and args.tokens < 2:
        raise EngineError(ErrorCode.SETTING_INVALID, say("Use at least 2 tokens: the first one is not predicted."))
    load, policy = _settings(args)
    options.require_chat(path, load, policy)
    text = read_text(Path(args.text))
    holds_text = args.policy == DENSE and args.n_ctx is None
    measured = run_isolated(_measure, path, text, args.tokens, load, policy, holds_text)
    report = {"policy": args.policy, **measured}
    print(json_line(report) if args.json else _table(report))
    return 0


def _settings(args: argparse.Namespace) -> tuple[LoadSettings, PolicySettings]:
    load = options.load_settings(args)
    names = {declaration.name for declaration in declarations(PolicySettings)} & set(vars(args)) - {"policy"}
    policy: PolicySettings = options.settings_from(args, PolicySettings, only=names)
    if args.policy == DENSE:
        return load, dataclasses.replace(policy, policy=Policy.STOP)
    n_sink = policy.n_sink if args.policy == Policy.SINKS else 0
    policy = dataclasses.replace(policy, policy=Policy(args.policy), n_sink=n_sink)
    if policy.n_window is not None and args.n_ctx is None:
        # The window may have any size; cells are allocated in steps of 256.
        load = dataclasses.replace(load, n_ctx=n_sink + policy.n_window)
    return load, policy


def read_text(path: Path) -> str:
    """A text file's content; raises EngineError for what is no text."""
    try:
        with path.open("rb") as file:
            # A pipe or a device reports no size.
            content = file.read(TEXT_BYTES_MAX + 1)
        if len(content) > TEXT_BYTES_MAX:
            raise EngineError(
                ErrorCode.SETTING_INVALID, say("{0} is larger than 64 MiB: give a part of it.", path.name)
            )
        return content.decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise EngineError(
            ErrorCode.SETTING_INVALID,
            say("{0} can't be read: {1}.", path.name or str(path), error.strerror or str(error)),
            str(error),
        ) from error
    except UnicodeDecodeError as error:
        raise EngineError(ErrorCode.SETTING_INVALID, say("{0} is not UTF-8 text.", path.name), str(error)) from error


def _measure(  # noqa: PLR0913 - flat arguments, sent to another process
    log: Any,
    engine_options: EngineOptions,
    path: Path,
    text: str,
    n_tokens: int | None,
    load: LoadSettings,
    policy: PolicySettings,
    holds_text: bool,
) -> dict[str, Any]:
    """``holds_text``: the context is as large as the text."""
    from engine.lab.loading import loaded_context
    from engine.lab.perplexity import measure

    n_room = policy.n_sink + (policy.n_window or 0)
    with loaded_context(path, load, engine_options, log) as make_context:
        tokens = make_context.tokenize(text, n_tokens)
        if len(tokens) < 2:
            raise EngineError(ErrorCode.SETTING_INVALID, say("The text is too short: it needs at least two tokens."))
        context = make_context(dataclasses.replace(load, n_ctx=len(tokens)) if holds_text else load)
        result = measure(context, tokens, policy, n_before=n_room or (load.n_ctx or 0))
    return {
        "perplexity": result.perplexity,
        "perplexity_after_window": result.perplexity_after,
        "tokens_per_second": result.tokens_per_second,
        "n_tokens": result.n_tokens,
        "n_before": result.n_before,
        "n_evicted": result.n_evicted,
        "n_recomputed": result.n_recomputed,
        "n_renumbered": result.n_renumbered,
        "type_k": str(load.type_k),
        "type_v": str(load.type_v),
    }


def _table(report: dict[str, Any]) -> str:
    def number(value: float | None) -> str:
        return "–" if value is None else f"{value:.3f}"

    return "\n".join(
        [
            f"policy                    {report['policy']} (K {report['type_k']}, V {report['type_v']})",
            f"perplexity                {number(report['perplexity'])}",
            f"after the first {report['n_before']:<10}{number(report['perplexity_after_window'])}",
            f"tokens                    {report['n_tokens']} at {report['tokens_per_second']:.0f} tokens/s",
            f"evicted                   {report['n_evicted']}",
            f"recomputed                {report['n_recomputed']}",
            f"renumbered                {report['n_renumbered']} times",
        ]
    )
