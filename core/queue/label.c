/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the label of a queue and sentences about it (label.h). No locks. */
#include "core/queue/label.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/queue/state.h"

const char *gyre_queue_label_of(const char *name, char *text, size_t size)
{
    snprintf(text, size, name[0] ? "queue '%s'" : "the queue%s", name);
    return text;
}

const char *gyre_queue_label(const gyre_queue *queue, char *text, size_t size)
{
    return gyre_queue_label_of(queue->name, text, size);
}

const char *gyre_queue_away_text(const gyre_queue *queue, char text[GYRE_AWAY_SIZE])
{
    char said[GYRE_AWAY_SIZE - sizeof ", whose server refuses it: "] = "";
    text[0] = '\0';
    if (!__atomic_load_n(&queue->state.away, __ATOMIC_RELAXED))
        return text;
    if (queue->foreign.said)
        queue->foreign.said(queue, said, sizeof said);
    snprintf(text, GYRE_AWAY_SIZE, said[0] ? ", whose server refuses it: %s" : "%s",
             said[0] ? said : ", whose server is gone: it waits for the next server");
    return text;
}

gyre_status gyre_queue_tell_refused(const gyre_queue *queue)
{
    char label[GYRE_LABEL_SIZE];
    if (queue->state.misused)
        return gyre_error_set(
            GYRE_INVALID,
            "two threads used one side of %s at the same time, and it is configured with "
            "threads = one: configure threads = many, or give each thread a queue of its own",
            gyre_queue_label(queue, label, sizeof label));
    return gyre_error_set(GYRE_CLOSED, "%s belongs to the process that forked this one; open a runtime here",
                          gyre_queue_label(queue, label, sizeof label));
}

const char *gyre_control_why_lost(const gyre_control_region *control, char *text, size_t size)
{
    char why[sizeof control->device.lost_why + 1] = "";
    /* copied once, because the device may change it */
    if (__atomic_load_n(&control->device.lost, __ATOMIC_ACQUIRE))
        memcpy(why, control->device.lost_why, sizeof control->device.lost_why);
    for (char *at = why; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    snprintf(text, size, why[0] ? " (%s)" : "%s", why);
    return text;
}

gyre_status gyre_queue_tell_lost(const gyre_queue *queue)
{
    char label[GYRE_LABEL_SIZE], why[64];
    gyre_queue_label(queue, label, sizeof label);
    if (__atomic_load_n(&queue->state.orphaned, __ATOMIC_ACQUIRE) && queue->state.lost_why)
        return gyre_error_set(GYRE_LOST, "%s is lost: %s", label, queue->state.lost_why);
    if (__atomic_load_n(&queue->state.orphaned, __ATOMIC_ACQUIRE))
        return gyre_error_set(GYRE_LOST, "the program that served %s ended; attach again when it is back",
                              label);
    return gyre_error_set(GYRE_LOST,
                          "the device behind %s died%s, and its kernel with it; launch the kernel again",
                          label, gyre_control_why_lost(queue->ring.control, why, sizeof why));
}

gyre_status gyre_queue_tell_ended(const gyre_queue *queue, gyre_status status)
{
    char label[GYRE_LABEL_SIZE];
    if (gyre_queue_refused(queue))
        return gyre_queue_tell_refused(queue);
    if (status == GYRE_LOST || gyre_queue_gone(queue))
        return gyre_queue_tell_lost(queue);
    return gyre_error_set(status, "%s is closed, and no request is under way",
                          gyre_queue_label(queue, label, sizeof label));
}

gyre_status gyre_queue_tell_closed(const gyre_queue *queue)
{
    char label[GYRE_LABEL_SIZE];
    if (gyre_queue_refused(queue))
        return gyre_queue_tell_refused(queue);
    if (gyre_queue_gone(queue))
        return gyre_queue_tell_lost(queue);
    return gyre_error_set(GYRE_CLOSED, "%s is closed: its kernel was terminated; %s",
                          gyre_queue_label(queue, label, sizeof label),
                          queue->foreign.detach ? "attach again when it is back"
                                                : "relaunch the kernel to send again");
}
