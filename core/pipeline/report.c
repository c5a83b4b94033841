/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills the report of a run (pipeline.h): a line for each stage, also for a stage that fails, and the words for
 * stages. No state.
 */
#include <stdarg.h>
#include <stdio.h>

#include "core/base/error.h"
#include "core/pipeline/run.h"
#include "gyre/waiting.h"

const char *gyre_stage_word(enum gyre_stage stage)
{
    static const char *const words[] = {"discover", "check", "generate", "compile", "load", "verify"};
    return (size_t)stage < GYRE_STAGE_COUNT ? words[stage] : "unknown";
}

const char *gyre_stage_state_word(enum gyre_stage_state state)
{
    static const char *const words[] = {"not reached", "done", "cached", "skipped", "failed"};
    return (size_t)state < sizeof words / sizeof words[0] ? words[state] : "unknown";
}

void gyre_run_tell(struct gyre_run *run, enum gyre_stage stage, enum gyre_stage_state state,
                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(run->report.stages[stage].text, sizeof run->report.stages[stage].text, format, args);
    va_end(args);
    run->report.stages[stage].state = state;
}

gyre_status gyre_run_settle(struct gyre_run *run, enum gyre_stage stage, uint64_t start, gyre_status status)
{
    run->report.stages[stage].duration_ns = gyre_clock_ns() - start;
    if (status == GYRE_OK)
        return GYRE_OK;
    gyre_run_tell(run, stage, GYRE_STAGE_FAILED, "%s", gyre_error_cause());
    if (stage == GYRE_STAGE_COMPILE) /* the backend's own frame on the error stack names the stage already */
        return status;
    return gyre_error_add(status, "%s", gyre_stage_word(stage));
}
