/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends the worker's log lines over the control socket (log.h). Lock: log_lock, for the one message that all lines use.
 */
#include "core/worker/log.h"

#include <pthread.h>

#include "core/base/error.h"
#include "core/parcel/parcel.h"

static int log_socket = -1;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gyre_parcel log_parcel;

gyre_status worker_log_open(int control)
{
    log_socket = control;
    return gyre_parcel_init(&log_parcel);
}

void worker_log(void *context, int level, const char *text)
{
    (void)context;
    pthread_mutex_lock(&log_lock);
    gyre_error_hold();
    gyre_parcel_begin(&log_parcel, GYRE_PARCEL_LOG, GYRE_OK);
    gyre_parcel_put_u64(&log_parcel, (uint64_t)level);
    gyre_parcel_put_text(&log_parcel, text);
    gyre_parcel_send(&log_parcel, log_socket, 0);
    gyre_error_let_go();
    pthread_mutex_unlock(&log_lock);
}

void worker_log_kernel(uint64_t id, const char *text, int64_t value)
{
    pthread_mutex_lock(&log_lock);
    gyre_error_hold();
    gyre_parcel_begin(&log_parcel, GYRE_PARCEL_KERNEL_LOG, GYRE_OK);
    gyre_parcel_put_u64(&log_parcel, id);
    gyre_parcel_put_u64(&log_parcel, (uint64_t)value);
    gyre_parcel_put_text(&log_parcel, text);
    gyre_parcel_send(&log_parcel, log_socket, 0);
    gyre_error_let_go();
    pthread_mutex_unlock(&log_lock);
}
