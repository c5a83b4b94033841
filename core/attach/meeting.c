/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads the packets that a client and a server exchange (meeting.h). Takes no lock. Must not believe a
 * packet from the other side: the parcel checks lengths and texts, this file checks that each number is one that may
 * be.
 */
#include "core/attach/meeting.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/ring/express.h"
#include "core/ring/ring_options.h"
#include "core/types/types.h"

static void put_optional_type(struct gyre_parcel *parcel, const gyre_type *type)
{
    gyre_parcel_put_u64(parcel, type != NULL);
    if (type)
        gyre_type_put(parcel, type);
}

static const gyre_type *get_optional_type(struct gyre_parcel *parcel, struct gyre_kept_block **blocks)
{
    return gyre_parcel_get_u32(parcel, 1) ? gyre_type_get(parcel, blocks) : NULL;
}

void gyre_attach_request_put(struct gyre_parcel *parcel, const char *name, const gyre_attach_desc *desc,
                             uint64_t answered)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_ATTACH, GYRE_OK);
    gyre_parcel_put_u64(parcel, 0); /* wants no feature */
    gyre_parcel_put_text(parcel, name);
    gyre_parcel_put_text(parcel, desc->client ? desc->client : "");
    gyre_parcel_put_u64(parcel, desc->capacity);
    gyre_parcel_put_u64(parcel, (uint64_t)desc->policy);
    gyre_parcel_put_u64(parcel, (uint64_t)desc->idle);
    gyre_parcel_put_u64(parcel, answered);
    put_optional_type(parcel, desc->request);
    put_optional_type(parcel, desc->reply);
}

/* Refuses a client that wants features. The rest of its packet is not read: it has the form of a later version. */
static gyre_status lack_feature(uint64_t wants)
{
    return gyre_error_set(
        GYRE_UNIMPLEMENTED,
        "the client wants what Gyre %s does not have (features %#llx): serve with the client's "
        "version of Gyre",
        gyre_version(), (unsigned long long)(wants & ~GYRE_MEETING_FEATURES));
}

gyre_status gyre_attach_request_get(struct gyre_parcel *parcel, struct gyre_attach_request *out)
{
    *out = (struct gyre_attach_request){.desc.size = sizeof out->desc};
    bool is_request = gyre_parcel_operation(parcel) == GYRE_PARCEL_ATTACH && !parcel->descriptor_count;
    out->wants = gyre_parcel_get_u64(parcel);
    if (is_request && out->wants & ~GYRE_MEETING_FEATURES)
        return lack_feature(out->wants);
    const char *name = gyre_parcel_get_text(parcel), *client = gyre_parcel_get_text(parcel);
    bool named = name && strlen(name) < sizeof out->name && client && strlen(client) < sizeof out->client;
    snprintf(out->name, sizeof out->name, "%s", named ? name : "");
    snprintf(out->client, sizeof out->client, "%s", named ? client : "");
    out->desc.capacity = gyre_parcel_get_u64(parcel);
    out->desc.policy = (gyre_full_policy)gyre_parcel_get_u32(parcel, GYRE_FULL_DROP_NEWEST);
    out->desc.idle = (gyre_idle_strategy)gyre_parcel_get_u32(parcel, GYRE_WAIT_PARK);
    out->answered = gyre_parcel_get_u64(parcel);
    out->desc.request = get_optional_type(parcel, &out->types);
    out->desc.reply = get_optional_type(parcel, &out->types);
    if (is_request && named && gyre_parcel_whole(parcel))
        return GYRE_OK;
    return gyre_parcel_refuse(parcel, GYRE_INVALID,
                              "a program that wanted to attach sent a request that makes no sense");
}

void gyre_attach_answer_put(struct gyre_parcel *parcel, const struct gyre_attach_answer *answer)
{
    struct gyre_queue_options options = answer->options;
    options.name = NULL;
    options.control = NULL;
    options.request_growth = options.reply_growth = (struct gyre_queue_growth){NULL, NULL};
    gyre_parcel_put_text(parcel, gyre_version());
    gyre_parcel_put_u64(parcel, GYRE_MEETING_FEATURES);
    gyre_parcel_put_u64(parcel, sizeof options);
    gyre_parcel_put(parcel, &options, sizeof options);
    gyre_parcel_put_u64(parcel, answer->control_size);
    gyre_type_put(parcel, answer->request);
    gyre_type_put(parcel, answer->reply);
}

/*
 * Whether the options are such as the configuration allows for a lent queue: a queue is made from them without
 * further checks.
 */
static bool make_sense(const struct gyre_queue_options *options)
{
    enum { DEDUP_MAX = 1 << 20 };
    return options->header_size <= sizeof(gyre_header) && options->header_size % 16 == 0 &&
           options->policy <= GYRE_FULL_DROP_NEWEST && options->idle <= GYRE_WAIT_PARK &&
           options->levels <= GYRE_LEVELS_MAX && options->dedup <= DEDUP_MAX &&
           (options->levels <= 1 || (options->age_ns && options->window)) &&
           options->left <= options->capacity && !options->bridged_requests && !options->bridged_replies &&
           (!options->express || gyre_express_suits(options)) &&
           (!options->express_replies || (options->express && options->reply_size <= GYRE_EXPRESS_MOST));
}

/*
 * What the options say about the sizes of messages in one direction. `room`: the room for a packet, where messages
 * are packets.
 */
struct said_sizes {
    uint32_t size, least, wire, room;
};

/*
 * Checks that the sizes fit the type: messages are converted to the type, and written where the sizes say that there
 * is room.
 */
static gyre_status check_sizes(const gyre_type *type, struct said_sizes said)
{
    gyre_layout *layout = NULL;
    gyre_status status = gyre_layout_create_message(type, GYRE_MESSAGE_MAX, &layout);
    if (status != GYRE_OK)
        return status;
    const bool is_packet = layout->shape == GYRE_SHAPE_PACKET;
    if (layout->size != said.size || (layout->tail ? layout->least : 0) != said.least ||
        is_packet != (said.wire != 0) || (is_packet && said.room && layout->room != said.room))
        status =
            gyre_error_set(GYRE_INTERNAL,
                           "the server described the queue in a way that makes no sense: its messages have "
                           "other sizes than their type '%s'",
                           layout->name);
    gyre_layout_destroy(layout);
    return status;
}

/*
 * Reads the whole struct of options. Both sides are of one version of Gyre (checked here), so they have the same
 * struct.
 */
static gyre_status get_options(struct gyre_parcel *parcel, struct gyre_queue_options *options, uint64_t *has)
{
    const char *version = gyre_parcel_get_text(parcel);
    bool same = version && strcmp(version, gyre_version()) == 0;
    *has = gyre_parcel_get_u64(parcel);
    if (!same || gyre_parcel_get_u64(parcel) != sizeof *options)
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "the server is of Gyre %s, this program of %s: both need the same one",
                              version ? version : "another version", gyre_version());
    gyre_parcel_get(parcel, options, sizeof *options);
    options->name = ""; /* what points somewhere is this program's to fill in */
    options->control = NULL;
    options->request_growth = options->reply_growth = (struct gyre_queue_growth){NULL, NULL};
    options->lent = false;
    options->many_threads = options->device_lies = true;
    return GYRE_OK;
}

gyre_status gyre_attach_answer_get(struct gyre_parcel *parcel, struct gyre_attach_answer *out)
{
    *out = (struct gyre_attach_answer){.types = NULL};
    gyre_status status = get_options(parcel, &out->options, &out->has);
    if (status != GYRE_OK)
        return status;
    out->control_size = gyre_parcel_get_u64(parcel);
    out->request = gyre_type_get(parcel, &out->types);
    out->reply = gyre_type_get(parcel, &out->types);
    const struct gyre_queue_options *options = &out->options;
    if (!gyre_parcel_whole(parcel) || out->control_size < sizeof(gyre_control_region) || !make_sense(options))
        return gyre_parcel_refuse(parcel, GYRE_INTERNAL,
                                  "the server described the queue in a way that makes no sense");
    status = check_sizes(
        out->request, (struct said_sizes){options->request_size, options->request_least, options->wire, 0});
    if (status == GYRE_OK)
        status = check_sizes(out->reply, (struct said_sizes){options->reply_size, options->reply_least,
                                                             options->wire, options->reply_room});
    return status;
}

void gyre_attach_refusal_put(struct gyre_parcel *parcel, gyre_status status,
                             const struct gyre_attach_refusal *refusal)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_ATTACH, status);
    gyre_parcel_put_text(parcel, refusal->why);
    gyre_parcel_put_u64(parcel, refusal->for_good);
}

struct gyre_attach_refusal gyre_attach_refusal_get(struct gyre_parcel *parcel)
{
    struct gyre_attach_refusal refusal = {.why = gyre_parcel_get_text(parcel)};
    refusal.for_good = gyre_parcel_get_u32(parcel, 1) != 0;
    if (!refusal.why || !refusal.why[0])
        refusal.why = "the server gave no reason";
    return refusal;
}

gyre_status gyre_meeting_refused(struct gyre_parcel *parcel)
{
    const gyre_status status = gyre_parcel_status(parcel);
    const char *why = gyre_parcel_get_text(parcel);
    gyre_error_set(status, "%s", why && why[0] ? why : "the server gave no reason");
    return status == GYRE_EXHAUSTED ? gyre_error_add(status, "the server") : status;
}

void gyre_state_request_put(struct gyre_parcel *parcel, const char *kernel, const char *key)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_STATE, GYRE_OK);
    gyre_parcel_put_text(parcel, kernel);
    gyre_parcel_put_u64(parcel, key != NULL);
    gyre_parcel_put_text(parcel, key ? key : "");
}

gyre_status gyre_state_request_get(struct gyre_parcel *parcel, struct gyre_state_request *request)
{
    const char *name = gyre_parcel_get_text(parcel);
    const bool named = name && name[0] && strlen(name) < sizeof request->kernel;
    snprintf(request->kernel, sizeof request->kernel, "%s", named ? name : "");
    request->of_key = gyre_parcel_get_u32(parcel, 1) != 0;
    const char *key = gyre_parcel_get_text(parcel);
    const bool keyed = key && strlen(key) < sizeof request->key;
    snprintf(request->key, sizeof request->key, "%s", keyed ? key : "");
    if (named && keyed && gyre_parcel_whole(parcel))
        return GYRE_OK;
    return gyre_parcel_refuse(parcel, GYRE_INVALID,
                              "a program that wanted to read a state sent a request that makes no sense");
}

void gyre_state_answer_put(struct gyre_parcel *parcel, const gyre_type *type)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_STATE, GYRE_OK);
    gyre_type_put(parcel, type);
}

gyre_status gyre_state_answer_get(struct gyre_parcel *parcel, const gyre_type **out,
                                  struct gyre_kept_block **types)
{
    *out = gyre_type_get(parcel, types);
    if (*out && gyre_parcel_whole(parcel) && (*out)->size > 0 && (*out)->size <= GYRE_STATE_MAX)
        return GYRE_OK;
    return gyre_parcel_refuse(parcel, GYRE_INTERNAL,
                              "the server described the kernel's state in a way that makes no sense");
}
