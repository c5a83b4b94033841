/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what a worker process tells of a kernel: a message of the worker protocol whose contents are the
 * input. What is accepted is written and read again: the same message has to come out.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/isolation/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

/* As it would have been received. */
static void fill(struct gyre_wire *wire, const void *bytes, size_t size)
{
    gyre_wire_begin(wire, GYRE_WIRE_MODULE_KERNEL, GYRE_OK);
    gyre_wire_put(wire, bytes, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gyre_wire wire;
    struct gyre_kept_record record, again;
    if (size > GYRE_WIRE_MAX / 2)
        return 0;
    require(gyre_wire_init(&wire) == GYRE_OK);
    fill(&wire, data, size);
    if (gyre_record_get(&wire, &record) == GYRE_OK) {
        gyre_wire_begin(&wire, GYRE_WIRE_MODULE_KERNEL, GYRE_OK);
        gyre_record_put(&wire, &record.record);
        require(!wire.broken);
        require(gyre_record_get(&wire, &again) == GYRE_OK);
        require(strcmp(record.record.name, again.record.name) == 0);
        require(record.record.request->size == again.record.request->size);
        gyre_record_release(&again);
        gyre_record_release(&record);
    }
    gyre_wire_finish(&wire);
    return 0;
}
