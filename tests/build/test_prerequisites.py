"""What is missing on the system is one sentence with the way out."""

from __future__ import annotations

import pytest

from tests.build.conftest import Computer
from tools.prerequisites import SetupError, require_compiler, require_qt_libraries, require_venv

SYSTEMS = ("Debian", "Fedora", "macOS", "Windows")


def assert_one_sentence(error: SetupError) -> None:
    assert "\n" not in str(error)
    assert all(system in str(error) for system in SYSTEMS)


@pytest.mark.parametrize("system", ["Linux", "Darwin", "Windows"])
def test_a_missing_compiler(computer: Computer, system: str) -> None:
    with pytest.raises(SetupError) as caught:
        require_compiler(computer.machine(system))
    assert_one_sentence(caught.value)


def test_a_compiler_that_is_there(computer: Computer) -> None:
    computer.add_program("clang++")
    require_compiler(computer.machine())


def test_a_mac_without_the_command_line_tools_has_only_a_placeholder(computer: Computer) -> None:
    computer.add_program("c++")
    computer.add_program("xcode-select", "exit 2")
    with pytest.raises(SetupError, match="xcode-select --install"):
        require_compiler(computer.machine("Darwin"))
    computer.add_program("xcode-select", "echo /Library/Developer")
    require_compiler(computer.machine("Darwin"))


def test_a_python_without_the_venv_module() -> None:
    require_venv()
    with pytest.raises(SetupError, match="-venv") as caught:
        require_venv(("venv", "a_module_that_is_not_there"))
    assert_one_sentence(caught.value)


def test_missing_qt_libraries_are_named_with_their_packages(computer: Computer) -> None:
    with pytest.raises(SetupError, match="apt install libegl1 libxkbcommon0'") as caught:
        require_qt_libraries(
            computer.machine(), False, lambda soname: soname not in {"libEGL.so.1", "libxkbcommon.so.0"}
        )
    assert_one_sentence(caught.value)
    require_qt_libraries(computer.machine(), False, lambda soname: True)


@pytest.mark.parametrize(
    ("environ", "culprit"),
    [
        ({}, "libxcb-cursor0"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "libwayland-cursor0"),
        ({"QT_QPA_PLATFORM": "offscreen"}, None),
    ],
)
def test_only_the_display_in_use_needs_its_libraries(
    computer: Computer, environ: dict[str, str], culprit: str | None
) -> None:
    machine = computer.machine(**environ)

    def is_here(soname: str) -> bool:
        return not soname.startswith(("libxcb-", "libwayland-"))

    require_qt_libraries(machine, False, is_here)
    if culprit is None:
        require_qt_libraries(machine, True, is_here)
    else:
        with pytest.raises(SetupError, match=culprit):
            require_qt_libraries(machine, True, is_here)


def test_other_systems_bring_what_qt_needs(computer: Computer) -> None:
    require_qt_libraries(computer.machine("Darwin"), True, lambda soname: False)
