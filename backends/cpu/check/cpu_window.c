/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of requests (cpu_window.h). The caller has the lock of the device's checks. */
#include "backends/cpu/check/cpu_window.h"
#include "backends/cpu/cpu_ready.h"

void cpu_window_look(struct cpu_window *window, const struct cpu_queue *queue, uint64_t messages)
{
    const uint64_t next = queue->next;
    if (window->serial != queue->serial ||
        next < window->first) /* another queue, or the same one begun anew */
        *window = (struct cpu_window){.serial = queue->serial, .first = next, .middle = next, .end = next};
    const uint64_t from = window->end > next ? window->end : next;
    uint64_t end = from;
    while (end - next < queue->slots.capacity && cpu_request_ready(queue, end))
        end++;
    if (end == from)
        return;
    window->middle = from;
    window->end = end;
    window->since_first = window->since_then;
    window->since_then = messages + 1;
}

uint64_t cpu_window_since(const struct cpu_window *window, uint64_t index, uint64_t *count)
{
    const bool first = index < window->middle;
    const uint64_t end = first ? window->middle : window->end;
    *count = end > index ? end - index : 0;
    return first ? window->since_first : window->since_then;
}
