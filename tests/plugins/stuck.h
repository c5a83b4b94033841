/* SPDX-License-Identifier: Apache-2.0 */
/* An upload of one `stuck` keeps the device of the plugin `unruly` (way = stuck) busy until the test lets it go. */
#ifndef GYRE_TESTS_PLUGINS_STUCK_H
#define GYRE_TESTS_PLUGINS_STUCK_H

#include <stdatomic.h>
#include <stdint.h>

#define STUCK_MAGIC UINT64_C(0x6b63757473) /* "stuck" */

struct stuck {
    uint64_t magic;
    atomic_int entered, may_go;
};

#endif
