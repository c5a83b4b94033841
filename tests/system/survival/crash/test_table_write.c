/* SPDX-License-Identifier: Apache-2.0 */
/* A worker process that dies while the table of a keyed actor is put back into it (core/kernel/keyed_table.h). */
#include "faults.h"
#include "workers.h"

#include <stdlib.h>

#include "core/kernel/keyed_table.h"

int main(void)
{
    gyre_kernel *kernel;
    struct gyre_keyed_about about;
    make_fault_folder();
    need_fault_board();
    gyre_runtime *runtime = open_isolated(NULL);
    const gyre_launch_desc desc = {.size = sizeof desc, .source = TELLERS_KERNEL, .kernel = "tellers"};
    must(gyre_launch(runtime, &desc, &kernel));
    must(gyre_keyed_about_get(kernel, &about));
    void *table = malloc(about.table_size);
    require(table != NULL);
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_keyed_table_read(kernel, table, about.table_size));
    must(gyre_keyed_table_write(kernel, table, about.table_size));
    arm_fault(&(struct chosen_fault){GYRE_FAULT_PROXY_SEND, GYRE_FAULT_FAIL, EIO}, 1, 1);
    require(gyre_keyed_table_write(kernel, table, about.table_size) == GYRE_LOST);
    require(faults_fired() == 1);
    free(table);
    gyre_close(runtime); /* recovery, which needs the kernel's lock, has not been kept from it */
    return 0;
}
