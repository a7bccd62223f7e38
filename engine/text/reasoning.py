"""The tags with which models mark reasoning."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReasoningTags:
    """The opening and the closing tag of a reasoning block."""

    opener: str
    closer: str


REASONING_TAGS = (
    ReasoningTags("<think>", "</think>"),
    ReasoningTags("<thinking>", "</thinking>"),
    ReasoningTags("<thought>", "</thought>"),
    ReasoningTags("<reasoning>", "</reasoning>"),
    ReasoningTags("<seed:think>", "</seed:think>"),
    ReasoningTags("[THINK]", "[/THINK]"),
    ReasoningTags("<|channel|>analysis<|message|>", "<|end|>"),
)
"""The first is the most common; where a prompt has to name one and the template names none, it is used."""

CHANNEL_TAGS = (
    "<|end|><|start|>assistant",
    "<|start|>assistant",
    "<|channel|>final<|message|>",
    "<|channel|>commentary<|message|>",
)
"""What leads from a channel of reasoning to the answer; it is part of neither."""


def opened_reasoning(prompt_end: str) -> ReasoningTags | None:
    """The tags of the reasoning block that the end of a rendered prompt leaves open; None if it leaves none open."""
    end = prompt_end.rstrip()
    return next((tags for tags in REASONING_TAGS if end.endswith(tags.opener)), None)


def tags_of_template(source: str) -> ReasoningTags:
    """The tags that a chat template itself writes."""
    return next((tags for tags in REASONING_TAGS if tags.opener in source), REASONING_TAGS[0])
