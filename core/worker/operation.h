/* SPDX-License-Identifier: Apache-2.0 */
/* The type of an operation that the core asks the worker for (operations.h). */
#ifndef GYRE_CORE_WORKER_OPERATION_H
#define GYRE_CORE_WORKER_OPERATION_H

#include "core/parcel/parcel.h"

typedef gyre_status worker_operation(struct gyre_parcel *parcel);

#endif
