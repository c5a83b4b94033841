/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps back lines that compilers in this process write to stderr by themselves. Why: hush.h. One thread. */
#include "cli/base/hush.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int watched = STDERR_FILENO; /* descriptor of the real stderr */

bool cli_is_watched(void)
{
    return isatty(watched) == 1;
}

void cli_hush_begin(struct cli_hush *hush)
{
    fflush(stderr);
    hush->kept = dup(STDERR_FILENO);
    hush->file = hush->kept < 0 ? -1 : memfd_create("gyre-stderr", MFD_CLOEXEC);
    if (hush->file < 0 || dup2(hush->file, STDERR_FILENO) < 0) {
        if (hush->kept >= 0)
            close(hush->kept);
        if (hush->file >= 0)
            close(hush->file);
        hush->kept = hush->file = -1;
        return;
    }
    watched = hush->kept;
}

/* True for a line such as "4 errors generated." or "5 warnings and 7 errors generated." */
static bool only_counts(const char *line)
{
    static const char end[] = " generated.\n";
    const size_t length = strlen(line);
    return line[0] >= '1' && line[0] <= '9' && length > sizeof end &&
           strcmp(line + length - (sizeof end - 1), end) == 0 &&
           strspn(line, "0123456789 adeginorsw.t") == length - 1;
}

void cli_hush_end(struct cli_hush *hush)
{
    char *line = NULL;
    size_t room = 0;
    if (hush->file < 0)
        return;
    fflush(stderr);
    dup2(hush->kept, STDERR_FILENO);
    watched = STDERR_FILENO;
    close(hush->kept);
    lseek(hush->file, 0, SEEK_SET);
    FILE *said = fdopen(hush->file, "r");
    while (said && getline(&line, &room, said) > 0)
        if (!only_counts(line))
            fputs(line, stderr);
    free(line);
    if (said)
        fclose(said);
    else
        close(hush->file);
}
