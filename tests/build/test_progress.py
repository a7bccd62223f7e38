"""The one line about a long build."""

from __future__ import annotations

import io

from tools.progress import BuildProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(out: io.StringIO, *lines: str) -> str:
    with BuildProgress("Building", out) as progress:
        for line in lines:
            progress.read_line(line)
    return out.getvalue()


def test_a_log_gets_a_line_every_tenth() -> None:
    steps = [f"  [{n}/200] /usr/bin/c++ -c x.cpp" for n in range(1, 201)]
    lines = shown(io.StringIO(), *steps).splitlines()
    assert len(lines) == 10
    assert "20 of 200" in lines[0]
    assert "200 of 200" in lines[-1]


def test_a_terminal_gets_one_line_written_over() -> None:
    text = shown(Terminal(), "[1/200] a", "[2/200] b")
    assert text.count("\r") == 2
    assert text.count("\n") == 1
    assert text.endswith("\n")


def test_small_builds_inside_do_not_count() -> None:
    text = shown(Terminal(), "[1/2] probe", "[2/2] probe", "[100/766] c++", "[1/3] shaders", "[3/3] shaders")
    assert text.rstrip().split("\r")[-1].startswith("Building: 100 of 766")


def test_it_never_goes_back() -> None:
    text = shown(Terminal(), "[5/10] a", "[4/10] b")
    assert "4 of 10" not in text


def test_other_lines_are_not_steps() -> None:
    assert shown(Terminal(), "[notice] a new release of pip", "x [1/2]", "[a/b]") == ""
