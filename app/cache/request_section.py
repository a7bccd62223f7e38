"""What the last request cost, and what the cache saved it."""

from __future__ import annotations

from app.cache.facts import CacheFacts
from app.cache.section import PanelSection
from app.look import language
from app.look.theme import Theme
from engine.api.messages import GenerationStats


class RequestSection(PanelSection):
    """Shows the stats among CacheFacts; all numbers are the engine's."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._stats: GenerationStats | None = None
        self.add_tiles("decode", "prefill", "first", "saved")
        self.add_rows("reused", "read", "evicted", "recomputed")
        theme.changed.connect(self.restyle)
        self.restyle()
        self.retranslate()

    def show_facts(self, facts: CacheFacts) -> None:
        """Show what is known."""
        if facts.stats != self._stats:
            self._stats = facts.stats
            self.render_facts()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.heading.setText(self.tr("Last request"))
        self.set_words(
            {
                "decode": (self.tr("Answer"), self.tr("Tokens written per second")),
                "prefill": (self.tr("Prompt"), self.tr("Prompt tokens read per second")),
                "first": (self.tr("First token"), self.tr("Time from the request to the first token")),
                "saved": (
                    self.tr("Saved by reuse"),
                    self.tr("What reading the reused tokens again would have taken, at the speed last measured"),
                ),
                "reused": (
                    self.tr("Reused"),
                    self.tr("Prompt tokens that were read before and cost nothing now, also those evicted since"),
                ),
                "read": (self.tr("Read"), self.tr("Prompt tokens that had to be evaluated")),
                "evicted": (self.tr("Evicted"), self.tr("Cells freed during this request")),
                "recomputed": (self.tr("Read again"), self.tr("Tokens evaluated a second time")),
            }
        )
        self.render_facts()

    def render_facts(self) -> None:
        """Show what is known."""
        stats = self._stats
        rate = self.tr("tok/s")
        self.set_tile("decode", language.number(stats.decode_tps, 1) if stats and stats.n_generated else None, rate)
        self.set_tile("prefill", language.number(stats.prefill_tps) if stats else None, rate)
        self.set_tile("first", *self._duration(stats.ttft_ms if stats else None))
        self.set_tile("saved", *self._duration(stats.reuse_saved_ms if stats else None))
        of = self.tr("{0} of {1}")
        n_prompt = language.number(stats.n_prompt) if stats else ""
        self.set_value("reused", of.format(language.number(stats.n_reused), n_prompt) if stats else None)
        self.set_value("read", of.format(language.number(stats.n_fed), n_prompt) if stats else None)
        self.set_value("evicted", language.number(stats.n_evicted) if stats else None)
        self.set_value("recomputed", language.number(stats.n_recomputed) if stats else None)

    def _duration(self, milliseconds: float | None) -> tuple[str | None, str]:
        if milliseconds is None:
            return None, ""
        if milliseconds < 1000:
            return language.number(milliseconds), self.tr("ms")
        return language.number(milliseconds / 1000, 1), self.tr("s")
