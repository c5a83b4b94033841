/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the lines that handlers logged: the device writes them into a ring in its memory; the host copies the
 * ring as a whole and hands on each new line.
 *
 * Has no lock of its own: the caller holds residents->lock.
 */
#include "backends/cuda/residents/cuda_log.h"
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/presence/cuda_service.h"

struct log_copy {
    gyre_device_log head;
    gyre_device_log_line lines[CUDA_LOG_LINES];
};

static void hand_on(gyre_resident *resident, struct log_copy *log)
{
    const gyre_host *host = resident->device->host;
    const uint32_t newest = log->head.next;
    if (newest - resident->log_next > CUDA_LOG_LINES) {
        host->log(host->context, GYRE_LOG_WARNING, "kernels log faster than lines are read; some are lost");
        resident->log_next = newest - CUDA_LOG_LINES;
    }
    for (; resident->log_next != newest; resident->log_next++) {
        gyre_device_log_line *line = &log->lines[resident->log_next % CUDA_LOG_LINES];
        if (line->written != resident->log_next + 1)
            return; /* the device is writing this line: the next look finds it */
        line->text[sizeof line->text - 1] = '\0';
        if (resident->kernel_log)
            resident->kernel_log(resident->kernel_log_context, line->text, line->value);
    }
}

void cuda_log_drain(gyre_resident *resident)
{
    static _Thread_local struct log_copy log;
    if (cuda_service_read(resident->device, &log, resident->memory + resident->log_offset, sizeof log,
                          "what handlers logged is looked for later, unless their kernel ends"))
        hand_on(resident, &log);
}

/* Whether a kernel that handled nothing may have logged: a reminder is no message. Looks at the ring's head now and then. */
static bool may_have_logged(gyre_resident *resident)
{
    enum { LOOK_NS = 20000000 };
    const uint64_t now = resident->device->host->now_ns();
    gyre_device_log head;
    if (!resident->reminds || now - resident->log_looked_ns < LOOK_NS)
        return false;
    resident->log_looked_ns = now;
    return cuda_service_read(resident->device, &head, resident->memory + resident->log_offset, sizeof head,
                             "what reminders logged is looked for later, unless their kernel ends") &&
           head.next != resident->log_next;
}

void cuda_log_look(gyre_resident *resident)
{
    const uint64_t now = cuda_resident_handled(resident);
    if (now != resident->log_handled || may_have_logged(resident))
        cuda_log_drain(resident);
    resident->log_handled = now;
}
