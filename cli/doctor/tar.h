/* SPDX-License-Identifier: Apache-2.0 */
/* Builds an archive that `tar` unpacks (the format ustar of POSIX) in memory. One thread for each archive. */
#ifndef GYRE_CLI_DOCTOR_TAR_H
#define GYRE_CLI_DOCTOR_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cli_tar {
    unsigned char *bytes;
    size_t size;
    uint64_t seconds; /* the time of every file in it, since 1970 */
} cli_tar;

/** Adds a file with mode 0600. False without memory, for a name of more than 99 letters, and for 8 GiB or more: then nothing is
 * added. */
bool cli_tar_add(cli_tar *tar, const char *name, const void *bytes, size_t size);
/** Writes the end of the archive. False without memory. */
bool cli_tar_end(cli_tar *tar);
void cli_tar_finish(cli_tar *tar);

#endif
