/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the keys of [backend.cuda]. The plugin's drop-in file of configuration declares the keys; their
 * ranges are checked here only.
 */
#include "backends/cuda/cuda_settings.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMS_MAX = 65536, PAUSE_MAX_NS = 1000000, RESIDENCY_MAX_MS = 3600000 };

static gyre_status refuse_setting(const gyre_host *host, const gyre_parameter *parameter,
                                  const char *expected)
{
    return host->error(GYRE_CONFIG, "%s: backend.cuda %s must be %s, found '%s'", parameter->origin,
                       parameter->key, expected, parameter->value);
}

static gyre_status read_number(const gyre_host *host, const gyre_parameter *parameter, uint32_t most,
                               const char *expected, uint32_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(parameter->value, &end, 10);
    if (errno || end == parameter->value || *end || parameter->value[0] == '-' || value > most)
        return refuse_setting(host, parameter, expected);
    *out = (uint32_t)value;
    return GYRE_OK;
}

/* Reads "device", or an architecture: "sm_90", or the vendor's variant "sm_90a". */
static gyre_status read_architecture(const gyre_host *host, const gyre_parameter *parameter, char *out,
                                     size_t size)
{
    static const char expected[] = "device, or an architecture like sm_90";
    const char *value = parameter->value;
    out[0] = '\0';
    if (!value[0] || !strcmp(value, "device"))
        return GYRE_OK;
    size_t digits = strncmp(value, "sm_", 3) == 0 ? strspn(value + 3, "0123456789") : 0;
    const char *end = value + 3 + digits;
    if (digits < 2 || digits > 4 || (*end && (!islower((unsigned char)*end) || end[1])))
        return refuse_setting(host, parameter, expected);
    snprintf(out, size, "%s", value);
    return GYRE_OK;
}

/*
 * Reads "all", or a list of the driver's numbers and UUIDs (as `nvidia-smi -L` prints them, or the beginning
 * of one).
 */
static gyre_status read_devices(const gyre_host *host, const gyre_parameter *parameter, char *out,
                                size_t size)
{
    static const char expected[] = "all, or numbers and UUIDs of devices like 0,1 or GPU-5a2b93c4";
    const char *value = parameter->value;
    out[0] = '\0';
    if (strcmp(value, "all") == 0)
        return GYRE_OK;
    for (const char *word = value;; word += strcspn(word, ",") + 1) {
        const size_t length = strcspn(word, ",");
        const bool number = length > 0 && length < 5 && strspn(word, "0123456789") == length;
        const bool uuid = strncmp(word, "GPU-", 4) == 0 && length >= 8 && length <= 40 &&
                          4 + strspn(word + 4, "0123456789abcdefABCDEF-") == length;
        if (!number && !uuid)
            return refuse_setting(host, parameter, expected);
        if (!word[length])
            break;
    }
    if (strlen(value) >= size)
        return refuse_setting(host, parameter, "a shorter list of devices");
    snprintf(out, size, "%s", value);
    return GYRE_OK;
}

static gyre_status read_residency(const gyre_host *host, const gyre_parameter *parameter, uint32_t *out)
{
    *out = CUDA_RESIDENCY_AUTO;
    if (strcmp(parameter->value, "auto") == 0)
        return GYRE_OK;
    return read_number(host, parameter, RESIDENCY_MAX_MS,
                       "auto, or a number of milliseconds from 0 (unbounded) to 3600000", out);
}

static gyre_status read_path(const gyre_host *host, const gyre_parameter *parameter, char *out, size_t size)
{
    const char *value = strcmp(parameter->value, "auto") == 0 ? "" : parameter->value;
    if (strlen(value) >= size)
        return refuse_setting(host, parameter, "auto or a shorter path");
    snprintf(out, size, "%s", value);
    return GYRE_OK;
}

static gyre_status read_bool(const gyre_host *host, const gyre_parameter *parameter, bool *out)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(parameter->value, words[i]) != 0)
            continue;
        *out = i % 2;
        return GYRE_OK;
    }
    return refuse_setting(host, parameter, "true or false");
}

/* The GPU made of software is a file beside the plugin. */
static gyre_status find_emulator(const gyre_host *host, struct cuda_settings *settings)
{
    static const char name[] = "cuda-emulator.so";
    Dl_info own;
    if (settings->driver[0])
        return host->error(GYRE_CONFIG,
                           "backend.cuda emulate = true and driver = %s exclude each other: both name "
                           "the driver; keep one",
                           settings->driver);
    void *const here = (void *)(uintptr_t)cuda_settings_read;
    const char *const slash = dladdr(here, &own) ? strrchr(own.dli_fname, '/') : NULL;
    const int length = slash ? snprintf(settings->driver, sizeof settings->driver, "%.*s/%s",
                                        (int)(slash - own.dli_fname), own.dli_fname, name)
                             : -1;
    if (length < 0 || (size_t)length >= sizeof settings->driver || access(settings->driver, R_OK) != 0)
        return host->error(
            GYRE_UNAVAILABLE,
            "backend.cuda emulate = true: there is no '%s' beside the plugin '%s'; it is built with "
            "the CUDA backend, except with sanitizers",
            name, slash ? own.dli_fname : "");
    return GYRE_OK;
}

static gyre_status read_collectives(const gyre_host *host, const gyre_parameter *parameter,
                                    enum cuda_collectives *out)
{
    static const char *const words[] = {"auto", "direct", "nccl", "host"};
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(parameter->value, words[i]) == 0) {
            *out = (enum cuda_collectives)i;
            return GYRE_OK;
        }
    return refuse_setting(host, parameter, "auto, direct, nccl or host");
}

static gyre_status read_one(const gyre_host *host, const gyre_parameter *parameter,
                            struct cuda_settings *settings)
{
    const char *key = parameter->key;
    if (!strcmp(key, "sms"))
        return read_number(host, parameter, SMS_MAX, "a number from 0 (all) to 65536", &settings->sms);
    if (!strcmp(key, "pause_ns"))
        return read_number(host, parameter, PAUSE_MAX_NS, "a number of nanoseconds from 0 to 1000000",
                           &settings->pause_ns);
    if (!strcmp(key, "residency_ms"))
        return read_residency(host, parameter, &settings->residency_ms);
    if (!strcmp(key, "device"))
        return read_devices(host, parameter, settings->devices, sizeof settings->devices);
    if (!strcmp(key, "compile_for"))
        return read_architecture(host, parameter, settings->compile_for, sizeof settings->compile_for);
    if (!strcmp(key, "emulate"))
        return read_bool(host, parameter, &settings->emulate);
    if (!strcmp(key, "driver"))
        return read_path(host, parameter, settings->driver, sizeof settings->driver);
    if (!strcmp(key, "nvrtc"))
        return read_path(host, parameter, settings->nvrtc, sizeof settings->nvrtc);
    if (!strcmp(key, "collectives"))
        return read_collectives(host, parameter, &settings->collectives);
    if (!strcmp(key, "nccl"))
        return read_path(host, parameter, settings->nccl, sizeof settings->nccl);
    if (!strcmp(key, "parts"))
        return read_path(host, parameter, settings->parts, sizeof settings->parts);
    return GYRE_OK; /* the core reads the other keys */
}

gyre_status cuda_settings_read(const gyre_host *host, const gyre_parameter *parameters, size_t count,
                               struct cuda_settings *settings)
{
    *settings = (struct cuda_settings){.residency_ms = CUDA_RESIDENCY_AUTO};
    for (size_t i = 0; i < count; i++) {
        gyre_status status = read_one(host, &parameters[i], settings);
        if (status != GYRE_OK)
            return status;
    }
    return settings->emulate ? find_emulator(host, settings) : GYRE_OK;
}
