"""Keeps the window's translations: `update` collects texts, `build` compiles them, `check` finds what is missing."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "translations"
LANGUAGES = {"kvasir_zh_CN": [], "kvasir_en": ["-pluralonly"]}
"""English is the source; its file only holds the plurals."""
USAGE = "usage: python tools/translations.py update | build [FOLDER] | check"


def main(arguments: Sequence[str]) -> int:
    """Carry out one of the three; the exit status."""
    match list(arguments):
        case ["update"]:
            collect(FOLDER)
            return 0
        case ["build", *folder] if len(folder) <= 1:
            build(Path(folder[0]) if folder else FOLDER)
            return 0
        case ["check"]:
            missing = what_is_missing()
            print("\n".join(missing) or "Every text has its translation.")
            return 1 if missing else 0
        case _:
            print(USAGE, file=sys.stderr)
            return 2


def tool(name: str) -> str:
    """A tool of PySide6 beside the Python that has it: the one that runs this, or the project's own."""
    for folder in (Path(sys.executable).parent, ROOT / ".venv" / "bin", ROOT / ".venv" / "Scripts"):
        found = shutil.which(f"pyside6-{name}", path=str(folder))
        if found is not None:
            return found
    raise _error(f"pyside6-{name} is not installed: run `make run` or `make test` first.")


def is_stale(folder: Path = FOLDER) -> bool:
    """Whether a compiled translation in the folder is missing or older than its source."""
    for name in LANGUAGES:
        source, compiled = FOLDER / f"{name}.ts", folder / f"{name}.qm"
        if not compiled.is_file() or compiled.stat().st_mtime < source.stat().st_mtime:
            return True
    return False


def build(folder: Path = FOLDER) -> None:
    """Compile every translation into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in LANGUAGES:
        # In one step: a window that is open has the file mapped, and reads on in it.
        fresh = folder / f"{name}.qm.new"
        _run(tool("lrelease"), "-silent", str(FOLDER / f"{name}.ts"), "-qm", str(fresh))
        fresh.replace(folder / f"{name}.qm")


def collect(folder: Path) -> None:
    """Bring the .ts files of the folder up to date with the texts of the window and of the engine."""
    sources = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "app").rglob("*.py"))
    with tempfile.TemporaryDirectory() as scratch:
        words = Path(scratch) / "words.py"
        entries = [_entry("Engine", text) for text in said()] + [_entry("Settings", text) for text in setting_words()]
        words.write_text("\n".join(["from PySide6.QtCore import QT_TRANSLATE_NOOP", *entries, ""]), encoding="utf-8")
        for name, options in LANGUAGES.items():
            file = str(folder / f"{name}.ts")
            language = name.removeprefix("kvasir_")
            _run(
                tool("lupdate"), "-silent", "-no-obsolete", "-locations", "none", "-source-language", "en",
                "-target-language", language, *options, *sources, str(words), "-ts", file,
            )  # fmt: skip


def what_is_missing() -> list[str]:
    """A line for each text without a translation."""
    missing: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in LANGUAGES:
            shutil.copyfile(FOLDER / f"{name}.ts", Path(folder) / f"{name}.ts")
        collect(Path(folder))
        for name in LANGUAGES:
            missing += [f"{name}: {text}" for text in unfinished(Path(folder) / f"{name}.ts")]
    return missing


def unfinished(file: Path) -> Iterator[str]:
    """ "Context: text" of each message of a .ts file that has no translation, or not one with its places."""
    for context in ET.parse(file).getroot().iter("context"):
        for message in context.iter("message"):
            source = message.findtext("source") or ""
            translation = message.find("translation")
            forms = [] if translation is None else [form.text or "" for form in translation.iter("numerusform")]
            words = forms or [(translation.text or "") if translation is not None else ""]
            is_open = translation is None or translation.get("type") == "unfinished" or not all(words)
            if is_open or any(_places(word) != _places(source) for word in words):
                yield f"{context.findtext('name')}: {source}"


def _places(text: str) -> set[str]:
    return set(re.findall(r"\{\w*\}|%Ln|%n", text))


def setting_words() -> list[str]:
    """Labels, help, units and names of values of every declared setting."""
    from engine.api.declarations import declarations
    from engine.api.settings import LoadSettings, PolicySettings, SamplingSettings, TierSettings

    words: dict[str, None] = {}
    for settings_class in (LoadSettings, PolicySettings, SamplingSettings, TierSettings):
        for one in declarations(settings_class):
            # A type such as q8_0 has the same name in every language.
            values = [value for value in (*one.choices, *one.words) if value.isalpha()]
            words.update(dict.fromkeys(filter(None, (one.label, one.help, one.unit, one.none_label, *values))))
    return list(words)


def said() -> list[str]:
    """The text of every sentence that the engine makes; raises where one could not be translated or filled."""
    found: set[str] = set()
    for path in sorted((ROOT / "engine").rglob("*.py")):
        found.update(texts_said(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()))
    return sorted(found)


def texts_said(code: str, where: str) -> Iterator[str]:
    """The first argument of every call of `say`, which has a place for each of the others."""
    tree = ast.parse(code)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = {id(call.func) for call in calls}
    if any(_name(node) == "say" and id(node) not in called for node in ast.walk(tree)):
        raise _error(f"{where}: `say` is to be called, with its text written out.")
    for call in calls:
        first = call.args[0] if call.args else None
        if _name(call.func) == "Sentence" and isinstance(first, ast.Constant | ast.JoinedStr):
            raise _error(f"{where}:{call.lineno}: it is `say` that makes sentences.")
        if _name(call.func) != "say":
            continue
        text = first.value if isinstance(first, ast.Constant) else None
        if not isinstance(text, str) or call.keywords or any(isinstance(one, ast.Starred) for one in call.args):
            raise _error(f"{where}:{call.lineno}: `say` takes its text written out, and then what stands in it.")
        if _places(text) != {f"{{{index}}}" for index in range(len(call.args) - 1)}:
            raise _error(f"{where}:{call.lineno}: the places of this text are not those of its arguments: {text}")
        yield text


def _name(node: ast.AST) -> str | None:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def _entry(context: str, text: str) -> str:
    return f'QT_TRANSLATE_NOOP("{context}", {json.dumps(text, ensure_ascii=False)})'


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise _error(f"{Path(command[0]).name} failed: {done.stdout}{done.stderr}".strip())


def _error(sentence: str) -> Exception:
    from tools.prerequisites import SetupError

    return SetupError(sentence)


if __name__ == "__main__":
    # Started as a file, it finds neither the engine nor its own package otherwise.
    sys.path[0] = str(ROOT)
    sys.exit(main(sys.argv[1:]))
