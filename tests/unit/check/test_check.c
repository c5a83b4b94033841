/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of the dialect: for each, a kernel that breaks it and where, and what must be said. Every kernel
 * is the same but for one line, so a rule that refused everything would fail the kernels that keep to them.
 */
#include "cli/check/judge.h"
#include "frame.h"

/* A protocol of one type, whose handler is a query. */
#define BOOK                                                                                                 \
    "#define ASK(FIELD) FIELD(u64, n)\nGYRE_MESSAGE(ask, ASK)\n"                                             \
    "#define BOOK(TAKES) TAKES(ask, ask)\nGYRE_PROTOCOL(book, BOOK)\nGYRE_ACTOR_OF(book, BOOK, ask)\n"       \
    "GYRE_HELPER void add(GYRE_GLOBAL ask *to) { to->n++; }\n"                                               \
    "GYRE_QUERY(book, ask, ask) { reply->n = state->n; "

static const struct case_of_rule broken[] = {
    {BOOK "((GYRE_GLOBAL ask *)state)->n++; return GYRE_REPLY; }", NULL, HELPERS + 6,
     "a cast takes `const` away, in a file with GYRE_QUERY"},
    {BOOK "add(state); return GYRE_REPLY; }", NULL, HELPERS + 6,
     "a pointer to what may only be read becomes one that writes"},
    {BOOK "GYRE_GLOBAL u64 *n = &state->n; *n = 1; return GYRE_REPLY; }", NULL, HELPERS + 6,
     "a pointer to what may only be read becomes one that writes"},
    {BOOK "gyre_atomic_add(&state->n, (u64)1); return GYRE_REPLY; }", NULL, HELPERS + 6,
     "a pointer that this function does not take"},
    {"GYRE_MIGRATE(request_type, reply_type)\n{\n    static u32 calls;\n    state->n = ++calls;\n}", NULL,
     HELPERS + 2, "calls"},
    {"GYRE_MIGRATE(request_type, reply_type)\n{\n    const f32 *a = before->a;\n    state->a[0] = a[0];\n}",
     NULL, HELPERS + 2, "GYRE_GLOBAL"},
    {"GYRE_HELPER u32 f(u32 n) { return n ? f(n - 1) : 0; }", NULL, HELPERS, "recursion: f -> f"},
    {"GYRE_HELPER u32 g(u32 n);\nGYRE_HELPER u32 f(u32 n) { return n ? g(n) : 0; }\n"
     "GYRE_HELPER u32 g(u32 n) { return f(n - 1); }",
     NULL, HELPERS + 2, "recursion: "},
    {NULL, "u32 *p = (u32 *)__builtin_malloc(4); reply->n = p[0];", BODY,
     "call of '__builtin_malloc': allocation"},
    {"void *malloc(__SIZE_TYPE__);", "reply->n = malloc(4) != 0;", BODY, "call of 'malloc': allocation"},
    {"void free(void *);", "free(0);", BODY, "call of 'free': allocation"},
    {"#include <stdlib.h>", NULL, HELPERS, "system header <stdlib.h>"},
    {"#include <stdio.h>", "printf(\"x\");", HELPERS, "system header <stdio.h>"},
    {"#include <stdio.h>", "printf(\"x\");", BODY, "call of 'printf': stdio"},
    {"#include <cuda_runtime.h>", NULL, HELPERS, "vendor header <cuda_runtime.h>"},
    {"#include <CL/not_there.h>", NULL, HELPERS, "vendor header <CL/not_there.h>"},
    {"#include <immintrin.h>", NULL, HELPERS, "vendor header <immintrin.h>"},
    {"#define PARTS <gyre/parts.h>\n#include PARTS", NULL, HELPERS + 1,
     "`#include PARTS`: not every backend knows there what a macro stands for: write the file's name itself"},
    {"#include <pthread.h>", NULL, HELPERS, "lanes and blocks are the threads"},
    {"GYRE_HELPER u32 f(u32 n) { return n; }", "u32 (*p)(u32) = f; reply->n = p(1);", BODY,
     "function pointer: variable 'p'"},
    {"GYRE_HELPER u32 f(u32 n) { return n; }", "\n u32 (*p)(u32);\n p = f;\n reply->n = p(1);", BODY + 2,
     "name is used as a value"},
    {"GYRE_HELPER u32 f(u32 n) { return n; }", "\n u32 (*p)(u32) = f;\n reply->n = p(1);", BODY + 2,
     "call through a function pointer"},
    {"typedef u32 (*operation)(u32);", NULL, HELPERS, "function pointer: type 'operation'"},
    {"struct table { u32 (*f)(u32); };", NULL, HELPERS, "function pointer: member 'f'"},
    {"GYRE_HELPER u32 f(u32 (*p)(u32)) { return p(1); }", NULL, HELPERS, "function pointer: parameter 'p'"},
    {NULL, "f32 v[request->n]; v[0] = 1; reply->a[0] = v[0];", BODY, "variable-length array 'v'"},
    {NULL, "static u32 calls; reply->n = calls++;", BODY, "static variable 'calls'"},
    {"static u32 counter;", "reply->n = counter++;", HELPERS, "global variable 'counter'"},
    {"u32 counter = 3;", NULL, HELPERS, "global variable 'counter'"},
    {"static const u32 table[2] = {1, 2};", NULL, HELPERS, "constant 'table' is not GYRE_CONSTANT"},
    {"_Thread_local u32 mine;", NULL, HELPERS, "thread-local variable 'mine'"},
    {"static u32 f(u32 n) { return n; }", NULL, HELPERS, "function 'f' is not GYRE_HELPER"},
    {"u32 f(u32 n);", "reply->n = f(1);", BODY, "call of 'f'"},
    {"GYRE_HELPER u32 f(u32 n, ...) { return n; }", NULL, HELPERS, "variable number of arguments"},
    {"GYRE_HELPER f32 f(const f32 *x) { return x[0]; }", "reply->a[0] = f(request->a);", BODY, "GYRE_GLOBAL"},
    {"GYRE_HELPER f32 f(const GYRE_GLOBAL f32 *x) { return x[0]; }", "f32 x[2] = {0}; reply->a[0] = f(x);",
     BODY, "GYRE_GLOBAL"},
    {NULL, "const f32 *x = request->a; reply->a[0] = x[0];", BODY, "GYRE_GLOBAL"},
    {NULL, "const u32 *x = (const u32 *)request->a; reply->n = x[0];", BODY,
     "this cast drops or changes GYRE_GLOBAL"},
    {NULL, "return gyre_fail(gyre, -3, \"no\");", BODY, "gyre_fail with the code -3: codes below 0"},
    {"enum { BROKEN = 1 - 2 };", "return gyre_fail(gyre, (i32)BROKEN, \"no\");", BODY, "the code -1"},
    {NULL, "char why[4] = \"no\"; return gyre_fail(gyre, 1, why);", BODY,
     "gyre_fail takes a text only as a literal, \"like this\": call gyre_fail once for each text"},
    {NULL, "\n return gyre_fail(gyre, 1, request->n ?\n \"a\" : \"b\");", BODY + 1,
     "call gyre_fail once for each text"},
    {"GYRE_HELPER gyre_result no(gyre_context *gyre, const char *why) { return gyre_fail(gyre, 1, why); }",
     NULL, HELPERS, "call gyre_fail once for each text"},
    {NULL, "return gyre_fail(gyre, 1, NULL);", BODY, "call gyre_fail once for each text"},
    {NULL, "char what[2] = {0}; gyre_log(gyre, what, 1);", BODY, "call gyre_log once for each text"},
    {"GYRE_HELPER u32 index(u32 n) { return n; }", "reply->n = index(1);", HELPERS,
     "the name 'index' is that of a function of C's library: choose another"},
    {"GYRE_HELPER u32 rindex(u32 n) { return n; }", NULL, HELPERS, "the name 'rindex' is that of a function"},
    {"GYRE_HELPER void bcopy(u32 n) { (void)n; }", "bcopy(1);", HELPERS,
     "the name 'bcopy' is that of a function"},
    {"GYRE_HELPER u32 strlen(u32 n) { return n; }", "reply->n = strlen(1);", HELPERS,
     "the name 'strlen' is that of a function"},
    {"GYRE_HELPER u32 f(u32 n) { return late(n); }\nGYRE_HELPER u32 late(u32 n) { return n; }", NULL,
     HELPERS + 1, "'late' is called before it is defined, in line 7: move it in front of that"},
    {"GYRE_KERNEL(static, request, reply)", NULL, HELPERS, "the name 'static' is a keyword of C"},
    {NULL, "u32 inline = 1; reply->n = inline;", BODY, "the name 'inline' is a keyword of C: choose another"},
    {NULL, "u32 asm = 1; reply->n = asm;", BODY, "the name 'asm' is a keyword of C: choose another"},
    {NULL, "u32 static, register; reply->n = 1;", BODY, "the name 'static' is a keyword of C"},
    {"GYRE_HELPER u32 asm(u32 n) { return n; }", NULL, HELPERS, "the name 'asm' is a keyword of C"},
    {"GYRE_HELPER u32 f(u32 inline) { return 1; }", NULL, HELPERS, "the name 'inline' is a keyword of C"},
    {"#define ODD(FIELD) FIELD(u32, inline)\nGYRE_MESSAGE(odd, ODD)", NULL, HELPERS,
     "the name 'inline' is a keyword of C"},
    {"#define ODD(FIELD) FIELD(float, a)\nGYRE_MESSAGE(odd, ODD)", NULL, HELPERS + 1,
     "'float' is no type of a message"},
    {"typedef struct { u32 n; } plain;\nGYRE_ACTOR(a, request_type, reply_type, plain) { return GYRE_NO_REPLY; }",
     NULL, HELPERS + 1, "'plain' is no message"},
    {"GYRE_MIGRATE(request_typ, reply_type)\n{\n    state->n = 1;\n}", NULL, HELPERS,
     "'request_typ' is no type of a message; did you mean 'request_type'? fields are i8"},
    {"GYRE_ACTOR(a, request_type, reply_type, reply_typo) { return GYRE_NO_REPLY; }", NULL, HELPERS,
     "'reply_typo' is no message; did you mean 'reply_type'? the request"},
    {"GYRE_MIGRATE(reply_type, reply_type)\n{\n    state->n = 1;\n}", NULL, HELPERS,
     "leads from 'reply_type' to itself"},
    {"#define BARE(FIELD)\nGYRE_MESSAGE(bare, BARE)", NULL, HELPERS + 1, "'bare' has no fields"},
    {"#define BARE(TAKES)\nGYRE_PROTOCOL(bare, BARE)", NULL, HELPERS + 1, "protocol 'bare' has no messages"},
    {"struct bare { };", NULL, HELPERS, "'bare' has no fields"},
    {"struct s { u32 low : 3; };", NULL, HELPERS, "bit-field 'low': OpenCL C has none"},
    {"struct s { u32 n; u32 rest[]; };", NULL, HELPERS, "array 'rest' without a length"},
    {"typedef u32 four __attribute__((vector_size(16)));", NULL, HELPERS, "vector types differ"},
    {NULL, "reply->n = ({ u32 x = request->n; x + 1; });", BODY, "statements as an expression"},
    {"struct pair { u32 a, b; };", "struct pair p = (struct pair){1, 2}; reply->n = p.a;", BODY,
     "compound literal"},
    {"struct pair { u32 a, b; };", "struct pair p = {.b = 1}; reply->n = p.a;", BODY,
     "designated initializer"},
    {NULL, "u32 p[3] = {[1] = 1}; reply->n = p[0];", BODY, "designated initializer"},
    {"GYRE_CONSTANT u32 table[2] = {[1] = 1};", NULL, HELPERS, "designated initializer"},
    {"GYRE_KERNAL(other, request_type, reply_type) { return GYRE_REPLY; }", NULL, HELPERS,
     "there is no 'GYRE_KERNAL' here"},
    {"static GYRE_CONSTANT u32 table[1] = {1};", NULL, HELPERS,
     "GYRE_HELPER and GYRE_CONSTANT are static already"},
    {NULL, "reply->n = state->n;", BODY, "no 'state': kernels declared with GYRE_KERNEL_WITH"},
    {NULL, "scratch->n = 1;", BODY, "no 'scratch': kernels declared with GYRE_BLOCK_KERNEL"},
    {NULL, "__asm__(\"nop\");", BODY, "assembler"},
    {"__asm__(\".globl x\");", NULL, HELPERS, "assembler"},
    {NULL, "void *x = &&there; goto *x; there:;", BODY, "computed goto"},
    {NULL, "u32 local = request->n; reply->n = local;", BODY, "the name 'local' is a keyword in OpenCL C"},
    {NULL, "u32 new = request->n; reply->n = new;", BODY, "the name 'new' is a keyword in C++"},
    {"GYRE_HELPER u32 template(u32 n) { return n; }", "reply->n = template(1);", HELPERS,
     "the name 'template'"},
    {"GYRE_HELPER u32 f(u32 float4) { return float4; }", "reply->n = f(1);", HELPERS,
     "'float4' is a type in OpenCL C"},
    {"struct s { u32 global; };", NULL, HELPERS, "the name 'global'"},
    {NULL, "switch (request->n) {\n case 1:;\n u32 x = 3;\n reply->n = x; break;\n case 2: break; }",
     BODY + 4, "this case jumps over the value of 'x'"},
    {"int setjmp(int *);", "int b[9]; setjmp(b);", BODY, "call of 'setjmp'"},
    {"void exit(int);", "exit(1);", BODY, "call of 'exit'"},
    {NULL, "f32 x[8]; memcpy(x, x, sizeof x); reply->a[0] = x[0];", BODY, "call of 'memcpy': assign structs"},
    {NULL, "reply->n = (u32)__builtin_popcount(request->n);", BODY, "gyre_popcount_u32"},
    {NULL, "reply->a[0] = expm1f(request->a[0]);", BODY, "call of 'expm1f'"},
    {NULL, "long double x = 1; reply->a[0] = (f32)x;", BODY, "long double"},
    {NULL, "__int128 x = 1; reply->n = (u32)x;", BODY, "128-bit"},
    {NULL, "_Atomic u32 x = 1; reply->n = x;", BODY, "_Atomic"},
    /* what C11 takes, and CUDA's C++ or OpenCL C does not */
    {NULL, "u32 x = 1; void *v = &x; u32 *p = v; reply->n = *p;", BODY, "a pointer to void becomes one"},
    {NULL, "const GYRE_GLOBAL void *v = request; const GYRE_GLOBAL u32 *p = v; reply->n = *p;", BODY,
     "a pointer to void becomes one"},
    {"GYRE_HELPER u32 f(const u32 *p) { return *p; }", "u32 x = 1;\nconst void *v = &x;\nreply->n = f(v);",
     BODY + 2, "a pointer to void becomes one"},
    {NULL, "u32 *p = (void *)0; reply->n = p == 0;", BODY, "a pointer to void becomes one"},
    {"enum color { RED, GREEN };", "enum color c = request->n; reply->n = (u32)c;", BODY,
     "a number becomes an enumeration: C++, as which CUDA compiles kernels, wants a cast for that: `(enum color)"},
    {"enum color { RED, GREEN };", "enum color c = RED | GREEN; reply->n = (u32)c;", BODY,
     "a number becomes an enumeration"},
    {"enum color { RED, GREEN };\nenum size { SMALL };", "enum color c = SMALL; reply->n = (u32)c;", BODY + 1,
     "a number becomes an enumeration"},
    {"enum color { RED, GREEN };\nGYRE_HELPER u32 f(enum color c) { return (u32)c; }", "reply->n = f(1);",
     BODY + 1, "a number becomes an enumeration"},
    {"enum color { RED, GREEN };\nGYRE_HELPER enum color f(u32 n) { return n; }", NULL, HELPERS + 1,
     "a number becomes an enumeration"},
    {"typedef struct s { enum { OFF, ON } mode; u32 n; } s;", "s x = {0, 1}; reply->n = x.n;", BODY,
     "a number becomes an enumeration"},
    {"enum color { RED, GREEN };", "enum color c = RED; c++; reply->n = (u32)c;", BODY,
     "arithmetic on an enumeration"},
    {"enum color { RED, GREEN };", "enum color c = RED; c |= GREEN; reply->n = (u32)c;", BODY,
     "arithmetic on an enumeration"},
    {NULL, "uint32_t x = request->n; reply->n = x;", BODY,
     "'uint32_t' is of C's library, which other devices do not have: use u32"},
    {"GYRE_HELPER u32 f(uint8_t c) { return c; }", NULL, HELPERS, "use u8"},
    {"#define WORD uint64_t", "WORD x = request->n; reply->n = (u32)x;", HELPERS, "use u64"},
    {NULL, "reply->n = UINT32_MAX;", BODY, "write 0xffffffffu"},
    {"#define EMPTY UINT32_MAX", "reply->n = EMPTY;", HELPERS, "write 0xffffffffu"},
    {NULL, "reply->n = INT_MAX;", BODY, "write 0x7fffffff"},
    {NULL, "bool x = 1; reply->n = x;", BODY, "'bool' is nothing that kernels have: use u32 or int"},
    {NULL, "reply->a[0] = INFINITY;", BODY, "write gyre_f32_from_bits(0x7f800000u)"},
    {NULL, "reply->a[0] = (f32)M_PI;", BODY, "write 3.14159"},
    {NULL, "reply->n = (u32)isnan(request->a[0]);", BODY, "write x != x"},
    {NULL, "reply->n = (u32)offsetof(request_type, a);", BODY, "'offsetof' is of C's library"},
    {NULL, "const char *s = \"hello\"; reply->n = (u32)s[1];", BODY, "a pointer to a text"},
    {"GYRE_HELPER u32 f(const char *s) { return (u32)s[0]; }", "reply->n = f(\"abc\");", BODY,
     "a pointer to a text"},
    {NULL, "char s[5] = \"hello\"; reply->n = (u32)s[1];", BODY, "a text of 5 bytes for an array of 5"},
    {"GYRE_CONSTANT u8 s[2] = \"\\n\\\"\";", NULL, HELPERS, "a text of 2 bytes for an array of 2"},
    {"GYRE_HELPER u32 f(const u32 *restrict p) { return *p; }", NULL, HELPERS, "'restrict', which C++"},
    {"#define FAST restrict\nGYRE_HELPER u32 f(const u32 *FAST p) { return *p; }", NULL, HELPERS,
     "'restrict', which C++"},
    {NULL, "_Bool x = 1; reply->n = x;", BODY, "'_Bool', which C++"},
    {NULL, "register u32 x = 1; reply->n = x;", BODY, "'register'"},
    {NULL, "auto u32 x = 1; reply->n = x;", BODY, "'auto'"},
    {"_Static_assert(sizeof(u32) == 4, \"no\");", NULL, HELPERS, "'_Static_assert'"},
    {NULL, "reply->n = _Generic(request->n, u32: 1, default: 2);", BODY, "'_Generic'"},
    {NULL, "_Alignas(16) u32 x[4] = {1}; reply->n = x[0] + (u32)_Alignof(u64);", BODY, "'_Alignas'"},
    {NULL, "u32 y = 1; typeof(y) x = 3; reply->n = x + y;", BODY, "'typeof'"},
    {"GYRE_HELPER u32 f(const u32 a[static 2]) { return a[0]; }", NULL, HELPERS,
     "'static' between the brackets"},
    {"#define T \"x\"", "gyre_log(gyre, \"a\"T, 1);", BODY, "'T' right behind a text"},
    {NULL, "char s[4] = u8\"abc\"; reply->n = (u32)s[0];", BODY, "letters before its quotation mark"},
    {NULL, "u32 *p = request->n; reply->n = p != 0;", BODY, "a number becomes a pointer"},
    {NULL, "u32 y = 1; i32 *x = &y; reply->n = (u32)*x;", BODY, "numbers of the other sign"},
    {"GYRE_HELPER void f(GYRE_GLOBAL u32 *p) { p[0] = 1; }", "f(&request->n);", BODY, "write `const`"},
    {NULL, "u32 a = 1; f32 b = 1; reply->n = &a == &b;", BODY, "two pointers to different types"},
    {NULL, "u32 a = 1; reply->n = &a == 5;", BODY, "compared with a number"},
    {NULL, "u32 a[2] = {1, 2}; void *v = a; v = v + 4; reply->n = *(u32 *)v;", BODY, "arithmetic with void"},
    {NULL, "switch (request->n) { case 1 ... 5: break; }", BODY, "a range of cases"},
    {NULL, "reply->n = request->n ?: 3;", BODY, "`x ?: y`"},
    {"typedef struct s { u32 n; u32 rest[0]; } s;", NULL, HELPERS, "an array of length 0"},
    {"GYRE_HELPER u32 f(u32 n) { if (n) return 1; }", "reply->n = f(1);", HELPERS, "can end without one"},
    {"struct outer { struct inner { u32 x; } i; };", "struct inner y = {1}; reply->n = y.x;", BODY,
     "'inner' was declared inside of a struct"},
    {"struct outer { enum { ONE = 1 } i; u32 n; };", "reply->n = ONE;", BODY,
     "'ONE' was declared inside of a struct"},
    {NULL, "const u32 x; reply->n = 1; (void)x;", BODY, "constant 'x' has no value"},
    {"GYRE_CONSTANT u32 x[2];", "reply->n = x[0];", HELPERS, "constant 'x' has no value"},
    {"GYRE_HELPER u32 f(u32 n, u32 a[][n]) { return a[0][0]; }", NULL, HELPERS, "variable-length array 'a'"},
    {NULL, "u32 b[4] = {1}; u32(*p)[request->n] = 0; reply->n = b[0] + !p;", BODY,
     "variable-length array 'p'"},
    {"GYRE_HELPER u32 f() { return 1; }", "reply->n = f(3);", BODY, "call of 'f' with arguments"},
    {NULL, "reply->a[0] = (f32)sqrt(request->n);", BODY, "call of 'sqrt' with an integer"},
    {NULL, "f64 d = sin(request->a[0]); reply->a[0] = (f32)d;", BODY, "call of 'sin' with an f32"},
    {NULL, "f64 d = 2; reply->a[0] = (f32)pow(d, request->n);", BODY,
     "call of 'pow' with an f64 and another"},
    {"GYRE_HELPER u32 popcount(u32 n) { return n; }", NULL, HELPERS, "that of a function in OpenCL C"},
    {"#define INT_MAX_HERE 3", "reply->n = INT_MAX_HERE + INT_MAX;", BODY, "'INT_MAX' is"},
    {"/* M_PI: #define M_PI */\n#define TAU (2 * M_PI)", "reply->a[0] = (f32)TAU;", HELPERS + 1, "'M_PI' is"},
    {NULL, "u32 x = 0; gyre_atomic_add(&x, 1u); reply->n = x;", BODY,
     "a pointer that this function does not take"},
    /* where types are declared */
    {"GYRE_HELPER u32 f(a) u32 a; { return a; }", "reply->n = f(1);", HELPERS,
     "'f' declares its parameters behind the brackets"},
    {"GYRE_HELPER u32 f(struct s { u32 a; } x) { return x.a; }", NULL, HELPERS, "within round brackets"},
    {"GYRE_HELPER struct s { u32 a; } f(u32 n) { struct s x; x.a = n; return x; }", "reply->n = f(1).a;",
     HELPERS, "the result of 'f' declares its type"},
    {NULL, "reply->n = (u32)sizeof(struct t { u32 a; u64 b; });", BODY, "within round brackets"},
    {"#define FLAG(n) ((enum { OFF, ON })(n))", "reply->n = (u32)FLAG(request->n);", HELPERS,
     "within round brackets"},
    {"struct foo { u32 a; };\ntypedef u32 foo;", "foo x = 3; reply->n = x;", HELPERS + 1,
     "'foo' is that of another struct"},
    {NULL, "u32 f(u32 n); reply->n = 1;", BODY, "'f' is declared inside of another"},
    /* what has other results on other devices */
    {NULL, "unsigned long long x = request->n; reply->n = (u32)x;", BODY, "'long long', which has 128 bits"},
    {NULL, "reply->n = (u32)((request->n * 0x9e3779b97f4a7c15ULL) >> 32);", BODY,
     "'0x9e3779b97f4a7c15ULL', which has 128 bits"},
    {"#define BILLION 1000000000ll", "reply->n = (u32)(request->n * BILLION);", HELPERS, "'1000000000ll'"},
    {NULL, "reply->n = request->a[0] ? 1 : 2;", BODY, "a condition of type f32 before `?`"},
    {NULL, "reply->n = (request->a[0] * 2.0) ? 1 : 2;", BODY, "a condition of type double before `?`"},
    {NULL, "reply->n = (u32)sizeof 'a';", BODY, "the size of a letter"},
    {NULL, "reply->n = (u32)sizeof(request->n < 3);", BODY, "the size of a letter or of a truth value"},
    {NULL, "reply->n = (u32)sizeof(!request->n);", BODY, "the size of a letter or of a truth value"},
    {"typedef struct p { u8 a; u32 b; } __attribute__((packed)) p;", "reply->n = (u32)sizeof(p);", HELPERS,
     "'packed' behind the members"},
    /* names and values that C++ refuses */
    {NULL, "for (u32 i = 0; i < 2; i++) { u32 i = 7; reply->n += i; }", BODY,
     "'i' is the name of a variable"},
    {"typedef struct s { const u32 a; u32 b; } s;", "s x; x.b = 1; reply->n = x.b;", BODY,
     "'x' has a `const` member"},
    {NULL, "switch (request->n) { case -1: reply->n = 1; break; default: break; }", BODY,
     "the value of this case does not fit"},
    {NULL, "switch ((i64)request->n) { case 0x8000000000000000UL: reply->n = 1; }", BODY,
     "the value of this case does not fit"},
    {NULL, "switch ((i32)request->n) { case 0x80000000: reply->n = 1; }", BODY,
     "the value of this case does not fit"},
    {NULL, "__extension__ u32 x = 1; reply->n = x;", BODY, "'__extension__'"},
    {NULL, "reply->n = __COUNTER__;", BODY, "'__COUNTER__'"},
    {NULL, "u32 x = u'a'; reply->n = x;", BODY, "letters before its quotation mark"},
    {NULL, "u32 gr\303\266\303\237e = 4; reply->n = gr\303\266\303\237e;", BODY,
     "has letters that CUDA's compiler does not take"},
    {NULL, "u32 a$b = 4; reply->n = a$b;", BODY, "the name 'a$b'"},
    {NULL, "goto new;\nnew: reply->n = 1;", BODY + 1, "the name 'new' is a keyword in C++"},
    {NULL, "goto kernel;\nkernel: reply->n = 1;", BODY + 1, "the name 'kernel' is a keyword in OpenCL C"},
    {"typedef struct dim3 { u32 x; } dim3;", NULL, HELPERS, "the name 'dim3' is one of CUDA's own"},
    {"typedef struct int1 { u32 x; } int1;", NULL, HELPERS, "the name 'int1' is one of CUDA's own"},
    {"GYRE_HELPER u32 threadIdx(u32 n) { return n; }", "reply->n = threadIdx(2);", HELPERS,
     "the name 'threadIdx' is one of CUDA's own"},
    {"enum { warpSize = 3 };", "reply->n = warpSize;", HELPERS, "the name 'warpSize' is one of CUDA's own"},
    {"typedef struct s { u32 a; } s;", "volatile s x = {3}; s y = x; reply->n = y.a;", BODY,
     "a volatile struct cannot be copied"},
    {"GYRE_CONSTANT u32 t[3] = {1, 2, 3};\nGYRE_HELPER u32 f(GYRE_CONSTANT u32 *p) { return p[1]; }",
     "reply->n = f(t);", HELPERS + 1, "parameter 'p' leads to GYRE_CONSTANT memory"},
    {"GYRE_CONSTANT u32 t[3] = {1, 2, 3};", "GYRE_CONSTANT u32 *p = t; reply->n = p[1];", BODY + 0,
     "variable 'p' leads to GYRE_CONSTANT memory"},
    {"GYRE_HELPER u32 f(const GYRE_GLOBAL f32 a[8]) { return (u32)a[1]; }", "reply->n = f(request->a);",
     HELPERS, "for GYRE_GLOBAL or GYRE_SHARED memory write a pointer"},
    {"GYRE_HELPER f32 max(f32 a, f32 b) { return a > b ? a : b; }", "reply->a[0] = max(request->n, 1.0f);",
     BODY, "CUDA has functions of that name"},
    {"GYRE_HELPER u32 any(u32 a) { return a; }", "reply->n = any(1);", BODY,
     "CUDA has functions of that name"},
    {"static GYRE_HELPER u32 f(u32 n) { return n; }", "reply->n = f(1);", HELPERS,
     "GYRE_HELPER and GYRE_CONSTANT are static already"},
    {"GYRE_HELPER inline u32 f(u32 n) { return n; }", "reply->n = f(1);", HELPERS,
     "GYRE_HELPER is inline already"},
    {NULL, "u8 *p = malloc(10); reply->n = p[0];", BODY, "call of 'malloc': allocation"},
    {NULL, "u8 *p; p = malloc(10); reply->n = p[0];", BODY, "call of 'malloc': allocation"},
    {NULL, "u8 *p = make_room(10); reply->n = p[0];", BODY, "call of 'make_room': kernels call"},
    {NULL, "reply->n = strlen(\"abc\");", BODY, "call of 'strlen': a text knows its length"},
    {NULL, "reply->n = strcmp(\"abc\", \"abd\") == 0;", BODY, "call of 'strcmp': texts are compared by"},
    {NULL, "char *p = strchr(\"abc\", 98); reply->n = p != 0;", BODY,
     "call of 'strchr': texts are searched by"},
    {NULL, "return gyre_fail(gyre, \"why\", 7);", BODY, "write `gyre_fail(gyre, 7, \"why\")`"},
    {NULL, "return gyre_fail(7, \"why\", 7);", BODY, "write `gyre_fail(gyre, 7, \"why\")`"},
    {NULL, "request->n = 1;", BODY, "the request can only be read"},
    {NULL, "return reply;", BODY, "a handler returns GYRE_REPLY, GYRE_NO_REPLY or"},
    {NULL, "return GYRE_FAIL;", BODY, "there is no such word: a handler returns GYRE_REPLY"},
    {NULL, "u32 *p = gyre_items(u32, request);", BODY, "write `gyre_items(u8, request, request->text)`"},
    {"GYRE_KERNEL(j, request_type) { return GYRE_NO_REPLY; }", NULL, HELPERS,
     "write `GYRE_KERNEL(name, request, reply)`"},
    {"GYRE_KERNEL(\"j\", request_type, reply_type) { return GYRE_NO_REPLY; }", NULL, HELPERS,
     "are words, without quotation marks"},
    {"#define L(FIELD) FIELD(u32, a), FIELD(u32, b)\nGYRE_MESSAGE(l, L)", NULL, HELPERS + 1,
     "a list of fields is FIELD after FIELD"},
    {NULL, "return gyre_fail(7, \"why\");", BODY, "write `gyre_fail(gyre, 7, \"why\")`"},
    {NULL, "u32 gyre_local = 1; reply->n = gyre_local;", BODY,
     "the name 'gyre_local' begins as Gyre's own do"},
    {"GYRE_MESSAGE(gyre_mine, REPLY)", NULL, HELPERS, "the name 'gyre_mine' begins as Gyre's own do"},
    {"typedef struct s { u32 gyre_member; } s;", NULL, HELPERS,
     "the name 'gyre_member' begins as Gyre's own do"},
    {NULL, "gyre_log(gyre, 7, \"why\");", BODY, "write `gyre_log(gyre, \"what\", value)`"},
    {NULL, "u8 room[4 << 20]; room[request->n] = 1; reply->n = room[3];", BODY,
     "local variable 'room' takes 4194304 bytes"},
    {"enum { cl_khr_fp64 = 3 };", NULL, HELPERS, "the name 'cl_khr_fp64' is a macro in OpenCL C"},
    {"typedef struct atomicAdd { u32 a; } atomicAdd;", NULL, HELPERS,
     "the name 'atomicAdd' is one of CUDA's own"},
    {"GYRE_KERNEL(k, request_type, reply_type) { return GYRE_NO_REPLY; }", NULL, BODY - 2,
     "two kernels are named 'k', the other one in line 7"},
};

enum { RULES = sizeof broken / sizeof broken[0], TOGETHER = 18 /* rows of a test */ };

static unsigned line_after(const char *text)
{
    unsigned line = 1;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        line++;
    return line;
}

/* The body of each row that has nothing else is one of a kernel of its own, all in one file: to parse the headers for each takes most
 * of the time. `lines` receives where each body is. */
static struct checker *judge_bodies(const struct case_of_rule *rows, unsigned count, unsigned *lines)
{
    char text[16384];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", frame_before);
    for (unsigned i = 0; i < count; i++) {
        if (rows[i].helpers)
            continue;
        lines[i] = line_after(text) + BODY - HELPERS - 1;
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "GYRE_KERNEL(k%u, request_type, reply_type)\n{\n    %s%s", i, rows[i].body,
                                 frame_after);
        ck_assert_uint_lt(used, sizeof text);
    }
    return judge(text);
}

static void require_refused(const struct case_of_rule *expected)
{
    struct checker *checker = judge_parts(expected->helpers, expected->body);
    const bool found = has_finding(&checker->report, expected);
    if (!found)
        show(&checker->report);
    ck_assert_msg(found, "expected in line %u: %s", expected->line, expected->says);
    free(checker);
}

/* A row whose line is hidden by another one's is judged alone, as those with helpers are. */
START_TEST(each_rule_refuses_with_its_line_and_reason)
{
    const unsigned first = (unsigned)_i * TOGETHER,
                   count = RULES - first < TOGETHER ? RULES - first : TOGETHER;
    unsigned lines[TOGETHER] = {0};
    struct checker *together = judge_bodies(&broken[first], count, lines);
    for (unsigned i = 0; i < count; i++) {
        struct case_of_rule expected = broken[first + i];
        expected.line += lines[i] - BODY;
        if (lines[i] == 0 || !has_finding(&together->report, &expected))
            require_refused(&broken[first + i]);
    }
    free(together);
}
END_TEST

/* One file: in line 7 and those behind it a rule is broken each, then in those of the kernel's body. */
static const struct line_of_rule {
    const char *text, *says;
} helper_lines[] =
    {
        {"struct line1 { u8 a; u32 b; } __attribute__((packed));", "struct __attribute__((packed)) name {"},
        {"typedef struct { u8 a; u32 b; } __attribute__((aligned(16))) line2;",
         "'aligned' behind the members"},
        {"typedef union { u8 a[5]; u32 b; } __attribute__((packed)) line3;",
         "union __attribute__((packed)) name {"},
        {"typedef enum { A, B } __attribute__((packed)) line4;", "enum __attribute__((packed)) name {"},
        {"typedef u32 min;", "the name 'min' is one of CUDA's own at file scope"},
        {"enum { abs = 3 };", "the name 'abs' is one of CUDA's own at file scope"},
        {"GYRE_CONSTANT u32 umax[2] = {1, 2};", "the name 'umax' is one of CUDA's own"},
        {"GYRE_MESSAGE(all, REPLY)", "the name 'all' is one of CUDA's own"},
        {"GYRE_MESSAGE(barrier, REPLY)", "the name 'barrier' is that of a function in OpenCL C"},
        {"typedef u32 mul24;", "that of a function in OpenCL C"},
        {"GYRE_HELPER u32 as_float4(u32 a) { return a; }", "that of a function in OpenCL C"},
        {"GYRE_HELPER u32 native_sin(u32 a) { return a; }", "that of a function in OpenCL C"},
        {"GYRE_HELPER u32 assert(u32 a) { return a; }", "that of a macro of CUDA"},
        {"struct line14 { f32 FLT_MAX; };", "the name 'FLT_MAX' is a macro in OpenCL C"},
        {"GYRE_HELPER u32 sum(gyre_context *gyre, u32 n) { return gyre_block_sum_u32(gyre, n); }",
         "in the kernel 'k', of which one lane works on a message: declare it with GYRE_BLOCK_KERNEL"},
        {"GYRE_ACTOR(a, request_type, reply_type, reply_type) { gyre_barrier(gyre); return GYRE_NO_REPLY; }",
         "in the kernel 'a'"},
        {"GYRE_BLOCK_KERNEL(b, request_type, reply_type, gyre_none) { gyre_grid_barrier(gyre); return 2; }",
         "gyre_grid_barrier in the kernel 'b', whose blocks work on messages of their own: declare it with "
         "GYRE_GRID_KERNEL"},
        {"GYRE_HELPER void meet(gyre_context *gyre) { gyre_grid_barrier(gyre); } GYRE_GRID_KERNEL(g, "
         "request_type, reply_type, gyre_none) { meet(gyre); return 2; } GYRE_ACTOR(o, request_type, "
         "reply_type, reply_type) { meet(gyre); return 2; }",
         "gyre_grid_barrier in the kernel 'o'"},
        {"GYRE_ACTOR(r, request_type, reply_type, reply_type) { gyre_remind(gyre, 5); return GYRE_NO_REPLY; }",
         "gyre_remind or gyre_unremind in the kernel 'r', which has no keys to remind: declare it with "
         "GYRE_KEYED_ACTOR_REMINDED"},
},
  body_lines[] = {
      {"reply->n = any(request->n > 3);", "call of 'any' with a truth value"},
      {"u64 x = request->n, y = max(x, 5UL);", "than the parameter's, 'u64'"},
      {"y = max(x, sizeof(x));", "CUDA has functions of that name"},
      {"unsigned long z = max(y, x) + 1; y = max(z, x);", "CUDA has functions of that name"},
      {"i64 v = llmax(-3, x ? 4L : (i64)y);", "CUDA has functions of that name"},
      {"y = max(x, z << 1);", "CUDA has functions of that name"},
      {"y = 1u << 32; y |= x << 64;", "a shift by as many bits as the number has"},
      {"y |= 1u >> -1;", "a shift by less than nothing"},
      {"y = x / 0 + 7 % 0;", "a division of an integer by zero"},
      {"u32 CLK_LOCAL = (u32)v; reply->n = (u32)z;", "a macro in OpenCL C"},
      {"gyre_barrier(gyre); reply->n = more(gyre, 1);",
       "a barrier, or a function of a block, in the kernel 'k'"},
};
static const char helpers_behind[] =
    "GYRE_HELPER u32 any(int a) { return a ? 1 : 2; }\n"
    "GYRE_HELPER u64 max(u64 a, u64 b) { return a > b ? a : b; }\n"
    "GYRE_HELPER i64 llmax(i64 a, i64 b) { return a > b ? a : b; }\n"
    "GYRE_HELPER u32 more(gyre_context *gyre, u32 n) { return sum(gyre, n); }";
enum {
    HELPER_LINES = sizeof helper_lines / sizeof helper_lines[0],
    BODY_LINES = sizeof body_lines / sizeof body_lines[0],
    LINES_BETWEEN = 3 /* of helpers_behind, less the one that BODY counts with */
};

static void join_lines(char *text, size_t size, const struct line_of_rule *lines, size_t count)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s\n", lines[i].text);
    ck_assert_uint_lt(used, size);
}

START_TEST(each_of_many_lines_is_refused)
{
    char helpers[4096], body[1024];
    join_lines(helpers, sizeof helpers, helper_lines, HELPER_LINES);
    join_lines(body, sizeof body, body_lines, BODY_LINES);
    strncat(helpers, helpers_behind, sizeof helpers - strlen(helpers) - 1);
    struct checker *checker = judge_parts(helpers, body);
    for (unsigned i = 0; i < HELPER_LINES + BODY_LINES; i++) {
        const bool in_body = i >= HELPER_LINES;
        const struct case_of_rule expected = {.line = in_body ? BODY + LINES_BETWEEN + i : HELPERS + i,
                                              .says = in_body ? body_lines[i - HELPER_LINES].says
                                                              : helper_lines[i].says};
        if (!has_finding(&checker->report, &expected))
            show(&checker->report);
        ck_assert_msg(has_finding(&checker->report, &expected), "expected in line %u: %s", expected.line,
                      expected.says);
    }
    free(checker);
}
END_TEST

/* Of a message of such a name nothing else is told: the rest follows from it. */
START_TEST(names_of_the_library_are_told_first)
{
    struct checker *checker = judge_parts("typedef u32 index;\nGYRE_MESSAGE(log, REPLY)", NULL);
    for (unsigned i = 0; i < 2; i++) {
        const struct case_of_rule expected = {.line = HELPERS + i,
                                              .says = "is that of a function of C's library"};
        ck_assert(has_finding(&checker->report, &expected));
    }
    for (size_t i = 0; i < checker->report.finding_count; i++)
        if (strcmp(checker->report.findings[i].kind, "refuse") == 0)
            ck_assert_ptr_nonnull(strstr(checker->report.findings[i].text, "C's library"));
    free(checker);
}
END_TEST

static const struct case_of_rule kept[] = {
    /* a migration is a helper that the core calls */
    {"GYRE_HELPER u32 twice(u32 n) { return n * 2; }\n"
     "GYRE_ACTOR(keeper, request_type, gyre_none, reply_type) { return GYRE_NO_REPLY; }\n"
     "GYRE_MIGRATE(request_type, reply_type)\n"
     "{ state->n = twice(before->n); for (u32 i = 0; i < 8; i++) state->a[i] = before->a[i]; }",
     "reply->n = 1;", 0, ""},
    /* keywords are arguments of macros like others */
    {"#define PAIR(kind, name) kind name { u32 x, y; }\nPAIR(struct, pair);\n"
     "#define ONE(name, kind) kind name { u32 x; }\nONE(one, struct);",
     "struct pair p = {1, 2}; struct one o = {3}; reply->n = p.y + o.x;", 0, ""},
    /* what macros made is no old style, and types of theirs are not inside of functions */
    {"#define FN(name) name##_f32\nGYRE_HELPER f32 FN(add)(f32 a, f32 b) { return a + b; }",
     "reply->a[0] = add_f32(1, 2);", 0, ""},
    {"#define PAIR(T) typedef struct pair_##T { T x; } pair_##T; GYRE_HELPER pair_##T make_##T(T x) { pair_##T p = "
     "{x}; return p; }\nPAIR(f32)",
     "reply->a[0] = make_f32(2.0f).x;", 0, ""},
    /* CUDA's functions of these names take numbers, and as many as always */
    {"GYRE_HELPER u32 max(const u32 *v, u32 n) { return v[n - 1]; }",
     "u32 v[4] = {0}; reply->n = max(v, 4u);", 0, ""},
    {"GYRE_HELPER u32 min(u32 a, u32 b, u32 c) { return a < b ? a : b < c ? b : c; }",
     "reply->n = min(request->n, 2, 3);", 0, ""},
    {"typedef struct cell { u32 n; } cell;",
     "u32 v[2] = {1, 2}; volatile cell *c = (volatile cell *)v; reply->n = c->n;", 0, ""},
    {NULL, "u32 int1 = request->n, float1 = 2, longlong2 = 3; reply->n = int1 + float1 + longlong2;", 0, ""},
    {NULL, "reply->n = request->n;", 0, ""},
    {"GYRE_HELPER u32 f(u32 n) { return n + 1; }\nGYRE_HELPER u32 g(u32 n) { return f(f(n)); }",
     "reply->n = g(f(request->n));", 0, ""},
    {"GYRE_CONSTANT u32 table[2][2] = {{1, 2}, {3, 4}};\nGYRE_CONSTANT f32 one = 1;",
     "reply->n = table[1][request->n & 1]; reply->a[0] = one;", 0, ""},
    {"#define TABLE(name) GYRE_CONSTANT u32 name[1] = {1};\nTABLE(table)", "reply->n = table[0];", 0, ""},
    {"#define FUNCTION(name) GYRE_HELPER u32 name(u32 n) { return n; }\nFUNCTION(f)", "reply->n = f(1);", 0,
     ""},
    {"GYRE_HELPER f32 f(const GYRE_GLOBAL f32 *x, u32 n)\n{ f32 s = 0; for (u32 i = 0; i < n; i++) s += "
     "x[i]; return s; }",
     "reply->a[0] = f(request->a, 8) + sqrtf(2) + fmaf(1, 2, 3) + (f32)pow(2.0, 3.0);", 0, ""},
    {NULL, "const GYRE_GLOBAL u32 *x = (const GYRE_GLOBAL u32 *)request->a; reply->n = x[0];", 0, ""},
    {NULL,
     "gyre_log(gyre, \"n\", request->n); if (!gyre_assert(gyre, request->n)) return gyre_fail(gyre, 1, "
     "\"no\");",
     0, ""},
    {NULL, "if (request->n > 7) return gyre_fail(gyre, (i32)request->n, \"no\"); gyre_fail(gyre, 0, \"no\");",
     0, ""},
    {NULL, "u64 t = gyre_time_ns(gyre); reply->n = (u32)t + gyre_lane(gyre) + gyre_popcount_u32(request->n);",
     0, ""},
    {"#define STATE(FIELD) FIELD(u32, n)\nGYRE_MESSAGE(state_type, STATE)\n"
     "#define BUFFERS(IN, INOUT) IN(f32, w) INOUT(u32, h)\nGYRE_BUFFERS(buffer_type, BUFFERS)\n"
     "GYRE_KERNEL_WITH(b, request_type, reply_type, state_type, buffer_type)\n"
     "{ gyre_atomic_add(&state->n, 1u); gyre_atomic_max(&buffers->h[0], 3u); reply->a[0] = buffers->w[0]; "
     "return "
     "GYRE_REPLY; }",
     NULL, 0, ""},
    {"#define SCRATCH(FIELD) FIELD(f32, s[64])\nGYRE_MESSAGE(scratch_type, SCRATCH)\n#define MEET "
     "gyre_barrier(gyre)\n"
     "GYRE_BLOCK_KERNEL(b, request_type, reply_type, scratch_type)\n"
     "{ scratch->s[gyre_lane(gyre)] = request->a[0]; MEET; gyre_barrier(gyre);\n"
     "  reply->a[0] = gyre_block_sum_f32(gyre, scratch->s[0]); return GYRE_REPLY; }",
     NULL, 0, ""},
    {NULL,
     "u32 i = 0; again: if (i++ < 3) goto again; do { i--; } while (i);\n"
     "switch (request->n) { case 1: i = 2; break; default: break; } reply->n = i;",
     0, ""},
    {NULL,
     "switch (request->n) { case 1: { u32 x = 3; reply->n = x; break; } case 2:; u32 y; y = 1; reply->n = "
     "y;\n"
     "break; default: break; }",
     0, ""},
    {NULL, "u32 news = 1, locally = 2, float5 = 3, intl = 4; reply->n = news + locally + float5 + intl;", 0,
     ""},
    {"typedef struct pair { u32 a, b; } pair;\nenum { SIZE = 3 };\nGYRE_HELPER pair swap(pair p)\n"
     "{ pair q = {p.b, p.a}; return q; }",
     "pair p = {1, SIZE}; reply->n = swap(p).a;", 0, ""},
    {"typedef enum { RED, GREEN } color;\nGYRE_CONSTANT color order[2] = {GREEN, RED};\n"
     "GYRE_HELPER color flip(color c) { return c == RED ? GREEN : (order[c]); }",
     "color c = request->n ? RED : GREEN, d = (reply->n = 1, RED), *p = &c; c = flip(c); *p = (color)request->n;\n"
     "u8 k = RED; switch (c) { case RED: break; case 1: break; } reply->n = k + (u32)c + d + GREEN;",
     0, ""},
    {"GYRE_HELPER const u32 *f(const u32 *p, u32 n) { return n ? p : NULL; }",
     "u32 x = 1, *p = NULL; const GYRE_GLOBAL u32 *q = 0; void *v = &x; p = (u32 *)v; reply->n = f(p, 1) && q;",
     0, ""},
    {"#define bool u32\n#define HOST_ONLY UINT32_MAX\n#if 0\nuint32_t unused(_Bool restrict);\n#endif",
     "bool x = 1; size_t y = sizeof(u32); ptrdiff_t z = 0; reply->n = x + (u32)y + (u32)z; /* auto */", 0,
     ""},
    {"#define INT_MAX 0x7fffffff\n#define HALF (INT_MAX / 2)\n#ifndef M_PI\n# define M_PI 3.14159265358979323846\n"
     "#endif\n#define TAU (2 * M_PI)",
     "reply->a[0] = (f32)(TAU - M_PI); reply->n = HALF;", 0, ""},
    {"typedef u32 uint32_t;\n#define TWICE(n) (2 * (uint32_t)(n))", "uint32_t n = 1; reply->n = TWICE(n);", 0,
     ""},
    {"GYRE_CONSTANT u8 name[6] = \"hello\";\nGYRE_CONSTANT char names[2][4] = {\"abc\", \"\\\"\\\"\"};",
     "char s[] = \"hello\"; reply->n = (u32)\"hello\"[1] + (u32)s[0] + name[0] + (u32)names[1][0]; gyre_fail(gyre, 1, "
     "(\"no\"));",
     0, ""},
    {"typedef struct s { union { u32 a; f32 b; }; struct { u32 c; }; } s;\n"
     "struct outer { struct inner { u32 x; } i[2]; enum { ON } e; };\n"
     "GYRE_HELPER u32 f(const u32 *__restrict__ p) { return *p; }\nGYRE_HELPER u32 g() { return 1; }",
     "s x; x.a = 1; struct outer y; y.i[0].x = f(&x.a); u32 z[2] __attribute__((aligned(16))) = {1, 2};\n"
     "reply->n = y.i[0].x + z[0] + g() + (u32)__alignof__(u64);",
     0, ""},
    /* attributes where every compiler sees them */
    {"typedef struct __attribute__((packed, aligned(2))) p { u8 a; u32 b __attribute__((aligned(4))); } p;\n"
     "typedef union __attribute__((packed)) u { u8 a[5]; u32 b; } u;\n"
     "typedef enum __attribute__((packed)) e { A, B } e;\ntypedef struct { u32 n; } c __attribute__((aligned(16)));\n"
     /* of 64 bits in both languages alike; names within braces, of structs, and that only begin like others */
     "GYRE_HELPER u64 max(u64 a, u64 b) { return a > b ? a : b; }\nGYRE_HELPER i64 abs(i64 a) { return a < 0 ? -a : a; }\n"
     "GYRE_HELPER size_t min(size_t a, size_t b) { return a < b ? a : b; }\n"
     "GYRE_HELPER u32 any(int a) { return a ? 1 : 2; }\nstruct all { u32 a; };\n"
     "GYRE_HELPER u32 as_index(u32 n) { return n; }\nGYRE_HELPER u32 half_of(u32 n) { return n; }\n"
     "GYRE_HELPER u32 meet(gyre_context *gyre, u32 n) { gyre_barrier(gyre); return gyre_block_max_u32(gyre, n); }\n"
     "GYRE_BLOCK_KERNEL(b, request_type, reply_type, gyre_none) { reply->n = meet(gyre, 3); return GYRE_REPLY; }",
     "p o = {1, 2}; reply->n = (u32)(sizeof o + sizeof(u) + sizeof(e) + sizeof(c));\n"
     "u64 x = request->n; i64 y = -3; size_t z = 4; i32 truth = x > 3;\n"
     "reply->n = (u32)max(x + 1, (u64)5) + (u32)max(x * 2, request->n ? x >> 2 : ~x) + (u32)abs(y * 3) + any(truth);\n"
     "reply->n += (u32)max(z ? x : 3, x << z) + (u32)min(z >> x, x ? z : 4UL);\n"
     "reply->n += (u32)max(x + 1UL, request->n ? z : x) + (u32)max(sizeof x * x, (z, x)) + (u32)min(z = x, z);\n"
     "reply->n += (u32)min(z + 1, sizeof(u32)) + (u32)min(5UL, z) + any((i32)(x > 4));\n"
     "u32 linux = 1, unix = linux; x += unix + (sizeof x > 4 ? x >> 32 : 0) + ((u64)1 << 63); o.b = 1.0f / 0.0f > 0;\n"
     "enum { rhypot = 3 }; u32 umax = rhypot, barrier = 2; struct all m = {1};\n"
     "reply->n += umax + barrier + m.a + as_index(1) + half_of(2) + gyre_block(gyre) + gyre_block_count(gyre);",
     0, ""},
    {"typedef struct __attribute__((packed)) p { u8 a; u32 b; } p;\ntypedef struct node node;\n"
     "struct node { node *next; u32 v; };\ntypedef enum mode { OFF, ON } mode;\n"
     "GYRE_HELPER u32 f(u32 n);\nGYRE_HELPER struct node g(void);\nGYRE_HELPER u32 f(u32 n) { return n; }\n"
     "GYRE_HELPER struct node g(void) { struct node x = {NULL, 1}; return x; }\n"
     "GYRE_HELPER mode h(void) { struct { u32 a; } x = {1}; return x.a ? ON : OFF; }",
     "u64 x = 0xfffffffffffUL * 3L; u32 threadIdx = 1; p q = {1, 2}; /* größe, 3LL */ reply->n = f((u32)x) + g().v;\n"
     "reply->n += threadIdx + q.b + (u32)(sizeof q + sizeof(u64) + sizeof(request->n + 1)) + (u32)h();",
     0, ""},
    {"GYRE_HELPER u8 max(u8 a, u8 b) { return a > b ? a : b; }",
     "u8 few = 1; reply->n = max(few, (u8)3) + max((few), (u8)(few + 1));\n"
     "for (u32 i = 0; i < 2; i++) { for (u32 j = 0; j < 2; j++) { u32 k = i; reply->n += k; } { u32 i = 1; reply->n += i; } }\n"
     "u8 b8 = 1; switch (b8) { case 300: break; case -1: break; case 'a': break; }\n"
     "switch (request->n) { case 0xffffffff: break; case 3: switch (-1) { case -1: break; } }\n"
     "switch ((i64)request->n) { case -3: break; case 0x7fffffffffffffffL: break; } if (request->n) goto end; reply->n = 2; end:",
     0, ""},
    {"#define WHY \"no\"\n#define FAIL(text) return gyre_fail(gyre, 1, text)",
     "gyre_log(gyre, WHY \" more\", 1); if (request->n) FAIL(WHY); return gyre_fail(gyre, 1, __FILE__ \": no\");",
     0, ""},
    {NULL,
     "f64 d = 2; u64 n = 3; d = sqrt(d) + pow(d, 2) + pow(2.0, d) + fmin(d, n) + fma(d, 1, 2) + fabs(request->a[0]);\n"
     "reply->a[0] = (f32)sqrt((f64)n) + (f32)d + sqrtf(request->n) + fmaxf(1, request->a[1]);",
     0, ""},
};

START_TEST(what_keeps_to_the_rules_passes)
{
    struct checker *checker = judge_parts(kept[_i].helpers, kept[_i].body);
    show(&checker->report);
    ck_assert_uint_eq(checker->report.finding_count, 0);
    ck_assert_uint_ge(checker->report.kernel_count, 1);
    free(checker);
}
END_TEST

START_TEST(messages_before_the_kernels_header_are_told)
{
    struct checker *checker =
        judge("#include <gyre/message.h>\n#define R(FIELD) FIELD(u32, n)\nGYRE_MESSAGE(r, R)\n"
              "#include <gyre/kernel.h>\n#include <gyre/kernel.h>\n"
              "GYRE_KERNEL(k, r, r) { reply->n = request->n; return GYRE_REPLY; }\n");
    show(&checker->report);
    ck_assert_uint_eq(checker->report.finding_count, 1);
    ck_assert_uint_eq(checker->report.findings[0].place.line, 4);
    ck_assert_ptr_nonnull(
        strstr(checker->report.findings[0].text, "include it first, before your own headers"));
    free(checker);
}
END_TEST

START_TEST(headers_of_programs_are_told)
{
    struct checker *checker = judge("#include <gyre/shards.h>\n#include <gyre/kernel.h>\n"
                                    "GYRE_KERNEL(k, u32, u32) { *reply = *request; return GYRE_REPLY; }\n");
    show(&checker->report);
    ck_assert_uint_ge(checker->report.finding_count, 1);
    ck_assert_uint_eq(checker->report.findings[0].place.line, 1);
    ck_assert_ptr_nonnull(strstr(checker->report.findings[0].text, "<gyre/shards.h> is for host programs"));
    free(checker);
}
END_TEST

/* The advice for a pointer to a text, which would be refused as well, is not beside it. */
START_TEST(a_text_that_is_chosen_is_refused_once)
{
    struct checker *checker = judge_parts(NULL, "return gyre_fail(gyre, 1, request->n\n ? \"a\"\n : \"b\");");
    show(&checker->report);
    ck_assert_uint_eq(checker->report.finding_count, 1);
    ck_assert_uint_eq(checker->report.findings[0].place.line, BODY);
    free(checker);
}
END_TEST

START_TEST(kernels_are_listed_with_their_lines)
{
    struct checker *checker =
        judge_parts("GYRE_KERNEL(other, request_type, reply_type) { return GYRE_NO_REPLY; }", NULL);
    ck_assert_uint_eq(checker->report.kernel_count, 2);
    ck_assert_str_eq(checker->report.kernels[0].name, "other");
    ck_assert_uint_eq(checker->report.kernels[0].place.line, HELPERS);
    ck_assert_str_eq(checker->report.kernels[1].name, "k");
    free(checker);
}
END_TEST

START_TEST(a_file_without_kernels_is_refused)
{
    struct checker *checker = judge("#include <gyre/kernel.h>\n");
    struct case_of_rule expected = {.line = 1, .says = "no kernel in it"};
    ck_assert(has_finding(&checker->report, &expected));
    ck_assert_str_eq(checker->report.findings[0].stage, "discover");
    free(checker);
}
END_TEST

START_TEST(names_behind_a_broken_macro_are_not_what_is_told)
{
    struct checker *checker =
        judge_parts("GYRE_MESSAGE(odd)\n#define ODDS(FIELD) FIELD(odd, one)\nGYRE_MESSAGE(odds, ODDS)", NULL);
    for (size_t i = 0; i < checker->report.finding_count; i++)
        ck_assert_ptr_null(strstr(checker->report.findings[i].text, "is no type of a message"));
    ck_assert_ptr_nonnull(strstr(checker->report.findings[0].text, "write `GYRE_MESSAGE(name, LIST)`"));
    free(checker);
}
END_TEST

START_TEST(a_plain_error_is_passed_on_as_the_parsers)
{
    struct checker *checker = judge_parts(NULL, "reply->n = request->missing;");
    ck_assert_uint_eq(checker->report.finding_count, 1);
    ck_assert_str_eq(checker->report.findings[0].kind, "error");
    ck_assert_uint_eq(checker->report.findings[0].place.line, BODY);
    free(checker);
}
END_TEST

/* A misspelled macro is one, too: what is said of that comes first. */
START_TEST(a_declaration_without_a_type_is_an_error)
{
    struct checker *checker = judge_parts(NULL, "const n = 3; reply->n = n;");
    ck_assert_uint_eq(checker->report.finding_count, 1);
    ck_assert_str_eq(checker->report.findings[0].kind, "error");
    ck_assert_uint_eq(checker->report.findings[0].place.line, BODY);
    free(checker);
}
END_TEST

START_TEST(the_report_has_one_line_each_and_ends_with_done)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct checker *checker = judge_parts("static u32 a\t;\nstatic u32 b;", NULL);
    report_write(&checker->report, out);
    fclose(out);
    ck_assert_ptr_eq(strstr(text, "kernel\tk\t9\n"), text);
    ck_assert_ptr_nonnull(strstr(text, "refuse\tcheck\t/nowhere/k.gyre.c\t7\t12\tglobal variable 'a'"));
    ck_assert_ptr_nonnull(strstr(text, "refuse\tcheck\t/nowhere/k.gyre.c\t8\t12\tglobal variable 'b'"));
    ck_assert_str_eq(text + size - 5, "done\n");
    free(text);
    free(checker);
}
END_TEST

START_TEST(without_the_dialects_headers_it_says_what_is_missing)
{
    static struct checker checker;
    const char text[] = "#include <gyre/kernel.h>\n";
    checker_run(&checker, "/nowhere/k.gyre.c", text, sizeof text - 1, "/nowhere");
    ck_assert_uint_eq(checker.report.finding_count, 1);
    ck_assert_ptr_eq(strstr(checker.report.findings[0].text, "gyre/kernel.h: no such file"),
                     checker.report.findings[0].text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("check");
    TCase *tcase = tcase_create("check");
    tcase_set_timeout(tcase, 30);
    tcase_add_loop_test(tcase, each_rule_refuses_with_its_line_and_reason, 0,
                        (RULES + TOGETHER - 1) / TOGETHER);
    tcase_add_loop_test(tcase, what_keeps_to_the_rules_passes, 0, (int)(sizeof kept / sizeof kept[0]));
    tcase_add_test(tcase, each_of_many_lines_is_refused);
    tcase_add_test(tcase, names_of_the_library_are_told_first);
    tcase_add_test(tcase, a_text_that_is_chosen_is_refused_once);
    tcase_add_test(tcase, messages_before_the_kernels_header_are_told);
    tcase_add_test(tcase, headers_of_programs_are_told);
    tcase_add_test(tcase, kernels_are_listed_with_their_lines);
    tcase_add_test(tcase, a_file_without_kernels_is_refused);
    tcase_add_test(tcase, names_behind_a_broken_macro_are_not_what_is_told);
    tcase_add_test(tcase, a_plain_error_is_passed_on_as_the_parsers);
    tcase_add_test(tcase, a_declaration_without_a_type_is_an_error);
    tcase_add_test(tcase, the_report_has_one_line_each_and_ends_with_done);
    tcase_add_test(tcase, without_the_dialects_headers_it_says_what_is_missing);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
