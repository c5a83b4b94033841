/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the lines of `gyre call` on standard error about a stream of requests. No state. */
#include "cli/calls/call_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/json/message_json.h"

#define SEEN_STILL_NS UINT64_C(50000000) /* shortest time that prints as 0.1 s */

void call_report_counts(const char *whom, const call_counts *counts)
{
    fprintf(stderr, "gyre: %s: %" PRIu64 " sent, %" PRIu64 " answered, %" PRIu64 " failed", whom,
            counts->sent, counts->answered, counts->failed);
    if (counts->without_reply)
        fprintf(stderr, ", %" PRIu64 " without a reply", counts->without_reply);
    if (counts->refused)
        fprintf(stderr, ", %" PRIu64 " refused", counts->refused);
    if (counts->lost)
        fprintf(stderr, ", %" PRIu64 " lost", counts->lost);
    if (counts->unanswered)
        fprintf(stderr, ", %" PRIu64 " unanswered", counts->unanswered);
    if (counts->recovered)
        fprintf(stderr, ", %" PRIu64 " recovered of an earlier run", counts->recovered);
    fputc('\n', stderr);
}

void call_report_timing(const gyre_queue *queue)
{
    gyre_queue_stats stats = {.size = sizeof stats};
    if (gyre_queue_stats_get(queue, &stats) != GYRE_OK || !stats.timed)
        return;
    const double messages = (double)stats.timed * 1e3;
    fprintf(stderr,
            "gyre: %" PRIu64 " timed, in the mean %.3f us to the handler, %.3f us in it, %.3f us back\n",
            stats.timed, (double)stats.waited_ns / messages, (double)stats.handled_ns / messages,
            (double)stats.returned_ns / messages);
}

void call_report_working(gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    if (gyre_kernel_info_get(kernel, &info) != GYRE_OK)
        return;
    fprintf(stderr, "gyre: kernel '%s' is %s\n", info.name, gyre_kernel_health_word(info.health));
    for (uint32_t i = 0; i < info.blocks; i++) {
        gyre_block_info block = {.size = sizeof block};
        if (gyre_kernel_block_get(kernel, i, &block) != GYRE_OK || !block.tells ||
            (block.health != GYRE_HEALTH_BUSY && block.health != GYRE_HEALTH_STALLED))
            continue;
        fprintf(stderr, "gyre: its block %" PRIu32 " is at a message", i);
        if (block.still_ns >= SEEN_STILL_NS) /* else the block was not looked at twice yet */
            fprintf(stderr, ", for at least %.1f s", (double)block.still_ns / 1e9);
        fputc('\n', stderr);
    }
}

void call_report_absences(gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    if (gyre_kernel_info_get(kernel, &info) != GYRE_OK || !info.absences)
        return;
    fprintf(stderr, "gyre: kernel '%s' left its device for a moment %" PRIu64 " times, at most for %.3f ms\n",
            info.name, info.absences, (double)info.longest_absence_ns / 1e6);
}

void call_report_stays(const gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    if (gyre_kernel_info_get(kernel, &info) != GYRE_OK || !info.stays)
        return;
    fprintf(stderr,
            "gyre: kernel '%s' was on its device for %.3f ms in %" PRIu64 " stays, the longest of %.3f ms\n",
            info.name, (double)info.stayed_ns / 1e6, info.stays, (double)info.longest_stay_ns / 1e6);
}

void call_report_typing(const gyre_layout *request)
{
    void *zero = calloc(1, request->size + 1);
    if (!zero)
        return;
    fputs("gyre: type requests like ", stderr);
    message_json_write(request, zero, stderr);
    fputs(", one a line; Ctrl-D ends\n", stderr);
    free(zero);
}
