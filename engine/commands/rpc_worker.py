"""``rpc-worker``: lends this machine's CPU to another Kvasir over llama.cpp's RPC."""

from __future__ import annotations

import argparse
import sys

from engine.errors import EngineError, ErrorCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``rpc-worker``."""
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on; RPC has no password, so keep it private"
    )
    parser.add_argument("--port", type=int, default=50052, help="port to listen on (default 50052)")
    parser.add_argument("--threads", type=int, default=None, help="CPU threads (default: physical cores)")


def run(args: argparse.Namespace) -> int:
    """Serve until the process is ended."""
    if not 0 < args.port < 65_536 or (args.threads is not None and not 0 < args.threads <= 512):
        raise EngineError(ErrorCode.SETTING_INVALID, "Use a port from 1 to 65535 and from 1 to 512 threads.")
    from engine.native.backend import physical_cores
    from engine.native.devices import Ggml

    ggml = Ggml()
    ggml.load_backends()
    print(f"RPC worker at {args.host}:{args.port}; end it with Ctrl+C.", file=sys.stderr)
    ggml.serve_rpc(f"{args.host}:{args.port}", args.threads or physical_cores())
    return 0
