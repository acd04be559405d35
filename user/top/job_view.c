// SPDX-License-Identifier: BSD-2-Clause
#include "top/job_view.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "common/counted.h"
#include "common/text_char.h"
#include "common/util.h"

#define RECENT_COLS 8
#define PHASE_COLS  12
#define HEAD_ROWS   4 /* rows above the list */
#define FOOT_ROWS   1

/* ---- parts ---- */

void step_text(double seconds, char *to, int size)
{
	if (!(seconds > 0))
		snprintf(to, (size_t)size, "-");
	else if (seconds < 0.9995e-3)
		snprintf(to, (size_t)size, "%.1f us", 1e6 * seconds);
	else if (seconds < 0.9995)
		snprintf(to, (size_t)size, "%.1f ms", 1e3 * seconds);
	else if (seconds < 99995)
		snprintf(to, (size_t)size, "%.2f s", seconds);
	else
		snprintf(to, (size_t)size, "%.3g s", seconds);
}

void sparkline(const double *values, size_t cnt, int cols, bool ascii, char *to)
{
	static const char *const wide[] = {"\u2581", "\u2582", "\u2583", "\u2584",
					   "\u2585", "\u2586", "\u2587", "\u2588"};
	static const char *const plain[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
	const int levels = ARRAY_SIZE(wide);
	const size_t from = cnt > (size_t)cols ? cnt - (size_t)cols : 0;
	double most = 0;

	for (size_t i = from; i < cnt; i++)
		most = values[i] > most ? values[i] : most;
	*to = '\0';
	for (size_t i = from; i < cnt; i++) {
		int level = most > 0 ? (int)(values[i] / most * levels) : 0;

		level = level < levels ? level : levels - 1;
		to = stpcpy(to, ascii ? plain[level] : wide[level]);
	}
}

void phase_columns(const double phases[PHASE_CNT], int cols, int to[PHASE_CNT])
{
	double sum = 0, rest[PHASE_CNT];
	int left = cols;

	for (int i = 0; i < PHASE_CNT; i++)
		sum += phases[i];
	for (int i = 0; i < PHASE_CNT; i++) {
		const double share = sum > 0 ? phases[i] / sum * cols : 0;

		to[i] = (int)share;
		rest[i] = share - to[i];
		left -= to[i];
	}
	while (sum > 0 && left-- > 0) {
		int largest = 0;

		for (int i = 1; i < PHASE_CNT; i++)
			if (rest[i] > rest[largest])
				largest = i;
		to[largest]++;
		rest[largest] = -1;
	}
}

static const struct {
	char letter;
	enum style style;
} phase_looks[PHASE_CNT] = {
	[PHASE_FORWARD] = {'F', STYLE_FORWARD},	    [PHASE_BACKWARD] = {'B', STYLE_BACKWARD},
	[PHASE_OPTIMIZER] = {'O', STYLE_OPTIMIZER}, [PHASE_LOADER] = {'L', STYLE_LOADER},
	[PHASE_OTHER] = {'.', STYLE_PLAIN},
};

static void put_phases(struct canvas *c, int row, int col, const struct job *j)
{
	int cols[PHASE_CNT];

	phase_columns(j->phases, PHASE_COLS, cols);
	if (job__phase_sum(j) <= 0)
		canvas__put(c, row, col, PHASE_COLS, STYLE_PLAIN, "-");
	for (int i = 0; i < PHASE_CNT; i++)
		for (int k = 0; k < cols[i]; k++, col++)
			canvas__put(c, row, col, 1, phase_looks[i].style,
				    (const char[]){phase_looks[i].letter, '\0'});
}

static __attribute__((format(printf, 6, 7))) void
put_format(struct canvas *c, int row, int col, int width, enum style style, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	canvas__put(c, row, col, width, style, text);
}

/* Processors or GPUs in use; negative: unknown. */
static void put_used(struct canvas *c, int row, int col, int width, double cnt)
{
	char text[32] = "-";

	/* "9.9" has the width of the column of GPUs. */
	if (cnt >= 0)
		snprintf(text, sizeof(text), cnt < (width > 3 ? 99.95 : 9.95) ? "%.1f" : "%.0f",
			 cnt);
	canvas__put_right(c, row, col, width, STYLE_PLAIN, text);
}

/* ---- the list ---- */

enum column { NAME, RANKS, FRAMEWORK, STEP, RECENT, PHASES, CPU, GPU, FINDINGS, COLUMN_CNT };

static const struct {
	const char *title;
	int width; /* on a terminal of 80 columns */
	bool right;
} columns[COLUMN_CNT] = {
	[NAME] = {"  JOB", 16, false},
	[RANKS] = {"RANKS", 5, true},
	[FRAMEWORK] = {"FRAMEWORK", 10, false},
	[STEP] = {"STEP", 9, true},
	[RECENT] = {"RECENT", RECENT_COLS, false},
	[PHASES] = {"PHASES", PHASE_COLS, false},
	[CPU] = {"CPU", 5, true},
	[GPU] = {"GPU", 3, true},
	[FINDINGS] = {"FIND", 4, true},
};

struct layout {
	int at[COLUMN_CNT], width[COLUMN_CNT];
};

/* On a wider terminal, recent steps and names get the additional columns. */
static struct layout layout_of(int cols)
{
	const int more = cols > VIEW_COLS ? cols - VIEW_COLS : 0;
	const int recent =
		more / 2 < JOB_RECENT - RECENT_COLS ? more / 2 : JOB_RECENT - RECENT_COLS;
	struct layout l;
	int at = 0;

	for (int i = 0; i < COLUMN_CNT; i++) {
		l.at[i] = at;
		l.width[i] = columns[i].width + (i == RECENT ? recent : 0) +
			     (i == NAME ? more - recent : 0);
		at += l.width[i] + 1;
	}
	return l;
}

static void put_heads(struct canvas *c, int row, const struct layout *l)
{
	for (int i = 0; i < COLUMN_CNT; i++)
		(columns[i].right ? canvas__put_right : canvas__put)(c, row, l->at[i], l->width[i],
								     STYLE_HEAD, columns[i].title);
}

static const char *mark_of(const struct job *j)
{
	return job__has(j, "recording") ? "*" : job__is(j, "ended") ? "x" : " ";
}

static void put_job(struct canvas *c, int row, const struct layout *l, const struct job *j,
		    bool is_chosen)
{
	char text[3 * JOB_RECENT + 1];

	canvas__put(c, row, 0, 1, STYLE_PLAIN, is_chosen ? ">" : mark_of(j));
	if (is_chosen)
		canvas__put(c, row, 1, 1, STYLE_PLAIN, mark_of(j));
	canvas__put(c, row, 2, l->width[NAME] - 2, STYLE_PLAIN, j->key.name);
	snprintf(text, sizeof(text), "%zu", j->rank_cnt);
	canvas__put_right(c, row, l->at[RANKS], l->width[RANKS], STYLE_PLAIN, text);
	canvas__put(c, row, l->at[FRAMEWORK], l->width[FRAMEWORK], STYLE_PLAIN,
		    j->ranks[0].framework[0] ? j->ranks[0].framework : "-");
	step_text(j->step_s, text, sizeof(text));
	canvas__put_right(c, row, l->at[STEP], l->width[STEP], STYLE_PLAIN, text);
	sparkline(j->recent, j->recent_cnt, l->width[RECENT], c->ascii, text);
	canvas__put(c, row, l->at[RECENT], l->width[RECENT], STYLE_PLAIN,
		    j->recent_cnt ? text : "-");
	put_phases(c, row, l->at[PHASES], j);
	put_used(c, row, l->at[CPU], l->width[CPU], j->cpus);
	put_used(c, row, l->at[GPU], l->width[GPU], j->gpus);
	snprintf(text, sizeof(text), "%zu", j->finding_cnt);
	canvas__put_right(c, row, l->at[FINDINGS], l->width[FINDINGS],
			  j->finding_cnt ? STYLE_WARN : STYLE_PLAIN, j->windows ? text : "-");
}

static size_t chosen_index(const struct job_view *v)
{
	for (size_t i = 0; v->jobs && v->has_chosen && i < v->jobs->cnt; i++)
		if (job_identity__is(&v->jobs->jobs[i].key, &v->chosen))
			return i;
	return 0;
}

static void draw_list(const struct job_view *v, struct canvas *c)
{
	const struct layout l = layout_of(c->cols);
	const int rows = c->rows - HEAD_ROWS - FOOT_ROWS;
	const size_t chosen = chosen_index(v);
	const size_t from = chosen >= (size_t)rows ? chosen - (size_t)rows + 1 : 0;

	put_heads(c, HEAD_ROWS - 1, &l);
	for (int i = 0; v->jobs && i < rows && from + (size_t)i < v->jobs->cnt; i++) {
		const size_t at = from + (size_t)i;

		put_job(c, HEAD_ROWS + i, &l, &v->jobs->jobs[at], at == chosen);
		if (at == chosen)
			c->selected = HEAD_ROWS + i;
	}
	if (v->jobs && !v->jobs->cnt && !v->is_starting)
		canvas__put(c, HEAD_ROWS, 2, c->cols, STYLE_PLAIN,
			    "The monitor watches no job. It waits until a process is 2 minutes "
			    "old (--young).");
}

int job_view__draw_table(const struct job_view *v, struct canvas *c)
{
	const struct layout l = layout_of(c->cols);
	int row = 0;

	put_heads(c, row++, &l);
	for (size_t i = 0; i < v->jobs->cnt && row < c->rows; i++)
		put_job(c, row++, &l, &v->jobs->jobs[i], false);
	return row;
}

/* ---- one job ---- */

/* The page is longer than the screen. Rows count from the first visible one. */
struct page {
	struct canvas *c;
	int row, first, last; /* first and last rows of the screen for it */
};

static int page_row(struct page *p)
{
	const int row = p->row++;

	return row < p->first || row > p->last ? -1 : row;
}

static void put_heading(struct page *p, const char *text)
{
	canvas__put(p->c, page_row(p), 0, p->c->cols, STYLE_HEAD, text);
}

/* The keys are those of the rules in user/analysis/findings. */
static const char *finding_text(const char *rule)
{
	static const struct {
		const char *rule, *text;
	} texts[] = {
		{"data_loader", "Steps wait for the data loader."},
		{"cpu_wait", "Threads wait for a processor."},
		{"off_cpu", "Threads sleep or wait outside of operators."},
		{"outside_phases", "Time passes outside of all phases."},
		{"page_faults", "The kernel handles page faults."},
		{"slow_steps", "Some steps are much longer than the others."},
		{"synchronization", "The host waits for a device."},
		{"straggler", "Ranks wait for a slower rank."},
		{"exposed_communication", "Steps wait for communication."},
		{"device_idle", "The device is idle."},
		{"launch_bound", "The host launches kernels too slowly."},
		{"gpu_bound", "The device is busy: the host waits for it."},
		{"device_allocation", "Device memory is allocated in the step."},
		{"small_copies", "Many small copies to or from the device."},
		{"copy_bandwidth", "Copies are slower than the link."},
		{"exposed_copies", "Steps wait for copies."},
		{"memory_peak", "Device memory is nearly full."},
		{"memory_unused", "Device memory is reserved and not used."},
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!strcmp(texts[i].rule, rule))
			return texts[i].text;
	return "";
}

static void put_findings(struct page *p, const struct job *j)
{
	put_heading(p, "Findings of the latest windows, by share of the step");
	if (!j->finding_cnt)
		canvas__put(p->c, page_row(p), 2, p->c->cols, STYLE_PLAIN,
			    j->windows ? "none" : "- (no window was read yet)");
	for (size_t i = 0; i < j->finding_cnt; i++) {
		const struct job_figure *f = &j->findings[i];

		put_format(p->c, page_row(p), 0, p->c->cols, STYLE_WARN,
			   "%5.1f %%  %-21.40s %s (%s)", 100 * f->value, f->name,
			   finding_text(f->name), counted(f->rank_cnt, "rank", "ranks").s);
	}
}

static void put_phase_times(struct page *p, const struct job *j)
{
	const double sum = job__phase_sum(j);
	const int row = page_row(p);
	int col = 2;

	if (sum <= 0)
		canvas__put(p->c, row, col, p->c->cols, STYLE_PLAIN, "- (no window was read yet)");
	for (int i = 0; i < PHASE_CNT && sum > 0; i++, col += 15)
		put_format(p->c, row, col, 15, phase_looks[i].style, "%s %.0f %%",
			   job_phase_names[i], 100 * j->phases[i] / sum);
}

static void put_operators(struct page *p, const struct job *j)
{
	const double sum = job__phase_sum(j);

	put_heading(p, "Operators in all windows: CPU time of a step, share of the step's time");
	if (!j->operator_cnt || !j->sampled)
		canvas__put(p->c, page_row(p), 2, p->c->cols, STYLE_PLAIN,
			    "- (no window with operators was read yet)");
	for (size_t i = 0; i < j->operator_cnt && j->sampled; i++) {
		const struct job_figure *f = &j->operators[i];
		const int row = page_row(p);
		char text[32];

		step_text(f->value / (double)j->sampled, text, sizeof(text));
		canvas__put_right(p->c, row, 0, 11, STYLE_PLAIN, text);
		snprintf(text, sizeof(text), "%.1f %%", sum > 0 ? 100 * f->value / sum : 0);
		canvas__put_right(p->c, row, 12, 9, STYLE_PLAIN, sum > 0 ? text : "-");
		canvas__put(p->c, row, 23, p->c->cols - 23, STYLE_PLAIN, f->name);
	}
}

static void put_share(struct page *p, int row, int col, double share)
{
	put_format(p->c, row, col, 8, STYLE_PLAIN, "%6.1f %%", 100 * share);
}

static void put_threads(struct page *p, const struct job *j)
{
	const struct job_threads *t = &j->threads;

	put_heading(p, "    RUNS WAITS FOR A PROCESSOR   RANK THREAD, in the latest windows");
	if (!t->cnt)
		canvas__put(p->c, page_row(p), 2, p->c->cols, STYLE_PLAIN,
			    "- (no window with scheduling was read yet)");
	for (size_t i = 0; i < t->cnt + !!t->other_cnt; i++) {
		const struct job_thread *thread = i < t->cnt ? &t->list[i] : &t->others;
		const int row = page_row(p);

		put_share(p, row, 0, thread->run);
		put_share(p, row, 22, thread->runnable);
		if (i < t->cnt) {
			canvas__put_right(p->c, row, 31, 6, STYLE_PLAIN, thread->rank);
			canvas__put(p->c, row, 38, p->c->cols - 38, STYLE_PLAIN, thread->name);
		} else {
			put_format(p->c, row, 38, p->c->cols - 38, STYLE_PLAIN, "%zu%s others",
				   t->other_cnt, t->has_more ? " or more" : "");
		}
	}
}

static void put_ranks(struct page *p, const struct job *j)
{
	put_heading(p, "  RANK       PID STATE           STEPS      STEP   CPU WINDOWS REGRESSION");
	for (size_t i = 0; i < j->rank_cnt; i++) {
		const struct job_rank *r = &j->ranks[i];
		const int row = page_row(p);
		char text[32];

		canvas__put_right(p->c, row, 0, 6, STYLE_PLAIN, r->rank[0] ? r->rank : "-");
		put_format(p->c, row, 7, 9, STYLE_PLAIN, "%9lld", (long long)r->pid);
		canvas__put(p->c, row, 17, 9, STYLE_PLAIN, r->state);
		put_format(p->c, row, 27, 11, STYLE_PLAIN, "%11llu", (unsigned long long)r->steps);
		step_text(r->step_s, text, sizeof(text));
		canvas__put_right(p->c, row, 39, 9, STYLE_PLAIN, text);
		put_used(p->c, row, 49, 5, r->cpus);
		put_format(p->c, row, 55, 7, STYLE_PLAIN, "%7llu", (unsigned long long)r->windows);
		canvas__put(p->c, row, 63, p->c->cols - 63, STYLE_PLAIN, r->regression);
	}
}

/* The busy shares of a rank's GPUs, or why they are unknown. */
static void devices_text(const struct job_rank *r, char *text, size_t size)
{
	static const struct {
		const char *state, *text;
	} states[] = {{"off", "not recorded: the monitor runs without --device-times"},
		      {"without_cuda", "the process does not use CUDA"},
		      {"recorded", "no window with device times yet"},
		      {"refused", "no device times"}};
	size_t len = 0;

	snprintf(text, size, "-");
	for (size_t i = 0; i < ARRAY_SIZE(states) && !r->device_cnt; i++)
		if (!strcmp(r->device_times, states[i].state))
			snprintf(text, size, "%s%s%s", states[i].text,
				 r->device_refused[0] ? ": " : "", r->device_refused);
	for (size_t i = 0; i < r->device_cnt && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%s %.1f %%", i ? ", " : "",
					r->devices[i].name, 100 * r->devices[i].value);
}

static void put_devices(struct page *p, const struct job *j)
{
	char text[1024];

	put_heading(p, "GPUs in the latest window: share of the steps in which a kernel ran");
	for (size_t i = 0; i < j->rank_cnt; i++) {
		devices_text(&j->ranks[i], text, sizeof(text));
		put_format(p->c, page_row(p), 0, p->c->cols, STYLE_PLAIN, "%6.16s %s",
			   j->ranks[i].rank, text);
	}
}

static void put_recordings(struct page *p, const struct job *j)
{
	put_heading(p, "Latest recordings in the monitor's --store, for `proftrace report`");
	for (size_t i = 0; i < j->rank_cnt; i++)
		put_format(p->c, page_row(p), 0, p->c->cols, STYLE_PLAIN, "%6.16s %s",
			   j->ranks[i].rank, j->ranks[i].file[0] ? j->ranks[i].file : "-");
}

static void draw_job(struct job_view *v, const struct job *j, struct canvas *c)
{
	const struct job_rank *r = &j->ranks[0];
	const int shown = c->rows - 3 - FOOT_ROWS;
	char step[32];
	int all;

	step_text(j->step_s, step, sizeof(step));
	put_format(c, 2, 0, c->cols, STYLE_HEAD,
		   "%s: uid %lld, %s, %s %s, step %s, opened by %s%s%.12s", j->key.name,
		   (long long)j->key.uid, counted(j->rank_cnt, "rank", "ranks").s,
		   r->framework[0] ? r->framework : "framework -", r->version, step,
		   r->step_rule[0] ? r->step_rule : "-", j->key.container[0] ? ", container " : "",
		   j->key.container);
	for (bool again = true; again;) {
		struct page p = {c, 3 - v->scroll, 3, c->rows - 1 - FOOT_ROWS};

		put_heading(&p, "Phases in all windows");
		put_phase_times(&p, j);
		put_findings(&p, j);
		put_operators(&p, j);
		put_threads(&p, j);
		put_devices(&p, j);
		put_ranks(&p, j);
		put_recordings(&p, j);
		all = p.row - 3 + v->scroll;
		/* The page became shorter, or the screen larger. */
		again = v->scroll > 0 && v->scroll > all - shown;
		if (again) {
			v->scroll = all > shown ? all - shown : 0;
			for (int row = 3; row < c->rows; row++)
				put_format(c, row, 0, c->cols, STYLE_PLAIN, "%*s", c->cols, "");
		}
	}
	v->page_rows = shown;
}

/* ---- all of it ---- */

static void put_title(const struct job_view *v, struct canvas *c)
{
	if (v->jobs)
		put_format(c, 0, 0, c->cols, STYLE_HEAD, "proftrace top  %s  %s, %s%s  by %s",
			   v->place, counted(v->jobs->cnt, "job", "jobs").s,
			   counted(v->jobs->rank_cnt + v->jobs->left_out, "rank", "ranks").s,
			   v->jobs->left_out ? " (not all shown)" : "", job_order_names[v->order]);
	else
		put_format(c, 0, 0, c->cols, STYLE_HEAD, "proftrace top  %s", v->place);
	if (v->problem[0] && v->jobs && !v->is_starting)
		put_format(c, 1, 0, c->cols, STYLE_WARN, "These figures are %.0f s old: %s",
			   v->age_s, v->problem);
	else if (v->message[0])
		canvas__put(c, 1, 0, c->cols, STYLE_HEAD, v->message);
	else if (v->problem[0])
		canvas__put(c, 1, 0, c->cols, STYLE_WARN, v->problem);
	else if (!v->jobs)
		canvas__put(c, 1, 0, c->cols, STYLE_PLAIN, "waiting for the monitor's answer");
}

/* The part of the problem that does not fit into the line above. True: there is some, and it was
 * written here. */
static bool put_rest(const struct job_view *v, struct canvas *c)
{
	const char *rest = NULL, *text = v->problem;

	if (!v->is_starting || v->message[0] || text__columns(text) <= c->cols)
		return false;
	for (size_t i = 0; text[i] && text__columns_within(text, i) <= c->cols; i++)
		if (text[i] == ' ')
			rest = text + i;
	if (!rest)
		return false;
	for (int col = 0; col < c->cols; col++)
		canvas__put(c, 1, col, 1, STYLE_PLAIN, " ");
	put_format(c, 1, 0, c->cols, STYLE_WARN, "%.*s", (int)(rest - text), text);
	canvas__put(c, 2, 0, c->cols, STYLE_WARN, rest + 1);
	return true;
}

static void put_legend(struct canvas *c)
{
	int col = 0;

	for (int i = 0; i < PHASE_CNT; i++) {
		put_format(c, 2, col, 12, phase_looks[i].style, "%c %s", phase_looks[i].letter,
			   job_phase_names[i]);
		col += (int)strlen(job_phase_names[i]) + 4;
	}
	canvas__put(c, 2, col, c->cols - col, STYLE_PLAIN, "* recording  x ended");
}

void job_view__draw(struct job_view *v, struct canvas *c)
{
	const struct job *j = job_view__chosen(v);

	if (c->cols < VIEW_COLS || c->rows < VIEW_ROWS) {
		put_format(c, 0, 0, c->cols, STYLE_PLAIN, "%d x %d is too small:", c->cols,
			   c->rows);
		put_format(c, 1, 0, c->cols, STYLE_PLAIN, "proftrace top needs %d x %d", VIEW_COLS,
			   VIEW_ROWS);
		canvas__put(c, 2, 0, c->cols, STYLE_PLAIN, "q ends it");
		return;
	}
	put_title(v, c);
	if (v->is_open && j) {
		draw_job(v, j, c);
		canvas__put(c, c->rows - 1, 0, c->cols - 1, STYLE_HEAD,
			    "j k PgUp PgDn scroll   r record a window   q Esc back");
		return;
	}
	v->is_open = false;
	if (!put_rest(v, c))
		put_legend(c);
	draw_list(v, c);
	canvas__put(c, c->rows - 1, 0, c->cols - 1, STYLE_HEAD,
		    "j k choose   Enter open   s sort   r record a window   q quit");
}

/* ---- keys ---- */

const struct job *job_view__chosen(const struct job_view *v)
{
	const size_t at = chosen_index(v);

	return v->jobs && at < v->jobs->cnt ? &v->jobs->jobs[at] : NULL;
}

static void choose(struct job_view *v, size_t at)
{
	v->has_chosen = v->jobs && at < v->jobs->cnt;
	if (v->has_chosen)
		v->chosen = v->jobs->jobs[at].key;
}

void job_view__set_jobs(struct job_view *v, struct job_list *jobs)
{
	const struct job *j;

	job_list__free(v->jobs);
	v->jobs = jobs;
	job_list__sort(jobs, v->order);
	j = job_view__chosen(v);
	/* When a job is gone, its page is not shown for another job. */
	if (v->is_open && (!j || !job_identity__is(&j->key, &v->chosen))) {
		snprintf(v->message, sizeof(v->message), "The monitor has no %s any more.",
			 v->chosen.name);
		v->is_open = false;
	}
	choose(v, chosen_index(v));
}

void job_view__move(struct job_view *v, int by)
{
	const size_t at = chosen_index(v);
	size_t to;

	if (v->is_open) {
		v->scroll = v->scroll + by > 0 ? v->scroll + by : 0;
		return;
	}
	if (!v->jobs || !v->jobs->cnt)
		return;
	to = by < 0 ? (at > (size_t)-by ? at - (size_t)-by : 0) : at + (size_t)by;
	choose(v, to < v->jobs->cnt ? to : v->jobs->cnt - 1);
}

void job_view__set_order(struct job_view *v, enum job_order order)
{
	v->order = order;
	if (v->jobs)
		job_list__sort(v->jobs, order);
}
