/* SPDX-License-Identifier: Apache-2.0 */
/* Judges kernels by their observation files (health.h). */
#include "cli/observed/health.h"

#include <stdio.h>
#include <string.h>

/* Why a kernel is not as asked; NULL: it is. */
static const char *complaint(const observed_process *process, const gyre_observe_record *kernel,
                             gyre_kernel_health health, health_question question)
{
    const bool hangs = health != GYRE_HEALTH_IDLE && health != GYRE_HEALTH_BUSY;
    if (process->life != GYRE_OBSERVED_LIVES || observed_is_late(process))
        return observed_life_word(process);
    if (question == HEALTH_LIVES) {
        if (kernel->state == GYRE_KERNEL_LOST)
            return gyre_kernel_state_word(GYRE_KERNEL_LOST);
        return kernel->state == GYRE_KERNEL_ACTIVE && hangs ? gyre_kernel_health_word(health) : NULL;
    }
    if (kernel->state != GYRE_KERNEL_ACTIVE)
        return gyre_kernel_state_word((gyre_kernel_state)kernel->state);
    return hangs ? gyre_kernel_health_word(health) : NULL;
}

static bool judge(const observed_process *process, uint32_t at, const gyre_observe_record *kernel,
                  health_question question, char sentence[HEALTH_TEXT])
{
    const gyre_kernel_health health =
        (gyre_kernel_health)observed_value(&process->seen, at, GYRE_OBSERVE_KERNEL_HEALTH);
    char age[24];
    const char *why = complaint(process, kernel, health, question);
    snprintf(sentence, HEALTH_TEXT, "kernel '%s' of process %u %s%s, seen %s ago", kernel->name,
             process->seen.head.pid,
             why && why == observed_life_word(process) ? "cannot answer: the process is " : "is ",
             why ? why : gyre_kernel_health_word(health),
             observed_seconds_text((double)process->age_ns / 1e9, age));
    return !why;
}

bool health_of_one(const observed_processes *processes, const char *name, health_question question,
                   char sentence[HEALTH_TEXT])
{
    char text[HEALTH_TEXT];
    gyre_observe_record kernel;
    snprintf(sentence, HEALTH_TEXT, "no process that can be seen has a kernel '%.64s'", name);
    bool found = false;
    for (size_t i = 0; i < processes->count; i++) {
        const observed_process *process = &processes->items[i];
        for (uint32_t at = 0; (at = observed_next(&process->seen, at, GYRE_OBSERVE_KERNEL, 0, &kernel));) {
            if (strcmp(kernel.name, name) != 0)
                continue;
            const bool good = judge(process, at, &kernel, question, text);
            if (good || !found || process->life != GYRE_OBSERVED_DEAD)
                memcpy(sentence, text, sizeof text);
            if (good)
                return true;
            found = true;
        }
    }
    return false;
}

bool health_of_all(const observed_processes *processes, health_question question, FILE *out, size_t *seen)
{
    char text[HEALTH_TEXT];
    gyre_observe_record kernel;
    bool good = true;
    *seen = 0;
    for (size_t i = 0; i < processes->count; i++) {
        const observed_process *process = &processes->items[i];
        for (uint32_t at = 0; process->life != GYRE_OBSERVED_DEAD &&
                              (at = observed_next(&process->seen, at, GYRE_OBSERVE_KERNEL, 0, &kernel));) {
            ++*seen;
            if (judge(process, at, &kernel, question, text))
                continue;
            fprintf(out, "%s\n", text);
            good = false;
        }
    }
    return good;
}
