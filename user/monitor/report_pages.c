// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/report_pages.h"
#include <fcntl.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* earlier ones in the parent's queue may take a minute each */
#define MADE_MAX_NS    660000000000ull
#define FAILED_KEEP_NS 10000000000ull
#define RETRY_S	       30

static void forget(struct report_page *r)
{
	if (r->is_made && r->result == PAGE_OK)
		close(r->fd);
	*r = (struct report_page){0};
}

static struct report_page *find(struct report_pages *p, const char *file)
{
	for (size_t i = 0; i < REPORT_PAGES; i++)
		if (*p->items[i].file && !strcmp(p->items[i].file, file))
			return &p->items[i];
	return NULL;
}

/* A free page, or the oldest complete one. NULL: all are still awaited. */
static struct report_page *make_room(struct report_pages *p)
{
	struct report_page *oldest = NULL;

	for (size_t i = 0; i < REPORT_PAGES; i++) {
		struct report_page *r = &p->items[i];

		if (!*r->file)
			return r;
		if (r->is_made && (!oldest || r->at_ns < oldest->at_ns))
			oldest = r;
	}
	if (oldest)
		forget(oldest);
	return oldest;
}

static void refuse(struct http_page *page, unsigned int status, const char *why)
{
	page->status = status;
	page->type = "text/plain; charset=utf-8";
	if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
		page->retry_after_s = RETRY_S;
	fprintf(page->out, "%s\n", why);
}

static void ask(struct report_pages *p, const char *file, struct http_page *page, uint64_t now_ns)
{
	struct window_answer message = {.asked = ASKED_PAGE};
	struct report_page *r = make_room(p);

	strncpy(message.file, file, sizeof(message.file) - 1);
	if (!r || send(p->parent, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		refuse(page, MHD_HTTP_SERVICE_UNAVAILABLE,
		       "other pages are made now: ask again later");
		return;
	}
	memcpy(r->file, message.file, sizeof(r->file));
	r->at_ns = now_ns;
	page->is_later = true;
}

static void put(const struct report_page *r, struct http_page *page)
{
	switch (r->result) {
	case PAGE_OK:
		page->type = "text/html; charset=utf-8";
		page->is_report = true;
		page->fd = fcntl(r->fd, F_DUPFD_CLOEXEC, 0);
		if (page->fd >= 0)
			return;
		/* fallthrough */
	case PAGE_BUSY:
		refuse(page, MHD_HTTP_SERVICE_UNAVAILABLE,
		       "pages have taken half of what --cpu allows, or too many are asked for: ask "
		       "again later");
		return;
	case PAGE_GONE:
		refuse(page, MHD_HTTP_GONE, "this recording is kept no longer (--keep)");
		return;
	case PAGE_FAILED:
	case PAGE_RESULT_CNT:
		refuse(page, MHD_HTTP_INTERNAL_SERVER_ERROR,
		       "the page could not be made: the monitor's messages may say why, or it is "
		       "larger than 8 "
		       "MiB; try proftrace report FILE");
	}
}

void report_pages__take(struct report_pages *p, const char *file, struct http_page *page,
			uint64_t now_ns)
{
	const struct report_page *r;

	report_pages__expire(p, now_ns);
	r = find(p, file);
	if (!r)
		ask(p, file, page, now_ns);
	else if (!r->is_made)
		page->is_later = true;
	else
		put(r, page);
}

void report_pages__set(struct report_pages *p, const struct page_made *made, int fd,
		       uint64_t now_ns)
{
	struct report_page *r = find(p, made->file);

	if (!r || r->is_made)
		return;
	r->is_made = true;
	r->at_ns = now_ns;
	r->result = made->result;
	if (r->result != PAGE_OK)
		return;
	r->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (r->fd < 0)
		r->result = PAGE_FAILED;
}

static bool is_over(const struct report_page *r, uint64_t now_ns)
{
	const uint64_t age_ns = now_ns - r->at_ns;

	if (!r->is_made)
		return age_ns > MADE_MAX_NS;
	return r->result != PAGE_OK && age_ns > FAILED_KEEP_NS;
}

bool report_pages__expire(struct report_pages *p, uint64_t now_ns)
{
	bool was_awaited = false;

	for (size_t i = 0; i < REPORT_PAGES; i++) {
		struct report_page *r = &p->items[i];

		if (!*r->file || !is_over(r, now_ns))
			continue;
		was_awaited |= !r->is_made;
		forget(r);
	}
	return was_awaited;
}

void report_pages__free(struct report_pages *p)
{
	for (size_t i = 0; i < REPORT_PAGES; i++)
		forget(&p->items[i]);
}
