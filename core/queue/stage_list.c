/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the lists of a queue's stages (stage.h). The lists are made anew whenever a stage is added or removed. */
#include "core/queue/stage_list.h"

#include "core/queue/queue.h"

/* Makes the list of one station: each stage's function, in the order of the stages' numbers. Lists of other stations stay
 * untouched, because threads of the queue's own (stages/attendant.c) may read them. */
#define STATION_LIST(stages, station)                                                                        \
    do {                                                                                                     \
        size_t end = 0;                                                                                      \
        for (size_t i = 0; i < GYRE_STAGES_MAX && end + 1 < GYRE_STATION_MAX; i++)                           \
            if ((stages)->all[i] && (stages)->all[i]->station)                                               \
                (stages)->station[end++] = (stages)->all[i]->station;                                        \
        (stages)->station[end] = NULL;                                                                       \
    } while (0)

static void stations_list(struct gyre_queue_stages *stages)
{
    STATION_LIST(stages, admit);
    STATION_LIST(stages, recall);
    STATION_LIST(stages, grant);
    STATION_LIST(stages, held);
    STATION_LIST(stages, sent);
    STATION_LIST(stages, seen);
    STATION_LIST(stages, failed);
    STATION_LIST(stages, taken);
    STATION_LIST(stages, told);
    STATION_LIST(stages, passed);
    STATION_LIST(stages, tell);
}

void gyre_stage_add(gyre_queue *queue, const struct gyre_queue_stage *stage, void *state)
{
    gyre_stage_add_sparse(queue, stage, state, 1);
}

void gyre_stage_add_sparse(gyre_queue *queue, const struct gyre_queue_stage *stage, void *state,
                           uint64_t every)
{
    struct gyre_queue_stages *stages = &queue->stages;
    stages->all[stage->number] = stage;
    stages->states[stage->number] = state;
    if (stage->grant || stage->sent || stage->taken)
        stages->noted_mask &= every - 1;
    stages->frees |= stage->passed != NULL;
    stations_list(stages);
}

void gyre_stage_remove(gyre_queue *queue, unsigned number)
{
    struct gyre_queue_stages *stages = &queue->stages;
    const struct gyre_queue_stage *stage = stages->all[number];
    void *state = stages->states[number];
    if (!stage)
        return;
    if (stage->destroy)
        stage->destroy(queue, state);
    stages->all[number] = NULL;
    stages->states[number] = NULL;
    stations_list(stages);
}
