/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the arguments of an operation from its message (arguments.h). Has no state. */
#include "core/worker/arguments.h"

#include "core/base/error.h"

const char *worker_text(struct gyre_parcel *parcel)
{
    const char *text = gyre_parcel_get_text(parcel);
    return text ? text : "";
}

gyre_status worker_nonsense(void)
{
    return gyre_error_set(GYRE_INTERNAL, "the worker process was asked for something that makes no sense");
}
