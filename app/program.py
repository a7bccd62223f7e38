"""The objects of the window's process: built and wired here and nowhere else."""

from __future__ import annotations

import contextlib
import logging
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtWidgets import QApplication, QMenu, QPlainTextEdit, QWidget

from app.cache.full_dialog import FullDialog
from app.cache.memory_sampler import MemorySampler
from app.cache.option_pricer import OptionPricer
from app.cache.panel import CachePanel
from app.chats.cell_turns import CellTurns
from app.chats.chat_files import ChatFiles
from app.chats.chat_saver import ChatSaver
from app.chats.chat_session import ChatSession
from app.chats.chats_controller import ChatsController
from app.chats.full_cache import FullCache
from app.chats.opened_chats import OpenedChats
from app.chats.sampling_controller import SamplingController
from app.chats.sidebar import Sidebar
from app.chats.turn_actions import TurnActions
from app.chats.warm_chats import WarmChats
from app.commands.actions import MENU, Actions
from app.commands.palette import CommandPalette
from app.composer.attaching import Attaching
from app.composer.composer import Composer
from app.link.bridge import EngineBridge
from app.link.file_check import check_model_file
from app.link.model_loader import ModelLoader
from app.link.model_setups import ModelSetups
from app.link.plan_service import PlanService
from app.link.session import Engine, EngineSession
from app.link.status import EngineStatus
from app.link.what_if import WhatIf
from app.look.language import Languages, in_words
from app.look.resources import resource_dir
from app.look.theme import Theme
from app.models.file_dialog import ask_for_model_file
from app.models.first_run import FirstRun, has_starter
from app.models.fit_question import FitQuestion
from app.models.models_controller import ModelsController
from app.models.picker import ModelPicker
from app.models.recent_models import RecentModels
from app.models.workers import make_workers
from app.process import terminal
from app.process.logs import prepare_logs
from app.process.one_window import Answer, Request
from app.process.options import Options, folders
from app.process.process_age import process_age_s
from app.process.thread_failures import ThreadFailures
from app.settings.appearance import Appearance
from app.settings.preferences_dialog import PreferencesDialog
from app.settings.sampling_panel import SamplingPanel
from app.settings.setup_controller import SetupController
from app.settings.setup_panel import SetupPanel
from app.store.preferences_store import PreferencesStore, Problem
from app.store.store import DATABASE
from app.transcript.transcript import Transcript
from app.widgets.file_drop import FileDrop
from app.widgets.notices import Notices
from app.widgets.side_panel import SidePanel
from app.window.about import AboutDialog
from app.window.engine_details import EngineDetails
from app.window.engine_notices import EngineNotices
from app.window.main_window import Centred, MainWindow
from app.window.starts import Starts
from app.window.top_bar import TopBar
from app.window.unattended import Unattended
from app.window.welcome import Welcome
from engine.api.errors import EngineError
from engine.api.messages import EngineReady, Event
from engine.client.client import EngineClient, EngineOptions, Recovery, read_log_tail
from engine.client.planner import Planner
from engine.devices import DeviceSampler
from engine.models.starter import starter_path

log = logging.getLogger("kvasir")
translate = QCoreApplication.translate


class Program:
    """Every object of the window's process.

    ``make_engine`` is given the function that takes events; ``check_model`` raises EngineError for a file that can't be
    a chat model.
    """

    def __init__(
        self,
        app: QApplication,
        options: Options,
        make_engine: Callable[[Callable[[Event], None]], Engine] | None = None,
        check_model: Callable[[Path], None] = check_model_file,
    ) -> None:
        self._options = options
        self.exit_code = 0
        where = folders(options.data_dir)
        self._problems: list[Problem] = []
        self.store = PreferencesStore(where.config / "preferences.json", self._problems.append)
        log_folder = self.store.load().log_folder
        self._engine_log = prepare_logs(Path(log_folder) if log_folder else where.logs)
        self.theme = Theme(app)
        self.languages = Languages(resource_dir() / "translations", app)
        self.appearance = Appearance(self.theme, self.languages, self.store)
        self.appearance.apply()
        self.bridge = EngineBridge()
        log_path, snapshots = str(self._engine_log), str(where.data / "snapshots")
        engine_options = EngineOptions(log_path, snapshot_folder=snapshots, tiers=self.store.current.tiers)
        recovery = Recovery(where.config / "machine.json")
        if make_engine is None:
            self.engine: Engine = EngineClient(self.bridge.post, engine_options, recovery=recovery)
        else:
            self.engine = make_engine(self.bridge.post)
        self.session = EngineSession(self.engine, self.bridge)
        plans = self.plans = PlanService(Planner(engine_options, recovery.machine))
        workers = self.workers = make_workers(where.data, plans)
        self.window = MainWindow(self.theme)
        self.setups = ModelSetups(self.store)
        # Where nobody is there to be asked, whatever is wanted is loaded.
        self._is_attended = not options.texts and options.screenshot is None
        ask = FitQuestion(self.window).ask if self._is_attended else None
        self.loader = ModelLoader(self.session, self.setups, plans, ask, check_model)
        self.notices = Notices(self.theme)
        self.models = ModelsController(self.theme, self.loader, self.store, workers, self.notices)
        self.sampler = MemorySampler(DeviceSampler())
        self._pricer = OptionPricer(plans)
        self.settings_panel = SetupPanel(self.theme, WhatIf(plans))
        self.cache_panel = CachePanel(self.theme)
        self._build_window()
        self._connect_engine()
        self._bind_actions()
        self._connect_window()
        self.starts = Starts(self.window, self._make_play)
        for problem in self._problems:
            self._tell_problem(problem)
        self.store.on_problem = self._tell_problem

    # Building

    def _build_window(self) -> None:
        preferences = self.store.current
        self.actions = Actions(self.window, self.theme)
        self.top_bar = TopBar(self.theme, self.actions)
        self.welcome = Welcome(self.theme, self.actions)
        self.transcript = Transcript(self.theme, self.welcome)
        look = self.models.look
        self.models.shows_elsewhere = self.welcome.first_models.shows
        self.first_run = FirstRun(self.welcome.first_models, self.session, self.workers, look, self.loader.open)
        self.composer = Composer(self.theme)
        self.sampling_panel = SamplingPanel(preferences.sampling, preferences.system_prompt)
        self.panel = SidePanel(self.theme)
        self.panel.add_page("cache", self.cache_panel)
        self.panel.add_page("settings", self.settings_panel)
        self.panel.add_page("sampling", self.sampling_panel)
        parts: list[QWidget] = [self.top_bar, self.transcript, Centred(self.notices, self.theme), self.composer]
        self.sidebar = Sidebar(self.theme, self.actions)
        self.window.place(parts, self.transcript, self.panel, self.sidebar)
        self.menu = QMenu(self.window)
        self.actions.fill(self.menu, MENU)
        self.top_bar.more.setMenu(self.menu)
        self.picker = ModelPicker(self.theme, self.actions, self.window)
        self.palette = CommandPalette(self.actions.all(), self.theme, self.window)
        self.details = EngineDetails(self.theme, self._read_log, self.window)
        self.dialog: PreferencesDialog | None = None
        self.chat = ChatSession(self.session, self.transcript, self.composer, lambda: self.store.current)
        self.turn_actions = TurnActions(self.chat, self.transcript, self.composer)
        saver = ChatSaver(folders(self._options.data_dir).data / DATABASE, self.chat, self.window)
        sampling = SamplingController(self.sampling_panel, self.chat, saver, self.store)
        self.chats = ChatsController(saver, self.chat, self.turn_actions, self.sidebar, sampling, self.notices)
        self.chats.keep_engine_informed(self.session)
        self.chat_files = ChatFiles(saver, self.notices, self.window)
        self.sidebar.export_requested.connect(self.chat_files.ask_to_export)
        self.warm_chats = WarmChats(self.session, self.sidebar, self.store)
        self.opened_chats = OpenedChats(self.session, self.chat, self.loader)
        self.attaching = Attaching(self.composer, self.session, self.notices, self.window, self.actions["attach_files"])
        SetupController(self.settings_panel, self.session, self.setups, self.loader, self.notices)
        CellTurns(self.cache_panel, self.chat, self.transcript)
        make_dialog = partial(FullDialog, self.theme, self.window)
        facts = lambda: self.cache_panel.facts  # noqa: E731
        full_cache = FullCache(self.chat, self.composer, self.loader, self._pricer, facts, make_dialog)
        policy = self.sampling_panel.policy
        full_cache.policy_changed.connect(lambda: policy.show_policy(self.chat.settings.policy))
        self.teller = EngineNotices(self.notices, self.session, self.loader, self._read_log)
        self.thread_failures = ThreadFailures(self.window)
        self.thread_failures.failed.connect(self.teller.tell_internal)
        self.window.restore(preferences.window_geometry, preferences.window_state)
        RecentModels(self.session, self.store, self.loader, self.picker)

    def _make_play(self, request: Request) -> Unattended:
        if request.texts:
            self.chats.new_chat()
        return Unattended(self.session, self.chat, self.loader, request, self._open_model, self.window.grab)

    # Wiring

    def _connect_engine(self) -> None:
        self.session.status_changed.connect(self._on_status)
        self.session.noted.connect(self.cache_panel.take)
        self.session.event_received.connect(self._on_event)
        self.sampler.sampled.connect(self.cache_panel.show_samples)
        self.cache_panel.looked_at.connect(self.sampler.set_active)
        self.loader.failed.connect(lambda path, error: self.picker.set_error(path, in_words(error.sentence)))
        self.chat.failed.connect(self.teller.tell_failed)
        self.chat.must_choose_model.connect(self._on_must_choose)
        self.chat.changed.connect(self.actions.refresh)
        self.chat.editing_changed.connect(self.composer.set_editing)
        self.details.restart_requested.connect(self._restart)
        self._on_status(self.session.status)

    def _bind_actions(self) -> None:
        chat, chats, turns = self.chat, self.chats, self.turn_actions
        does = {
            "new_chat": chats.new_chat,
            "attach_files": self.attaching.ask,
            "send": lambda: self._ask(self.composer.send),
            "stop": chat.stop,
            "regenerate": lambda: self._ask(chat.regenerate),
            "continue_answer": lambda: self._ask(chat.continue_answer),
            "edit_last": turns.edit_last,
            "copy_last": turns.copy_last,
            "copy_chat": turns.copy_chat,
            "focus_composer": self.composer.focus,
            "focus_transcript": self.transcript.setFocus,
            "jump_to_end": self.transcript.jump_to_end,
            "toggle_sidebar": lambda: self.sidebar.setVisible(self.sidebar.isHidden()),
            "search_chats": self.sidebar.focus_search,
            "previous_chat": lambda: chats.open_neighbour(-1),
            "next_chat": lambda: chats.open_neighbour(1),
            "rename_chat": chats.rename_open,
            "pin_chat": chats.pin_open,
            "delete_chat": chats.delete_open,
            "export_chat": lambda: self.chat_files.ask_to_export(chat.open_chat.head.id),
            "export_chats": lambda: self.chat_files.ask_to_export(None),
            "import_chats": self.chat_files.ask_to_import,
            "choose_model": lambda: self.picker.open_below(self.top_bar.model),
            "open_model": self._ask_for_file,
            "show_models": self.models.show_library,
            "find_models": self.models.show_finder,
            "cancel_load": self.loader.cancel,
            "unload_model": self.loader.unload,
            "show_engine": lambda: self.details.open_below(self.top_bar.state),
            "toggle_panel": lambda: self.panel.setVisible(self.panel.isHidden()),
            "show_cache": lambda: self.panel.show_page("cache"),
            "show_settings": lambda: self.panel.show_page("settings"),
            "show_sampling": lambda: self.panel.show_page("sampling"),
            "float_panel": self.panel.toggle_floating,
            "move_panel": self.window.move_panel,
            "close_notices": self.notices.clear,
            "show_preferences": self._show_preferences,
            "show_about": lambda: AboutDialog(self.window).show(),
            "next_theme": self.appearance.next_theme,
            "larger_text": self.appearance.larger_text,
            "smaller_text": self.appearance.smaller_text,
            "normal_text": self.appearance.normal_text,
            "next_language": self.appearance.next_language,
            "full_screen": self.window.toggle_full_screen,
            "show_palette": self.palette.open,
            "quit": self.window.close,
        }
        has_turns = lambda: bool(chat.conversation.turns)  # noqa: E731
        conditions = {
            "stop": chat.can_stop,
            "regenerate": chat.can_regenerate,
            "continue_answer": chat.can_continue,
            "edit_last": chat.can_edit,
            "copy_last": has_turns,
            "copy_chat": has_turns,
            "cancel_load": lambda: self.session.status.can_cancel_load,
            "unload_model": lambda: self.session.status.facts is not None,
        }
        self.actions.bind(does, conditions)
        finish = self.actions["finish_when_left"]
        finish.setCheckable(True)
        finish.setChecked(self.store.current.finish_when_left)
        finish.toggled.connect(lambda is_on: self.store.update(finish_when_left=is_on))

    def _connect_window(self) -> None:
        self.top_bar.model.clicked.connect(self.actions["choose_model"].trigger)
        self.top_bar.state.clicked.connect(self.actions["show_engine"].trigger)
        self.picker.model_chosen.connect(self.loader.open)
        self.picker.starter_chosen.connect(self._load_starter)
        self.picker.cancelled.connect(self.loader.cancel)
        self.welcome.suggested.connect(self.composer.begin_with)
        self.welcome.add_folder_wanted.connect(self.models.ask_for_folder)
        self.sidebar.visibilityChanged.connect(self.top_bar.new_chat.setHidden)
        self.transcript.link_activated.connect(self.teller.offer_link)
        editors = self.composer.findChildren(QPlainTextEdit)
        drop = FileDrop([self.window, *editors, *(editor.viewport() for editor in editors)], self.window)
        drop.dropped.connect(self.loader.open)
        drop.others_dropped.connect(self.attaching.attach)
        drop.hovering.connect(self.window.show_drop_hint)
        self.window.painted.connect(self._on_painted)
        self.window.closing.connect(self._on_closing)
        self.window.activated.connect(self.chats.look_again)

    # What happens

    def show(self) -> None:
        """Show the window; the engine starts once it is there."""
        self.window.show()
        self.window.activateWindow()
        if not self._options.texts:
            self.chats.open_draft()
        self.composer.focus()

    def close(self) -> None:
        """End the engine, and whatever else works in the background, each although another could not be ended."""
        with contextlib.ExitStack() as last_first:
            chats = (self.chats.saver, self.chat_files)
            for part in (self.plans, self.sampler, self.engine, *chats, self.models, self.attaching):
                last_first.callback(part.close)

    def _on_painted(self) -> None:
        with contextlib.suppress(OSError):
            log.info("The window was there %.0f ms after the process began", process_age_s() * 1000)
        QTimer.singleShot(0, self.window, self._start_engine)

    def _start_engine(self) -> None:
        self.session.start()
        if self._is_attended:
            self._load_first()
        else:
            self.starts.add(self._options.request(), self._on_own_ended)
        self.models.start()

    def _load_first(self) -> None:
        # Without a model the welcome page says what to do.
        if self._options.model is not None or self._last_model() is not None or has_starter():
            with contextlib.suppress(EngineError):
                self._open_model(str(self._options.model) if self._options.model is not None else None)

    def _restart(self) -> None:
        self.session.restart()
        self._load_first()

    def _open_model(self, path: str | None) -> str | None:
        """Have this model or, by default, any; the one that is on its way, None if it is there. Raises EngineError."""
        status = self.session.status
        if status.facts is not None and path in (None, status.model_path):
            return None
        if path is None and status.can_cancel_load:
            return status.model_path
        try:
            path = path or self._last_model() or str(starter_path())
        except EngineError as error:
            self.teller.tell_failed(error)
            raise
        self.loader.open(path)
        return path

    def _last_model(self) -> str | None:
        last = self.store.current.last_model
        return last if last is not None and Path(last).is_file() else None

    def _load_starter(self) -> None:
        try:
            self.loader.open(str(starter_path()))
        except EngineError as error:
            self.teller.tell_failed(error)

    def _on_status(self, status: EngineStatus) -> None:
        self.top_bar.set_status(status)
        self.welcome.set_status(status)
        self.picker.set_status(status)
        self.details.set_status(status, self.top_bar.state_word()[0])
        self.actions.refresh()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, EngineReady):
            self.sampler.watch(event.devices, event.process_id)
        usage, read_tps = self.cache_panel.facts.usage, self.cache_panel.facts.read_tps
        self.settings_panel.show_costs(usage, read_tps)

    def _on_must_choose(self) -> None:
        self.teller.tell_choose_model()
        self.actions["choose_model"].trigger()

    def _ask(self, do: Callable[[], object]) -> None:
        """A system prompt typed a moment ago is for this request too."""
        self.sampling_panel.flush()
        do()

    def _ask_for_file(self) -> None:
        last = self.store.current.last_model
        ask_for_model_file(self.window, Path(last).parent if last is not None else None, self.loader.open)

    def _show_preferences(self) -> None:
        if self.dialog is None:
            self.dialog = PreferencesDialog(self.theme, self.store.current, str(self.store.path), self.window)
            self.dialog.changed.connect(self.appearance.change)
            self.warm_chats.attach(self.dialog)
            self.appearance.changed.connect(lambda: self.dialog.show_preferences(self.store.current))
        self.dialog.show_preferences(self.store.current)
        self.dialog.show()
        self.dialog.activateWindow()

    def _tell_problem(self, problem: Problem) -> None:
        log.warning("preferences: %s %s", problem.kind, problem.detail)
        self.teller.tell_problem(problem)

    def _read_log(self) -> str:
        return read_log_tail(self._engine_log)

    def _on_own_ended(self, answer: Answer) -> None:
        if self._options.screenshot is None:
            return
        if answer.sentence:
            terminal.say(f"kvasir: {answer.sentence}")
        self.exit_code = answer.code
        self.window.close()

    def _on_closing(self) -> None:
        self.sampling_panel.flush()
        self.store.set(
            replace(
                self.store.current,
                window_geometry=self.window.geometry_text(),
                window_state=self.window.state_text(),
            )
        )

    def on_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """A mistake of the window: it goes into the log and a notice, and the window goes on."""
        text = "".join(traceback.format_exception(kind, error, trace))
        log.error("%s", text)
        self.teller.tell_internal(text)
