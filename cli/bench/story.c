/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the error of a case while the case cleans up. No state. */
#include "cli/bench/story.h"
#include "cli/bench/bench.h"

#include <stdio.h>

#include "core/base/error.h"

void bench_story_take(bench_story *story, gyre_status status)
{
    story->status = status;
    snprintf(story->text, sizeof story->text, "%s", status == GYRE_OK ? "" : gyre_error_text());
}

gyre_status bench_story_tell(const bench_story *story, const bench_case *self)
{
    if (story->status == GYRE_OK)
        return GYRE_OK;
    return gyre_error_set(story->status, "case %s: %s", self->name, story->text);
}
