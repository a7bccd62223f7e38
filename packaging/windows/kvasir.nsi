; Kvasir's installer for Windows: for one user, without administrator rights.
; Needs the defines VERSION, PROGRAM (the folder to install), INSTALLER (the file to write), SIZE_KB and LICENCE.
; Silent: setup.exe /S [/D=FOLDER], and uninstall.exe /S.
Unicode true
!include "MUI2.nsh"
!include "FileFunc.nsh"
!include "x64.nsh"

!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Kvasir"
!define FILE_CLASS "Kvasir.gguf"

Name "Kvasir"
OutFile "${INSTALLER}"
RequestExecutionLevel user
InstallDir "$LOCALAPPDATA\Programs\Kvasir"
InstallDirRegKey HKCU "Software\Kvasir" "InstallDir"
SetCompressor /SOLID lzma
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "Kvasir"
VIAddVersionKey "FileDescription" "Kvasir setup"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "LegalCopyright" "Kvasir contributors, MIT licence"

!define MUI_FINISHPAGE_RUN "$INSTDIR\kvasir.exe"
!insertmacro MUI_PAGE_LICENSE "${LICENCE}"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "SimpChinese"

LangString RUNNING ${LANG_ENGLISH} "Kvasir is running. Close its window and try again."
LangString RUNNING ${LANG_SIMPCHINESE} "Kvasir 正在运行。请关闭其窗口后重试。"
LangString NEEDS_64_BIT ${LANG_ENGLISH} "Kvasir needs a 64-bit Windows."
LangString NEEDS_64_BIT ${LANG_SIMPCHINESE} "Kvasir 需要 64 位 Windows。"

; A program that runs can't be written to: so it is closed before anything is changed.
!macro REQUIRE_CLOSED
  ${If} ${FileExists} "$INSTDIR\kvasir.exe"
    ClearErrors
    FileOpen $0 "$INSTDIR\kvasir.exe" a
    ${If} ${Errors}
      MessageBox MB_OK|MB_ICONSTOP "$(RUNNING)" /SD IDOK
      SetErrorLevel 2
      Quit
    ${EndIf}
    FileClose $0
  ${EndIf}
!macroend

; Only files that an installer of ours put there are removed, in whatever folder the person chose.
!macro REMOVE_PROGRAM
  ${If} ${FileExists} "$INSTDIR\_internal\base_library.zip"
    RMDir /r "$INSTDIR\_internal"
  ${EndIf}
  Delete "$INSTDIR\kvasir.exe"
  Delete "$INSTDIR\kvasir-engine.exe"
  Delete "$INSTDIR\kvasir.ico"
!macroend

Function .onInit
  ${IfNot} ${RunningX64}
    MessageBox MB_OK|MB_ICONSTOP "$(NEEDS_64_BIT)" /SD IDOK
    Abort
  ${EndIf}
FunctionEnd

Section "Kvasir"
  !insertmacro REQUIRE_CLOSED
  ; An upgrade leaves nothing of the old version behind.
  !insertmacro REMOVE_PROGRAM
  SetOutPath "$INSTDIR"
  File /r "${PROGRAM}/*"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\Kvasir.lnk" "$INSTDIR\kvasir.exe"

  WriteRegStr HKCU "Software\Kvasir" "InstallDir" "$INSTDIR"
  WriteRegStr HKCU "Software\Classes\${FILE_CLASS}" "" "GGUF model"
  WriteRegStr HKCU "Software\Classes\${FILE_CLASS}\DefaultIcon" "" "$INSTDIR\kvasir.exe,0"
  WriteRegStr HKCU "Software\Classes\${FILE_CLASS}\shell\open\command" "" '"$INSTDIR\kvasir.exe" "%1"'
  ; Offered for such files beside other programs, not taken from them.
  WriteRegStr HKCU "Software\Classes\.gguf\OpenWithProgids" "${FILE_CLASS}" ""

  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "Kvasir"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\kvasir.exe"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "Kvasir contributors"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" ${SIZE_KB}
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
  ${RefreshShellIcons}
SectionEnd

; Settings, chats and models of the user lie elsewhere, and stay.
Section "Uninstall"
  !insertmacro REQUIRE_CLOSED
  !insertmacro REMOVE_PROGRAM
  Delete "$SMPROGRAMS\Kvasir.lnk"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  DeleteRegValue HKCU "Software\Classes\.gguf\OpenWithProgids" "${FILE_CLASS}"
  DeleteRegKey HKCU "Software\Classes\${FILE_CLASS}"
  DeleteRegKey HKCU "${UNINSTALL_KEY}"
  DeleteRegKey HKCU "Software\Kvasir"
  ${RefreshShellIcons}
SectionEnd
