"""Every setting as declared: what it takes, what it refuses with its bounds in the sentence, and how files keep it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.api.declarations import Declaration, checked, declarations, from_mapping, to_mapping
from engine.api.errors import EngineError, ErrorCode
from engine.api.settings import CacheType, GpuLayers, LoadSettings, PolicySettings, SamplingSettings

CLASSES = (LoadSettings, PolicySettings, SamplingSettings)
ALL = [declaration for settings_class in CLASSES for declaration in declarations(settings_class)]
BOUNDED = [declaration for declaration in ALL if declaration.minimum is not None]
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**400),
    st.floats(),
    st.text(max_size=20),
    st.lists(st.one_of(st.floats(), st.integers(), st.text(max_size=3)), max_size=4),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
each = pytest.mark.parametrize("declaration", ALL, ids=lambda declaration: declaration.name)


def refusal(call: Any, value: Any) -> str:
    with pytest.raises(EngineError) as refused:
        call(value)
    assert refused.value.code is ErrorCode.SETTING_INVALID
    return refused.value.message


def taken_or_refused(call: Any, value: Any) -> Any:
    """What comes back: the value, or the error that says what would be right."""
    try:
        return call(value)
    except EngineError as error:
        return error


@each
def test_a_default_is_right_and_survives_being_written(declaration: Declaration) -> None:
    default = declaration.default
    assert declaration.check(default) == default
    written = declaration.none_label if default is None else "" if default == () else default
    assert declaration.parse(str(written)) == default


@each
def test_a_setting_explains_itself(declaration: Declaration) -> None:
    assert declaration.label
    assert declaration.help.endswith(".")
    assert declaration.flag == "--" + declaration.name.replace("_", "-")
    assert bool(declaration.none_label) is declaration.optional


@pytest.mark.parametrize("declaration", BOUNDED, ids=lambda declaration: declaration.name)
def test_beyond_its_bounds_it_is_refused_and_the_bounds_are_named(declaration: Declaration) -> None:
    assert declaration.maximum is not None
    for bound, beyond in ((declaration.minimum, -1), (declaration.maximum, 1)):
        value = declaration.kind(bound)
        assert declaration.check(value) == value
        message = refusal(declaration.check, value + beyond)
        assert declaration.label in message
        assert f"from {declaration.minimum:g} to " in message
        refusal(declaration.parse, str(value + beyond))


@each
@settings(max_examples=40)
@given(value=ANYTHING)
def test_whatever_comes_it_is_taken_in_its_type_or_refused(declaration: Declaration, value: Any) -> None:
    taken = taken_or_refused(declaration.check, value)
    assert isinstance(taken, EngineError | declaration.kind | GpuLayers | None)
    assert isinstance(taken, EngineError) or declaration.check(taken) == taken


@each
@settings(max_examples=40)
@given(text=st.text(max_size=30))
def test_whatever_is_typed_it_is_read_or_refused(declaration: Declaration, text: str) -> None:
    taken = taken_or_refused(declaration.parse, text)
    assert isinstance(taken, EngineError) or declaration.check(taken) == taken


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_ctx", 2**32), ("n_ctx", 0), ("n_ctx", -1), ("n_ctx", True), ("n_ctx", 1.5), ("n_batch", -1), ("n_batch", 0),
     ("n_ubatch", -512), ("n_threads", 0), ("n_gpu_layers", -1), ("n_gpu_layers", "some"), ("tensor_split", (0.0,)),
     ("tensor_split", (-1.0, 2.0)), ("tensor_split", (1.0,) * 65), ("type_k", "q9_9"), ("rope_freq_scale", 0.0)],
)  # fmt: skip
def test_what_llama_cpp_would_crash_on_never_gets_there(name: str, value: Any) -> None:
    refusal(checked, LoadSettings(**{name: value}))


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [("n_gpu_layers", "auto", GpuLayers.AUTO), ("n_gpu_layers", "all", GpuLayers.ALL), ("n_gpu_layers", "7", 7),
     ("n_ctx", "As trained", None), ("n_ctx", " 300 ", 300), ("type_k", "q8_0", CacheType.Q8_0),
     ("swa_full", "YES", True), ("swa_full", "off", False), ("tensor_split", "3,1", (3.0, 1.0)),
     ("tensor_split", "", ())],
)  # fmt: skip
def test_what_people_type_is_understood(name: str, typed: str, value: Any) -> None:
    declaration = next(one for one in ALL if one.name == name)
    assert declaration.parse(typed) == value


@pytest.mark.parametrize("settings_class", CLASSES)
def test_a_file_keeps_settings_and_what_is_wrong_in_it_is_told(settings_class: type) -> None:
    defaults = settings_class()
    kept = json.loads(json.dumps(to_mapping(defaults)))
    assert from_mapping(settings_class, kept) == (defaults, ())
    names = [declaration.name for declaration in declarations(settings_class)]
    wrong, complaints = from_mapping(settings_class, {name: {"a": 1} for name in names} | {"from_the_future": 1})
    assert wrong == defaults
    assert len(complaints) == len(names)
