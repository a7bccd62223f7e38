"""The system's dialog to choose a model file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFileDialog, QWidget

translate = QCoreApplication.translate


def ask_for_model_file(parent: QWidget, folder: Path | None, on_chosen: Callable[[str], object]) -> None:
    """Ask for a GGUF file, beginning in a folder; returns at once."""
    dialog = QFileDialog(parent, translate("Program", "Open a model"))
    dialog.setObjectName("openModelDialog")
    dialog.setNameFilters([translate("Program", "GGUF models (*.gguf)"), translate("Program", "All files (*)")])
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    if folder is not None:
        dialog.setDirectory(str(folder))
    dialog.fileSelected.connect(on_chosen)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
