/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the parser's errors about ports into findings. GYRE_PORTS and gyre_emit expand to code whose errors name what only Gyre
 * knows: a constant of each message type and of each list of ports, a member of the ports, and static assertions. No state.
 */
#include "cli/check/ports.h"

#include <string.h>

#include "cli/check/lost_macros.h"
#include "cli/check/places.h"

enum { PORTS_PARAMETER = 6 }; /* dialect/ports.h */

static const char unknown_type[] = "use of undeclared identifier 'gyre_least_"; /* dialect/c11_ports.h */
static const char unknown_ports[] = "use of undeclared identifier 'gyre_ports_of_";
static const char no_ports_of_kernel[] = "unknown type name 'gyre_ports_to_"; /* dialect/ports.h */
static const char unknown_flow[] = "unknown type name 'gyre_flow_of_";        /* dialect/c11_ports.h */
static const char no_ports[] = "use of undeclared identifier 'ports'";
static const char no_member[] = "no member named '";
static const char same_member[] = "duplicate member '";

/* Takes the name behind a beginning out of a diagnostic. False for another diagnostic. */
static bool named_behind(const char *text, const char *beginning, char *name, size_t size)
{
    const size_t length = strlen(beginning);
    if (strncmp(text, beginning, length) != 0)
        return false;
    snprintf(name, size, "%.*s", (int)strcspn(text + length, "'"), text + length);
    return true;
}

bool check_has_ports(CXCursor handler)
{
    return clang_Cursor_getNumArguments(handler) > PORTS_PARAMETER;
}

/* ---- ports that were not declared so ---- */

static void refuse_type(struct checker *checker, const struct place *place, const char *type)
{
    report_refuse(
        &checker->report, "check", place,
        "'%s' is no message, and a port's type is one: declare it with GYRE_MESSAGE before the ports, as in `#define "
        "WORD(FIELD) FIELD(u32, n)` and GYRE_MESSAGE(word, WORD); a port of numbers has one of i8 i16 i32 i64 u8 u16 u32 "
        "u64 f32 f64",
        type);
}

static void refuse_ports(struct checker *checker, const struct place *place, const char *name)
{
    if (strcmp(name, "gyre_none") == 0)
        report_refuse(
            &checker->report, "check", place,
            "a kernel without ports is declared without _TO, as in `GYRE_KERNEL(name, request, reply)`");
    else
        report_refuse(
            &checker->report, "check", place,
            "'%s' are no ports that were declared before this kernel: write GYRE_PORTS(%s, LIST), and before it `#define "
            "LIST(PORT) PORT(word, words, 8)`",
            name, name);
}

static void refuse_handler(struct checker *checker, const struct place *place, const char *kernel)
{
    report_refuse(
        &checker->report, "check", place,
        "no kernel '%s' of several types has ports before this handler: declare GYRE_KERNEL_OF_TO(%s, LIST, ports), "
        "GYRE_ACTOR_OF_TO or GYRE_BLOCK_KERNEL_OF_TO first; for a kernel without ports write GYRE_HANDLER",
        kernel, kernel);
}

/* ---- static assertions ---- */

/* Takes the sentence out of an error about a static assertion of GYRE_PORTS. False for another error. */
static bool asserted(const char *text, char *sentence, size_t size)
{
    const char *quoted = strstr(text, "\"port"),
               *behind = strstr(text, "': port"); /* clang before and since 16 */
    if (!strstr(text, "assert") || (!quoted && !behind))
        return false;
    snprintf(sentence, size, "%s", quoted ? quoted + 1 : behind + 3);
    for (size_t length = strlen(sentence); length > 0 && sentence[length - 1] == '"'; length--)
        sentence[length - 1] = '\0';
    return true;
}

bool check_is_of_ports(const struct checker *checker, CXSourceLocation location)
{
    CXFile file;
    unsigned offset;
    char text[32] = "";
    clang_getExpansionLocation(location, &file, NULL, NULL, &offset);
    CXToken *token = clang_getToken(checker->unit, clang_getLocationForOffset(checker->unit, file, offset));
    if (!token)
        return false;
    check_take_string(clang_getTokenSpelling(checker->unit, *token), text, sizeof text);
    clang_disposeTokens(checker->unit, token, 1);
    return strcmp(text, "GYRE_PORTS") == 0 || strcmp(text, "GYRE_PORTS_WITH_ASKS") == 0;
}

static bool refuse_in_list(struct checker *checker, const struct place *place, const char *text)
{
    char name[128];
    if (named_behind(text, same_member, name, sizeof name))
        report_refuse(&checker->report, "check", place, "two ports of this list are named '%s': rename one",
                      name);
    else if (strstr(text, "not an integral constant expression"))
        report_refuse(
            &checker->report, "check", place,
            "how many messages one call may emit to a port is a number that the compiler knows, as in `PORT(word, "
            "words, 8)`");
    else
        return false;
    return true;
}

/* ---- gyre_emit ---- */

/* A search for the names of the ports that a struct of GYRE_PORTS has. */
struct port_search {
    const char *ports, *wanted;
    char list[256], nearest[NAME_SIZE];
    unsigned least; /* distance of the nearest name */
    bool found;     /* the struct is one of GYRE_PORTS */
};

static enum CXChildVisitResult add_port(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct port_search *search = data;
    const size_t used = strlen(search->list);
    char name[NAME_SIZE];
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_FieldDecl)
        return CXChildVisit_Continue;
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    snprintf(search->list + used, sizeof search->list - used, "%s%s", used ? ", " : "", name);
    const unsigned distance = check_name_distance(name, search->wanted);
    if (distance < search->least) {
        search->least = distance;
        memcpy(search->nearest, name, sizeof name);
    }
    return CXChildVisit_Continue;
}

static enum CXChildVisitResult find_ports(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct port_search *search = data;
    char name[160], constant[160];
    (void)parent;
    const enum CXCursorKind kind = clang_getCursorKind(cursor);
    if (kind == CXCursor_EnumDecl)
        return CXChildVisit_Recurse;
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    snprintf(constant, sizeof constant, "gyre_ports_of_%s", search->ports);
    if (kind == CXCursor_EnumConstantDecl && strcmp(name, constant) == 0)
        search->found = true;
    if (kind == CXCursor_StructDecl && search->found && strcmp(name, search->ports) == 0)
        clang_visitChildren(cursor, add_port, search);
    return CXChildVisit_Continue;
}

/* Refuses a port that the kernel does not have. False when the struct without that member is not one of GYRE_PORTS. */
static bool refuse_no_port(struct checker *checker, const struct place *place, const char *text,
                           const char *wanted)
{
    char ports[128], hint[NAME_SIZE + 32] = "";
    const char *owner = strstr(text, "' in '");
    if (!owner || strlen(wanted) >= NAME_SIZE)
        return false;
    owner += strlen("' in '");
    if (strncmp(owner, "struct ", strlen("struct ")) == 0)
        owner += strlen("struct ");
    snprintf(ports, sizeof ports, "%.*s", (int)strcspn(owner, "'"), owner);
    struct port_search search = {.ports = ports, .wanted = wanted, .least = NAME_SIZE};
    clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), find_ports, &search);
    if (!search.found)
        return false;
    const unsigned allowed = (unsigned)(strlen(wanted) + 1) / 3;
    if (search.least <= (allowed > 0 ? allowed : 1) && search.least < strlen(wanted))
        snprintf(hint, sizeof hint, "; did you mean '%s'?", search.nearest);
    report_refuse(&checker->report, "check", place, "'%s' is no port of '%s', which has: %s%s", wanted, ports,
                  search.list, hint);
    return true;
}

static void refuse_without_ports(struct checker *checker, const struct place *place)
{
    report_refuse(
        &checker->report, "check", place,
        "this kernel or helper has no 'ports', which gyre_emit, gyre_ask and GYRE_MORE need: kernels declared with GYRE_KERNEL_TO and the "
        "like have, so do handlers declared with GYRE_HANDLER_TO, hooks of keyed actors emit nothing, helpers take it as a parameter of that name, as in `GYRE_HELPER void f(gyre_context *gyre, "
        "split_ports *ports)`");
}

/* gyre_emit of a port that asks, and gyre_ask of one that does not. False for another member. */
static bool refuse_other_kind(struct checker *checker, const struct place *place, const char *member)
{
    if (strcmp(member, "gyre_typed") == 0) /* dialect/c11_ports.h */
        report_refuse(
            &checker->report, "check", place,
            "this port asks (it is declared with ASK): write `gyre_ask(gyre, port, token)`, whose token "
            "comes back with the answer");
    else if (strcmp(member, "gyre_asked") == 0)
        report_refuse(
            &checker->report, "check", place,
            "this port does not ask (it is declared with PORT): write `gyre_emit(gyre, port)`, or declare it "
            "with ASK, as in `ASK(order, offer, shop, 1)`");
    else
        return false;
    return true;
}

/* A list with the parameters of the other of the two macros. */
static bool refuse_list_of_other_kind(struct checker *checker, const struct place *place, const char *text)
{
    if (!strstr(text, "arguments provided to function-like macro invocation"))
        return false;
    report_refuse(
        &checker->report, "check", place,
        "a list for GYRE_PORTS has one parameter, as in `#define LIST(PORT) PORT(word, words, 8)`, and one for "
        "GYRE_PORTS_WITH_ASKS has two, as in `#define LIST(PORT, ASK) ASK(order, offer, shop, 1)`");
    return true;
}

bool check_refuse_port(struct checker *checker, CXDiagnostic diagnostic, const struct place *place,
                       const char *text)
{
    char name[512];
    const CXSourceLocation location = clang_getDiagnosticLocation(diagnostic);
    if (check_is_of_ports(checker, location) && refuse_list_of_other_kind(checker, place, text))
        return true;
    if (checker->macro_is_broken)
        return false;
    if (named_behind(text, unknown_type, name, sizeof name) && check_is_of_ports(checker, location))
        refuse_type(checker, place, name);
    else if (named_behind(text, unknown_ports, name, sizeof name))
        refuse_ports(checker, place, name);
    else if (named_behind(text, unknown_flow, name, sizeof name))
        report_refuse(
            &checker->report, "check", place,
            "flows have no memory at kernel '%s': write GYRE_FLOW(%s, TYPE) before this function, with the "
            "struct that each flow has",
            name, name);
    else if (named_behind(text, no_ports_of_kernel, name, sizeof name))
        refuse_handler(checker, place, name);
    else if (strcmp(text, no_ports) == 0)
        refuse_without_ports(checker, place);
    else if (named_behind(text, no_member, name, sizeof name))
        return refuse_other_kind(checker, place, name) || refuse_no_port(checker, place, text, name);
    else if (asserted(text, name, sizeof name))
        report_refuse(&checker->report, "check", place, "%s", name);
    else
        return check_is_of_ports(checker, location) && refuse_in_list(checker, place, text);
    return true;
}
