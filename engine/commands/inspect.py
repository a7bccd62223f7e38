"""``inspect``: reports a model's header with the cost of each cache type."""

from __future__ import annotations

import argparse

from engine.commands import options
from engine.commands.output import json_line
from engine.models.inspect import inspect_report, inspect_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``inspect``."""
    options.add_model(parser)


def run(args: argparse.Namespace) -> int:
    """Print the report; raises EngineError for a file that is no model."""
    report = inspect_report(options.model_path(args))
    print(json_line(report) if args.json else inspect_table(report))
    return 0
