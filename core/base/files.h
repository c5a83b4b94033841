/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about files that more than one layer asks. No state, any thread. */
#ifndef GYRE_CORE_BASE_FILES_H
#define GYRE_CORE_BASE_FILES_H

#include <stdbool.h>

/** Whether both paths lead to one file, by whatever names; false when either leads nowhere. */
bool gyre_files_are_same(const char *one, const char *other);

#endif
