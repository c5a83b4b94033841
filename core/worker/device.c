/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and holds the one device of the worker process (device.h). */
#include "core/worker/device.h"

#include "core/worker/arguments.h"
#include "core/worker/log.h"

enum { PARAMETERS_MAX = 256 };

static struct gyre_dispatch *device; /* set once, before any other operation */

struct gyre_dispatch *worker_device(void)
{
    return __atomic_load_n(&device, __ATOMIC_ACQUIRE);
}

static void answer_open(struct gyre_parcel *parcel)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_OPEN, GYRE_OK);
    gyre_parcel_put(parcel, gyre_dispatch_device_info(device), sizeof(gyre_device_info));
    gyre_parcel_put_u64(parcel, gyre_dispatch_has_notify(device));
    gyre_parcel_put_u64(parcel, gyre_dispatch_can_copy(device));
    gyre_parcel_put_text(parcel, gyre_dispatch_build(device));
}

gyre_status worker_open(struct gyre_parcel *parcel)
{
    gyre_parameter parameters[PARAMETERS_MAX];
    struct gyre_dispatch *opened = NULL;
    struct gyre_candidate candidate = {.parameters = parameters};
    candidate.name = worker_text(parcel);
    candidate.library = worker_text(parcel);
    uint32_t ordinal = gyre_parcel_get_u32(parcel, UINT32_MAX);
    candidate.alone = gyre_parcel_get_u64(parcel) != 0;
    candidate.parameter_count = gyre_parcel_get_u32(parcel, PARAMETERS_MAX);
    for (size_t i = 0; i < candidate.parameter_count; i++) {
        parameters[i].key = worker_text(parcel);
        parameters[i].value = worker_text(parcel);
        parameters[i].origin = worker_text(parcel);
    }
    if (!gyre_parcel_whole(parcel) || worker_device())
        return worker_nonsense();
    gyre_status status = gyre_dispatch_open(&candidate, ordinal, worker_log, NULL, &opened);
    if (status != GYRE_OK)
        return status;
    __atomic_store_n(&device, opened, __ATOMIC_RELEASE); /* pairs with worker_device */
    answer_open(parcel);
    return GYRE_OK;
}

gyre_status worker_close(struct gyre_parcel *parcel)
{
    struct gyre_dispatch *closed = __atomic_exchange_n(&device, NULL, __ATOMIC_ACQ_REL);
    gyre_dispatch_close(closed);
    gyre_parcel_begin(parcel, GYRE_PARCEL_CLOSE, GYRE_OK);
    return GYRE_OK;
}
