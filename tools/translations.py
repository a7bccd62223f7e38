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
SOURCE_TEXTS = ROOT / "app" / "look" / "source_texts.py"
LANGUAGES = {"kvasir_zh_CN": [], "kvasir_en": ["-pluralonly"]}
"""English is the source; its file only holds the plurals."""
SILENT_ROOMS = ("engine/api/settings.py", "engine/__main__.py", "engine/commands/", "engine/lab/")
"""Parts of the engine whose sentences no window shows, or which are collected as declarations."""
FEWEST_WORDS = 3
"""With fewer words before the last one it is a piece of a sentence."""
USAGE = "usage: python tools/translations.py update | build [FOLDER] | check"


def main(arguments: Sequence[str]) -> int:
    """Carry out one of the three; the exit status."""
    match list(arguments):
        case ["update"]:
            SOURCE_TEXTS.write_text(source_texts(), encoding="utf-8")
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
    """Bring the .ts files of the folder up to date with the texts of the window."""
    sources = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "app").rglob("*.py"))
    for name, options in LANGUAGES.items():
        file = str(folder / f"{name}.ts")
        language = name.removeprefix("kvasir_")
        _run(
            tool("lupdate"), "-silent", "-no-obsolete", "-locations", "none", "-source-language", "en",
            "-target-language", language, *options, *sources, "-ts", file,
        )  # fmt: skip


def what_is_missing() -> list[str]:
    """A line for each text without a translation, and for a collection that is out of date."""
    missing: list[str] = []
    if SOURCE_TEXTS.read_text(encoding="utf-8") != source_texts():
        missing.append("app/look/source_texts.py is out of date: run `python tools/translations.py update`.")
    with tempfile.TemporaryDirectory() as folder:
        for name in LANGUAGES:
            shutil.copyfile(FOLDER / f"{name}.ts", Path(folder) / f"{name}.ts")
        collect(Path(folder))
        for name in LANGUAGES:
            missing += [f"{name}: {text}" for text in unfinished(Path(folder) / f"{name}.ts")]
    return missing


def unfinished(file: Path) -> Iterator[str]:
    """ "Context: text" of each message of a .ts file that has no translation, or one that lost a placeholder."""
    for context in ET.parse(file).getroot().iter("context"):
        for message in context.iter("message"):
            source = message.findtext("source") or ""
            translation = message.find("translation")
            forms = [] if translation is None else [form.text or "" for form in translation.iter("numerusform")]
            words = forms or [(translation.text or "") if translation is not None else ""]
            is_open = translation is None or translation.get("type") == "unfinished" or not all(words)
            if is_open or not all(_can_be_filled(source, word) for word in words):
                yield f"{context.findtext('name')}: {source}"


def _can_be_filled(source: str, translation: str) -> bool:
    """Whether the translation has the places of its source; those without a name may be counted, or left out."""
    wanted, found = _places(source), _places(translation)
    if "{}" not in wanted:
        return sorted(wanted) == sorted(found)
    counted = {f"{{{index}}}" for index in range(len(wanted))}
    return len(found) <= len(wanted) and (set(found) <= {"{}"} or set(found) <= counted)


def _places(text: str) -> list[str]:
    return re.findall(r"\{\w*\}|%Ln|%n", text)


def source_texts() -> str:
    """The module that holds the engine's words for the translators: sentences, and words of the declarations."""
    lines = [
        '"""The engine\'s words that the window translates; written by `python tools/translations.py update`."""',
        "",
        "from __future__ import annotations",
        "",
        "from PySide6.QtCore import QT_TRANSLATE_NOOP",
        "",
        "# fmt: off",
        "ENGINE_SENTENCES = (",
        *(_entry("Engine", text) for text in engine_sentences()),
        ")",
        "SETTING_WORDS = (",
        *(_entry("Settings", text) for text in setting_words()),
        ")",
    ]
    return "\n".join(lines) + "\n"


def setting_words() -> list[str]:
    """Labels, help, units and names of values of every declared setting."""
    from engine.api.settings import LoadSettings, PolicySettings, SamplingSettings, TierSettings, declarations

    words: dict[str, None] = {}
    for settings_class in (LoadSettings, PolicySettings, SamplingSettings, TierSettings):
        for one in declarations(settings_class):
            # A type such as q8_0 has the same name in every language.
            values = [value for value in (*one.choices, *one.words) if value.isalpha()]
            words.update(dict.fromkeys(filter(None, (one.label, one.help, one.unit, one.none_label, *values))))
    return list(words)


def engine_sentences() -> list[str]:
    """Every whole sentence in the engine's code, with `{}` where a value stands."""
    found: dict[str, None] = {}
    for path in sorted((ROOT / "engine").rglob("*.py")):
        if not path.relative_to(ROOT).as_posix().startswith(SILENT_ROOMS):
            found.update(dict.fromkeys(_sentences(ast.parse(path.read_text(encoding="utf-8")))))
    return sorted(found)


def _sentences(tree: ast.AST) -> Iterator[str]:
    if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant):
        return  # a docstring
    text = _text_of(tree)
    if text is not None:
        sentence = re.sub(r"\{\w*\}", "{}", text)
        is_begun = sentence[:1].isupper() or sentence.startswith(("“", "{", "llama.cpp"))
        is_sentence = sentence.endswith(".") and is_begun
        if is_sentence and len(re.findall(r"\w+ ", sentence)) >= FEWEST_WORDS:
            yield sentence
        return
    for child in ast.iter_child_nodes(tree):
        yield from _sentences(child)


def _text_of(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(part) or "{}" for part in node.values)
    return None


def _entry(context: str, text: str) -> str:
    return f'    QT_TRANSLATE_NOOP("{context}", {json.dumps(text, ensure_ascii=False)}),'


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
