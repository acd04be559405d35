/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts jobs to the contents of a screen. Nothing here waits or prints. */
#ifndef PROFTRACE_TOP_JOB_VIEW_H
#define PROFTRACE_TOP_JOB_VIEW_H

#include "top/canvas.h"
#include "top/job_list.h"

#define VIEW_COLS 80 /* the least width that it is made for */
#define VIEW_ROWS 10

struct job_view {
	struct job_list *jobs; /* NULL: no answer yet */
	char place[128];       /* the monitor's address */
	char problem[256];     /* why there is no newer answer; "": there is one */
	char message[256];     /* shown after a key was pressed */
	bool is_starting;      /* problem says why no window was read yet, not that the figures
				  are old */
	double age_s;	       /* age of `jobs` */
	enum job_order order;
	struct job_identity chosen;
	bool has_chosen, is_open; /* is_open: the page of one job is shown */
	int scroll, page_rows;	  /* scroll position of that page; its number of visible rows */
};

/* The job at the cursor. NULL: there is none. */
const struct job *job_view__chosen(const struct job_view *v);
/* New jobs: the cursor stays at its job, or goes to the first. Takes over l. */
void job_view__set_jobs(struct job_view *v, struct job_list *jobs);
void job_view__move(struct job_view *v, int by);
void job_view__set_order(struct job_view *v, enum job_order order);
void job_view__draw(struct job_view *v, struct canvas *c);
/* Draws only the titles and rows of the list, for --once. Returns the number of rows. */
int job_view__draw_table(const struct job_view *v, struct canvas *c);

/* ---- its parts ---- */

/* "12.3 ms"; "-" for unknown. */
void step_text(double seconds, char *to, int size);
/* Draws the latest `cols` values as bars; the highest value has the highest bar. to: at least 3 *
 * cols + 1 bytes. */
void sparkline(const double *values, size_t cnt, int cols, bool ascii, char *to);
/* The columns of each phase in a bar, by largest remainder. Their sum is `cols`, or 0 if no time is
 * known. */
void phase_columns(const double phases[PHASE_CNT], int cols, int to[PHASE_CNT]);

#endif
