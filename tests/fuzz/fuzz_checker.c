/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the dialect checker with kernel files: whatever it is given, it reports a kernel, a finding, or that
 * it is unable. Files that include by themselves are skipped, they could name any file of the machine.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check/checker.h"
#include "cli/check/judge.h"

enum { TEXT_MAX = 2048 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char start[] = "#include <gyre/kernel.h>\n";
    static struct checker checker;
    static char text[sizeof start + TEXT_MAX];
    if (size > TEXT_MAX || memmem(data, size, "include", 7) || memmem(data, size, "import", 6))
        return 0;
    memcpy(text, start, sizeof start - 1);
    memcpy(text + sizeof start - 1, data, size);
    memset(&checker, 0, sizeof checker);
    checker_run(&checker, "/nowhere/fuzz.gyre.c", text, sizeof start - 1 + size, GYRE_HEADERS);
    if (checker.report.kernel_count == 0 && checker.report.finding_count == 0 && !checker.report.unable[0])
        abort();
    return 0;
}
