<?xml version='1.0' encoding='utf-8'?>
<TS version="2.1" language="en" sourcelanguage="en">
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
        <name>ChatSession</name>
        <message numerus="yes">
            <source>%Ln token(s)</source>
            <translation>
                <numerusform>%Ln token</numerusform>
                <numerusform>%Ln tokens</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>Composer</name>
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
</TS>