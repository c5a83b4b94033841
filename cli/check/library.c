/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists names of C's library that kernels must not use, with what to write in their place. A kernel may use only names that
 * <gyre/kernel.h> gives. On the CPU that header also includes <stdint.h>, <stddef.h> and <math.h>, whose types and macros other
 * devices lack. No state.
 */
#include "cli/check/library.h"

#include <string.h>

#include "cli/check/places.h"

static const struct library_name {
    const char *name, *advice;
} library_names[] = {
    {"int8_t", "use i8"},
    {"int16_t", "use i16"},
    {"int32_t", "use i32"},
    {"int64_t", "use i64"},
    {"uint8_t", "use u8"},
    {"uint16_t", "use u16"},
    {"uint32_t", "use u32"},
    {"uint64_t", "use u64"},
    {"intptr_t", "use i64"},
    {"uintptr_t", "use u64"},
    {"intmax_t", "use i64"},
    {"uintmax_t", "use u64"},
    {"float_t", "use f32"},
    {"double_t", "use f64"},
    {"bool", "use u32 or int for a truth value"},
    {"true", "write 1"},
    {"false", "write 0"},
    {"uchar", "use u8"},
    {"ushort", "use u16"},
    {"uint", "use u32"},
    {"ulong", "use u64"},
    {"INT8_MAX", "write 127"},
    {"INT16_MAX", "write 32767"},
    {"INT32_MAX", "write 0x7fffffff"},
    {"INT64_MAX", "write 0x7fffffffffffffffL"},
    {"INT8_MIN", "write (-128)"},
    {"INT16_MIN", "write (-32768)"},
    {"INT32_MIN", "write (-0x7fffffff - 1)"},
    {"INT64_MIN", "write (-0x7fffffffffffffffL - 1)"},
    {"UINT8_MAX", "write 255"},
    {"UINT16_MAX", "write 65535"},
    {"UINT32_MAX", "write 0xffffffffu"},
    {"UINT64_MAX", "write 0xffffffffffffffffUL"},
    {"SIZE_MAX", "write 0xffffffffffffffffUL"},
    {"INT_MAX", "write 0x7fffffff"},
    {"INT_MIN", "write (-0x7fffffff - 1)"},
    {"UINT_MAX", "write 0xffffffffu"},
    {"LONG_MAX", "write 0x7fffffffffffffffL"},
    {"LONG_MIN", "write (-0x7fffffffffffffffL - 1)"},
    {"ULONG_MAX", "write 0xffffffffffffffffUL"},
    {"CHAR_BIT", "write 8"},
    {"UINT32_C", "write the u behind the number"},
    {"INT64_C", "write the L behind the number"},
    {"UINT64_C", "write the UL behind the number"},
    {"FLT_MAX", "write 3.402823466e38f"},
    {"FLT_MIN", "write 1.175494351e-38f"},
    {"FLT_EPSILON", "write 1.1920929e-7f"},
    {"MAXFLOAT", "write 3.402823466e38f"},
    {"DBL_MAX", "write 1.7976931348623157e308"},
    {"DBL_MIN", "write 2.2250738585072014e-308"},
    {"DBL_EPSILON", "write 2.2204460492503131e-16"},
    {"INFINITY", "write gyre_f32_from_bits(0x7f800000u)"},
    {"HUGE_VALF", "write gyre_f32_from_bits(0x7f800000u)"},
    {"HUGE_VAL", "write gyre_f64_from_bits(0x7ff0000000000000UL)"},
    {"NAN", "write gyre_f32_from_bits(0x7fc00000u)"},
    {"isnan", "write x != x"},
    {"isinf", "compare fabsf(x) with gyre_f32_from_bits(0x7f800000u), which is infinity"},
    {"isfinite", "write x - x == 0"},
    {"signbit", "write gyre_bits_from_f32(x) >> 31"},
    {"M_PI", "write 3.14159265358979323846"},
    {"M_E", "write 2.7182818284590452354"},
    {"M_SQRT2", "write 1.41421356237309504880"},
    {"offsetof", "use the field itself, or count the bytes before it"},
};

const char *library_advice(const char *name)
{
    for (size_t i = 0; i < sizeof library_names / sizeof library_names[0]; i++)
        if (strcmp(library_names[i].name, name) == 0)
            return library_names[i].advice;
    return NULL;
}

/* ---- definitions of the user's own ---- */

struct search {
    const struct checker *checker;
    const char *name;
    bool found;
};

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* True when the line is `#define NAME`. */
static bool line_defines(const char *line, const char *name)
{
    const size_t length = strlen(name);
    const char *at = skip_blanks(line);
    if (*at != '#')
        return false;
    at = skip_blanks(at + 1);
    if (strncmp(at, "define", 6) != 0 || (at[6] != ' ' && at[6] != '\t'))
        return false;
    at = skip_blanks(at + 6);
    return strncmp(at, name, length) == 0 && strchr(" \t\r\n(/\\", at[length]); /* or it ends the text */
}

/* True when the line is `typedef ... NAME;`. */
static bool line_names_type(const char *line, const char *name)
{
    const size_t length = strlen(name), whole = strcspn(line, ";\n");
    const char *at = skip_blanks(line);
    return strncmp(at, "typedef", 7) == 0 && line[whole] == ';' && whole > length + 8 &&
           strncmp(line + whole - length, name, length) == 0 && strchr(" \t*", line[whole - length - 1]);
}

static void search_file(CXFile file, CXSourceLocation *stack, unsigned depth, CXClientData data)
{
    struct search *search = data;
    (void)stack;
    (void)depth;
    if (search->found || check_owner_of_file(search->checker, file) != OWNER_USER)
        return;
    const char *text = clang_getFileContents(search->checker->unit, file, NULL);
    for (const char *end, *line = text; line && !search->found; line = end ? end + 1 : NULL) {
        search->found = line_defines(line, search->name) || line_names_type(line, search->name);
        end = strchr(line, '\n');
    }
}

bool library_is_defined(const struct checker *checker, const char *name)
{
    struct search search = {checker, name, false};
    clang_getInclusions(checker->unit, search_file, &search);
    return search.found;
}
