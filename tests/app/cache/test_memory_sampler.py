"""Sampling happens on a thread of its own, only while somebody looks."""

from __future__ import annotations

import threading

import pytest

from app.cache import memory_sampler
from app.cache.memory_sampler import MemorySampler
from engine.api.messages import Device
from engine.devices import DeviceSample

CPU = Device("CPU", "A processor", "cpu", "CPU", 1, 2)


class FakeSampler:
    def __init__(self) -> None:
        self.asked: list[tuple[tuple[Device, ...], int | None]] = []
        self.threads: set[str] = set()
        self.is_closed = False
        self.on_sample = lambda: None

    def sample(self, devices, process_id):
        self.on_sample()
        self.asked.append((devices, process_id))
        self.threads.add(threading.current_thread().name)
        return (DeviceSample("CPU", "", 2, 1),)

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def fake():
    return FakeSampler()


@pytest.fixture
def sampler(fake, qapp):
    sampler = MemorySampler(fake, period_s=0.01)
    yield sampler
    sampler.close()


def test_nothing_is_sampled_before_somebody_looks(sampler, fake):
    sampler.watch((CPU,), 7)
    assert fake.asked == []


def test_samples_come_to_the_windows_thread(sampler, fake, qtbot):
    heard = []
    sampler.sampled.connect(lambda samples: heard.append((samples, threading.current_thread().name)))
    sampler.watch((CPU,), 7)
    sampler.set_active(True)
    qtbot.waitUntil(lambda: len(heard) >= 2)
    assert heard[0] == ((DeviceSample("CPU", "", 2, 1),), "MainThread")
    assert fake.asked[0] == ((CPU,), 7)
    assert fake.threads == {"memory-sampler"}


def test_it_pauses_when_nobody_looks_and_goes_on_after(fake, qtbot):
    # Only changes wake it.
    sampler = MemorySampler(fake, period_s=3600)
    fake.on_sample = lambda: sampler.set_active(False)
    sampler.set_active(True)
    qtbot.waitUntil(lambda: len(fake.asked) == 1)
    sampler.set_active(True)
    qtbot.waitUntil(lambda: len(fake.asked) == 2)
    sampler.watch((CPU,), 8)
    sampler.close()
    assert len(fake.asked) == 2


def test_the_end_lets_go_of_the_driver(sampler, fake, qtbot):
    sampler.set_active(True)
    qtbot.waitUntil(lambda: len(fake.asked) > 0)
    sampler.close()
    assert fake.is_closed


@pytest.mark.expected_log("could not be sampled")
def test_a_sampler_that_fails_is_asked_again(sampler, fake, qtbot, caplog):
    heard = []
    sampler.sampled.connect(heard.append)
    failures = iter([ValueError(), OSError()])

    def fail_twice():
        if (error := next(failures, None)) is not None:
            raise error

    fake.on_sample = fail_twice
    sampler.set_active(True)
    qtbot.waitUntil(lambda: len(heard) >= 3)
    assert heard[:3] == [(), (), (DeviceSample("CPU", "", 2, 1),)]
    assert len([record for record in caplog.records if "could not be sampled" in record.message]) == 1


def test_the_end_does_not_wait_for_a_driver_that_hangs(fake, qtbot, monkeypatch):
    monkeypatch.setattr(memory_sampler, "CLOSE_TIMEOUT_S", 0.05)
    gate, reached = threading.Event(), threading.Event()
    fake.on_sample = lambda: (reached.set(), gate.wait(20))
    sampler = MemorySampler(fake)
    sampler.set_active(True)
    assert reached.wait(20)
    sampler.close()
    assert not fake.is_closed
    gate.set()
