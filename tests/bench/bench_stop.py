"""How long a Stop takes on this machine: at several moments of a 3,000-token prompt, and in an answer.

Run by hand: `python -m tests.bench.bench_stop`. The goal is 250 ms.
"""

from __future__ import annotations

import queue
import statistics
import tempfile
import time
from pathlib import Path

from engine.api.messages import (
    Cancel,
    Event,
    Finished,
    ForgetChat,
    Generate,
    LoadModel,
    Message,
    ModelLoaded,
    PrefillProgress,
    TextGenerated,
)
from engine.api.settings import LoadSettings, SamplingSettings
from engine.client.client import EngineClient, EngineOptions
from engine.models.starter import starter_path

TEXT = "The quick brown fox jumps over the lazy dog. " * 300
MOMENTS_S = (0.0, 0.05, 0.1, 0.3, 0.7, 1.1, 1.5, 2.0)
GOAL_MS = 250


def main() -> None:
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def wait(kind: type[Event]) -> Event:
        while True:
            event = events.get()
            if isinstance(event, kind):
                return event

    with tempfile.TemporaryDirectory() as folder:
        client = EngineClient(events.put, EngineOptions(str(Path(folder) / "engine.log")))
        client.start()
        client.send(LoadModel(client.next_request_id(), str(starter_path()), LoadSettings(n_ctx=8192)))
        wait(ModelLoaded)
        for name, text, first in (("prompt", TEXT, PrefillProgress), ("answer", "Count.", TextGenerated)):
            delays = []
            for moment in MOMENTS_S:
                client.send(ForgetChat("chat"))
                request_id = client.next_request_id()
                sampling = SamplingSettings(temperature=0.0, ignore_eos=True)
                client.send(Generate(request_id, "chat", (Message("user", text),), sampling))
                wait(first)
                time.sleep(moment)
                asked = time.perf_counter()
                client.send(Cancel(request_id))
                wait(Finished)
                delays.append(1000 * (time.perf_counter() - asked))
            verdict = "within" if max(delays) <= GOAL_MS else "BEYOND"
            print(f"Stop in the {name}: median {statistics.median(delays):.0f} ms, worst {max(delays):.0f} ms, "
                  f"{verdict} {GOAL_MS} ms")  # fmt: skip
        client.close()


if __name__ == "__main__":
    main()
