"""The fingerprint of everything that a snapshot depends on; with any other one its restored state would be wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from engine.api.settings import LoadSettings

HEAD_BYTES = 1 << 20
SAMPLE_BYTES = 4096
N_SAMPLES = 64
LONG_ROPE = "longrope"
"""RoPE that takes other factors beyond the original length, so that K depends on the size of the context."""


def model_digest(files: Sequence[Path]) -> str:
    """Fingerprint of model files: size, modification time, first MiB and 64 samples of each; raises OSError."""
    digest = hashlib.sha256()
    for path in files:
        status = path.stat()
        digest.update(f"{status.st_size} {status.st_mtime_ns}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(HEAD_BYTES))
            for sample in range(N_SAMPLES):
                file.seek(status.st_size * sample // N_SAMPLES)
                digest.update(file.read(SAMPLE_BYTES))
    return digest.hexdigest()


def binding(model: str, settings: LoadSettings, library: str, *, n_ctx: int, rope: str, flash_attn: bool) -> str:
    """The fingerprint of everything that K and V depend on, 32 hexadecimal digits.

    ``model``: its digest; ``library``: its version; ``flash_attn``: the effective value, whatever was requested;
    ``rope``: the model's own scaling, since with "longrope" K depends on the context's ``n_ctx``.
    """
    conditions = (
        model,
        str(settings.type_k),
        str(settings.type_v),
        flash_attn,
        settings.swa_full,
        settings.rope_scaling and str(settings.rope_scaling),
        settings.rope_freq_base,
        settings.rope_freq_scale,
        n_ctx if rope == LONG_ROPE else None,
        library,
    )
    return hashlib.sha256(repr(conditions).encode()).hexdigest()[:32]
