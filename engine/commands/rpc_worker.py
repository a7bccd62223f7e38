"""``rpc-worker``: lends this machine's CPU to another Kvasir over llama.cpp's RPC."""

from __future__ import annotations

import argparse
import signal
import socket
import sys

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.native.importing import loading_library


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
        raise EngineError(ErrorCode.SETTING_INVALID, say("Use a port from 1 to 65535 and from 1 to 512 threads."))
    address = _free_address(args.host, args.port)
    with loading_library():
        from engine.native.context import physical_cores
        from engine.native.devices import Ggml

        ggml = Ggml()
        ggml.load_backends()
    print(say("RPC worker at {0}:{1}; end it with Ctrl+C.", args.host, str(args.port)), file=sys.stderr)
    # llama.cpp's server loop does not return to Python, which would handle the signal only then.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ggml.serve_rpc(f"{address}:{args.port}", args.threads or physical_cores())
    raise EngineError(
        ErrorCode.BACKEND_MISSING, say("The RPC worker at {0}:{1} ended by itself.", args.host, str(args.port))
    )


def _free_address(host: str, port: int) -> str:
    """The free IPv4 address of ``host`` for llama.cpp, which takes no host names and only logs errors.

    Raises EngineError(SETTING_INVALID).
    """
    try:
        address = socket.gethostbyname(host)
        socket.create_server((address, port)).close()
    except (OSError, UnicodeError) as error:
        raise EngineError(
            ErrorCode.SETTING_INVALID,
            say(
                "An RPC worker can't listen at {0}:{1}: {2}. Choose another --port, or an IPv4 address of this "
                "machine as --host.",
                host,
                str(port),
                getattr(error, "strerror", None) or str(error),
            ),
            repr(error),
        ) from error
    return address
