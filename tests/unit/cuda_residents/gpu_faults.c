/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the driver's calls fail, and how. Lock: fault_lock, innermost. */
#include "gpu_faults.h"

#include <pthread.h>

#include "backends/cuda/cuda_failure.h"
#include "gpu.h"

static pthread_mutex_t fault_lock = PTHREAD_MUTEX_INITIALIZER; /* innermost: of `faults` */
static struct {
    uint32_t calls;        /* since gpu_fail */
    uint32_t first, times; /* which of them fail */
    CUresult answer;
    const char *name;      /* of the first one that did */
    CUresult query_answer; /* of the next question about a kernel's stream */
} faults;
static uint32_t dead; /* atomic: a fatal answer was given */

void gpu_faults_set(uint32_t first, CUresult answer, uint32_t times)
{
    pthread_mutex_lock(&fault_lock);
    faults.calls = 0;
    faults.first = first;
    faults.times = times;
    faults.answer = answer;
    faults.name = NULL;
    __atomic_store_n(&dead, 0, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&fault_lock);
}

void gpu_fail_query(CUresult answer)
{
    pthread_mutex_lock(&fault_lock);
    faults.query_answer = answer;
    pthread_mutex_unlock(&fault_lock);
}

uint32_t gpu_calls(void)
{
    pthread_mutex_lock(&fault_lock);
    const uint32_t calls = faults.calls;
    pthread_mutex_unlock(&fault_lock);
    return calls;
}

const char *gpu_failed_call(void)
{
    pthread_mutex_lock(&fault_lock);
    const char *name = faults.name;
    pthread_mutex_unlock(&fault_lock);
    return name;
}

bool gpu_is_dead(void)
{
    return __atomic_load_n(&dead, __ATOMIC_ACQUIRE) != 0;
}

/* Under fault_lock. */
static CUresult judge_call(uint32_t call, const char *name)
{
    if (gpu_is_dead())
        return faults.answer;
    if (!faults.first || call < faults.first || call >= faults.first + faults.times)
        return CUDA_SUCCESS;
    if (call == faults.first)
        faults.name = name;
    if (cuda_class_of(faults.answer) == CUDA_CLASS_FATAL)
        __atomic_store_n(&dead, 1, __ATOMIC_RELEASE);
    return faults.answer;
}

/* What the call is to answer instead of being made; CUDA_SUCCESS: it is made. */
CUresult gpu_next_fault(const char *name)
{
    pthread_mutex_lock(&fault_lock);
    const CUresult answer = judge_call(++faults.calls, name);
    pthread_mutex_unlock(&fault_lock);
    return answer;
}

CUresult gpu_next_query_fault(void)
{
    pthread_mutex_lock(&fault_lock);
    CUresult answer = faults.query_answer;
    faults.query_answer = CUDA_SUCCESS;
    if (answer == CUDA_SUCCESS && gpu_is_dead())
        answer = faults.answer;
    pthread_mutex_unlock(&fault_lock);
    return answer;
}
