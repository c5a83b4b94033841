/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what a worker process tells of a kernel: a message of the worker protocol whose contents are the
 * input. What is accepted is written and read again: the same message has to come out.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/parcel/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

/* As it would have been received. */
static void fill(struct gyre_parcel *parcel, const void *bytes, size_t size)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_MODULE_KERNEL, GYRE_OK);
    gyre_parcel_put(parcel, bytes, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gyre_parcel parcel;
    struct gyre_kept_record record, again;
    if (size > GYRE_PARCEL_MAX / 2)
        return 0;
    require(gyre_parcel_init(&parcel) == GYRE_OK);
    fill(&parcel, data, size);
    if (gyre_record_get(&parcel, &record) == GYRE_OK) {
        gyre_parcel_begin(&parcel, GYRE_PARCEL_MODULE_KERNEL, GYRE_OK);
        gyre_record_put(&parcel, &record.record);
        require(!parcel.broken);
        require(gyre_record_get(&parcel, &again) == GYRE_OK);
        require(strcmp(record.record.name, again.record.name) == 0);
        require(record.record.request->size == again.record.request->size);
        gyre_record_release(&again);
        gyre_record_release(&record);
    }
    gyre_parcel_finish(&parcel);
    return 0;
}
