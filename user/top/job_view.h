/* SPDX-License-Identifier: BSD-2-Clause */
/* From the jobs to what a screen shows. Nothing here waits or prints. */
#ifndef PROFTRACE_TOP_JOB_VIEW_H
#define PROFTRACE_TOP_JOB_VIEW_H

#include "top/canvas.h"
#include "top/job_list.h"

#define VIEW_COLS 80 /* the least it is made for */
#define VIEW_ROWS 10

struct job_view {
	struct job_list *jobs; /* NULL: there was no answer yet */
	char place[128];       /* of the monitor */
	char problem[256];     /* why there is no newer answer; "": there is */
	char message[256];     /* answer to a key */
	bool is_starting;      /* problem: why no window was read yet; the figures are not old */
	double age_s;	       /* of `jobs` */
	enum job_order order;
	struct job_identity chosen;
	bool has_chosen, is_open; /* one job's page */
	int scroll, page_rows;	  /* of that page; rows of it that were shown */
};

/* The job that the cursor is at; NULL: there is none. */
const struct job *job_view__chosen(const struct job_view *v);
/* Other jobs have come: the cursor stays at its job, or goes to the first. Takes them. */
void job_view__set_jobs(struct job_view *v, struct job_list *jobs);
void job_view__move(struct job_view *v, int by);
void job_view__set_order(struct job_view *v, enum job_order order);
void job_view__draw(struct job_view *v, struct canvas *c);
/* Heads and rows of the list alone, for --once. Returns its rows. */
int job_view__draw_table(const struct job_view *v, struct canvas *c);

/* ---- its parts ---- */

/* "12.3 ms"; "-": not known. */
void step_text(double seconds, char *to, int size);
/* The latest `cols` values, the highest of them as the highest bar. to: 3 * cols + 1 bytes at least. */
void sparkline(const double *values, size_t cnt, int cols, bool ascii, char *to);
/* Columns of each phase in a bar, by largest remainder: their sum is `cols`, or 0 if no time is known. */
void phase_columns(const double phases[PHASE_CNT], int cols, int to[PHASE_CNT]);

#endif
