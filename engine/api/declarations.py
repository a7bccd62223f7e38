"""The declaration of a setting: type, default, bounds, words and whether a change needs a reload.

The command line, the settings panel, the preferences file and the documentation are all derived from declarations:
``declarations(LoadSettings)`` lists them.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeGuard, TypeVar, get_args, get_type_hints

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import Sentence, Value, either, say


class Applies(StrEnum):
    """When a changed setting takes effect."""

    LIVE = "live"
    RELOAD = "reload"


@dataclass(frozen=True)
class Declaration:
    """One declared setting: everything a panel, a command line or a file needs to know about it.

    ``optional`` settings may be None, which means what ``none_label`` says. ``words`` are the values that are not a
    number where a number is otherwise expected (GPU layers: auto, all).
    """

    name: str
    kind: type
    default: Any
    label: str
    help: str
    group: str
    applies: Applies
    unit: str
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    words: tuple[str, ...]
    optional: bool
    none_label: str

    @property
    def flag(self) -> str:
        """The command line's spelling, ``--n-ctx``."""
        return "--" + self.name.replace("_", "-")

    def parse(self, text: str) -> Any:
        """Read a value as a person types it; raises EngineError(SETTING_INVALID) with the bounds in the sentence."""
        word = text.strip()
        if self.optional and word.lower() in ("", "none", "auto", self.none_label.lower()):
            return self.check(None)
        if word in self.words or self.choices or self.kind is str:
            return self.check(word)
        try:
            if self.kind is bool:
                return self.check(
                    {"on": True, "true": True, "yes": True, "1": True}.get(word.lower(), False)
                    if word.lower() in _BOOLEAN_WORDS
                    else word
                )
            if self.kind is tuple:
                return self.check(tuple(float(part) for part in word.split(",") if word))
            return self.check(self.kind(word))
        except ValueError:
            raise self._invalid(text) from None

    def check(self, value: Any) -> Any:
        """Return the value in its declared type, or raise EngineError(SETTING_INVALID)."""
        if value is None and self.optional:
            return None
        if isinstance(value, str) and value in self.words:
            return next(word for word in self.words if word == value)
        if self.choices:
            if not isinstance(value, str) or value not in self.choices:
                raise self._invalid(value)
            return self.kind(value)
        if self.kind is tuple:
            return self._checked_tuple(value)
        if self.kind is bool or self.kind is str:
            if not isinstance(value, self.kind):
                raise self._invalid(value)
            return value
        return self._checked_number(value)

    def _checked_number(self, value: Any) -> Any:
        if not is_finite_number(value) or (self.kind is int and value != int(value)):
            raise self._invalid(value)
        if (self.minimum is not None and value < self.minimum) or (self.maximum is not None and value > self.maximum):
            raise self._invalid(value)
        return self.kind(value)

    def _checked_tuple(self, value: Any) -> tuple[float, ...]:
        if not isinstance(value, (tuple, list)) or len(value) > 64:
            raise self._invalid(value)
        numbers = tuple(self._as_share(part) for part in value)
        if numbers and not any(numbers):
            raise self._invalid(value)
        return numbers

    def _as_share(self, part: Any) -> float:
        if not is_finite_number(part) or part < 0:
            raise self._invalid(part)
        return float(part)

    def _invalid(self, value: Any) -> EngineError:
        label, given = Sentence(self.label), str(value)[:60]
        sentence = say("{0} can't be “{1}”: use {2}.", label, given, self.allowed())
        return EngineError(ErrorCode.SETTING_INVALID, sentence, f"{self.name}={value!r:.200}")

    def allowed(self) -> Value:
        """The allowed values, in words for the person."""
        if self.choices:
            return either([Sentence(choice) for choice in self.choices])
        if self.kind is bool:
            return say("on or off")
        if self.kind is tuple:
            return say("shares such as 3,1, not all of them zero")
        if self.kind is str:
            return say("text")
        number = say("a whole number") if self.kind is int else say("a number")
        if self.minimum is not None and self.maximum is not None:
            number = say("{0} from {1} to {2}", number, _plain(self.minimum), _plain(self.maximum))
        words = [*self.words, *([self.none_label] if self.optional else [])]
        return either([*map(Sentence, words), number])


_BOOLEAN_WORDS = frozenset({"on", "true", "yes", "1", "off", "false", "no", "0"})


def is_finite_number(value: Any) -> TypeGuard[int | float]:
    """Whether a value read from a file is a finite int or float; a bool is not a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        # An integer too large for a float.
        return False


def _plain(bound: float) -> str:
    return str(int(bound)) if bound == int(bound) else str(bound)


def setting(  # noqa: PLR0913 - a declaration is flat, and each use names what it gives
    default: Any,
    label: str,
    help_text: str,
    *,
    group: str,
    applies: Applies = Applies.RELOAD,
    unit: str = "",
    bounds: tuple[float | None, float | None] = (None, None),
    none_label: str = "",
) -> Any:
    """A dataclass field that carries its declaration."""
    metadata = {
        "label": label,
        "help": help_text,
        "group": group,
        "applies": applies,
        "unit": unit,
        "minimum": bounds[0],
        "maximum": bounds[1],
        "none_label": none_label,
    }
    return dataclasses.field(default=default, metadata=metadata)


_Settings = TypeVar("_Settings")


def declarations(settings_class: type) -> tuple[Declaration, ...]:
    """Every setting of a settings class, in display order."""
    return _declared(settings_class)


@functools.cache
def _declared(settings_class: type) -> tuple[Declaration, ...]:
    # Settings are checked dozens of times for one plan, and type hints are slow to read.
    hints = get_type_hints(settings_class)
    return tuple(_declaration(field, hints[field.name]) for field in dataclasses.fields(settings_class))


def _declaration(field: dataclasses.Field[Any], hint: Any) -> Declaration:
    members = get_args(hint) if not getattr(hint, "__origin__", None) else ()
    kinds = [member for member in (members or (hint,)) if member is not type(None)]
    origins = [getattr(member, "__origin__", member) for member in kinds]
    # An enum in a union with a number gives the words that are allowed beside numbers.
    kind = next((origin for origin in origins if not issubclass(origin, StrEnum)), origins[0])
    words = tuple(word for origin in origins if origin is not kind for word in origin)
    choices = tuple(kind) if issubclass(kind, StrEnum) else ()
    return Declaration(
        name=field.name,
        kind=kind,
        default=field.default,
        choices=tuple(str(choice) for choice in choices),
        words=words,
        optional=type(None) in members,
        **field.metadata,
    )


def checked(settings: _Settings) -> _Settings:
    """The same settings with every value validated against its declaration; raises EngineError(SETTING_INVALID)."""
    values = {d.name: d.check(getattr(settings, d.name)) for d in declarations(type(settings))}
    return type(settings)(**values)


def from_mapping(settings_class: type[_Settings], values: Mapping[str, Any]) -> tuple[_Settings, tuple[str, ...]]:
    """Settings from a file or message, and a sentence for each value that had to be replaced by its default."""
    good: dict[str, Any] = {}
    complaints: list[str] = []
    for declaration in declarations(settings_class):
        if declaration.name in values:
            try:
                good[declaration.name] = declaration.check(values[declaration.name])
            except EngineError as error:
                complaints.append(error.message)
    return settings_class(**good), tuple(complaints)


def to_mapping(settings: Any) -> dict[str, Any]:
    """JSON-ready values by name."""
    plain: dict[str, Any] = {}
    for declaration in declarations(type(settings)):
        value = getattr(settings, declaration.name)
        plain[declaration.name] = (
            list(value) if isinstance(value, tuple) else str(value) if isinstance(value, StrEnum) else value
        )
    return plain
