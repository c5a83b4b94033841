/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what came back with what a case expects: field by field, floats within a number of steps. */
#include "kernel_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/types/message.h"

/* A float's place on the line of all floats of its type, so that neighbours differ by 1. */
static int64_t step_of_f32(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
}

static int64_t step_of_f64(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? -(bits & INT64_MAX) : bits;
}

static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static int equal_f32(const void *found, const void *expected, uint64_t ulp)
{
    float a, b;
    memcpy(&a, found, sizeof a);
    memcpy(&b, expected, sizeof b);
    if (a != a || b != b)
        return a != a && b != b;
    return ulp ? distance(step_of_f32(a), step_of_f32(b)) <= ulp : memcmp(found, expected, sizeof a) == 0;
}

static int equal_f64(const void *found, const void *expected, uint64_t ulp)
{
    double a, b;
    memcpy(&a, found, sizeof a);
    memcpy(&b, expected, sizeof b);
    if (a != a || b != b)
        return a != a && b != b;
    return ulp ? distance(step_of_f64(a), step_of_f64(b)) <= ulp : memcmp(found, expected, sizeof a) == 0;
}

static void print_scalar(const gyre_layout *layout, const unsigned char *bytes)
{
    float single;
    double wide;
    int64_t integer = 0;
    if (layout->scalar == GYRE_SCALAR_F32) {
        memcpy(&single, bytes, sizeof single);
        fprintf(stderr, "%.9g", (double)single);
    } else if (layout->scalar == GYRE_SCALAR_F64) {
        memcpy(&wide, bytes, sizeof wide);
        fprintf(stderr, "%.17g", wide);
    } else {
        memcpy(&integer, bytes, layout->size);
        fprintf(stderr, "%" PRId64 " (0x%" PRIx64 ")", integer, (uint64_t)integer);
    }
}

/* A value in two messages: where the messages start,
 * which parts count from, and where the value is in each. */
struct pair {
    const unsigned char *found_start, *expected_start;
    const unsigned char *found, *expected;
};

static int equal(const gyre_layout *layout, struct pair pair, uint64_t ulp, const char *where);

static int equal_scalar(const gyre_layout *layout, const unsigned char *found, const unsigned char *expected,
                        uint64_t ulp, const char *where)
{
    int same = layout->scalar == GYRE_SCALAR_F32   ? equal_f32(found, expected, ulp)
               : layout->scalar == GYRE_SCALAR_F64 ? equal_f64(found, expected, ulp)
                                                   : memcmp(found, expected, layout->size) == 0;
    if (same)
        return 1;
    fprintf(stderr, "%s: found ", where);
    print_scalar(layout, found);
    fprintf(stderr, ", expected ");
    print_scalar(layout, expected);
    fputc('\n', stderr);
    return 0;
}

static struct pair moved(struct pair pair, uint64_t found, uint64_t expected)
{
    pair.found += found;
    pair.expected += expected;
    return pair;
}

static int equal_field(const gyre_field *field, struct pair pair, uint64_t ulp, const char *where)
{
    char place[256];
    for (uint64_t i = 0; i < field->count; i++) {
        const uint64_t offset = field->offset + i * field->type->size;
        snprintf(place, sizeof place, field->dimension_count ? "%s.%s[%" PRIu64 "]" : "%s.%s", where,
                 field->name, i);
        if (!equal(field->type, moved(pair, offset, offset), ulp, place))
            return 0;
    }
    return 1;
}

/* Where the items lie may differ. The reply was checked, so the offsets may be followed. */
static int equal_part(const gyre_layout *layout, struct pair pair, uint64_t ulp, const char *where)
{
    char place[256];
    gyre_part found, expected;
    memcpy(&found, pair.found, sizeof found);
    memcpy(&expected, pair.expected, sizeof expected);
    if (found.count != expected.count) {
        fprintf(stderr, "%s: found %u items, expected %u\n", where, found.count, expected.count);
        return 0;
    }
    pair.found = pair.found_start;
    pair.expected = pair.expected_start;
    for (uint64_t i = 0; i < found.count; i++) {
        const uint64_t offset = i * layout->element->size;
        snprintf(place, sizeof place, "%s[%" PRIu64 "]", where, i);
        if (!equal(layout->element, moved(pair, found.offset + offset, expected.offset + offset), ulp, place))
            return 0;
    }
    return 1;
}

/* Both were checked: the numbers are those of choices. */
static int equal_choice(const gyre_layout *layout, struct pair pair, uint64_t ulp, const char *where)
{
    uint32_t found, expected;
    memcpy(&found, pair.found + sizeof found, sizeof found);
    memcpy(&expected, pair.expected + sizeof expected, sizeof expected);
    if (found != expected) {
        fprintf(stderr, "%s: found the type of number %u, expected %u\n", where, found, expected);
        return 0;
    }
    pair = moved(pair, GYRE_CHOICE_FRONT, GYRE_CHOICE_FRONT);
    pair.found_start = pair.found;
    pair.expected_start = pair.expected;
    return equal(layout->choices[found - 1], pair, ulp, where);
}

static int equal_packet(struct pair pair, const char *where)
{
    uint32_t found, expected;
    memcpy(&found, pair.found, sizeof found);
    memcpy(&expected, pair.expected, sizeof expected);
    if (found == expected && memcmp(pair.found, pair.expected, found) == 0)
        return 1;
    fprintf(stderr, "%s: found %u bytes, expected %u\n", where, found, expected);
    for (uint32_t i = GYRE_PACKET_FRONT; i < found && i < expected; i++)
        if (pair.found[i] != pair.expected[i]) {
            fprintf(stderr, "%s: byte %u: found 0x%02x, expected 0x%02x\n", where, i - GYRE_PACKET_FRONT,
                    pair.found[i], pair.expected[i]);
            break;
        }
    return 0;
}

static int equal(const gyre_layout *layout, struct pair pair, uint64_t ulp, const char *where)
{
    if (layout->shape == GYRE_SHAPE_CHOICE)
        return equal_choice(layout, pair, ulp, where);
    if (layout->shape == GYRE_SHAPE_PACKET)
        return equal_packet(pair, where);
    if (layout->scalar != GYRE_SCALAR_NO)
        return equal_scalar(layout, pair.found, pair.expected, ulp, where);
    if (layout->element)
        return equal_part(layout, pair, ulp, where);
    for (uint32_t i = 0; i < layout->field_count; i++)
        if (!equal_field(&layout->fields[i], pair, ulp, where))
            return 0;
    return 1;
}

static int equal_message(const gyre_layout *layout, const void *found, const void *expected, uint64_t ulp,
                         const char *where)
{
    const struct pair pair = {found, expected, found, expected};
    if (layout->tail == 0 ||
        gyre_layout_check_message(layout, found, gyre_layout_length(layout, found)) == GYRE_OK)
        return equal(layout, pair, ulp, where);
    fprintf(stderr, "%s: %s\n", where, gyre_error_text());
    return 0;
}

int case_check(const struct kernel_case *test, size_t index, uint32_t outcome, int32_t code, const char *text,
               const void *reply)
{
    char where[128];
    const struct case_expected *expected = &test->expected[index];
    snprintf(where, sizeof where, "%s: reply %zu", test->name, index);
    if (outcome != expected->outcome) {
        fprintf(stderr, "%s: found outcome %u (code %d, '%s'), expected %u (code %d, '%s')\n", where, outcome,
                code, text, expected->outcome, expected->code, expected->text);
        return 0;
    }
    if (outcome == GYRE_OUTCOME_REPLY)
        return equal_message(test->reply, reply, expected->reply, test->ulp, where);
    if (outcome == GYRE_OUTCOME_FAILED &&
        (code != expected->code || (!test->any_text && strcmp(text, expected->text) != 0))) {
        fprintf(stderr, "%s: failed with %d '%s', expected %d '%s'\n", where, code, text, expected->code,
                expected->text);
        return 0;
    }
    return 1;
}

static int check_memory(const struct kernel_case *test, const struct case_memory *memory)
{
    char where[128];
    snprintf(where, sizeof where, "%s: %s after the last request", test->name, memory->name);
    return !memory->expected ||
           equal_message(memory->layout, memory->bytes, memory->expected, test->ulp, where);
}

int case_check_memory(const struct kernel_case *test)
{
    int same = check_memory(test, &test->state);
    for (uint32_t i = 0; i < test->buffer_count; i++)
        same = check_memory(test, &test->buffers[i]) && same;
    return same;
}
