"""What models are: their headers, the files on this machine, and downloads; free of llama.cpp."""

import os

# Read when huggingface_hub is imported: no report of what else is installed, no look-up that nobody asked for.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
