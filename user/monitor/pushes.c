// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/pushes.h"
#include <limits.h>
#include <string.h>
#include "common/err.h"
#include "monitor/message_table.h"
#include "common/util.h"
#include "monitor/clean_name.h"
#include "monitor/metrics_otlp.h"

/* ---- metrics ---- */

static void ask_metrics(struct pushes *p, uint64_t now_ns)
{
	/* An exporter that does not answer has no metrics to send. */
	if (p->is_asked)
		p->opts.counts[PUSH_OTLP][PUSH_LOST]++;
	p->is_asked = true;
	p->metrics_due_ns = now_ns + p->opts.interval_ns;
	p->opts.ask_metrics(p->opts.ctx);
}

void pushes__metrics(struct pushes *p, int fd)
{
	const struct push_item item = {.type = METRICS_OTLP_TYPE};

	if (!p->is_asked)
		return;
	p->is_asked = false;
	if (fd < 0)
		p->opts.counts[PUSH_OTLP][PUSH_LOST]++;
	else
		push__send(&p->to[PUSH_OTLP], &item, fd);
}

/* ---- profiles ---- */

static void begin_next(struct pushes *p);

static void finish(struct pushes *p, int fd)
{
	if (fd < 0)
		p->opts.counts[PUSH_PPROF][PUSH_LOST]++;
	else
		push__send(&p->to[PUSH_PPROF], &p->queue[0].item, fd);
	p->cnt--;
	memmove(p->queue, p->queue + 1, p->cnt * sizeof(*p->queue));
	begin_next(p);
}

static void on_export(void *ctx, int fd)
{
	finish(ctx, fd);
}

static void begin_next(struct pushes *p)
{
	char path[PATH_MAX], *argv[] = {"proftrace", "export", "--quiet", "--format", "pprof",
					"-o",	     "-",      path,	  NULL};
	int err;

	if (!p->cnt)
		return;
	snprintf(path, sizeof(path), "%s/%s", p->opts.directory, p->queue[0].file);
	err = output_child__start(&p->export, argv, PUSH_BYTES_MAX);
	if (!err)
		return;
	log__warn(MESSAGE_PROFILE_NOT_MADE, p->queue[0].file, err__take(err));
	finish(p, -1);
}

/* Escapes all but the unreserved characters of RFC 3986. */
static size_t put_escaped(char *out, size_t size, const char *text)
{
	size_t len = 0;

	for (; *text && len + 4 < size; text++) {
		const unsigned char c = (unsigned char)*text;
		const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				      (c >= '0' && c <= '9') || (c && strchr("-._~", c));

		len += (size_t)snprintf(out + len, size - len, is_plain ? "%c" : "%%%02X", c);
	}
	return *text ? size : len;
}

bool pushes__query(const struct rank_info *rank, const char *host, double from_s, double until_s,
		   char *out, size_t size)
{
	char job[128], host_name[65], labels[384], number[24] = "";
	size_t len;

	/* A label ends at '}' or ','. */
	clean_name__for_file(job, sizeof(job), rank->key.name);
	clean_name__for_file(host_name, sizeof(host_name), host);
	if (rank->rank >= 0)
		snprintf(number, sizeof(number), ",rank=%d", rank->rank);
	snprintf(labels, sizeof(labels), "%s{host=%s,uid=%u%s}", job, host_name, rank->uid, number);
	len = (size_t)snprintf(out, size, "?name=");
	len += put_escaped(out + len, size - len, labels);
	if (len >= size)
		return false;
	len += (size_t)snprintf(out + len, size - len,
				"&from=%.0f&until=%.0f&format=pprof&spyName=proftrace", from_s,
				until_s);
	return len < size;
}

void pushes__window(struct pushes *p, const struct rank_info *rank,
		    const struct window_ready *window, double until_s)
{
	struct pprof_wait *w = &p->queue[p->cnt];
	char host[65] = "";

	if (!p->to[PUSH_PPROF].url)
		return;
	if (p->cnt == PPROF_QUEUE) {
		p->opts.counts[PUSH_PPROF][PUSH_DROPPED]++;
		return;
	}
	*w = (struct pprof_wait){.item.type = "application/octet-stream"};
	gethostname(host, sizeof(host) - 1);
	memcpy(w->file, window->file, sizeof(w->file));
	if (!pushes__query(rank, host, until_s - window->seconds, until_s, w->item.query,
			   sizeof(w->item.query))) {
		p->opts.counts[PUSH_PPROF][PUSH_LOST]++;
		return;
	}
	p->cnt++;
	if (p->cnt == 1)
		begin_next(p);
}

/* ---- all ---- */

int pushes__start(struct pushes *p, const struct pushes_opts *opts)
{
	int err = 0;

	*p = (struct pushes){.opts = *opts, .metrics_due_ns = UINT64_MAX};
	p->export = (struct output_child){.loop = opts->loop, .done = on_export, .ctx = p};
	for (size_t to = 0; to < PUSH_TO_CNT && !err; to++)
		err = push__start(&p->to[to], opts->loop, to, opts->urls[to], opts->counts[to]);
	if (!err && opts->urls[PUSH_OTLP])
		p->metrics_due_ns = clock__monotonic_ns() + opts->interval_ns;
	return err;
}

void pushes__set_texts(struct pushes *p, const char *const urls[PUSH_TO_CNT], const char *directory)
{
	p->opts.directory = directory;
	for (size_t to = 0; to < PUSH_TO_CNT; to++)
		p->opts.urls[to] = p->to[to].url = urls[to];
}

void pushes__add_usage(const struct pushes *p, struct own_usage *usage)
{
	for (size_t to = 0; to < PUSH_TO_CNT; to++)
		if (p->to[to].pid)
			own_usage__add(usage, p->to[to].pid);
}

uint64_t pushes__due(const struct pushes *p)
{
	uint64_t due = earlier(p->metrics_due_ns, output_child__due(&p->export));

	for (size_t to = 0; to < PUSH_TO_CNT; to++)
		due = earlier(due, push__due(&p->to[to]));
	return due;
}

void pushes__tick(struct pushes *p, uint64_t now_ns)
{
	for (size_t to = 0; to < PUSH_TO_CNT; to++)
		push__tick(&p->to[to], now_ns);
	output_child__tick(&p->export, now_ns);
	if (now_ns >= p->metrics_due_ns)
		ask_metrics(p, now_ns);
}

void pushes__stop(struct pushes *p)
{
	output_child__stop(&p->export);
	for (size_t to = 0; to < PUSH_TO_CNT; to++)
		push__stop(&p->to[to]);
}
