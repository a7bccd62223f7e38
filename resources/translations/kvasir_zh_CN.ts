<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>Actions</name>
    <message>
        <source>All commands…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find a command by typing part of its name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start with an empty chat; the cells of this one are freed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send what is typed; only its own tokens are read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the answer; its text stays</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Replace the last answer; the prompt stays in the cache, so it starts at once</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue the answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let the last answer go on where it ended; nothing is read again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Edit your last message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put your last message back into the composer; what follows the change is read again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the last answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the last answer as Markdown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the whole chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy all messages as Markdown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go to the composer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move the keyboard to the composer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go to the messages</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move the keyboard to the messages</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Jump to the end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the newest message and follow it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the starter and the recent models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a model file…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Load a GGUF file in place of the model; the chat is read again by the new one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel loading</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give up loading the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unload the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give all of the model&apos;s memory back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About the engine…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show versions, back ends, devices and the log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show or hide the panel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show or hide the panel at the side</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show what the KV cache holds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sampling and system prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show how the next answer is sampled</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Detach or attach the panel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give the panel a window of its own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move the panel to the other side</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move the panel left or right</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close all notices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Preferences…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Theme, text size, accent colour and language</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next theme</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go from system to light to dark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Larger text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make all text larger</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Smaller text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make all text smaller</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Normal text size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take text back to its normal size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next language</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Switch between English and Chinese</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fill the screen, or go back to a window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close Kvasir; an answer under way is stopped</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>CachePanel</name>
    <message>
        <source>Cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cells</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KV memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed of the last answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cells used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sinks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First tokens, never evicted; they hold the quality</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evicted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens that lost their cells; the model no longer sees them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt tokens that were in the cache already and cost nothing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bytes of K and V in the cells in use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Allocated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bytes of K and V for all cells, used or not</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Per token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bytes of K and V for one token, over all layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>K type</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How keys are stored; q8_0 takes about half of f16</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>V type</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How values are stored; a quantized V needs flash attention</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Flash attention</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attention without the large score matrix</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens written per second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt tokens read per second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time from the request to the first token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of the prompt that was in the cache already</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of {0} cells</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ms</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the prompt: {0} of {1} tokens</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ChatSession</name>
    <message>
        <source>You</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Assistant</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>{0} tok/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} reused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>seed {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The answer broke off here. Its text is safe; it can be continued or answered again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The longest answer allowed was reached.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cache is full.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>CommandPalette</name>
    <message>
        <source>Commands</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What would you like to do?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search commands</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Type part of a name; ↑ ↓ choose, Enter does it, Esc closes</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Ask anything…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send (Enter)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop (Esc); what is written so far stays</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Will be sent when the model is ready</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Esc to stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter to send  ·  Shift+Enter for a new line</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Too long by %Ln token(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>{used} / {room} tokens</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Engine</name>
    <message>
        <source>A context window of {} tokens needs {} for K and V, and {} are free: make it smaller, or choose q8_0 or q4_0 for K and V.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A context window of {} tokens needs {} for K and V: make it smaller.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An eviction of {} tokens would empty the window of {}: choose at most {}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Batches have {} tokens, not {}: no more fit the context.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kvasir runs on the CPU alone: its llama.cpp was built for no GPU. To use one, build it again with `make run GPU=vulkan` (or cuda, metal, hip).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kvasir runs on the CPU alone: {} found no GPU. A graphics driver may be missing; without a GPU everything works, only slower.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory ran out. A smaller context window, q8_0 for K and V or a smaller model helps.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Micro-batches have {} tokens, not {}: no more fit a batch.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No RPC worker answers at {}: start one there, or remove it from the settings.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is loaded: choose one first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Something went wrong inside Kvasir. Your text is safe; try again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The back end {} can&apos;t be used here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cache could not be copied.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cache was full: the oldest turns were dropped and {} tokens are read again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine can&apos;t be started: close other programs, or install Kvasir again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine crashed {} ({}). Your text is safe; try again, or choose other settings.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine ended unexpectedly {} (exit code {}). Your text is safe; try again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine got a command it does not know.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine stopped again and again and is not started any more. Choose another model or smaller settings.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine was ended by the system, usually because memory ran out. A smaller context window, q8_0 for K and V or a smaller model helps.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model gave no result for this token.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model loads but can&apos;t compute with these settings: try f16 for K and V, or fewer GPU layers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model was taken out of memory before this was answered.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The starter model is not installed: run `make run` once, or open a GGUF file of your own.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The system prompt takes {} of {} cells, which leaves no room for a window: shorten it, enlarge the context window, or let the system prompt be evicted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no file “{}” in “{}”. It may have been moved: choose it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is nothing to answer: write a message first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This build of llama.cpp has no RPC back end.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is a “{}” model, which this version can&apos;t run: it needs a newer Kvasir.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is too long by {} tokens: it has {} and there is room for {}. Shorten it, or load the model with a larger context window.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model doesn&apos;t say how long a text it was trained for: set a context window.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model has no chat template.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model keeps K and V as one, so their types can&apos;t differ: use {} or {} for both.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model knows no system prompt: its text stands at the start of the first message.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model runs without flash attention, and V in {} needs it: use f16 for V.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model wants question and answer in turn: messages of one side in a row are joined.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model was trained on texts of {} tokens: beyond them its answers fall apart. A smaller context window, or RoPE scaling (yarn), helps.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model&apos;s cache can&apos;t be renumbered in place.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model&apos;s chat template can&apos;t be read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model&apos;s chat template can&apos;t write this chat: start a new chat, or choose another model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model&apos;s chat template did not come to an end, so it was stopped. Choose another model, or a newer file of this one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model&apos;s memory can&apos;t be rolled back to the change, so {} tokens are read again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What stands before the change had left the cache, so {} tokens are read again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model&apos;s memory is {}, so tokens can&apos;t be taken out of it: choose recompute or stop instead of {}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This processor&apos;s fastest code stopped the engine, so Kvasir now uses {}. Answers may be a little slower.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>V in {} needs flash attention, so it is on, whether it is fast here or not.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>V in {} needs flash attention: set flash attention to auto or on, or use f16 for V.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your text holds control words of this model; an invisible space in them keeps them text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{} Kvasir uses the {} form instead; answers may be worse than the model can do.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{} can&apos;t store this model&apos;s {}: its blocks of {} don&apos;t divide the head size {}. Use f16, bf16 or f32 for {}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{} has no fast kernels for K in {} with V in {}: every token will be slower. f16 for both, or q8_0 for both, is fast.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{} sinks and a window of {} need {} cells, and there are {}: make them smaller or the context window larger.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{} the compute buffers grow with the context window: they take {}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{}” could not be read: {}. Check the disk and the file&apos;s permissions.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{}” does not fit the other files of its model. Download it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{}” is a LoRA adapter, a change to another model. Choose that model&apos;s own file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{}” is a folder. Choose the .gguf file in it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{}” is an embedding model, which turns text into numbers. Choose a model that chats.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{}” is damaged: its header makes no sense. Download it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{}” is empty: its download never began. Download it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{}” is in a format older than GGUF, which is no longer read. Download the model as .gguf.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{}” is incomplete: it ends too early, as in a broken download. Download it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{}” is incomplete: only its first bytes are there. Download it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{}” is missing: the model is split into {} files. Download it into the folder of the others.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{}” is one of {} files of a model, but was renamed. Give it back its original name, which ends in “-0000N-of-{}.gguf”.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{}” stores its weights in a format that this version of Kvasir does not know. Update Kvasir, or download the model in another quantization.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{}” translates pictures or sound for another model. Choose that model&apos;s own file.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>EngineDetails</name>
    <message>
        <source>Engine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End of the log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy versions, devices and the log, for a bug report</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start the engine again; the model is loaded once more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Versions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back ends</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CPU code</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} free of {1}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This build of llama.cpp computes on the CPU only. “make run GPU=vulkan” (or cuda, metal, hip) builds one that uses a graphics card.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>EngineNotices</name>
    <message>
        <source>“{0}” is not a GGUF file. Drop a file that ends in .gguf.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no model to answer yet: choose one above. What you typed stays.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You are editing your last message: Enter replaces it, Esc leaves it as it was.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The preferences could not be read, so the defaults hold. The old file is {0}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The preferences were written by a newer Kvasir, so the defaults hold. The old file is {0}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Some preferences made no sense and are at their defaults. The file as it was is {0}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The preferences file {0} can&apos;t be read, so the defaults hold and changes are not kept. Check who may read it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The preferences can&apos;t be saved in {0}, so changes hold only until Kvasir closes. Check the folder&apos;s permissions and free space.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This link is not opened: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open this link outside of Kvasir? {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Something went wrong in the window. Your text is safe; the details help to report it.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>Drop a .gguf file to load it</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelPicker</name>
    <message>
        <source>Loading {0} · {1}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a file…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Load a GGUF file; its weights and its KV cache take memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give up loading; what was loaded of it is freed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Or drop a .gguf file anywhere on the window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SmolLM2 135M, the starter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recent</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>NoticeBar</name>
    <message>
        <source>Information</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Error</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hide details</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Details</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the engine wrote to its log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy this notice with its details</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close this notice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Numbers</name>
    <message>
        <source>{0} %</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PreferencesDialog</name>
    <message>
        <source>Preferences</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Theme</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accent colour</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Language</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Takes effect at once</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Blue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Violet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Teal</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rose</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Graphite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The size of all text; Ctrl+= and Ctrl+- change it too</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Takes effect at once, without a restart</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As the system</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kept in {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Everything is kept already</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Program</name>
    <message>
        <source>Open a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GGUF models (*.gguf)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SamplingPanel</name>
    <message>
        <source>Sampling</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the model should behave, for example: Answer briefly.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stands before every chat. A change makes the next request read the whole chat again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Holds from the next message on; the chat is then read again once.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to the defaults</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Takes all sampling settings back; the system prompt stays</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SettingField</name>
    <message>
        <source>From {0} to {1}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Default: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This can&apos;t be used here: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A whole number from {0} to {1}, please.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A number from {0} to {1}, please.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Settings</name>
    <message>
        <source>Context window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens the cache has cells for, rounded up to a multiple of 256. KV memory grows in proportion.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>K cache type</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How keys are stored. q8_0 takes 53 % of f16 at next to no loss; q4_0 takes 28 % and costs accuracy, in K more than in V.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>V cache type</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How values are stored. A quantized V needs flash attention.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Flash attention</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Computes attention without the large score matrix: less compute memory, and a must for a quantized V.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KV cache on the GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Off keeps the KV cache of offloaded layers in RAM: frees VRAM, and every token becomes much slower.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Full-size sliding-window cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models with sliding-window layers keep only their window by default. On keeps everything: more memory, cheap edits.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>RoPE scaling</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stretches positions so that a context beyond the trained length stays usable; short texts lose a little.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>RoPE base</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Base frequency of the rotary position embedding.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>RoPE frequency scale</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>0.5 stretches the trained length to twice its size.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Most tokens handed to llama.cpp in one call while a prompt is read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Micro-batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens computed at once. Larger reads prompts faster on a GPU and needs a larger compute buffer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Threads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CPU threads for computing. Automatic takes one for each physical core.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>automatic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layers whose weights and KV cache lie on the GPU. Automatic takes as many as fit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Main GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The GPU that holds the whole model when it is not split.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Split over GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How several GPUs share a model: by layers, by rows, or not at all.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of each GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Proportions such as 3,1; empty lets llama.cpp divide by free memory.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Map the file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reads weights straight from the file as they are needed: a fast start, and RAM that other programs can take back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Repack weights for the CPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Faster on the CPU, at the price of RAM that can&apos;t be shared with the file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When the cache is full</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stop ends the answer · window keeps the latest tokens · sinks also keeps the first ones, which holds the quality · recompute drops the oldest turns and reads the rest again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>best for the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sinks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First tokens that are never evicted. Four are enough to hold the quality (StreamingLLM).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Most recent tokens kept beside the sinks. Smaller than the context window answers faster and forgets sooner.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all the room</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evicted at a time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cells freed at once when the window is full.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an eighth of the window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep the system prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The system prompt counts as sinks and is never evicted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evict whole turns</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>turn never leaves half a finished message in the cache; token frees exactly the chunk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>0 always takes the most likely token.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only the k most likely tokens; 0 is all.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The smallest set of tokens with this probability; 1 is all.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drops tokens less likely than this share of the best one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Repeat penalty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Above 1 makes recent tokens less likely.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Presence penalty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Subtracted once a token has appeared.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Frequency penalty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Subtracted for each appearance of a token.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Penalty range</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How many recent tokens the penalties look at.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same seed gives the same text. Random draws one and shows it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>random</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The answer ends after this many tokens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no limit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ignore the end of the turn</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Goes on after the model wants to stop; for measurements.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SidePanel</name>
    <message>
        <source>Panel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hide the panel (F9 shows it again)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hide the panel</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TopBar</name>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More commands</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show or hide the panel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>starting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loading {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ready</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>answering</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Engine: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the engine is doing; click for versions, devices and its log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose another model; loading it takes seconds, and the chat is read again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU {0}/{1}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CPU</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Transcript</name>
    <message>
        <source>You</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Assistant</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Code</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Thinking…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Thoughts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model no longer sees this</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model no longer sees all of this</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Jump to the end (End)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Jump to the end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Link to {address}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy this code</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show or hide the model&apos;s thoughts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy this message as Markdown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Edit this message; what follows it is answered again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer again; only what follows is computed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue this answer where it ended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a new chat from here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the version before</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the version after</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy link address</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select all</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Unattended</name>
    <message>
        <source>The engine stopped and could not be started again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An answer failed; the window says why.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The picture could not be saved as {0}.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Welcome</name>
    <message>
        <source>Welcome</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What shall we talk about?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Explain in three sentences what a KV cache is.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Write a limerick about a forgetful robot.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show a Python function that reverses a list, with a test.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plan a rainy Sunday, hour by hour.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put this into the composer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The starter, a recent one, or a GGUF file of yours</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no model yet. Everything stays on this computer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine has stopped. Choose a model to start it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model is on its way. Just begin to type: it is sent as soon as it can be.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Everything stays on this computer. The panel shows what the model keeps in mind.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
