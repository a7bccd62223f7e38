"""Files dropped on the window: a GGUF file is opened, anything else goes with the next message."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QWidget


def local_files(data: QMimeData) -> list[str]:
    """The paths of files of this machine among what is dragged."""
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()] if data.hasUrls() else []


class FileDrop(QObject):
    """``dropped`` carries the path of a .gguf file, ``others_dropped`` those of other files; ``hovering`` follows the
    drag."""

    dropped = Signal(str)
    others_dropped = Signal(list)
    hovering = Signal(bool)

    def __init__(self, targets: list[QWidget], parent: QObject | None = None) -> None:
        super().__init__(parent)
        for target in targets:
            target.setAcceptDrops(True)
            target.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take drags of files; leave those of text to whoever they are over."""
        if isinstance(event, QDropEvent) and local_files(event.mimeData()):
            event.acceptProposedAction()
            if isinstance(event, QDragEnterEvent):
                self.hovering.emit(True)
            elif event.type() == QEvent.Type.Drop:
                self.hovering.emit(False)
                self._take(local_files(event.mimeData()))
            return True
        if isinstance(event, QDragLeaveEvent):
            self.hovering.emit(False)
        return super().eventFilter(watched, event)

    def _take(self, paths: list[str]) -> None:
        models = [path for path in paths if path.lower().endswith(".gguf")]
        if models:
            self.dropped.emit(models[0])
        else:
            self.others_dropped.emit(paths)
