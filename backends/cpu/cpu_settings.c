/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the keys of [backend.cpu]. Checks their ranges again, because parameters may come from any caller. */
#include "backends/cpu/cpu_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREADS_MAX = 1024,
    STACK_MIN = 16384,
    SEEDS_MAX = 1000000,
    SWITCHES_MAX = 1000000,
    LOOKS_MIN = 1000,
    LOOKS_MAX = 1000000000
};

struct reader {
    const gyre_host *host;
    const gyre_parameter *parameter;
};

static gyre_status refuse_setting(const struct reader *reader, const char *expected)
{
    const gyre_parameter *parameter = reader->parameter;
    return reader->host->error(GYRE_CONFIG, "%s: backend.cpu %s must be %s, found '%s'", parameter->origin,
                               parameter->key, expected, parameter->value);
}

static gyre_status read_number(const struct reader *reader, uint64_t low, uint64_t high, const char *expected,
                               uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(reader->parameter->value, &end, 10);
    if (errno || end == reader->parameter->value || *end || reader->parameter->value[0] == '-' ||
        value < low || value > high)
        return refuse_setting(reader, expected);
    *out = value;
    return GYRE_OK;
}

static gyre_status read_text(const struct reader *reader, char *out, size_t size)
{
    if (strlen(reader->parameter->value) >= size)
        return refuse_setting(reader, "shorter");
    snprintf(out, size, "%s", reader->parameter->value);
    return GYRE_OK;
}

static gyre_status read_bool(const struct reader *reader, bool *out)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(reader->parameter->value, words[i]) != 0)
            continue;
        *out = i % 2;
        return GYRE_OK;
    }
    return refuse_setting(reader, "true or false");
}

static gyre_status read_follow(const struct reader *reader, enum cpu_follow *out)
{
    static const char *const words[] = {"auto", "always", "never"}; /* in the order of enum cpu_follow */
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(reader->parameter->value, words[i]) != 0)
            continue;
        *out = (enum cpu_follow)i;
        return GYRE_OK;
    }
    return refuse_setting(reader, "auto, always or never");
}

static bool read_processor(const char **at, unsigned long *out)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    *out = strtoul(*at, &end, 10);
    *at = end;
    return true;
}

static gyre_status add_pins(const struct reader *reader, struct cpu_settings *settings, unsigned long first,
                            unsigned long last)
{
    const long processors = sysconf(_SC_NPROCESSORS_CONF);
    if (last >= (unsigned long)processors)
        return reader->host->error(GYRE_CONFIG,
                                   "%s: backend.cpu pin names processor %lu, this machine has 0 to %ld",
                                   reader->parameter->origin, last, processors - 1);
    if (last - first >= CPU_PIN_MAX - settings->pin_count)
        return reader->host->error(
            GYRE_CONFIG,
            "%s: backend.cpu pin names more than %d processors: name fewer, as they are used around again",
            reader->parameter->origin, CPU_PIN_MAX);
    for (; first <= last; first++)
        settings->pins[settings->pin_count++] = (uint16_t)first;
    return GYRE_OK;
}

/* Reads "none", "spread", or a list of numbers and ranges: "0,2-5". */
static gyre_status read_pins(const struct reader *reader, struct cpu_settings *settings)
{
    static const char *const expected = "none, spread, or processor numbers like 0,2-5";
    const char *at = reader->parameter->value;
    settings->pin_count = 0;
    settings->spread = !strcmp(at, "spread");
    if (settings->spread || !strcmp(at, "none") || !*at)
        return GYRE_OK;
    for (;;) {
        unsigned long first = 0, last;
        bool right = read_processor(&at, &first);
        last = first;
        if (right && *at == '-') {
            at++;
            right = read_processor(&at, &last) && first <= last;
        }
        if (!right || (*at && *at != ','))
            return refuse_setting(reader, expected);
        const gyre_status status = add_pins(reader, settings, first, last);
        if (status != GYRE_OK || !*at++)
            return status;
    }
}

/* Reads the words of `check`, separated by commas. */
static gyre_status read_checks(const struct reader *reader, uint32_t *out)
{
    static const struct {
        const char *word;
        uint32_t checks;
    } known[] = {{"none", 0},
                 {"races", CPU_CHECK_RACES},
                 {"memory", CPU_CHECK_MEMORY},
                 {"deadlock", CPU_CHECK_DEADLOCK},
                 {"schedule", CPU_CHECK_SCHEDULE},
                 {"order", CPU_CHECK_ORDER},
                 {"crash", CPU_CHECK_CRASH},
                 {"traffic", CPU_CHECK_TRAFFIC}};
    const char *at = reader->parameter->value;
    *out = 0;
    for (at += strspn(at, ", "); *at; at += strspn(at, ", ")) {
        const size_t length = strcspn(at, ", ");
        size_t i = 0;
        while (i < sizeof known / sizeof known[0] &&
               (strlen(known[i].word) != length || strncmp(known[i].word, at, length) != 0))
            i++;
        if (i == sizeof known / sizeof known[0])
            return refuse_setting(
                reader,
                "words of this list, separated by commas: races, memory, deadlock, schedule, order, crash, traffic; or none");
        *out |= known[i].checks;
        at += length;
    }
    return GYRE_OK;
}

static gyre_status read_one(const struct reader *reader, struct cpu_settings *settings)
{
    const char *key = reader->parameter->key;
    gyre_status status = GYRE_OK;
    uint64_t number = 0;
    if (!strcmp(key, "threads")) {
        status = read_number(reader, 0, THREADS_MAX, "a number from 0 (one thread) to 1024", &number);
        settings->threads = number ? (uint32_t)number : 1;
    } else if (!strcmp(key, "lane_stack")) {
        status =
            read_number(reader, STACK_MIN, 1u << 30, "a number of bytes from 16384 to 1073741824", &number);
        settings->lane_stack_size = number;
    } else if (!strcmp(key, "pin")) {
        status = read_pins(reader, settings);
    } else if (!strcmp(key, "follow")) {
        status = read_follow(reader, &settings->follow);
    } else if (!strcmp(key, "compiler")) {
        status = read_text(reader, settings->compiler, sizeof settings->compiler);
    } else if (!strcmp(key, "compiler_options")) {
        status = read_text(reader, settings->compiler_options, sizeof settings->compiler_options);
    } else if (!strcmp(key, "sanitize")) {
        status = read_text(reader, settings->sanitize, sizeof settings->sanitize);
    } else if (!strcmp(key, "checked")) {
        status = read_bool(reader, &settings->checked);
    } else if (!strcmp(key, "check")) {
        status = read_checks(reader, &settings->checks);
    } else if (!strcmp(key, "traffic_file")) {
        status = read_text(reader, settings->traffic_file, sizeof settings->traffic_file);
    } else if (!strcmp(key, "turns_file")) {
        status = read_text(reader, settings->turns_file, sizeof settings->turns_file);
    } else if (!strcmp(key, "crash_file")) {
        status = read_text(reader, settings->crash_file, sizeof settings->crash_file);
    } else if (!strcmp(key, "crash_message")) {
        status = read_number(reader, 0, UINT64_C(1) << 62, "a number from 0", &settings->crash_message);
    } else if (!strcmp(key, "crash_step")) {
        status = read_number(reader, 0, UINT64_C(1) << 62, "a number from 0", &settings->crash_step);
    } else if (!strcmp(key, "looks")) {
        status =
            read_number(reader, LOOKS_MIN, LOOKS_MAX, "a number from 1000 to 1000000000", &settings->looks);
    } else if (!strcmp(key, "seed")) {
        status = read_number(reader, 1, UINT64_C(1) << 62, "a number from 1", &settings->seed);
    } else if (!strcmp(key, "seeds")) {
        status = read_number(reader, 1, SEEDS_MAX, "a number from 1 to 1000000", &settings->seeds);
    } else if (!strcmp(key, "switches")) {
        status = read_number(reader, 0, SWITCHES_MAX, "a number from 0 (no limit) to 1000000",
                             &settings->switches);
    }
    return status; /* the core reads the other keys */
}

gyre_status cpu_settings_read(const gyre_host *host, const gyre_parameter *parameters, size_t count,
                              struct cpu_settings *settings)
{
    *settings = (struct cpu_settings){.threads = 1,
                                      .looks = 200000,
                                      .seed = 1,
                                      .seeds = 1,
                                      .lane_stack_size = 65536,
                                      .compiler = "cc",
                                      .compiler_options = "-O3 -march=native"};
    for (size_t i = 0; i < count; i++) {
        struct reader reader = {host, &parameters[i]};
        gyre_status status = read_one(&reader, settings);
        if (status != GYRE_OK)
            return status;
    }
    if (settings->checks & CPU_CHECK_TRAFFIC && settings->checks != CPU_CHECK_TRAFFIC)
        return host->error(
            GYRE_CONFIG, "backend.cpu check = traffic stands alone, because the other checks change what is "
                         "counted: expected no other check beside it");
    if (settings->checks & CPU_CHECK_TRAFFIC && !settings->traffic_file[0])
        return host->error(
            GYRE_CONFIG,
            "backend.cpu check = traffic needs traffic_file, the file that gets what was counted: "
            "set it, or use `gyre estimate`, which does");
    if (settings->checked && settings->sanitize[0])
        return host->error(GYRE_CONFIG,
                           "backend.cpu checked = true and sanitize = %s exclude each other: both tell the "
                           "compiler to watch memory; keep one",
                           settings->sanitize);
    if (settings->checks && settings->sanitize[0])
        return host->error(
            GYRE_CONFIG,
            "backend.cpu check and sanitize = %s exclude each other: both tell the compiler to watch "
            "memory; keep one",
            settings->sanitize);
    return GYRE_OK;
}
