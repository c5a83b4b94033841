/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rest of the CPU backend is to the workers of these cases: no keys, no checks, no traces, threads enough, nobody who has to be
 * relieved. What a case does not have ends its run when it is called all the same.
 */
#include "backends/cpu/check/cpu_check.h"
#include "backends/cpu/links/cpu_flow.h"
#include "backends/cpu/threads/cpu_pool.h"
#include "backends/cpu/threads/cpu_relief.h"
#include "backends/cpu/check/cpu_turns.h"
#include "machine.h"

uint32_t cpu_turns_pick(struct cpu_worker *worker, uint32_t count)
{
    (void)worker;
    (void)count;
    return 0;
}

uint64_t cpu_turns_most(const struct cpu_worker *worker, uint64_t count)
{
    (void)worker;
    return count;
}

void cpu_flow_forget(struct cpu_worker *worker)
{
    (void)worker;
}

void cpu_check_look(struct cpu_worker *worker, struct cpu_queue *queue)
{
    (void)worker;
    (void)queue;
}

void cpu_check_looked(struct cpu_worker *worker)
{
    (void)worker;
}

bool cpu_pool_can_watch(const struct cpu_pool *pool)
{
    (void)pool;
    return false;
}

void cpu_pool_leave(struct cpu_pool *pool, uint32_t *present)
{
    (void)pool;
    (void)present;
}

bool cpu_relief_leave(struct cpu_relief *relief, struct cpu_visitor *visitor, struct cpu_task *task)
{
    (void)relief;
    (void)visitor;
    (void)task;
    return true;
}

bool cpu_relief_return(struct cpu_relief *relief, struct cpu_visitor *visitor)
{
    (void)relief;
    (void)visitor;
    return true;
}

bool cpu_relief_came(const struct cpu_visitor *visitor)
{
    (void)visitor;
    return false;
}

void cpu_relief_forget(struct cpu_relief *relief, struct cpu_visitor *visitor)
{
    (void)relief;
    (void)visitor;
}

/* Names alone: what they take and give is no matter, because nobody comes here. A case that has one defines it. */
#define ABSENT(name_)                                                                                        \
    __attribute__((weak)) void absent_##name_(void) __asm__(#name_);                                         \
    void absent_##name_(void)                                                                                \
    {                                                                                                        \
        machine_fail("%s was called, which the case does not have", #name_);                                 \
    }
ABSENT(cpu_flow_alone)
ABSENT(cpu_flow_begin)
ABSENT(cpu_flow_handle_again)
ABSENT(cpu_flow_handle)
ABSENT(cpu_flow_header)
ABSENT(cpu_flow_refuse)
ABSENT(cpu_handle)
ABSENT(cpu_keyed_can_go_on)
ABSENT(cpu_keyed_has_due)
ABSENT(cpu_keyed_remind)
ABSENT(cpu_keyed_run)
ABSENT(cpu_link_key_can_go_on)
ABSENT(cpu_link_key_find)
ABSENT(cpu_trace_arrival)
ABSENT(cpu_trace_emitted)
ABSENT(cpu_trace_run)
ABSENT(cpu_turns_await)
ABSENT(cpu_turns_did)
ABSENT(cpu_turns_leave)
ABSENT(cpu_turns_note)
ABSENT(cpu_turns_resume)
ABSENT(device_admission_give)
ABSENT(device_admission_is_open)
ABSENT(device_admission_take)
