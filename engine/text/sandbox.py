"""A Jinja2 sandbox for chat templates that limits the memory of every single operation."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, NoReturn, cast

import jinja2
from jinja2 import ext, nodes, parser, runtime, sandbox, visitor

MAX_RENDERED = 16_000_000
"""Characters that a template, or any string or list inside it, may grow to."""
_MAX_INTEGER_BITS = 4096
_MAX_ITEMS = 200_000  # twice what Jinja2's own range gives
_MAX_WIDTH = 1000  # columns that text may be padded to
_MAX_DATE_FORMAT = 200

# Names that chat templates don't need and that can produce huge results.
_REFUSED_FILTERS = (
    "batch", "center", "filesizeformat", "pprint", "random", "slice", "urlize", "wordwrap", "xmlattr",
)  # fmt: skip
_WIDE_FORMAT = re.compile(r"%[^%A-Za-z]*(\d{4}|\*)|\{[^{}]*:[^}]*\d{4}")
_NESTED_FORMAT = re.compile(r"\{[^{}]*:[^}]*\{")


class TooMuch(jinja2.TemplateError):
    """A template tried to use more memory than a chat template needs."""


class TemplateSandbox(sandbox.ImmutableSandboxedEnvironment):
    """Jinja2 as chat templates expect it: settings and functions of Hugging Face's `apply_chat_template`."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=(ext.loopcontrols, _Generation),
            finalize=_weighed,
        )
        del self.globals["lipsum"]
        self.globals.update(raise_exception=_raise_exception, strftime_now=_strftime_now)
        for name in _REFUSED_FILTERS:
            del self.filters[name]
        self.filters["tojson"] = _tojson
        for name in ("join", "replace", "format", "indent", "string"):
            self.filters[name] = _bounded(name, self.filters[name])

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        return cast("nodes.Template", _ConcatToCall().visit(tree))

    def call_binop(self, context: runtime.Context, operator: str, left: Any, right: Any) -> Any:
        """Evaluate a binary operation; refuses huge results before computing them."""
        if operator == "%":
            if isinstance(left, str):
                _check_text_call("format", left, right if isinstance(right, tuple) else (right,))
        elif isinstance(left, int) and isinstance(right, int):
            _check_integers(operator, left, right)
        elif operator == "*":
            size, times = (left, right) if isinstance(right, int) else (right, left)
            if isinstance(times, int) and hasattr(size, "__len__"):
                _check_size(len(size) * times)
        elif hasattr(left, "__len__") and hasattr(right, "__len__"):
            _check_size(len(left) + len(right))
        return super().call_binop(context, operator, left, right)

    def call(self, context: runtime.Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function; checks the result size of string methods that pad or repeat first."""
        method = getattr(function, "__wrapped__", function)
        owner = getattr(method, "__self__", None)
        if isinstance(owner, str):
            _check_text_call(getattr(method, "__name__", ""), owner, (*args, *kwargs.values()))
        return super().call(context, function, *args, **kwargs)

    def concatenate(self, *parts: Any) -> str:
        """Implements `a ~ b`."""
        for part in parts:
            _weighed(part)
        texts = [str(part) for part in parts]
        _check_size(sum(map(len, texts)))
        return "".join(texts)


class _Generation(ext.Extension):
    """Renders `{% generation %}…{% endgeneration %}`, a training mark around answers, as its body."""

    tags = {"generation"}  # noqa: RUF012 (the base class says set)

    def parse(self, parser: parser.Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _ConcatToCall(visitor.NodeTransformer):
    """Turns `~`, which Jinja2 does not let a sandbox intercept, into a call that it does."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        function = nodes.EnvironmentAttribute("concatenate", lineno=node.lineno)
        return nodes.Call(function, node.nodes, [], None, None, lineno=node.lineno)


def _bounded(name: str, filter_: Callable[..., Any]) -> Callable[..., Any]:
    # `wraps` also copies the attribute that makes Jinja2 pass the context as the first argument.
    n_passed = 1 if hasattr(filter_, "jinja_pass_arg") else 0

    @functools.wraps(filter_)
    def bounded(*args: Any, **kwargs: Any) -> Any:
        value, *rest = args[n_passed:]
        options = (*rest, *kwargs.values())
        if name == "join":
            value = list(value)
            separator = next((str(option) for option in options if isinstance(option, str)), "")
            _check_text_call("join", separator, (value,))
            args = (*args[:n_passed], value, *rest)
        else:
            _check_text_call(name, str(_weighed(value)), options)
        return filter_(*args, **kwargs)

    return bounded


def _check_text_call(name: str, owner: str, args: tuple[Any, ...]) -> None:
    if any(isinstance(arg, int) and abs(arg) > _MAX_WIDTH for arg in args) and name not in {"format", "join"}:
        raise TooMuch(f"{name} by more than {_MAX_WIDTH}")
    size = sum(_weigh(arg) for arg in args)
    _check_size(size)
    if name in {"format", "format_map"} and _is_wide(owner, args):
        raise TooMuch("a format that is very wide")
    if name == "join":
        _check_size(size + len(owner) * sum(_length(arg) for arg in args))
    elif name == "replace" and len(args) >= 2:
        n_places = owner.count(str(args[0])) if args[0] else len(owner) + 1
        _check_size(len(owner) + n_places * len(str(args[1])))
    elif name in {"indent", "expandtabs"}:
        widths = [arg if isinstance(arg, int) else len(str(arg)) for arg in args]
        _check_size(len(owner) + (owner.count("\n") + owner.count("\t") + 1) * max([8, *widths]))


def _is_wide(text: str, args: tuple[Any, ...]) -> bool:
    has_wide_argument = any(isinstance(arg, int) and abs(arg) > _MAX_WIDTH for arg in args)
    return bool(_WIDE_FORMAT.search(text)) or (has_wide_argument and bool(_NESTED_FORMAT.search(text)))


def _length(value: Any) -> int:
    return len(value) if hasattr(value, "__len__") else 1


def _check_integers(operator: str, left: int, right: int) -> None:
    n_bits = {
        "+": max(left.bit_length(), right.bit_length()) + 1,
        "*": left.bit_length() + right.bit_length(),
        "**": left.bit_length() * max(right, 1),
    }[operator]
    if n_bits > _MAX_INTEGER_BITS:
        raise TooMuch("a number that is very large")


def _check_size(n_characters: int) -> None:
    if n_characters > MAX_RENDERED:
        raise TooMuch(f"more than {MAX_RENDERED} characters")


def _weighed(value: Any) -> Any:
    """The value itself; raises TooMuch if it would be huge when written out."""
    if isinstance(value, (list, tuple, dict)):
        _check_size(_weigh(value))
    return value


def _weigh(value: Any) -> int:
    """The approximate number of characters of `value` when written out; refuses one with too many items."""
    total, n_items, left = 0, 0, [value]
    while left:
        item = left.pop()
        n_items += 1
        total += len(item) if isinstance(item, str) else 1
        if n_items > _MAX_ITEMS:
            raise TooMuch(f"more than {_MAX_ITEMS} items")
        if isinstance(item, dict):
            left.extend(item.keys())
            left.extend(item.values())
        elif isinstance(item, (list, tuple)):
            left.extend(item)
    return total


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as models were trained on it: not escaped for HTML, unlike Jinja2's own filter."""
    encoder = json.JSONEncoder(
        ensure_ascii=ensure_ascii, indent=min(indent, 16) if indent else indent,
        separators=separators, sort_keys=sort_keys,
    )  # fmt: skip
    _weighed(value)
    return "".join(_counted(encoder.iterencode(value)))


def _counted(chunks: Iterator[str]) -> Iterator[str]:
    n_characters = 0
    for chunk in chunks:
        n_characters += len(chunk)
        _check_size(n_characters)
        yield chunk


def _raise_exception(message: str) -> NoReturn:
    raise jinja2.TemplateError(str(message)[:1000])


def _strftime_now(date_format: str) -> str:
    if len(date_format) > _MAX_DATE_FORMAT or re.search(r"\d{3,}", date_format):
        raise TooMuch("a date format that is very long")
    return datetime.now().astimezone().strftime(date_format)
