<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>CellStrip</name>
    <message numerus="yes">
        <source>%Ln token(s) without cells: the model no longer sees them</source>
        <translation>
            <numerusform>%Ln token without a cell: the model no longer sees it</numerusform>
            <numerusform>%Ln tokens without cells: the model no longer sees them</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CellsSection</name>
    <message numerus="yes">
        <source>1 square = %Ln cell(s)</source>
        <translation>
            <numerusform>1 square = %Ln cell</numerusform>
            <numerusform>1 square = %Ln cells</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Next eviction in %Ln token(s)</source>
        <translation>
            <numerusform>Next eviction in %Ln token</numerusform>
            <numerusform>Next eviction in %Ln tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ChatFiles</name>
    <message numerus="yes">
        <source>%Ln chat(s) exported to {0}.</source>
        <translation>
            <numerusform>%Ln chat exported to {0}.</numerusform>
            <numerusform>%Ln chats exported to {0}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) imported.</source>
        <translation>
            <numerusform>%Ln chat imported.</numerusform>
            <numerusform>%Ln chats imported.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) were here already.</source>
        <translation>
            <numerusform>%Ln chat was here already.</numerusform>
            <numerusform>%Ln chats were here already.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln part(s) of the file made no sense and were left out.</source>
        <translation>
            <numerusform>%Ln part of the file made no sense and was left out.</numerusform>
            <numerusform>%Ln parts of the file made no sense and were left out.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ChatsController</name>
    <message numerus="yes">
        <source>%Ln message(s) deleted.</source>
        <translation>
            <numerusform>%Ln message deleted.</numerusform>
            <numerusform>%Ln messages deleted.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The file of the chats was damaged. %Ln message(s) were brought over; the old file is {0}.</source>
        <translation>
            <numerusform>The file of the chats was damaged. %Ln message was brought over; the old file is {0}.</numerusform>
            <numerusform>The file of the chats was damaged. %Ln messages were brought over; the old file is {0}.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message numerus="yes">
        <source>Too long by about %Ln token(s)</source>
        <translation>
            <numerusform>Too long by about %Ln token</numerusform>
            <numerusform>Too long by about %Ln tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Too long by %Ln token(s)</source>
        <translation>
            <numerusform>Too long by %Ln token</numerusform>
            <numerusform>Too long by %Ln tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>KvSection</name>
    <message numerus="yes">
        <source>%Ln layer(s)</source>
        <translation>
            <numerusform>%Ln layer</numerusform>
            <numerusform>%Ln layers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln KV head(s)</source>
        <translation>
            <numerusform>%Ln KV head</numerusform>
            <numerusform>%Ln KV heads</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Sidebar</name>
    <message numerus="yes">
        <source>%Ln chat(s) found</source>
        <translation>
            <numerusform>%Ln chat found</numerusform>
            <numerusform>%Ln chats found</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TurnDisplay</name>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_Chip</name>
    <message numerus="yes">
        <source>about %Ln token(s)</source>
        <translation>
            <numerusform>about %Ln token</numerusform>
            <numerusform>about %Ln tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
</context>
</TS>
