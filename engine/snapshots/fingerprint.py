"""What a snapshot depends on: restored into anything else it would be refused, or answer wrongly without a word."""

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
    """Tells model files apart: size, time of change, the first MiB and 64 samples of each; raises OSError."""
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
    """The digest of all that K and V depend on, 32 hexadecimal digits.

    ``model``: its digest; ``library``: its version; ``flash_attn``: as it ended, whatever was asked; ``rope``: the
    model's own scaling, since with "longrope" the context's ``n_ctx`` decides about K.
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
