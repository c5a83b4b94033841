/* SPDX-License-Identifier: Apache-2.0 */
/* Notes events and troubles in the observation file (observation.h). Lock: that of the object. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "core/observation/observation_memory.h"
#include "gyre/waiting.h"

static bool is_writable(const struct gyre_observation *observation)
{
    return observation && !__atomic_load_n(&observation->foreign, __ATOMIC_ACQUIRE);
}

/* Under the lock. The entry counts for readers once it has its number again. */
static void write_event(struct gyre_observation *observation, const gyre_observe_event *event)
{
    const uint64_t number = observation->events + 1;
    gyre_observe_event *at =
        gyre_observation_at(observation, GYRE_OBSERVE_EVENTS, (number - 1) % GYRE_OBSERVATION_EVENTS);
    if (!at)
        return;
    observation->events = number;
    __atomic_store_n(&at->again, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&at->number, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    at->at_ns = event->at_ns;
    at->kind = event->kind;
    at->record = event->record;
    memcpy(at->text, event->text, sizeof at->text);
    __atomic_store_n(&at->again, number, __ATOMIC_RELEASE);
    __atomic_store_n(&at->number, number, __ATOMIC_RELEASE);
    __atomic_store_n(&observation->head->events, number, __ATOMIC_RELEASE);
}

void gyre_observation_event(struct gyre_observation *observation, enum gyre_observe_event_kind kind,
                            uint32_t record, const char *format, ...)
{
    gyre_observe_event event = {.at_ns = gyre_clock_ns(), .kind = kind, .record = record};
    va_list arguments;
    if (!is_writable(observation))
        return;
    va_start(arguments, format);
    const int length = vsnprintf(event.text, sizeof event.text, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof event.text)
        gyre_text_end_whole(event.text);
    pthread_mutex_lock(&observation->lock);
    write_event(observation, &event);
    pthread_mutex_unlock(&observation->lock);
}

/* What tells sentences apart: a hash of the sentence where each number counts as one sign. Never 0. */
static uint64_t key_of(uint32_t level, const char *text)
{
    uint64_t key = UINT64_C(0xcbf29ce484222325) ^ level;
    bool in_number = false;
    for (; *text; text++) {
        const bool digit = *text >= '0' && *text <= '9';
        if (digit && in_number)
            continue;
        in_number = digit;
        key = (key ^ (digit ? '#' : (unsigned char)*text)) * UINT64_C(0x100000001b3);
    }
    return key ? key : 1;
}

/* Under the lock: the entry of the sentence, or a free one; NULL: there is none. */
static gyre_observe_trouble *find_trouble(struct gyre_observation *observation, uint64_t key)
{
    size_t number = 0;
    while (number < GYRE_OBSERVATION_TROUBLES && observation->trouble_keys[number] &&
           observation->trouble_keys[number] != key)
        number++;
    if (number == GYRE_OBSERVATION_TROUBLES)
        return NULL;
    gyre_observe_trouble *trouble = gyre_observation_at(observation, GYRE_OBSERVE_TROUBLES, number);
    if (trouble)
        observation->trouble_keys[number] = key;
    return trouble;
}

void gyre_observation_trouble(struct gyre_observation *observation, uint32_t level, const char *text)
{
    if (!is_writable(observation))
        return;
    const uint64_t now = gyre_clock_ns();
    pthread_mutex_lock(&observation->lock);
    gyre_observe_trouble *trouble = find_trouble(observation, key_of(level, text));
    if (!trouble) {
        observation->head->troubles_refused++;
    } else {
        trouble->first_ns = trouble->count ? trouble->first_ns : now;
        trouble->last_ns = now;
        trouble->level = level;
        if (snprintf(trouble->text, sizeof trouble->text, "%s", text) >= (int)sizeof trouble->text)
            gyre_text_end_whole(trouble->text);
        __atomic_store_n(&trouble->count, trouble->count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&observation->lock);
}
