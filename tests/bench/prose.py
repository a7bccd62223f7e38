"""Plain English prose for measurements: what Python's own language reference says, without its examples."""

from __future__ import annotations

import pydoc_data.topics
import sys
from pathlib import Path


def prose() -> str:
    """About 230,000 characters; or the file named on the command line."""
    if len(sys.argv) > 1 and Path(sys.argv[1]).is_file():
        return Path(sys.argv[1]).read_text("utf-8")
    paragraphs = "\n\n".join(pydoc_data.topics.topics.values()).split("\n\n")
    return "\n\n".join(p for p in paragraphs if p and p[0].isalpha() and "::=" not in p and "***" not in p)
