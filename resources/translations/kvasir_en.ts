<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
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
</TS>
