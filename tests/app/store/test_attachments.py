"""What the text of an attached file is, and which files have none."""

from __future__ import annotations

import os

import pytest

from app.store.attachments import AttachmentProblem, AttachmentRefusedError, read_attachment
from app.store.files import ImportProblem, ImportRefusedError, read_chats


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


def pdf(tmp_path, content: bytes, password: str = ""):
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    page = writer.add_blank_page(200, 200)
    font = DictionaryObject({NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1"), NameObject("/BaseFont"): NameObject("/Helvetica")})  # fmt: skip  # noqa: E501
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
