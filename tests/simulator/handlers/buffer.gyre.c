/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer is overrun by one.
 * call: --check races,memory --buffer table=zeros:64
 * request: ONE
 * fails: @1: index 16 of table[16]
 */
#include <gyre/kernel.h>

#include "types.h"

#define TABLE(IN, INOUT) IN(u32, table)
GYRE_BUFFERS(table_buffers, TABLE)

GYRE_KERNEL_WITH(buffer, ask, answer, gyre_none, table_buffers)
{
#ifdef MENDED
    reply->sum = buffers->table[request->values[14]];
#else
    reply->sum = buffers->table[request->values[15]]; /* 1 */
#endif
    return GYRE_REPLY;
}
