/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of a case's queue, and the checks that the device runners share. */
#include "slots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_INDEX_BELOW_WRAP = 3 };

static uint32_t stride_of(uint64_t payload)
{
    const uint64_t size =
        GYRE_SLOT_HEADER_SIZE + (payload > sizeof(gyre_failure) ? payload : sizeof(gyre_failure));
    return (uint32_t)((size + GYRE_LINE_SIZE - 1) / GYRE_LINE_SIZE * GYRE_LINE_SIZE);
}

static gyre_slot *slot_at(unsigned char *slots, uint64_t index, uint64_t mask, uint32_t stride)
{
    return (gyre_slot *)(void *)(slots + (index & mask) * stride);
}

void slots_fill(struct slots *slots, const struct kernel_case *test)
{
    uint64_t capacity = 1;
    while (capacity < test->count)
        capacity *= 2;
    slots->batch = (gyre_batch){.first = (UINT64_C(1) << 32) - FIRST_INDEX_BELOW_WRAP,
                                .mask = capacity - 1,
                                .time_ns = 1,
                                .count = (uint32_t)test->count,
                                .request_stride = stride_of(test->request->size),
                                .reply_stride = stride_of(test->reply->size)};
    slots->requests_size = capacity * slots->batch.request_stride;
    slots->replies_size = capacity * slots->batch.reply_stride;
    slots->requests = aligned_alloc(GYRE_LINE_SIZE, slots->requests_size);
    slots->replies = aligned_alloc(GYRE_LINE_SIZE, slots->replies_size);
    if (!slots->requests || !slots->replies)
        case_die("no memory for the slots of %s", test->name);
    memset(slots->requests, 0, slots->requests_size);
    memset(slots->replies, 0, slots->replies_size);
    for (size_t i = 0; i < test->count; i++) {
        const uint64_t index = slots->batch.first + i;
        gyre_slot *slot = slot_at(slots->requests, index, slots->batch.mask, slots->batch.request_stride);
        memcpy(slot + 1, test->requests[i], test->request->size);
        slot->length = (uint32_t)gyre_layout_length(test->request, test->requests[i]);
        slot->sequence = index + 1;
    }
}

int slots_check(const struct slots *slots, const struct kernel_case *test)
{
    int good = 1;
    for (size_t i = 0; i < test->count; i++) {
        const uint64_t index = slots->batch.first + i;
        const gyre_slot *slot = slot_at(slots->replies, index, slots->batch.mask, slots->batch.reply_stride);
        gyre_failure failure = {0};
        if (slot->sequence != index + 1) {
            fprintf(stderr, "%s: request %zu was not completed\n", test->name, i);
            good = 0;
            continue;
        }
        if (slot->info == GYRE_OUTCOME_FAILED)
            memcpy(&failure, slot + 1, sizeof failure);
        if (slot->info == GYRE_OUTCOME_REPLY && slot->length != gyre_layout_length(test->reply, slot + 1)) {
            fprintf(stderr, "%s: reply %zu has %u bytes, not %zu\n", test->name, i, slot->length,
                    (size_t)gyre_layout_length(test->reply, slot + 1));
            good = 0;
        }
        good = case_check(test, i, slot->info, failure.code, failure.text, slot + 1) && good;
    }
    return good;
}

int slots_check_record(const gyre_device_kernel *record, const gyre_cpu_kernel *kernel)
{
    const int good = record->version == GYRE_DEVICE_MODULE_VERSION && record->form == kernel->form &&
                     record->request_size == kernel->request->size &&
                     record->reply_size == kernel->reply->size && record->state_size == kernel->state->size &&
                     strcmp(record->name, kernel->name) == 0 &&
                     strcmp(record->request, kernel->request->name) == 0 &&
                     strcmp(record->reply, kernel->reply->name) == 0 &&
                     strcmp(record->state, kernel->state->name) == 0 && record->line == kernel->line;
    if (!good)
        fprintf(stderr,
                "%s: the device's compiler saw another kernel: '%s' of %llu and %llu bytes, form %u\n",
                kernel->name, record->name, (unsigned long long)record->request_size,
                (unsigned long long)record->reply_size, record->form);
    return good;
}

int slots_check_counts(const gyre_device_block *blocks, uint32_t count, const struct kernel_case *test)
{
    size_t handled = 0, failed = 0, expected = 0;
    for (uint32_t i = 0; i < count; i++) {
        handled += blocks[i].handled;
        failed += blocks[i].failed;
    }
    for (size_t i = 0; i < test->count; i++)
        expected += test->expected[i].outcome == GYRE_OUTCOME_FAILED;
    if (handled == test->count && failed == expected)
        return 1;
    fprintf(stderr, "%s: the blocks counted %zu handled, %zu failed; expected %zu, %zu\n", test->name,
            handled, failed, test->count, expected);
    return 0;
}

int slots_print_log(const gyre_device_log *log)
{
    const gyre_device_log_line *lines = (const gyre_device_log_line *)(log + 1);
    for (uint32_t i = log->next > log->capacity ? log->next - log->capacity : 0; i < log->next; i++) {
        const gyre_device_log_line *line = &lines[i % log->capacity];
        if (line->written != i + 1) {
            fprintf(stderr, "log line %u says that it is line %u\n", i + 1, line->written);
            return 0;
        }
        fprintf(stderr, "log: block %u: %s %lld\n", line->block, line->text, (long long)line->value);
    }
    return 1;
}
