"""What the text of an attached file is, and which files have none."""

from __future__ import annotations

import os

import pytest

from app.store.attachments import AttachmentProblem, AttachmentRefusedError, read_attachment
from app.store.files import ImportProblem, ImportRefusedError, read_chats
from app.store.records import Attachment, Changes, Chat, Turn, composed
from app.store.store import ChatStore
from engine.api.messages import Message


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"plain\r\ntext\n", "plain\ntext"),
        ("\ufeffmarked ü".encode(), "marked ü"),
        ("wide ü 缓".encode("utf-16"), "wide ü 缓"),
        ("缓存与显存的关系".encode("gb18030"), "缓存与显存的关系"),
        ("記憶體與顯示卡的關係".encode("gb18030"), "記憶體與顯示卡的關係"),
        ("Grüße aus München: schöne Äpfel".encode("latin-1"), "Grüße aus München: schöne Äpfel"),
    ],
)
def test_text_of_any_encoding(tmp_path, raw, text):
    (tmp_path / "x.txt").write_bytes(raw)
    assert read_attachment(tmp_path / "x.txt").text == text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_what_is_no_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(AttachmentRefusedError) as refused:
        read_attachment(tmp_path / "pipe.txt")
    assert refused.value.problem is AttachmentProblem.UNREADABLE
    with pytest.raises(ImportRefusedError) as import_refused:
        read_chats(tmp_path / "pipe.txt")
    assert import_refused.value.problem is ImportProblem.UNREADABLE


TO_UNICODE = b"""/CIDInit /ProcSet findresource begin begincmap
1 begincodespacerange <00> <ff> endcodespacerange
3 beginbfchar <41> <D835> <42> <D835DC00> <43> <DC00> endbfchar
endcmap end"""


def pdf(tmp_path, content: bytes, password: str = "", to_unicode: bytes = b""):
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    page = writer.add_blank_page(200, 200)
    font = DictionaryObject({NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1"), NameObject("/BaseFont"): NameObject("/Helvetica")})  # fmt: skip  # noqa: E501
    if to_unicode:
        letters = DecodedStreamObject()
        letters.set_data(to_unicode)
        font[NameObject("/ToUnicode")] = writer._add_object(letters)
    page[NameObject("/Resources")] = DictionaryObject(
        {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
    )
    stream = DecodedStreamObject()
    stream.set_data(content)
    page[NameObject("/Contents")] = writer._add_object(stream)
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    path = tmp_path / "x.pdf"
    writer.write(path)
    return path


def test_text_of_a_pdf(tmp_path):
    path = pdf(tmp_path, b"BT /F1 12 Tf 20 100 Td (Words in a PDF) Tj ET")
    assert read_attachment(path).text == "Words in a PDF"


@pytest.mark.parametrize(
    ("letters", "text"), [("A", "\ufffd"), ("xBy", "x𝐀y"), ("CA", "\ufffd\ufffd"), ("AC", "𝐀"), ("aAb", "a\ufffdb")]
)
def test_half_a_surrogate_pair_in_a_pdf_costs_a_letter_and_not_the_message(tmp_path, letters, text):
    path = pdf(tmp_path, f"BT /F1 12 Tf 20 100 Td ({letters}) Tj ET".encode(), to_unicode=TO_UNICODE)
    path = path.rename(tmp_path / os.fsdecode(b"caf\xe9.pdf"))
    attachment = read_attachment(path)
    assert attachment == Attachment("caf\ufffd.pdf", text)
    store = ChatStore(tmp_path / "chats.db")
    said = Turn(1, Message("user", composed((attachment,), "Read")), attachments=(attachment,), typed="Read")
    store.save(Chat("a"), Changes((said,)))
    assert store.load("a").turns[0].message == said.message
    store.close()


@pytest.mark.parametrize("error", [RuntimeError, MemoryError, StopIteration, EOFError, RecursionError])
def test_whatever_breaks_the_reader_of_a_pdf_is_told(tmp_path, monkeypatch, error):
    path = pdf(tmp_path, b"BT /F1 12 Tf 20 100 Td (Words) Tj ET")

    def fail(*_arguments, **_options):
        raise error("somewhere inside")

    monkeypatch.setattr("pypdf.PageObject.extract_text", fail)
    with pytest.raises(AttachmentRefusedError) as refused:
        read_attachment(path)
    assert refused.value.problem is AttachmentProblem.DAMAGED_PDF


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", AttachmentProblem.PICTURES_ONLY),
        ("password", AttachmentProblem.LOCKED_PDF),
        ("broken", AttachmentProblem.DAMAGED_PDF),
    ],
)
def test_a_pdf_without_text_is_refused(tmp_path, content, problem):
    path = pdf(tmp_path, b"", "secret" if content == "password" else "")
    if content == "broken":
        path.write_bytes(path.read_bytes()[:120])
    with pytest.raises(AttachmentRefusedError) as refused:
        read_attachment(path)
    assert refused.value.problem is problem
