/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about files. No state; must not open anything, which could wait or take effect. */
#include "core/base/files.h"

#include <sys/stat.h>

bool gyre_files_are_same(const char *one, const char *other)
{
    struct stat first, second;
    return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}
