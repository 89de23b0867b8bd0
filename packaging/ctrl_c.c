/* Starts a program in a console of its own, and presses Ctrl-C there when the own input ends; ends with the status of the program.
   A test cannot press it for one program alone: the event reaches all that share a console. */

#include <windows.h>
#include <stdio.h>

int wmain(void)
{
    /* The command line without the name of this program. */
    WCHAR *line = GetCommandLineW();
    WCHAR end = *line == L'"' ? L'"' : L' ';
    for (line++; *line && *line != end; line++)
        ;
    if (*line)
        line++;
    while (*line == L' ')
        line++;
    STARTUPINFOW start = { .cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES };
    start.hStdInput = INVALID_HANDLE_VALUE;
    start.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    FreeConsole();
    AllocConsole();
    PROCESS_INFORMATION started;
    if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &started))
        return 90;
    /* Not before: what is started would ignore the key as well. */
    SetConsoleCtrlHandler(NULL, TRUE);
    while (getchar() != EOF)
        ;
    if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0))
        return 91;
    DWORD status = 92;
    WaitForSingleObject(started.hProcess, INFINITE);
    GetExitCodeProcess(started.hProcess, &status);
    return (int)status;
}
