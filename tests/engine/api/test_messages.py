"""Everything that crosses the pipe: it pickles, and its JSON is what the command line promises."""

from __future__ import annotations

import dataclasses
import json
import pickle
import typing
from enum import Enum
from typing import Any

import pytest

from engine.api import messages
from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import Command, Event, Finished
from engine.api.sentences import say


def sample(kind: Any) -> Any:
    """Some value of a type, without None where there is another."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        return tuple(sample(argument) for argument in arguments if argument is not Ellipsis)
    if origin is dict:
        return {sample(arguments[0]): sample(arguments[1])}
    if origin is typing.Literal:
        return arguments[0]
    if arguments:
        return sample(next(argument for argument in arguments if argument is not type(None)))
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return kind(**{field.name: sample(hints[field.name]) for field in dataclasses.fields(kind)})
    if issubclass(kind, Enum):
        return next(iter(kind))
    return kind()


def kinds(base: type) -> list[type]:
    return [kind for kind in vars(messages).values() if isinstance(kind, type) and issubclass(kind, base)]


def name(kind: type) -> str:
    return kind.__name__


@pytest.mark.parametrize("kind", kinds(Command) + kinds(Event), ids=name)
def test_a_message_is_the_same_on_the_other_side(kind: type) -> None:
    message = sample(kind)
    assert pickle.loads(pickle.dumps(message)) == message
    with pytest.raises(dataclasses.FrozenInstanceError):
        message.request_id = 5


@pytest.mark.parametrize("kind", kinds(Event), ids=name)
def test_an_event_is_json_with_its_name(kind: type) -> None:
    event = sample(kind)
    plain = json.loads(json.dumps(event.to_json()))
    assert plain["event"] == kind.__name__
    fields = {{"sentence": "message"}.get(field.name, field.name) for field in dataclasses.fields(kind)}
    assert type(plain.get("message", "")) is str
    assert kind is Finished or plain.keys() == fields | {"event"}


def test_the_costs_of_an_answer_stand_beside_the_rest() -> None:
    finished = sample(Finished)
    plain = finished.to_json()
    assert "stats" not in plain
    assert {field.name for field in dataclasses.fields(finished.stats)} <= plain.keys()


def test_an_error_crosses_the_pipe_whole() -> None:
    error = EngineError(ErrorCode.NO_MODEL, say("No model."), "detail")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.code, copy.message, copy.detail) == (error.code, error.message, error.detail)
