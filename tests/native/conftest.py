"""Processes of their own for what depends on the devices that llama.cpp has."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from tests.native import plan_comparison
from tests.rpc_server import rpc_server

Call = Callable[..., Any]


@pytest.fixture(scope="module", params=["CPU", "Vulkan", "RPC"])
def call(request: pytest.FixtureRequest) -> Iterator[Call]:
    """Calls a function in a process that has the device, and nothing but it beside the CPU."""
    with pytest.MonkeyPatch.context() as patch:
        # 0 takes the first device of any kind, Mesa's CPU driver too; an empty list takes none.
        patch.setenv("GGML_VK_VISIBLE_DEVICES", "0" if request.param == "Vulkan" else "")
        patch.setenv("GGML_NO_BACKTRACE", "1")
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:

            def call(function: Callable[..., Any], *arguments: Any) -> Any:
                return pool.submit(function, *arguments).result()

            # The pool's threads start here, not in a test that would then seem to leave them behind.
            backends = call(plan_comparison.backend_names)
            if request.param == "CPU":
                yield call
                return
            if request.param not in backends:
                pytest.skip(f"this llama.cpp was built without {request.param}")
            if request.param == "RPC":
                with rpc_server() as endpoint:
                    assert call(plan_comparison.add_rpc_server, endpoint) == ""
                    yield call
                return
            if not call(plan_comparison.gpu_names):
                pytest.skip("there is no Vulkan device here, not even Mesa's software driver")
            yield call
