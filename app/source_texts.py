"""The engine's words that the window translates; written by `python tools/translations.py update`."""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP

# fmt: off
ENGINE_SENTENCES = (
    QT_TRANSLATE_NOOP("Engine", "A context window of {} tokens is long enough for most chats; more can be asked for."),
    QT_TRANSLATE_NOOP("Engine", "A context window of {} tokens is what the free memory has room for."),
    QT_TRANSLATE_NOOP("Engine", "A context window of {} tokens needs {} for K and V, and {} are free: make it smaller, or choose q8_0 or q4_0 for K and V."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "A context window of {} tokens needs {} for K and V: make it smaller."),
    QT_TRANSLATE_NOOP("Engine", "All {} layers fit on the GPU."),
    QT_TRANSLATE_NOOP("Engine", "An eviction of {} tokens would empty the window of {}: choose at most {}."),
    QT_TRANSLATE_NOOP("Engine", "Batches have {} tokens, not {}: no more fit the context."),
    QT_TRANSLATE_NOOP("Engine", "Downloads are turned off by HF_HUB_OFFLINE: unset it and start Kvasir again."),
    QT_TRANSLATE_NOOP("Engine", "Even with the shortest context {} of memory are missing: choose a smaller file."),
    QT_TRANSLATE_NOOP("Engine", "Flash attention isn't possible here; without it the compute buffers grow with the context window: they take {}."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "K and V in {} leave room for that; f16 would not."),
    QT_TRANSLATE_NOOP("Engine", "Kvasir runs on the CPU alone: its llama.cpp was built for no GPU. To use one, build it again with `make run GPU=vulkan` (or cuda, metal, hip)."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "Kvasir runs on the CPU alone: {} found no GPU. A graphics driver may be missing; without a GPU everything works, only slower."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "Memory ran out. A smaller context window, q8_0 for K and V or a smaller model helps."),
    QT_TRANSLATE_NOOP("Engine", "Micro-batches have {} tokens, not {}: no more fit a batch."),
    QT_TRANSLATE_NOOP("Engine", "No RPC worker answers at {}: start one there, or remove it from the settings."),
    QT_TRANSLATE_NOOP("Engine", "No layer fits on the GPU, so the processor computes."),
    QT_TRANSLATE_NOOP("Engine", "No model is loaded: choose one first."),
    QT_TRANSLATE_NOOP("Engine", "Something went wrong inside Kvasir. Your text is safe; try again."),
    QT_TRANSLATE_NOOP("Engine", "The cache could not be copied."),
    QT_TRANSLATE_NOOP("Engine", "The cache was full: the oldest turns were dropped and {} tokens are read again."),
    QT_TRANSLATE_NOOP("Engine", "The context window of {} tokens is all that the model was trained for."),
    QT_TRANSLATE_NOOP("Engine", "The disk with “{}” has {} free, and {} are still to come: make room, or choose a smaller file."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "The disk with “{}” is full: make room, then resume the download."),
    QT_TRANSLATE_NOOP("Engine", "The engine can't be started: close other programs, or install Kvasir again."),
    QT_TRANSLATE_NOOP("Engine", "The engine crashed {} ({}). Your text is safe; try again, or choose other settings."),
    QT_TRANSLATE_NOOP("Engine", "The engine ended unexpectedly {} (exit code {}). Your text is safe; try again."),
    QT_TRANSLATE_NOOP("Engine", "The engine got a command it does not know."),
    QT_TRANSLATE_NOOP("Engine", "The engine stopped again and again and is not started any more. Choose another model or smaller settings."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "The engine was ended by the system, usually because memory ran out. A smaller context window, q8_0 for K and V or a smaller model helps."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "The file {} of Kvasir is damaged and is left out: install Kvasir again."),
    QT_TRANSLATE_NOOP("Engine", "The model gave no result for this token."),
    QT_TRANSLATE_NOOP("Engine", "The model loads but can't compute with these settings: try f16 for K and V, or fewer GPU layers."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "The model was taken out of memory before this was answered."),
    QT_TRANSLATE_NOOP("Engine", "The name of “{}” would lead out of the folder of models, so it is not downloaded."),
    QT_TRANSLATE_NOOP("Engine", "The processor computes: there is no GPU."),
    QT_TRANSLATE_NOOP("Engine", "The proxy does not let Kvasir through to {}: check HTTPS_PROXY, then try again."),
    QT_TRANSLATE_NOOP("Engine", "The proxy setting can't be used: set HTTPS_PROXY to an address that begins with http://."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "The starter model is not installed: run `make run` once, or open a GGUF file of your own."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "The system prompt takes {} of {} cells, which leaves no room for a window: shorten it, enlarge the context window, or let the system prompt be evicted."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "There is no file “{}” in “{}”. It may have been moved: choose it again."),
    QT_TRANSLATE_NOOP("Engine", "There is nothing to answer: write a message first."),
    QT_TRANSLATE_NOOP("Engine", "This build of llama.cpp has no RPC back end."),
    QT_TRANSLATE_NOOP("Engine", "This is a “{}” model, which this version can't run: it needs a newer Kvasir."),
    QT_TRANSLATE_NOOP("Engine", "This is too long by {} tokens: it has {} and there is room for {}. Shorten it, or load the model with a larger context window."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "This model can't go back to the change alone, so {} tokens are read again."),
    QT_TRANSLATE_NOOP("Engine", "This model doesn't say how long a text it was trained for: set a context window."),
    QT_TRANSLATE_NOOP("Engine", "This model has no chat template."),
    QT_TRANSLATE_NOOP("Engine", "This model keeps K and V as one, so their types can't differ: use {} or {} for both."),
    QT_TRANSLATE_NOOP("Engine", "This model knows no system prompt: its text stands at the start of the first message."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "This model runs without flash attention, and V in {} needs it: use f16 for V."),
    QT_TRANSLATE_NOOP("Engine", "This model wants question and answer in turn: messages of one side in a row are joined."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "This model was trained on texts of {} tokens: beyond them its answers fall apart. A smaller context window, or RoPE scaling (yarn), helps."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "This model's cache can't be renumbered in place."),
    QT_TRANSLATE_NOOP("Engine", "This model's chat template can't be read."),
    QT_TRANSLATE_NOOP("Engine", "This model's chat template can't write this chat: start a new chat, or choose another model."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "This model's chat template did not come to an end, so it was stopped. Choose another model, or a newer file of this one."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "This model's memory is {}, so tokens can't be taken out of it: choose recompute or stop instead of {}."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "This processor's fastest code stopped the engine, so Kvasir now uses {}. Answers may be a little slower."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "This system has no keyring that Kvasir can use: the token is used until Kvasir is closed, and is not kept."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "V in {} needs flash attention, so it is on, whether it is fast here or not."),
    QT_TRANSLATE_NOOP("Engine", "V in {} needs flash attention: set flash attention to auto or on, or use f16 for V."),
    QT_TRANSLATE_NOOP("Engine", "What stands before the change had left, so {} tokens are read again."),
    QT_TRANSLATE_NOOP("Engine", "Without flash attention the compute buffers grow with the context window: they take {}."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "Your text holds control words of this model; an invisible space in them keeps them text."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "{} Kvasir uses the {} form instead; answers may be worse than the model can do."),
    QT_TRANSLATE_NOOP("Engine", "{} answered with something that makes no sense: try again later, or set HF_ENDPOINT to a mirror."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "{} asks for a pause after many requests: try again in a few minutes, or enter an access token."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "{} broke off the download: resume it."),
    QT_TRANSLATE_NOOP("Engine", "{} can't be reached: check the connection, or set HF_ENDPOINT to a mirror, then try again."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "{} can't store this model's {}: its blocks of {} don't divide the head size {}. Use f16, bf16 or f32 for {}."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "{} does not take the access token: make a new one there, and enter it in place of the old one."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "{} has a problem of its own at the moment: try again later, or set HF_ENDPOINT to a mirror."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "{} has no fast kernels for K in {} with V in {}: every token will be slower. f16 for both, or q8_0 for both, is fast."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "{} of {} layers fit on the GPU; the processor computes the others, which is slower."),
    QT_TRANSLATE_NOOP("Engine", "{} refuses “{}”: look at its page there for the reason, or choose another model."),
    QT_TRANSLATE_NOOP("Engine", "{} sinks and a window of {} need {} cells, and there are {}: make them smaller or the context window larger."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "“{}” arrived with other content than {} promises, so it was deleted. Download it again; if that fails too, something on the way changes it."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "“{}” can't be written: {}. Choose another folder for models in the preferences."),
    QT_TRANSLATE_NOOP("Engine", "“{}” could not be read: {}. Check the disk and the file's permissions."),
    QT_TRANSLATE_NOOP("Engine", "“{}” does not fit the other files of its model. Download it again."),
    QT_TRANSLATE_NOOP("Engine", "“{}” is a LoRA adapter, a change to another model. Choose that model's own file."),
    QT_TRANSLATE_NOOP("Engine", "“{}” is a folder. Choose the .gguf file in it."),
    QT_TRANSLATE_NOOP("Engine", "“{}” is an embedding model, which turns text into numbers. Choose a model that chats."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "“{}” is damaged: its header makes no sense. Download it again."),
    QT_TRANSLATE_NOOP("Engine", "“{}” is empty: its download never began. Download it again."),
    QT_TRANSLATE_NOOP("Engine", "“{}” is gated: accept its terms on its page at {}, and enter an access token of that account."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "“{}” is in a format older than GGUF, which is no longer read. Download the model as .gguf."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "“{}” is incomplete: it ends too early, as in a broken download. Download it again."),
    QT_TRANSLATE_NOOP("Engine", "“{}” is incomplete: only its first bytes are there. Download it again."),
    QT_TRANSLATE_NOOP("Engine", "“{}” is missing: the model is split into {} files. Download it into the folder of the others."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "“{}” is no name of a model: write it as owner/name, or paste the address of its page."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "“{}” is not on {}, or it is private: check its name, or enter an access token that opens it."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "“{}” is one of {} files of a model, but was renamed. Give it back its original name, which ends in “-0000N-of-{}.gguf”."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "“{}” stores its weights in a format that this version of Kvasir does not know. Update Kvasir, or download the model in another quantization."),  # noqa: E501
    QT_TRANSLATE_NOOP("Engine", "“{}” translates pictures or sound for another model. Choose that model's own file."),
)
SETTING_WORDS = (
    QT_TRANSLATE_NOOP("Settings", "Context window"),
    QT_TRANSLATE_NOOP("Settings", "Tokens the cache has cells for, rounded up to a multiple of 256. KV memory grows in proportion."),  # noqa: E501
    QT_TRANSLATE_NOOP("Settings", "tokens"),
    QT_TRANSLATE_NOOP("Settings", "as trained"),
    QT_TRANSLATE_NOOP("Settings", "K cache type"),
    QT_TRANSLATE_NOOP("Settings", "How keys are stored. q8_0 takes 53 % of f16 at next to no loss; q4_0 takes 28 % and costs accuracy, in K more than in V."),  # noqa: E501
    QT_TRANSLATE_NOOP("Settings", "V cache type"),
    QT_TRANSLATE_NOOP("Settings", "How values are stored. A quantized V needs flash attention."),
    QT_TRANSLATE_NOOP("Settings", "Flash attention"),
    QT_TRANSLATE_NOOP("Settings", "Computes attention without the large score matrix: less compute memory, and a must for a quantized V."),  # noqa: E501
    QT_TRANSLATE_NOOP("Settings", "KV cache on the GPU"),
    QT_TRANSLATE_NOOP("Settings", "Off keeps the KV cache of offloaded layers in RAM: frees VRAM, and every token becomes much slower."),  # noqa: E501
    QT_TRANSLATE_NOOP("Settings", "Full-size sliding-window cache"),
    QT_TRANSLATE_NOOP("Settings", "Models with sliding-window layers keep only their window by default. On keeps everything: more memory, cheap edits."),  # noqa: E501
    QT_TRANSLATE_NOOP("Settings", "RoPE scaling"),
    QT_TRANSLATE_NOOP("Settings", "Stretches positions so that a context beyond the trained length stays usable; short texts lose a little."),  # noqa: E501
    QT_TRANSLATE_NOOP("Settings", "from model"),
    QT_TRANSLATE_NOOP("Settings", "RoPE base"),
    QT_TRANSLATE_NOOP("Settings", "Base frequency of the rotary position embedding."),
    QT_TRANSLATE_NOOP("Settings", "RoPE frequency scale"),
    QT_TRANSLATE_NOOP("Settings", "0.5 stretches the trained length to twice its size."),
    QT_TRANSLATE_NOOP("Settings", "Batch"),
    QT_TRANSLATE_NOOP("Settings", "Most tokens handed to llama.cpp in one call while a prompt is read."),
    QT_TRANSLATE_NOOP("Settings", "Micro-batch"),
    QT_TRANSLATE_NOOP("Settings", "Tokens computed at once. Larger reads prompts faster on a GPU and needs a larger compute buffer."),  # noqa: E501
    QT_TRANSLATE_NOOP("Settings", "Threads"),
    QT_TRANSLATE_NOOP("Settings", "CPU threads for computing. Automatic takes one for each physical core."),
    QT_TRANSLATE_NOOP("Settings", "automatic"),
    QT_TRANSLATE_NOOP("Settings", "GPU layers"),
    QT_TRANSLATE_NOOP("Settings", "Layers whose weights and KV cache lie on the GPU. Automatic takes as many as fit."),
    QT_TRANSLATE_NOOP("Settings", "layers"),
    QT_TRANSLATE_NOOP("Settings", "Main GPU"),
    QT_TRANSLATE_NOOP("Settings", "The GPU that holds the whole model when it is not split."),
    QT_TRANSLATE_NOOP("Settings", "Split over GPUs"),
    QT_TRANSLATE_NOOP("Settings", "How several GPUs share a model: by layers, by rows, or not at all."),
    QT_TRANSLATE_NOOP("Settings", "Share of each GPU"),
    QT_TRANSLATE_NOOP("Settings", "Proportions such as 3,1; empty lets llama.cpp divide by free memory."),
    QT_TRANSLATE_NOOP("Settings", "Map the file"),
    QT_TRANSLATE_NOOP("Settings", "Reads weights straight from the file as they are needed: a fast start, and RAM that other programs can take back."),  # noqa: E501
    QT_TRANSLATE_NOOP("Settings", "Repack weights for the CPU"),
    QT_TRANSLATE_NOOP("Settings", "Faster on the CPU, at the price of RAM that can't be shared with the file."),
    QT_TRANSLATE_NOOP("Settings", "When the cache is full"),
    QT_TRANSLATE_NOOP("Settings", "stop ends the answer · window keeps the latest tokens · sinks also keeps the first ones, which holds the quality · recompute drops the oldest turns and reads the rest again."),  # noqa: E501
    QT_TRANSLATE_NOOP("Settings", "best for the model"),
    QT_TRANSLATE_NOOP("Settings", "Sinks"),
    QT_TRANSLATE_NOOP("Settings", "First tokens that are never evicted. Four are enough to hold the quality (StreamingLLM)."),  # noqa: E501
    QT_TRANSLATE_NOOP("Settings", "Window"),
    QT_TRANSLATE_NOOP("Settings", "Most recent tokens kept beside the sinks. Smaller than the context window answers faster and forgets sooner."),  # noqa: E501
    QT_TRANSLATE_NOOP("Settings", "all the room"),
    QT_TRANSLATE_NOOP("Settings", "Evicted at a time"),
    QT_TRANSLATE_NOOP("Settings", "Cells freed at once when the window is full."),
    QT_TRANSLATE_NOOP("Settings", "an eighth of the window"),
    QT_TRANSLATE_NOOP("Settings", "Keep the system prompt"),
    QT_TRANSLATE_NOOP("Settings", "The system prompt counts as sinks and is never evicted."),
    QT_TRANSLATE_NOOP("Settings", "Evict whole turns"),
    QT_TRANSLATE_NOOP("Settings", "turn never leaves half a finished message in the cache; token frees exactly the chunk."),  # noqa: E501
    QT_TRANSLATE_NOOP("Settings", "Temperature"),
    QT_TRANSLATE_NOOP("Settings", "0 always takes the most likely token."),
    QT_TRANSLATE_NOOP("Settings", "Top-k"),
    QT_TRANSLATE_NOOP("Settings", "Only the k most likely tokens; 0 is all."),
    QT_TRANSLATE_NOOP("Settings", "Top-p"),
    QT_TRANSLATE_NOOP("Settings", "The smallest set of tokens with this probability; 1 is all."),
    QT_TRANSLATE_NOOP("Settings", "Min-p"),
    QT_TRANSLATE_NOOP("Settings", "Drops tokens less likely than this share of the best one."),
    QT_TRANSLATE_NOOP("Settings", "Repeat penalty"),
    QT_TRANSLATE_NOOP("Settings", "Above 1 makes recent tokens less likely."),
    QT_TRANSLATE_NOOP("Settings", "Presence penalty"),
    QT_TRANSLATE_NOOP("Settings", "Subtracted once a token has appeared."),
    QT_TRANSLATE_NOOP("Settings", "Frequency penalty"),
    QT_TRANSLATE_NOOP("Settings", "Subtracted for each appearance of a token."),
    QT_TRANSLATE_NOOP("Settings", "Penalty range"),
    QT_TRANSLATE_NOOP("Settings", "How many recent tokens the penalties look at."),
    QT_TRANSLATE_NOOP("Settings", "Seed"),
    QT_TRANSLATE_NOOP("Settings", "The same seed gives the same text. Random draws one and shows it."),
    QT_TRANSLATE_NOOP("Settings", "random"),
    QT_TRANSLATE_NOOP("Settings", "Longest answer"),
    QT_TRANSLATE_NOOP("Settings", "The answer ends after this many tokens."),
    QT_TRANSLATE_NOOP("Settings", "no limit"),
    QT_TRANSLATE_NOOP("Settings", "Ignore the end of the turn"),
    QT_TRANSLATE_NOOP("Settings", "Goes on after the model wants to stop; for measurements."),
    QT_TRANSLATE_NOOP("Settings", "Chats kept in RAM (MiB)"),
    QT_TRANSLATE_NOOP("Settings", "Memory for the caches of chats that are not open, so that opening one again takes milliseconds. A chat whose cache is larger than this is not kept; 0 keeps none."),  # noqa: E501
    QT_TRANSLATE_NOOP("Settings", "MiB"),
    QT_TRANSLATE_NOOP("Settings", "Chats kept on disk (GiB)"),
    QT_TRANSLATE_NOOP("Settings", "Room for the same on disk, where they outlive the program. What was used longest ago is deleted first; 0 keeps none."),  # noqa: E501
    QT_TRANSLATE_NOOP("Settings", "GiB"),
)
