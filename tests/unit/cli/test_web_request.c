/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of HTTP, as clients write them, and as nobody should; and what is answered where nothing can be looked at. */
#include <string.h>
#include <sys/resource.h>

#include "cli/web/request.h"
#include "cli/web/site.h"
#include "random.h"
#include "unit/observation/folder.h"

static web_request got;
static const char *complaint;

static web_status give(const char *text)
{
    return web_request_read(text, strlen(text), &got, &complaint);
}

START_TEST(a_request_is_read)
{
    ck_assert_int_eq(
        give("GET /json?kernel=a HTTP/1.1\r\nUser-Agent: x\r\nhOsT: LocalHost:9373\r\n\r\nGET /"), WEB_OK);
    ck_assert_str_eq(got.path, "/json");
    ck_assert_str_eq(got.query, "kernel=a");
    ck_assert_str_eq(got.host, "localhost");
    ck_assert(!got.head_only);
    ck_assert_int_eq(give("HEAD / HTTP/1.0\n\n"), WEB_OK);
    ck_assert(got.head_only);
    ck_assert_str_eq(got.host, "");
    ck_assert_int_eq(give("GET / HTTP/1.1\r\nHost:\t[::1]:80 \r\n\r\n"), WEB_OK);
    ck_assert_str_eq(got.host, "[::1]");
}
END_TEST

START_TEST(pages_of_other_sites_are_told_from_the_own_one)
{
    static const struct {
        const char *headers;
        bool is_cross_site;
    } sources[] = {
        {"", false},
        {"Sec-Fetch-Site: same-origin\r\n", false},
        {"sec-fetch-site:none\r\n", false},
        {"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n", true},
        {"Sec-Fetch-Site: same-site\r\n", true},
        {"Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n", true},
        {"Sec-Fetch-Site:\r\n", true},
        {"Origin: http://localhost:9373\r\n", false},
        {"ORIGIN: https://LocalHost:9373\r\n", false},
        {"Origin: http://localhost:9374\r\n", true},
        {"Origin: http://localhost\r\n", true},
        {"Origin: http://evil.example\r\n", true},
        {"Origin: null\r\n", true},
        {"Origin:\r\n", true},
        {"Origin: http://localhost:9373\r\nOrigin: http://localhost:9373\r\n", true},
    };
    char text[512];
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        for (int last = 0; last < 2; last++) { /* the order of headers says nothing */
            static const char host[] = "Host: localhost:9373\r\n";
            snprintf(text, sizeof text, "GET /trace HTTP/1.1\r\n%s%s%s\r\n", last ? host : "",
                     sources[i].headers, last ? "" : host);
            ck_assert_int_eq(give(text), WEB_OK);
            ck_assert_msg(got.is_cross_site == sources[i].is_cross_site, "%s", sources[i].headers);
        }
}
END_TEST

START_TEST(each_beginning_of_a_request_needs_more)
{
    static const char whole[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";
    for (size_t size = 0; size < sizeof whole - 1; size++)
        ck_assert_int_eq(web_request_read(whole, size, &got, &complaint), 0);
    ck_assert_int_eq(web_request_read(whole, sizeof whole - 1, &got, &complaint), WEB_OK);
}
END_TEST

START_TEST(what_is_no_request_is_refused_with_a_sentence)
{
    static const struct {
        const char *text;
        web_status status;
    } bad[] = {
        {"\n", WEB_BAD_REQUEST},
        {"GET /\n", WEB_BAD_REQUEST},
        {"GET  / HTTP/1.1\n", WEB_BAD_REQUEST},
        {"GET / HTTP/1.1 \n", WEB_VERSION},
        {"PRI * HTTP/2.0\r\n", WEB_VERSION},
        {"GET / HTTP/9.9\n", WEB_VERSION},
        {"POST / HTTP/1.1\n", WEB_NOT_ALLOWED},
        {"get / HTTP/1.1\n", WEB_NOT_ALLOWED},
        {"GET json HTTP/1.1\n", WEB_BAD_REQUEST},
        {"GET http://localhost/ HTTP/1.1\n", WEB_BAD_REQUEST},
        {"GET /\xff HTTP/1.1\n", WEB_BAD_REQUEST},
        {"GET / HTTP/1.1\nno colon\n", WEB_BAD_REQUEST},
        {"GET / HTTP/1.1\nHost : a\n", WEB_BAD_REQUEST},
        {"GET / HTTP/1.1\nA: b\n folded: c\n", WEB_BAD_REQUEST},
        {"GET / HTTP/1.1\nHost: a\nHost: a\n", WEB_BAD_REQUEST},
        {"GET / HTTP/1.1\nHost: a b\n", WEB_BAD_REQUEST},
        {"GET / HTTP/1.1\nHost: [::1]x\n", WEB_BAD_REQUEST},
        {"GET / HTTP/1.1\nHost: localhost:80:80\n", WEB_BAD_REQUEST},
        {"GET / HTTP/1.1\nHost:\n", WEB_BAD_REQUEST},
        {"GET / HTTP/1.1\nA: b\rc\n", WEB_BAD_REQUEST},
        {"GET / HTTP/1.1\n\n", WEB_BAD_REQUEST},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        complaint = NULL;
        ck_assert_msg(give(bad[i].text) == bad[i].status, "%s: %d", bad[i].text, (int)give(bad[i].text));
        ck_assert(complaint && strlen(complaint) > 10);
    }
}
END_TEST

START_TEST(long_requests_are_refused_where_the_room_ends)
{
    static char text[WEB_REQUEST_MAX];
    memset(text, 'a', sizeof text);
    ck_assert_int_eq(web_request_read(text, sizeof text - 1, &got, &complaint), 0);
    ck_assert_int_eq(web_request_read(text, sizeof text, &got, &complaint), WEB_URI_TOO_LONG);
    memcpy(text, "GET / HTTP/1.1\nb:", 17);
    ck_assert_int_eq(web_request_read(text, sizeof text, &got, &complaint), WEB_HEADERS_TOO_LARGE);
    memset(text, 'a', sizeof text);
    memcpy(text, "GET /", 5);
    memcpy(text + 5 + WEB_PATH_MAX, " HTTP/1.1\n", 10);
    ck_assert_int_eq(web_request_read(text, sizeof text, &got, &complaint), WEB_URI_TOO_LONG);
    memset(text, 'a', sizeof text);
    memcpy(text, "GET / HTTP/1.1\nHost: ", 21);
    memcpy(text + 21 + WEB_HOST_MAX, "\n\n", 2);
    ck_assert_int_eq(web_request_read(text, sizeof text, &got, &complaint), WEB_BAD_REQUEST);
}
END_TEST

START_TEST(parameters_are_decoded)
{
    char value[8];
    ck_assert_int_eq(give("GET /readyz?x=1&kernel=a%20%62+c&k=%zz&long=123456789&nul=%00& HTTP/1.0\n\n"),
                     WEB_OK);
    ck_assert(web_request_parameter(&got, "kernel", value, sizeof value));
    ck_assert_str_eq(value, "a b c");
    ck_assert(web_request_parameter(&got, "x", value, sizeof value));
    ck_assert_str_eq(value, "1");
    ck_assert(!web_request_parameter(&got, "k", value, sizeof value));
    ck_assert(!web_request_parameter(&got, "long", value, sizeof value));
    ck_assert(!web_request_parameter(&got, "nul", value, sizeof value));
    ck_assert(!web_request_parameter(&got, "ernel", value, sizeof value));
    ck_assert(!web_request_parameter(&got, "nothing", value, sizeof value));
}
END_TEST

/* Requests that are damaged anywhere give a status, and texts that end. */
START_TEST(any_bytes_are_survived)
{
    static const char whole[] =
        "GET /readyz?kernel=abc HTTP/1.1\r\nHost: [::1]:9373\r\nAccept: text/html\r\n\r\n";
    char text[sizeof whole], value[16];
    uint64_t seed = random_begin(7);
    for (int round = 0; round < 20000; round++) {
        memcpy(text, whole, sizeof whole);
        for (uint64_t left = 1 + random_below(&seed, 4); left > 0; left--)
            text[random_below(&seed, sizeof whole - 1)] = (char)random_below(&seed, 256);
        const web_status status = web_request_read(text, sizeof whole - 1, &got, &complaint);
        ck_assert(status == 0 || status == WEB_OK || complaint);
        ck_assert_uint_lt(strnlen(got.path, sizeof got.path), sizeof got.path);
        ck_assert_uint_lt(strnlen(got.query, sizeof got.query), sizeof got.query);
        ck_assert_uint_lt(strnlen(got.host, sizeof got.host), sizeof got.host);
        if (web_request_parameter(&got, "kernel", value, sizeof value))
            ck_assert_uint_lt(strlen(value), sizeof value);
    }
}
END_TEST

static web_answer ask(web_site *site, const char *path)
{
    web_answer answer = {WEB_OK, "", NULL, false, false};
    web_request request = {0};
    snprintf(request.path, sizeof request.path, "%s", path);
    web_site_answer(site, &request, &answer);
    return answer;
}

/* A client that reads slowly holds the text of its trace: until it has it, or is cut off, no other is made. */
START_TEST(one_trace_is_sent_before_the_next_one_is_taken)
{
    web_server_desc desc = {.listener_count = 0};
    folder_make();
    struct gyre_observation *observation = folder_open(8);
    web_site site = {.source = {.quiet = true}, .traces = true, .trace = {.until_ns = 1}};
    snprintf(site.source.folder, sizeof site.source.folder, "%s", folder_path);
    site.trace.source = site.source;
    web_server *server = web_server_open(&desc);
    ck_assert(!web_site_step(&site, server, 1)); /* nobody is left who would take it */
    ck_assert(!site.traces && !site.traced);
    site.traces = true;
    site.traced = web_text_borrow("{}", 2);
    web_text *held = web_text_hold(site.traced); /* by a connection */
    ck_assert(web_site_step(&site, server, 0));
    web_answer answer = ask(&site, "/trace");
    ck_assert(answer.status == WEB_UNAVAILABLE && !answer.waits && site.traced == held);
    web_text_release(answer.body);
    web_text_release(held);
    ck_assert(!web_site_step(&site, server, 0));
    ck_assert(!site.traces && !site.traced);
    web_server_close(server);
    web_site_finish(&site);
    gyre_observation_close(observation);
    folder_remove();
}
END_TEST

/* "Nothing is wrong" would be a lie, and so would figures of earlier. */
START_TEST(without_descriptors_nothing_is_called_healthy)
{
    static const char *const paths[] = {"/healthz", "/readyz", "/metrics", "/json"};
    struct rlimit limit;
    folder_make();
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit none = {0, limit.rlim_max};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        web_site site = {.source = {.quiet = true}}, again = {.source = {.quiet = true}};
        snprintf(site.source.folder, sizeof site.source.folder, "%s", folder_path);
        snprintf(again.source.folder, sizeof again.source.folder, "%s", folder_path);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
        const web_answer lacking = ask(&site, paths[i]);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        const web_answer good = ask(&again, paths[i]);
        ck_assert_msg(!lacking.body, "%s", paths[i]);
        ck_assert_msg(good.body != NULL, "%s", paths[i]);
        web_text_release(good.body);
        web_site_finish(&site);
        web_site_finish(&again);
    }
    folder_remove();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("web_request");
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_request_is_read);
    tcase_add_test(all, pages_of_other_sites_are_told_from_the_own_one);
    tcase_add_test(all, each_beginning_of_a_request_needs_more);
    tcase_add_test(all, what_is_no_request_is_refused_with_a_sentence);
    tcase_add_test(all, long_requests_are_refused_where_the_room_ends);
    tcase_add_test(all, parameters_are_decoded);
    tcase_add_test(all, any_bytes_are_survived);
    tcase_add_test(all, one_trace_is_sent_before_the_next_one_is_taken);
    tcase_add_test(all, without_descriptors_nothing_is_called_healthy);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
