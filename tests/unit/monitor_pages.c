// SPDX-License-Identifier: BSD-2-Clause
/* The monitor's pages: their requests to the parent, and names that look like markup. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "common/util.h"
#include "monitor/page_maker.h"
#include "monitor/site.h"

TestSuite(monitor_pages);

#define SECOND_NS 1000000000ull
#define FILE_NAME "job_17_655b1a00.3.ptrec"

struct answer {
	struct http_page page;
	char *text;
};

static struct answer ask(struct site *s, const struct http_request *request)
{
	struct answer a = {.page = {.status = 200, .fd = -1}};
	size_t len;

	a.page.out = open_memstream(&a.text, &len);
	if (!site__answer(s, request, &a.page))
		a.page.status = 404;
	fclose(a.page.out);
	return a;
}

static struct answer get(struct site *s, const char *path, bool wants_html)
{
	return ask(s, &(struct http_request){.path = path, .wants_html = wants_html});
}

static void begin(struct site *s, const char *name, int sockets[2])
{
	struct rank_info info = {.id = 1, .pid = 17, .rank = 0};
	struct rank_series *r;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
	*s = (struct site){
		.series.series_max = 1000, .has_counts = true, .reports.parent = sockets[0]};
	snprintf(info.key.name, sizeof(info.key.name), "%s", name);
	r = job_series__begin(&s->series, &info);
	strcpy(r->file, FILE_NAME);
	strcpy(r->step_rule, "<script>");
	strcpy(r->past[0].file, FILE_NAME);
	r->past[0].median_s = 0.25;
	r->past_cnt = 1;
}

static void end(struct site *s, int sockets[2])
{
	report_pages__free(&s->reports);
	job_series__free(&s->series);
	close(sockets[0]);
	close(sockets[1]);
}

static void expect_status(struct site *s, const char *path, unsigned int status)
{
	struct answer a = get(s, path, false);

	cr_expect_eq(a.page.status, status, "%s: %u", path, a.page.status);
	free(a.text);
}

Test(monitor_pages, names_are_text)
{
	static const char *const paths[] = {"/", "/jobs/17.html", "/jobs/17"};
	struct site s;
	int sockets[2];

	begin(&s, "</title><img src=x onerror='a(\"b\")'>&", sockets);
	for (size_t i = 0; i < 3; i++) {
		struct answer a = get(&s, paths[i], true);

		cr_expect_str_eq(a.page.type, "text/html; charset=utf-8");
		cr_expect(strstr(
			a.text,
			"&lt;/title&gt;&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt;&amp;"));
		cr_expect_not(strstr(a.text, "<img"));
		cr_expect_not(strstr(a.text, "<script>"));
		free(a.text);
	}
	end(&s, sockets);
}

Test(monitor_pages, a_rank_is_json_unless_a_browser_asks)
{
	struct site s;
	int sockets[2];
	struct answer a;

	begin(&s, "j", sockets);
	a = get(&s, "/jobs/17", false);
	cr_expect_str_eq(a.page.type, "application/json");
	cr_expect(strstr(a.text, "\"step_seconds\": 0.25"), "%s", a.text);
	free(a.text);
	end(&s, sockets);
}

Test(monitor_pages, other_paths_are_none)
{
	static const char *const none[] = {"/jobs/",
					   "/jobs/x",
					   "/jobs/18",
					   "/jobs/17/",
					   "/jobs/017",
					   "/jobs/-17",
					   "/jobs/17.htm",
					   "/jobs/17/report",
					   "/jobs/99999999999999999999",
					   "/monitor.cs",
					   "//"};
	struct site s;
	int sockets[2];

	begin(&s, "j", sockets);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		expect_status(&s, none[i], 404);
	expect_status(&s, "/monitor.js", 200);
	end(&s, sockets);
}

Test(monitor_pages, a_recording_is_shown_to_whom_it_may_be)
{
	struct http_request request = {.path = "/jobs/17/report.html", .bearer = "wrong"};
	struct site s;
	int sockets[2];
	struct answer a;

	begin(&s, "j", sockets);
	expect_status(&s, request.path, 403);
	s.records.token = "right";
	a = ask(&s, &request);
	cr_expect_eq(a.page.status, 403);
	free(a.text);
	request.bearer = "right";
	a = ask(&s, &request);
	cr_expect(a.page.is_later);
	free(a.text);
	request.recording = "../" FILE_NAME;
	a = ask(&s, &request);
	cr_expect_eq(a.page.status, 404);
	free(a.text);
	end(&s, sockets);
}

/* However many clients want it, the parent makes the page once and keeps it. */
Test(monitor_pages, a_page_is_made_once)
{
	struct site s;
	int sockets[2], fd = memfd_create("page", MFD_CLOEXEC);
	struct window_answer said;
	struct page_made made = {.result = PAGE_OK, .file = FILE_NAME};
	struct answer a;

	begin(&s, "j", sockets);
	s.pages = true;
	for (int i = 0; i < 3; i++) {
		a = get(&s, "/jobs/17/report.html", true);
		cr_expect(a.page.is_later);
		free(a.text);
	}
	cr_expect_eq(recv(sockets[1], &said, sizeof(said), MSG_DONTWAIT), (ssize_t)sizeof(said));
	cr_expect_eq(said.asked, ASKED_PAGE);
	cr_expect_str_eq(said.file, FILE_NAME);
	cr_expect_lt(recv(sockets[1], &said, sizeof(said), MSG_DONTWAIT), 0);
	cr_assert_eq(write(fd, "page", 4), 4);
	report_pages__set(&s.reports, &made, fd, clock__monotonic_ns());
	close(fd);
	for (int i = 0; i < 2; i++) {
		char text[8] = "";

		a = get(&s, "/jobs/17/report.html", true);
		cr_expect(a.page.is_report);
		cr_expect_eq(pread(a.page.fd, text, sizeof(text), 0), 4);
		cr_expect_str_eq(text, "page");
		close(a.page.fd);
		free(a.text);
	}
	end(&s, sockets);
}

Test(monitor_pages, those_that_cannot_be_made_say_why)
{
	static const struct {
		enum page_result result;
		unsigned int status;
	} cases[] = {{PAGE_GONE, 410},
		     {PAGE_FAILED, 500},
		     {PAGE_BUSY, 503},
		     {PAGE_OK, 500 /* without a file */}};
	struct site s;
	int sockets[2];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct page_made made = {.result = cases[i].result, .file = FILE_NAME};

		begin(&s, "j", sockets);
		s.pages = true;
		expect_status(&s, "/jobs/17/report.html", 200);
		report_pages__set(&s.reports, &made, -1, clock__monotonic_ns());
		expect_status(&s, "/jobs/17/report.html", cases[i].status);
		end(&s, sockets);
	}
}

Test(monitor_pages, a_parent_that_is_busy_is_asked_again_later)
{
	struct report_pages pages = {.parent = -1};
	struct http_page page = {.out = fopen("/dev/null", "w")};

	report_pages__take(&pages, FILE_NAME, &page, 1);
	cr_expect_eq(page.status, 503);
	cr_expect_gt(page.retry_after_s, 0);
	cr_expect_not(page.is_later);
	fclose(page.out);
}

Test(monitor_pages, as_many_windows_as_have_a_place_are_told)
{
	struct job_series s = {.series_max = 1000};
	const struct rank_info info = {.id = 1, .pid = 17};
	struct rank_series *r = job_series__begin(&s, &info);
	struct figures f = {0};

	for (unsigned int i = 0; i < SERIES_PAST + 5; i++) {
		struct window_ready window = {.id = 1};

		snprintf(window.file, sizeof(window.file), "%u", i);
		f.median_ns = i;
		job_series__add_window(&s, r, &f, &window);
	}
	cr_expect_eq(r->past_cnt, SERIES_PAST);
	cr_expect_str_eq(r->past[0].file, "5");
	cr_expect_str_eq(r->past[SERIES_PAST - 1].file, r->file);
	job_series__free(&s);
}

/* ---- in the parent ---- */

struct done {
	int cnt[PAGE_RESULT_CNT];
};

static void note(void *ctx, const char *file, enum page_result result, int fd)
{
	((struct done *)ctx)->cnt[result]++;
}

Test(monitor_pages, only_recordings_of_the_store_have_pages)
{
	static const char *const names[] = {"",	       "..",	 ("../" FILE_NAME), "/etc/passwd",
					    "x.ptrec", FILE_NAME};
	char directory[] = "/tmp/proftrace-unit.XXXXXX";
	struct done done = {0};
	struct page_maker p = {
		.done = note, .ctx = &done, .directory = mkdtemp(directory), .cpus = 1};

	p.store = open(directory, O_RDONLY | O_DIRECTORY);
	page_maker__init(&p, NULL);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		page_maker__ask(&p, names[i], clock__monotonic_ns());
	cr_expect_eq(done.cnt[PAGE_GONE], (int)(sizeof(names) / sizeof(*names)));
	close(p.store);
	rmdir(directory);
}

Test(monitor_pages, pages_take_half_of_cpu_at_most)
{
	char directory[] = "/tmp/proftrace-unit.XXXXXX", path[64];
	struct done done = {0};
	struct page_maker p = {
		.done = note, .ctx = &done, .directory = mkdtemp(directory), .cpus = 0.1};
	uint64_t now_ns;
	int fd;

	p.store = open(directory, O_RDONLY | O_DIRECTORY);
	snprintf(path, sizeof(path), "%s/%s", directory, FILE_NAME);
	fd = creat(path, 0600);
	page_maker__init(&p, NULL);
	now_ns = p.credit_ns;
	p.credit_s = -1;
	p.cnt = 1; /* another one is being made */
	page_maker__ask(&p, FILE_NAME, now_ns + 19 * SECOND_NS);
	cr_expect_eq(done.cnt[PAGE_BUSY], 1);
	page_maker__ask(&p, FILE_NAME, now_ns + 21 * SECOND_NS);
	cr_expect_eq(p.cnt, 2);
	p.cnt = PAGE_QUEUE;
	page_maker__ask(&p, FILE_NAME, now_ns + 22 * SECOND_NS);
	cr_expect_eq(done.cnt[PAGE_BUSY], 2);
	page_maker__ask(&p, FILE_NAME, now_ns + 100000 * SECOND_NS);
	cr_expect_float_eq(p.credit_s, PAGE_CREDIT_S, 1e-9);
	close(fd);
	unlink(path);
	close(p.store);
	rmdir(directory);
}
