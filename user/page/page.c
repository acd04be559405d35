// SPDX-License-Identifier: BSD-2-Clause
/* The page: its own files, with the data in the middle. */
#include "page/page.h"
#include <string.h>
#include <sys/random.h>
#include "common/err.h"
#include "page/message_table.h"
#include "common/util.h"
#include "exporters/parts/facts.h"
#include "page/assets.h"
#include "page/page_internal.h"

#define ROWS_MAX 500 /* of a table or section, unless the user asks for fewer */

struct page {
	const struct recording *r;
	const struct report_opts *opts;
	struct usage usage;
	struct page_steps steps;
	struct page_timelines timelines;
	struct stacks stacks;
	struct page_names names;
	char *tables; /* JSON */
	size_t tables_len;
	char nonce[33]; /* only scripts and styles with this nonce are accepted */
};

/* ---- collecting ---- */

static int make_tables(struct page *p)
{
	struct report_opts opts = *p->opts;
	auto_free char *names = opts.tables ? NULL : report__all_tables();
	FILE *f = open_memstream(&p->tables, &p->tables_len);
	int err;

	if (!f || (!opts.tables && !names)) {
		if (f)
			fclose(f);
		return -ENOMEM;
	}
	if (names)
		opts.tables = names;
	opts.style = (struct table_style){.format = TABLE_GRID, .unit = UNIT_MS};
	opts.style.row_limit = p->opts->style.row_limit;
	if (!opts.style.row_limit || opts.style.row_limit > ROWS_MAX)
		opts.style.row_limit = ROWS_MAX;
	err = report__print(p->r, &opts, f);
	if ((fclose(f) || !p->tables) && !err)
		err = -ENOMEM;
	return err;
}

static int survey(const struct batch *b, void *ctx)
{
	struct page *p = ctx;
	int err = usage__visit(&p->usage, b);

	return err ? err : page_steps__visit(&p->steps, b);
}

static int choose_timelines(struct page *p)
{
	struct chosen_step chosen[TIMELINES_MAX];
	const int cnt = page_steps__choose(&p->steps, p->opts->page_step, chosen);

	if (cnt < 0)
		return cnt;
	p->timelines.r = p->r;
	p->timelines.names = &p->names;
	p->timelines.stepless = !cnt;
	p->timelines.cnt = cnt ? (size_t)cnt : 1;
	for (int i = 0; i < cnt; i++)
		p->timelines.items[i].step = chosen[i];
	return 0;
}

static int collect(struct page *p)
{
	const struct model_opts opts = {.raw_times = p->opts->raw_times};
	int err = make_tables(p);

	if (!err)
		err = stacks__collect(p->r, false, false, &p->stacks);
	if (!err)
		err = page_names__init(&p->names, &p->stacks);
	if (!err)
		err = model__run(p->r, &opts, survey, p);
	if (!err)
		err = usage__finish(&p->usage);
	if (!err)
		err = choose_timelines(p);
	if (!err)
		err = model__run(p->r, &opts, page_timelines__visit, &p->timelines);
	return err;
}

/* ---- writing ---- */

static int write_facts(const struct page *p, struct text_file *out)
{
	auto_free char *title = facts__title(p->r), *loss = facts__loss(p->r);
	auto_free char *unprobed = facts__unprobed(p->r);

	if (!title || !loss || !unprobed)
		return -ENOMEM;
	text_file__print(out, "{\"version\":\"%s\",\"events\":%llu,\"title\":", PROFTRACE_VERSION,
			 (unsigned long long)recording__event_cnt(p->r));
	page_json__string(out, title);
	text_file__print(out, ",\n\"loss\":");
	page_json__string(out, loss);
	text_file__print(out, ",\n\"unprobed\":");
	page_json__string(out, unprobed);
	return 0;
}

static int write_data(struct page *p, struct text_file *out)
{
	int err = write_facts(p, out);

	text_file__print(out, ",\n\"kinds\":[");
	for (int kind = 0; kind < KIND_CNT; kind++)
		text_file__print(out, "%s\"%s\"", kind ? "," : "",
				 span_kind__label((enum span_kind)kind));
	text_file__print(out, "],\n\"tables\":");
	page_json__raw(out, p->tables, p->tables_len);
	text_file__print(out, ",\n\"steps\":");
	if (!err)
		err = page_steps__write(&p->steps, out);
	text_file__print(out, ",\n\"usage\":");
	usage__write(&p->usage, out);
	text_file__print(out, ",\n\"flame\":");
	if (!err)
		err = flame__write(&p->stacks, &p->names, out);
	text_file__print(out, ",\n\"timelines\":");
	if (!err)
		err = page_timelines__write(&p->timelines, p->r, &p->names, out);
	text_file__print(out, ",\n\"names\":");
	page_names__write(&p->names, out);
	text_file__print(out, "}\n");
	return err;
}

static int write_mark(struct page *p, const char *mark, size_t len, struct text_file *out)
{
	const struct {
		const char *name, *text;
	} marks[] = {{"css", page_asset_css}, {"js", page_asset_js}, {"nonce", p->nonce}};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (strlen(marks[i].name) == len && !memcmp(marks[i].name, mark, len))
			text_file__put(out, marks[i].text, strlen(marks[i].text));
	return len == 4 && !memcmp(mark, "data", 4) ? write_data(p, out) : 0;
}

/* The HTML, with each {{mark}} replaced. */
static int write_html(struct page *p, struct text_file *out)
{
	const char *html = page_asset_html;
	int err = 0;

	while (*html && !err) {
		const char *mark = strstr(html, "{{"), *end = mark ? strstr(mark, "}}") : NULL;

		if (!end) {
			text_file__put(out, html, strlen(html));
			break;
		}
		text_file__put(out, html, (size_t)(mark - html));
		err = write_mark(p, mark + 2, (size_t)(end - mark - 2), out);
		html = end + 2;
	}
	return err;
}

static int make_nonce(struct page *p)
{
	unsigned char bytes[(sizeof(p->nonce) - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -errno;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(p->nonce + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static void page__free(struct page *p)
{
	usage__free(&p->usage);
	free(p->steps.items);
	page_timelines__free(&p->timelines);
	page_names__free(&p->names);
	stacks__free(&p->stacks);
	free(p->tables);
}

int page__write(const struct recording *r, const struct report_opts *opts, const char *path,
		uint64_t *bytes)
{
	struct page *p = calloc(1, sizeof(*p));
	struct text_file *out = NULL;
	int err = p ? make_nonce(p) : -ENOMEM;

	if (!err) {
		p->r = p->usage.r = r;
		p->opts = opts;
		p->steps.timer_only = recording__is_timer_only(r);
		err = collect(p);
	}
	if (!err)
		err = text_file__open(path, 0, &out);
	if (!err) {
		err = write_html(p, out);
		err = text_file__end(out, err, bytes);
	}
	if (p)
		page__free(p);
	free(p);
	return err == -ENOMEM ? err__set(err, MESSAGE_PAGE_OUT_OF_MEMORY) : err;
}
