/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers with ports, as the CPU backend calls them: where gyre_emit writes, when it gives no place, and what the compiled file
 * says of its ports.
 */
#include "port_ring.h"
#include "split.gyre.c"

#include "unit/unit.h"

#define NOTE(FIELD) FIELD(u32, number) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(note, NOTE, 64)
#define DAY(FIELD) FIELD(u32, notes) FIELD(u32, sum)
GYRE_MESSAGE(day, DAY)

#define DIARY_PORTS(PORT) PORT(note, notes, 2) PORT(u32, numbers, 3) PORT(gyre_none, ticks, 4096)
GYRE_PORTS(diary_ports, DIARY_PORTS)

GYRE_ACTOR_TO(diary, u32, day, diary_ports, day)
{
    GYRE_GLOBAL note *out = gyre_emit(gyre, notes);
    GYRE_GLOBAL u32 *number = gyre_emit(gyre, numbers);
    gyre_emit(gyre, ticks);
    if (!out || !number)
        return gyre_fail(gyre, 1, "no room");
    out->number = ++state->notes;
    out->text = gyre_new_text(gyre, out, "dear diary");
    *number = state->sum += *request;
    *reply = *state;
    return GYRE_REPLY;
}

/* Lane 0 emits what all lanes found. */
GYRE_BLOCK_KERNEL_TO(gather, line, gyre_none, split_ports, day)
{
    if (gyre_lane(gyre) == 0) {
        GYRE_GLOBAL word *out = gyre_emit(gyre, words);
        if (out)
            out->line = request->number + scratch->sum;
    }
    return GYRE_NO_REPLY;
}

/* Sorts what it takes: a line goes on, a mark is answered. */
#define DESK(TAKES) TAKES(line, day) TAKES(day, day)
GYRE_PROTOCOL(desk, DESK)
GYRE_ACTOR_OF_TO(desk, DESK, split_ports, day)
GYRE_HANDLER_TO(desk, line, day)
{
    GYRE_GLOBAL word *out = gyre_emit(gyre, words);
    if (!out)
        return gyre_fail(gyre, 1, "no room");
    out->line = request->number + state->sum;
    state->notes++;
    return GYRE_NO_REPLY;
}
GYRE_QUERY(desk, day, day)
{
    *reply = *state;
    return GYRE_REPLY;
}

#define MARK(FIELD) FIELD(u32, hops) FIELD(u64, flow)
GYRE_MESSAGE(mark, MARK)
GYRE_KERNEL(marked, line, mark)
{
    reply->hops = gyre_hop(gyre);
    reply->flow = gyre_flow_id(gyre);
    return GYRE_REPLY;
}

/* ---- calls ---- */

enum { WORDS, ERRORS, NOTES = 0, NUMBERS, TICKS };

static struct port_ring rings[3];

static line line_of(const char *text)
{
    line made = {.number = 7, .length = (u32)strlen(text)};
    memcpy(made.text, text, made.length);
    return made;
}

static int call_split(const char *text, gyre_context *context)
{
    const line request = line_of(text);
    return gyre_kernel_split.handle(&request, NULL, NULL, NULL, NULL, context);
}

static void expect_word(uint64_t index, const char *text)
{
    const word *at = port_ring_at(&rings[WORDS], index);
    ck_assert_uint_eq(at->line, 7);
    ck_assert_uint_eq(at->length, strlen(text));
    ck_assert_mem_eq(at->text, text, at->length);
}

START_TEST(messages_lie_in_the_order_of_the_calls_across_the_end_of_the_ring)
{
    static const uint64_t begins[] = {0, RING_SLOTS - 2, (UINT64_C(1) << 40) + RING_SLOTS - 2,
                                      UINT64_MAX - 1};
    const uint64_t next = begins[_i];
    gyre_cpu_port ports[] = {port_ring_open(&rings[WORDS], next, 8), port_ring_open(&rings[ERRORS], 3, 1)};
    gyre_context context = {.ports = ports};
    ck_assert_int_eq(call_split("to be or not ", &context), GYRE_NO_REPLY);
    ck_assert_uint_eq(ports[WORDS].emitted, 4);
    ck_assert_uint_eq(ports[ERRORS].emitted, 0);
    expect_word(next, "to");
    expect_word(next + 1, "be");
    expect_word(next + 2, "or");
    expect_word(next + 3, "not");
    ck_assert_uint_eq(ports[WORDS].next, next); /* the backend's own */
    for (uint64_t i = 4; i < RING_SLOTS; i++)
        expect_untouched(port_ring_at(&rings[WORDS], next + i), sizeof(word));
    expect_payloads_alone(&rings[WORDS], next, 4, sizeof(word));
    expect_payloads_alone(&rings[ERRORS], 3, 0, 0);
}
END_TEST

START_TEST(a_call_that_emitted_the_most_gets_no_further_place)
{
    gyre_cpu_port ports[] = {port_ring_open(&rings[WORDS], 5, 8), port_ring_open(&rings[ERRORS], 3, 1)};
    gyre_context context = {.ports = ports};
    ck_assert_int_eq(call_split("a b c d e f g h i j", &context), GYRE_NO_REPLY);
    ck_assert_uint_eq(ports[WORDS].emitted, 8);
    expect_word(5, "a");
    expect_word(12, "h");
    expect_payloads_alone(&rings[WORDS], 5, 8, sizeof(word));
    ck_assert_uint_eq(ports[ERRORS].emitted, 1);
    const line_error *error = port_ring_at(&rings[ERRORS], 3);
    ck_assert(error->line == 7 && error->at == 16);
}
END_TEST

START_TEST(a_call_for_which_the_backend_has_less_room_gets_less)
{
    gyre_cpu_port ports[] = {port_ring_open(&rings[WORDS], 0, 2), port_ring_open(&rings[ERRORS], 0, 1)};
    gyre_context context = {.ports = ports};
    ck_assert_int_eq(call_split("a b c", &context), GYRE_NO_REPLY);
    ck_assert_uint_eq(ports[WORDS].emitted, 2);
    expect_payloads_alone(&rings[WORDS], 0, 2, sizeof(word));
}
END_TEST

START_TEST(a_message_with_a_tail_is_empty_at_first)
{
    const u32 request = 5;
    day reply, state = {.notes = 1, .sum = 10};
    gyre_cpu_port ports[] = {port_ring_open(&rings[NOTES], 15, 2), port_ring_open(&rings[NUMBERS], 0, 3),
                             port_ring_open(&rings[TICKS], 0, 4096)};
    gyre_context context = {.ports = ports};
    for (u32 i = 0; i < 2; i++) {
        ck_assert_int_eq(gyre_kernel_diary.handle(&request, &reply, &state, NULL, NULL, &context),
                         GYRE_REPLY);
        const note *at = port_ring_at(&rings[NOTES], 15 + i);
        ck_assert_uint_eq(at->number, 2 + i);
        ck_assert_uint_eq(at->gyre_used, gyre_least_note + 10);
        ck_assert_uint_eq(at->text.count, 10);
        ck_assert_mem_eq((const char *)at + at->text.offset, "dear diary", 10);
        ck_assert_uint_eq(*(u32 *)port_ring_at(&rings[NUMBERS], i), 15 + 5 * i);
    }
    ck_assert(reply.notes == 3 && reply.sum == 20);
    expect_payloads_alone(&rings[NOTES], 15, 2, gyre_least_note + 10);
    expect_payloads_alone(&rings[TICKS], 0, 2, 0);
    ck_assert_int_eq(gyre_kernel_diary.handle(&request, &reply, &state, NULL, NULL, &context), GYRE_FAILED);
    ck_assert_str_eq(context.fail_text, "no room");
    ck_assert_uint_eq(ports[TICKS].emitted, 3);
}
END_TEST

START_TEST(the_lanes_of_a_block_share_the_ports)
{
    const line request = line_of("");
    day scratch = {.sum = 30};
    gyre_cpu_port ports[] = {port_ring_open(&rings[WORDS], 0, 8), port_ring_open(&rings[ERRORS], 0, 1)};
    for (u32 lane = 0; lane < 4; lane++) {
        gyre_context context = {.lane = lane, .lane_count = 4, .ports = ports};
        gyre_kernel_gather.handle(&request, NULL, NULL, &scratch, NULL, &context);
    }
    ck_assert_uint_eq(ports[WORDS].emitted, 1);
    ck_assert_uint_eq(((word *)port_ring_at(&rings[WORDS], 0))->line, 37);
}
END_TEST

START_TEST(a_handler_of_one_type_emits_to_the_ports_of_its_kernel)
{
    desk_request request = {.gyre_used = GYRE_CHOICE_FRONT + sizeof(line),
                            .gyre_choice = GYRE_NUMBER(desk, line)};
    desk_reply reply;
    day state = {.sum = 30};
    gyre_cpu_port ports[] = {port_ring_open(&rings[WORDS], 0, 8), port_ring_open(&rings[ERRORS], 0, 1)};
    gyre_context context = {.ports = ports};
    request.gyre_one.gyre_of_line = line_of("x");
    ck_assert_int_eq(gyre_kernel_desk.handle(&request, &reply, &state, NULL, NULL, &context), GYRE_NO_REPLY);
    ck_assert_uint_eq(ports[WORDS].emitted, 1);
    ck_assert_uint_eq(((word *)port_ring_at(&rings[WORDS], 0))->line, 37);
    request.gyre_used = GYRE_CHOICE_FRONT + sizeof(day);
    request.gyre_choice = GYRE_NUMBER(desk, day);
    ck_assert_int_eq(gyre_kernel_desk.handle(&request, &reply, &state, NULL, NULL, &context), GYRE_REPLY);
    ck_assert_uint_eq(reply.gyre_one.gyre_of_day.notes, 1);
    ck_assert_uint_eq(ports[WORDS].emitted, 1);
    ck_assert(gyre_kernel_desk.port_count == 2 && !gyre_kernel_desk.run);
}
END_TEST

/* ---- asking ---- */

#define ENQUIRE_PORTS(PORT, ASK) PORT(u32, numbers, 3) ASK(word, note, asked, 2)
GYRE_PORTS_WITH_ASKS(enquire_ports, ENQUIRE_PORTS)
GYRE_KERNEL_TO(enquire, line, u32, enquire_ports)
{
    for (u32 i = 0; i < request->length; i++) {
        GYRE_GLOBAL word *out = gyre_ask(gyre, asked, request->number + i);
        if (!out)
            return gyre_fail(gyre, 1, "no room");
        out->line = 70 + i;
    }
    *reply = gyre_token(gyre);
    return GYRE_REPLY;
}

enum { ASKED = 1, FRONT = sizeof(gyre_link_ask) };

static int call_enquire(u32 first, u32 count, gyre_context *context, u32 *reply)
{
    const line request = {.number = first, .length = count};
    return gyre_kernel_enquire.handle(&request, reply, NULL, NULL, NULL, context);
}

/* As the backend opens a port that asks: the place of a message lies behind what is asked of whom. */
static gyre_cpu_port open_asked(struct port_ring *ring)
{
    gyre_cpu_port port = port_ring_open(ring, 15, 2);
    port.slots += FRONT;
    port.mask = 0; /* both lie in one place, so that nothing beyond the ring is written */
    return port;
}

START_TEST(a_token_lies_in_front_of_what_is_asked)
{
    u32 reply = 0;
    gyre_cpu_port ports[] = {port_ring_open(&rings[0], 0, 3), open_asked(&rings[ASKED])};
    /* of another program: what the handler does not write is 0, up to the end of the slot and no further */
    gyre_context context = {.ports = ports, .token = 8, .foreign = 1};
    ck_assert_int_eq(call_enquire(41, 1, &context, &reply), GYRE_REPLY);
    ck_assert(reply == 8 && ports[ASKED].emitted == 1);
    const unsigned char *front = port_ring_at(&rings[ASKED], 0), *payload = front + FRONT;
    ck_assert_uint_eq(((const gyre_link_ask *)(const void *)front)->token, 41);
    expect_untouched(front - GYRE_SLOT_HEADER_SIZE, GYRE_SLOT_HEADER_SIZE);
    expect_untouched(front + sizeof(gyre_u32), FRONT - sizeof(gyre_u32));
    ck_assert_uint_eq(((const word *)(const void *)payload)->line, 70);
    ck_assert_uint_eq(payload[sizeof(word)], 0);
    expect_untouched(front - GYRE_SLOT_HEADER_SIZE + RING_STRIDE, RING_STRIDE);
    ck_assert_int_eq(call_enquire(1, 2, &context, &reply), GYRE_FAILED); /* `most` is 2 for one call */
    ck_assert_str_eq(context.fail_text, "no room");
}
END_TEST

START_TEST(a_token_is_not_0)
{
    u32 reply;
    gyre_cpu_port ports[] = {port_ring_open(&rings[0], 0, 3), open_asked(&rings[ASKED])};
    gyre_context context = {.ports = ports};
    call_enquire(0, 1, &context, &reply);
    ck_assert(context.failed && context.fail_code == GYRE_FAILURE_PORT);
    ck_assert_str_eq(context.fail_text, "gyre_ask: a token is not 0");
}
END_TEST

/* ---- what the compiled file says ---- */

static void expect_port(const gyre_cpu_port_type *port, const char *name, const gyre_type *type, u32 most,
                        u32 least)
{
    ck_assert_str_eq(port->name, name);
    ck_assert_ptr_eq(port->type, type);
    ck_assert_uint_eq(port->most, most);
    ck_assert_uint_eq(port->least, least);
}

START_TEST(the_kernel_tells_its_ports)
{
    ck_assert_uint_eq(gyre_kernel_split.port_count, 2);
    expect_port(&gyre_kernel_split.ports[WORDS], "words", GYRE_TYPE(word), 8, sizeof(word));
    expect_port(&gyre_kernel_split.ports[ERRORS], "errors", GYRE_TYPE(line_error), 1, sizeof(line_error));
    ck_assert_uint_eq(gyre_kernel_diary.port_count, 3);
    expect_port(&gyre_kernel_diary.ports[NOTES], "notes", GYRE_TYPE(note), 2, gyre_least_note);
    expect_port(&gyre_kernel_diary.ports[NUMBERS], "numbers", GYRE_TYPE(u32), 3, 4);
    expect_port(&gyre_kernel_diary.ports[TICKS], "ticks", GYRE_TYPE(gyre_none), 4096, 0);
    expect_port(&gyre_kernel_enquire.ports[ASKED], "asked", GYRE_TYPE(word), 2, sizeof(word));
    ck_assert_ptr_eq(gyre_kernel_enquire.ports[ASKED].reply, GYRE_TYPE(note));
    ck_assert(!gyre_kernel_enquire.ports[0].reply && !gyre_kernel_diary.ports[NOTES].reply);
    ck_assert(gyre_kernel_split.form == 1 && gyre_kernel_gather.form == 2 && gyre_kernel_diary.form == 3);
    ck_assert(!gyre_kernel_split.run && !gyre_kernel_gather.run && !gyre_kernel_diary.run);
    ck_assert(gyre_kernel_marked.run && !gyre_kernel_marked.ports && gyre_kernel_marked.port_count == 0);
}
END_TEST

START_TEST(a_handler_knows_its_flow_and_how_many_links_it_is_away)
{
    const line request = line_of("");
    mark reply;
    gyre_context context = {.flow = 1234567890123};
    ck_assert_int_eq(gyre_kernel_marked.handle(&request, &reply, NULL, NULL, NULL, &context), GYRE_REPLY);
    ck_assert(reply.hops == 0 && reply.flow == 1234567890123);
    context.origin = GYRE_ORIGIN_NEXT(GYRE_ORIGIN_NEXT(GYRE_ORIGIN_OF(63, UINT32_MAX))) | GYRE_ORIGIN_SOLE;
    ck_assert_int_eq(gyre_kernel_marked.handle(&request, &reply, NULL, NULL, NULL, &context), GYRE_REPLY);
    ck_assert_uint_eq(reply.hops, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ports");
    TCase *tcase = tcase_create("ports");
    tcase_add_loop_test(tcase, messages_lie_in_the_order_of_the_calls_across_the_end_of_the_ring, 0, 4);
    tcase_add_test(tcase, a_call_that_emitted_the_most_gets_no_further_place);
    tcase_add_test(tcase, a_call_for_which_the_backend_has_less_room_gets_less);
    tcase_add_test(tcase, a_message_with_a_tail_is_empty_at_first);
    tcase_add_test(tcase, the_lanes_of_a_block_share_the_ports);
    tcase_add_test(tcase, a_handler_of_one_type_emits_to_the_ports_of_its_kernel);
    tcase_add_test(tcase, a_token_lies_in_front_of_what_is_asked);
    tcase_add_test(tcase, a_token_is_not_0);
    tcase_add_test(tcase, the_kernel_tells_its_ports);
    tcase_add_test(tcase, a_handler_knows_its_flow_and_how_many_links_it_is_away);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
