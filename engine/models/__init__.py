"""Model files: headers, the local library, downloads; without llama.cpp."""

import os

# Read when huggingface_hub is imported: no telemetry, and no network requests that Kvasir didn't ask for.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
