"""Says how far a download is, and what has become of it."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.look import language
from app.models import fit_text
from app.models.fit_text import FitText
from engine.models.hub.downloads import Download, DownloadState

MINUTE_S, HOUR_S = 60, 3600

translate = QCoreApplication.translate


def progress(download: Download) -> str:
    """Bytes, speed and the time that is left."""
    done, total = language.bytes_text(download.n_done), language.bytes_text(download.n_total)
    if download.state is DownloadState.DONE:
        return total
    parts = [translate("DownloadsPage", "{0} of {1}").format(done, total)]
    if download.bytes_per_second:
        speed = language.bytes_text(download.bytes_per_second)
        parts.append(translate("DownloadsPage", "{0} per second").format(speed))
    if download.seconds_left is not None:
        parts.append(_time_left(download.seconds_left))
    return " · ".join(parts)


def state(download: Download) -> FitText:
    """What goes on, or why it failed."""
    if download.problem is not None:
        return fit_text.of_problem(download.problem.sentence)
    match download.state:
        case DownloadState.WAITING:
            return FitText(translate("DownloadsPage", "Waits for its turn"), "text_3")
        case DownloadState.CHECKING:
            return FitText(translate("DownloadsPage", "Checking what is there already"), "text_3")
        case DownloadState.PAUSED:
            return FitText(translate("DownloadsPage", "Paused"), "warning")
        case DownloadState.DONE:
            if any(file.sha256 is None for file in download.model.files):
                # A plain mirror tells none.
                return FitText(translate("DownloadsPage", "Complete"), "success")
            return FitText(translate("DownloadsPage", "Complete, and its checksum is right"), "success")
        case _:
            return FitText("", "text_3")


def _time_left(seconds: float) -> str:
    if seconds < MINUTE_S:
        return translate("DownloadsPage", "less than a minute left")
    if seconds < HOUR_S:
        return translate("DownloadsPage", "{0} min left").format(language.number(round(seconds / MINUTE_S)))
    return translate("DownloadsPage", "{0} hours left").format(language.number(seconds / HOUR_S, 1))
