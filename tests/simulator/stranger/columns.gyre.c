/* SPDX-License-Identifier: Apache-2.0 */
/* Each message adds up a column of a table. Planted: the table lies row by row, so the lanes of a group touch memory far
 * apart.
 *
 * expects: estimate memory
 * options: --buffer table=zeros:1048576 */
#include <gyre/kernel.h>

#define COLUMN(FIELD) FIELD(u32, column)
GYRE_MESSAGE(column, COLUMN)
#define SUM(FIELD) FIELD(u32, sum)
GYRE_MESSAGE(sum_of, SUM)
#define TABLE(IN, INOUT) IN(u32, table)
GYRE_BUFFERS(table_buffers, TABLE)

GYRE_KERNEL_WITH(columns, column, sum_of, gyre_none, table_buffers)
{
    u32 sum = 0;
    for (u32 i = 0; i < 256; i++)
        sum += buffers->table[request->column % 1024 * 256 + i]; /* first */
    reply->sum = sum;
    return GYRE_REPLY;
}
