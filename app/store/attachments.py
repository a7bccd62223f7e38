"""Reads the text of files that go into a turn: text, Markdown, code, and PDF."""

from __future__ import annotations

import logging
from enum import StrEnum
from pathlib import Path

from app.store.records import Attachment
from engine.api.valid import valid_text

MAX_FILE_BYTES = 50_000_000
MAX_CHARACTERS = 2_000_000
MAX_PAGES = 2_000
_BINARY = {*range(9), 11, *range(14, 27), *range(28, 32)}
"""Bytes that no text has; among the first kilobytes they tell a picture or a program."""
_LOOKED_AT = 8192


class AttachmentProblem(StrEnum):
    """Why a file can't be attached."""

    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"
    NOT_TEXT = "not_text"
    EMPTY = "empty"
    LOCKED_PDF = "locked_pdf"
    DAMAGED_PDF = "damaged_pdf"
    PICTURES_ONLY = "pictures_only"


class AttachmentRefusedError(Exception):
    """``detail`` is for the log."""

    def __init__(self, problem: AttachmentProblem, name: str, detail: str = "") -> None:
        super().__init__(problem.value)
        self.problem = problem
        self.name = name
        self.detail = detail


def read_attachment(path: Path) -> Attachment:
    """The text of a file; raises AttachmentRefusedError. A PDF of many pages takes seconds."""
    try:
        if not path.is_file():
            # Reading from a pipe or a device may never end.
            raise AttachmentRefusedError(AttachmentProblem.UNREADABLE, path.name, "not a file")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise AttachmentRefusedError(AttachmentProblem.TOO_LARGE, path.name)
        raw = path.read_bytes()
    except OSError as error:
        raise AttachmentRefusedError(AttachmentProblem.UNREADABLE, path.name, str(error)) from error
    text = _pdf_text(path) if raw[:1024].lstrip().startswith(b"%PDF-") else _decoded(raw, path.name)
    text = valid_text(text).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip("\n")
    if not text.strip():
        raise AttachmentRefusedError(AttachmentProblem.EMPTY, path.name)
    if len(text) > MAX_CHARACTERS:
        raise AttachmentRefusedError(AttachmentProblem.TOO_LARGE, path.name)
    return Attachment(valid_text(path.name), text)


def _decoded(raw: bytes, name: str) -> str:
    """By its mark, as UTF-8, as GB 18030, which is what Chinese text is in otherwise, or as Windows' Latin."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if raw.startswith(mark):
            return raw.decode(encoding, "replace")
    if any(byte in _BINARY for byte in raw[:_LOOKED_AT]):
        raise AttachmentRefusedError(AttachmentProblem.NOT_TEXT, name)
    for encoding in ("utf-8", "gb18030", "cp1252"):
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding != "gb18030" or _is_chinese(text):
            return text
    return raw.decode("utf-8", "replace")


def _is_chinese(text: str) -> bool:
    """Whether what was read as GB 18030 is that: "München" in Latin can be read so as well, but gives rare characters,
    not those of GB 2312, of which Chinese text is made."""
    foreign = "".join(character for character in text if not character.isascii())
    return 4 * (len(foreign.encode("gb2312", "ignore")) // 2) >= len(foreign)


def _pdf_text(path: Path) -> str:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError

    # It reports every oddity of a file as a warning; none of them helps a person.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        with path.open("rb") as file:
            reader = PdfReader(file)
            if reader.is_encrypted and not reader.decrypt(""):
                raise AttachmentRefusedError(AttachmentProblem.LOCKED_PDF, path.name)
            texts: list[str] = []
            n_characters = 0
            for page in reader.pages[:MAX_PAGES]:
                texts.append(page.extract_text() or "")
                n_characters += len(texts[-1])
                if n_characters > MAX_CHARACTERS:
                    raise AttachmentRefusedError(AttachmentProblem.TOO_LARGE, path.name)
    except (FileNotDecryptedError, DependencyError) as error:
        raise AttachmentRefusedError(AttachmentProblem.LOCKED_PDF, path.name, str(error)) from error
    except AttachmentRefusedError:
        raise
    except Exception as error:
        # A damaged file can break its reader in any way.
        raise AttachmentRefusedError(AttachmentProblem.DAMAGED_PDF, path.name, repr(error)) from error
    text = "\n\n".join(texts)
    if not text.strip():
        raise AttachmentRefusedError(AttachmentProblem.PICTURES_ONLY, path.name)
    return text
