/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of plugin files that works before anything is loaded: whatever the file holds, it answers
 * with a finding or a sentence, and reads nothing beyond the file.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/loader/shared_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64], bytes[16];
    enum gyre_elf_finding found;
    int file = memfd_create("plugin", MFD_CLOEXEC);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    gyre_error_clear();
    gyre_status status = gyre_elf_read_object(path, "gyre_plugin", bytes, sizeof bytes, &found);
    require(status == GYRE_OK || (status == GYRE_INCOMPATIBLE && gyre_error_text()[0] != '\0'));
    require(status == GYRE_OK || found == GYRE_ELF_UNKNOWN);
    close(file);
    return 0;
}
