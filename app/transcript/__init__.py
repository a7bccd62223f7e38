"""The conversation: what was said (transcript) and what is being written (composer).

Transcript(theme, welcome): object name "transcript"; the widget `welcome` is shown while there are no turns
    set_turns(turns)                        show a chat at its end
    append_turn(turn)                       add a turn and follow it
    append_text(turn_id, text, reasoning="")  streamed text; shown within max(30 ms, 3 x the last showing)
    finish_turn(turn_id, state, facts=(), note="")
    update_turn(turn_id, **fields)          any field of ShownTurn; set_visibility({turn_id: Visibility})
    remove_turns_from(turn_id)
    set_actions(f)                          f(turn, is_last) -> tuple[Action, ...]: the buttons under a turn
    jump_to_end(), scroll_to_turn(turn_id), select_all(), copy(), selected_markdown()
    turns, is_following
    link_activated(str)                     a link was pressed: show it, then ask before opening; nothing is opened here
    action_requested(str, Action)           turn id and button; copying is done here and not told
    following_changed(bool), selection_changed()

ShownTurn(id, role, text, reasoning, state, author, time, facts, visibility, note, variant)
    role: "user", "assistant" or "system" · state: ShownState · visibility: Visibility · facts: e.g. ("318 tokens",)

Composer(theme): the text edit is "composer", its buttons "sendButton" and "stopButton"
    text(), set_text(text), clear(), focus()
    set_busy(bool)                          an answer is being written: Stop instead of Send
    set_queued(bool)                        what was sent waits for the model
    set_editing(bool)                       an earlier message is being changed; Esc then emits stop_requested
    set_can_send(bool)                      whether there is anyone to send to; typing stays possible
    set_room(n_tokens, n_room)              tokens of the draft and tokens left; None hides the line
    attachments, set_attachments(tuple), show_tokens(attachment, n_tokens, share of the cache)
    add_tool(widget)                        a control at the left under the text
    send_requested(str), stop_requested(), edit_last_requested(), text_changed(str), attachments_changed()

Both take the words of a new language by themselves.
"""

from app.transcript.turns import Action, ShownState, ShownTurn, Visibility

__all__ = ["Action", "ShownState", "ShownTurn", "Visibility"]
