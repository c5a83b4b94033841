/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of gyre/subscribe.h that both kinds of subscriptions have (subscription.h). No state, no locks. */
#include "core/links/subscription.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/types/compare.h"
#include "gyre/waiting.h"

gyre_status gyre_subscription_read_desc(const char *call, const gyre_subscribe_desc *desc,
                                        gyre_subscribe_desc *out)
{
    *out = (gyre_subscribe_desc){.size = sizeof *out};
    if (desc)
        memcpy(out, desc, desc->size < sizeof *out ? desc->size : sizeof *out);
    out->size = sizeof *out;
    if ((unsigned)out->slow > GYRE_SLOW_CUT)
        return gyre_error_set(GYRE_INVALID, "%s: slow: expected GYRE_SLOW_WAIT, _DROP or _CUT, found %d%s",
                              call, (int)out->slow,
                              out->slow == GYRE_SLOW_TAP
                                  ? "; flows wait for no subscription, so _DROP is what a tap does"
                                  : "");
    if (out->capacity & (out->capacity - 1))
        return gyre_error_set(GYRE_INVALID, "%s: capacity: expected a power of two, or 0, found %llu", call,
                              (unsigned long long)out->capacity);
    return GYRE_OK;
}

gyre_status gyre_subscription_check_type(const gyre_layout *topic, const gyre_type *callers)
{
    gyre_layout *layout = NULL;
    if (!callers)
        return GYRE_OK;
    gyre_status status = gyre_layout_create_message(callers, GYRE_MESSAGE_MAX, &layout);
    if (status == GYRE_OK)
        status = gyre_layout_compare(topic, "the topic", layout, "the subscriber");
    gyre_layout_destroy(layout);
    return status;
}

gyre_status gyre_subscription_may_wait(uint64_t deadline_ns)
{
    if (deadline_ns == GYRE_NO_WAIT)
        return gyre_error_set_text(GYRE_AGAIN, "no message of the subscription is there");
    return gyre_clock_ns() < deadline_ns
               ? GYRE_OK
               : gyre_error_set_text(GYRE_TIMEOUT, "no message of the subscription came: timeout");
}

void gyre_subscription_copy(const gyre_layout *layout, void *message, const void *bytes, uint64_t length)
{
    const uint64_t copied = length < layout->size ? length : layout->size;
    memcpy(message, bytes, copied);
    memset((unsigned char *)message + copied, 0, layout->size - copied);
}

gyre_status gyre_subscription_receive(gyre_subscription *subscription, void *message, size_t size,
                                      gyre_publication *about, uint64_t deadline_ns)
{
    gyre_publication told = {.size = sizeof told};
    if (!subscription || !message || (about && about->size < sizeof about->size))
        return GYRE_ARGUMENTS("gyre_subscription_receive", {"subscription", subscription},
                              {"message", message}, GYRE_SIZED_OR_NULL(about));
    if (size < subscription->layout->size)
        return gyre_error_set(
            GYRE_INVALID,
            "gyre_subscription_receive from '%s': the room for a message has %zu bytes, and "
            "its type '%s' has %llu",
            subscription->name, size, subscription->layout->name,
            (unsigned long long)subscription->layout->size);
    const gyre_status status = subscription->kind->receive(subscription, message, &told, deadline_ns);
    if (status == GYRE_OK && about) {
        told.size = about->size < sizeof told ? about->size : sizeof told;
        memcpy(about, &told, told.size);
    }
    return status == GYRE_TIMEOUT ? gyre_error_add_overdue(status, deadline_ns) : status;
}

gyre_status gyre_subscription_info_get(gyre_subscription *subscription, gyre_subscription_info *info)
{
    gyre_subscription_info told = {.size = sizeof told};
    if (!subscription || !info || info->size < sizeof info->size)
        return GYRE_ARGUMENTS("gyre_subscription_info_get", {"subscription", subscription}, GYRE_SIZED(info));
    snprintf(told.name, sizeof told.name, "%s", subscription->name);
    told.type = subscription->layout->type;
    told.slow = (uint32_t)subscription->slow;
    subscription->kind->look(subscription, &told);
    told.size = info->size < sizeof told ? info->size : sizeof told;
    memcpy(info, &told, told.size);
    return GYRE_OK;
}

void gyre_unsubscribe(gyre_subscription *subscription)
{
    if (subscription)
        subscription->kind->end(subscription);
}
