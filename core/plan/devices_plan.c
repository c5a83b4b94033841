/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the list of devices of a kernel (devices_plan.h). No state, no locks. */
#include "core/plan/devices_plan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

enum { ORDINAL_DIGITS = 5 };

static gyre_status no_list(const char *kernel, const char *text)
{
    return gyre_error_set(
        GYRE_CONFIG,
        "kernel.%s.device: expected 1 to %d device numbers separated by commas, as in 0, 1, "
        "found '%s'",
        kernel, GYRE_SPREAD_DEVICES_MAX, text);
}

gyre_status gyre_devices_check(const char *kernel, const uint32_t *devices, uint32_t count)
{
    if (count < 1 || count > GYRE_SPREAD_DEVICES_MAX)
        return gyre_error_set(GYRE_INVALID, "kernel '%s': expected 1 to %d devices, found %u", kernel,
                              GYRE_SPREAD_DEVICES_MAX, count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t before = 0; before < i; before++)
            if (devices[before] == devices[i])
                return gyre_error_set(GYRE_INVALID,
                                      "kernel '%s': device %u is named twice; name each device once, and use "
                                      "`blocks` for more of a device",
                                      kernel, devices[i]);
    return GYRE_OK;
}

/* Reads one number up to a comma or the end. NULL: it is none. */
static const char *read_ordinal(const char *at, uint32_t *out)
{
    char *end = NULL;
    at += strspn(at, " ");
    if (!isdigit((unsigned char)*at) || strspn(at, "0123456789") > ORDINAL_DIGITS)
        return NULL;
    *out = (uint32_t)strtoul(at, &end, 10);
    end += strspn(end, " ");
    return *end == ',' || *end == '\0' ? end : NULL;
}

static gyre_status read_list(const char *kernel, const char *text, struct gyre_device_list *out)
{
    for (const char *at = text; at[0];) {
        if (out->count == GYRE_SPREAD_DEVICES_MAX || !(at = read_ordinal(at, &out->devices[out->count])))
            return no_list(kernel, text);
        out->count++;
        at += *at == ',';
    }
    return out->count && gyre_devices_check(kernel, out->devices, out->count) != GYRE_OK ? GYRE_CONFIG
                                                                                         : GYRE_OK;
}

gyre_status gyre_devices_configured(const struct gyre_config *config, const char *kernel,
                                    struct gyre_device_list *out)
{
    out->count = 0;
    return gyre_config_blame(
        config, GYRE_SECTION_KERNEL, kernel, "device",
        read_list(kernel, gyre_config_text(config, GYRE_SECTION_KERNEL, kernel, "device"), out));
}

void gyre_devices_name(const gyre_launch_desc *launch, char name[GYRE_KERNEL_NAME_MAX])
{
    if (launch->name || launch->kernel)
        snprintf(name, GYRE_KERNEL_NAME_MAX, "%s", launch->name ? launch->name : launch->kernel);
    else
        gyre_kernel_guess_name(launch->source ? launch->source : "", name, GYRE_KERNEL_NAME_MAX);
}

bool gyre_devices_are_several(const struct gyre_config *config, const gyre_launch_desc *launch)
{
    char name[GYRE_KERNEL_NAME_MAX];
    struct gyre_device_list list;
    gyre_devices_name(launch, name);
    const bool are = gyre_devices_configured(config, name, &list) == GYRE_OK && list.count > 1;
    gyre_error_clear();
    return are;
}

gyre_status gyre_devices_choose_one(const struct gyre_config *config, const char *kernel, uint32_t *ordinal)
{
    struct gyre_device_list list;
    if (strchr(kernel, '#'))
        return GYRE_OK;
    gyre_status status = gyre_devices_configured(config, kernel, &list);
    if (status != GYRE_OK || *ordinal != 0 || list.count == 0)
        return status;
    *ordinal = list.devices[0];
    if (list.count == 1)
        return GYRE_OK;
    status = gyre_error_set(
        GYRE_INVALID,
        "kernel '%s' is configured for %u devices (%s), and this is a launch on one: launch it with "
        "gyre_spread_launch, keep it for other programs with `gyre serve`, or name one device, as each kernel of a pipeline needs",
        kernel, list.count, gyre_config_text(config, GYRE_SECTION_KERNEL, kernel, "device"));
    return gyre_config_blame(config, GYRE_SECTION_KERNEL, kernel, "device", status);
}
