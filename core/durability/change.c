/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges a journal that another handler wrote (another version of the kernel's source). This kernel's handler would handle the
 * requests behind the last checkpoint again, with another state and other replies than clients got. Has no state and takes no
 * lock, because it runs before the journal's queue is made.
 */
#include "core/base/error.h"
#include "core/durability/change.h"
#include "core/kernel/kernel.h"

/* The words of the setting `on_change`, in their order. */
enum { REFUSE, REPLAY, DISCARD };

/*
 * True when a handler may have handled the request after the checkpoint. After a program was killed, its journal does not tell
 * whether a request without a received reply was handled, so such a request may have been.
 */
static bool may_have_run(const struct gyre_journal_content *content, uint64_t index)
{
    const uint64_t place = index - content->first;
    return !content->done[place] && !content->skipped[place] &&
           (index < content->received || !content->settled);
}

static uint64_t count_behind(const struct gyre_journal_content *content, uint64_t *first)
{
    uint64_t count = 0;
    for (uint64_t index = content->sent; index > content->first; index--)
        if (index > content->covered && may_have_run(content, index - 1)) {
            *first = index - 1;
            count++;
        }
    return count;
}

static gyre_status refuse_journal(const gyre_kernel *kernel, const char *whose, const char *path,
                                  uint64_t first, uint64_t count)
{
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "the handler of %s is not the one that wrote the journal '%s', which holds %llu request%s behind its "
        "last checkpoint, from %llu on: handled again by this one, they would give another state than clients were "
        "told. Launch the handler that wrote it once more and end it in order, which takes a checkpoint, and then this one; "
        "or set on_change of [kernel.%s] to replay (this one handles them again) or discard (the state goes on from the "
        "checkpoint, without them)",
        whose, path, (unsigned long long)count, count == 1 ? "" : "s", (unsigned long long)first,
        kernel->name);
}

/* Drops requests whose replies were received, except requests that the checkpoint covers. A request without a received reply
 * stays, and this kernel's handler completes it. */
static void discard_requests(struct gyre_journal_content *content)
{
    for (uint64_t index = content->first; index < content->received; index++)
        content->skipped[index - content->first] |= !content->done[index - content->first];
}

gyre_status gyre_change_judge(const gyre_kernel *kernel, const char *whose, uint64_t mine, const char *path,
                              struct gyre_journal_content *content)
{
    static const char *const ways[] = {"", "are handled again by this one (on_change = replay)",
                                       "are left out of its state (on_change = discard)"};
    const uint64_t its = content->open.handler;
    const int64_t way = gyre_kernel_setting(kernel, "on_change");
    uint64_t first = 0;
    if (!kernel->checkpoints || !mine || !its || mine == its)
        return GYRE_OK;
    const uint64_t count = count_behind(content, &first);
    if (count == 0) {
        gyre_runtime_log(
            kernel->runtime, GYRE_LOG_INFO,
            "the handler of %s is another one than that which wrote the journal '%s', and goes on "
            "from its last checkpoint",
            whose, path);
        return GYRE_OK;
    }
    if (way == REFUSE)
        return refuse_journal(kernel, whose, path, first, count);
    if (way == DISCARD)
        discard_requests(content);
    gyre_runtime_log(
        kernel->runtime, GYRE_LOG_WARNING,
        "the handler of %s is not the one that wrote the journal '%s': %llu request%s behind its "
        "last checkpoint, from %llu on, %s",
        whose, path, (unsigned long long)count, count == 1 ? "" : "s", (unsigned long long)first, ways[way]);
    return GYRE_OK;
}
