/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the source of a handler (cpu_place.h). */
#include "backends/cpu/check/cpu_place.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "gyre/waiting.h"

/* The time that addr2line may take to read the debug information of one kernel file. */
#define PLACE_DEADLINE_NS UINT64_C(10000000000)

const char *cpu_place_short(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool cpu_place_read(const char *path, uint32_t number, char *line, size_t size)
{
    FILE *file = fopen(path, "re");
    bool found = file != NULL;
    while (found && number-- > 0)
        found = fgets(line, (int)size, file) != NULL;
    if (file)
        fclose(file);
    return found;
}

/*
 * Asks addr2line, which comes with the linker, for the place of an instruction. `at` is the return address of
 * a call, so the call itself lies before it.
 */
bool cpu_place_ask(const gyre_host *host, const void *at, char *place, size_t size)
{
    Dl_info file;
    char address[32], output[512] = "";
    int exit_code = 0;
    if (!dladdr(at, &file) || !file.dli_fname)
        return false;
    snprintf(address, sizeof address, "0x%lx",
             (unsigned long)((const char *)at - (const char *)file.dli_fbase - 1));
    const char *const arguments[] = {"addr2line", "-e", file.dli_fname, address, NULL};
    const gyre_program_desc program = {.size = sizeof program,
                                       .arguments = arguments,
                                       .deadline_ns = gyre_clock_ns() + PLACE_DEADLINE_NS,
                                       .output = output,
                                       .output_size = sizeof output};
    if (host->run_program(&program, &exit_code) != GYRE_OK || exit_code != 0)
        return false;
    output[strcspn(output, "\n")] = '\0';
    char *const remark = strstr(output, " (discriminator "); /* which addr2line may add */
    if (remark)
        *remark = '\0';
    const char *const colon = strrchr(output, ':');
    if (!colon || !isdigit((unsigned char)colon[1]) || output[0] == '?')
        return false;
    snprintf(place, size, "%s", output);
    return true;
}
