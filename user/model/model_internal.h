/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the model share. Only for the model. */
#ifndef PROFTRACE_MODEL_INTERNAL_H
#define PROFTRACE_MODEL_INTERNAL_H

#include "model/device_join.h"
#include "model/executions.h"
#include "model/model.h"

/* A span with data for building the tree. `span` comes first, so pointers to both convert. */
struct node {
	struct span span;
	struct node *last_child;
	uint64_t seq;	 /* order of arrival: of two equal intervals the later is the parent */
	uint32_t height; /* number of levels below it */
	/* the category of an inferred phase, which had no probe; CAT_NONE: recorded */
	enum span_category synthetic;
	bool ran_closure; /* an optimizer's step that contains the forward and backward pass */
};

static inline struct node *to_node(struct span *s)
{
	return (struct node *)s;
}
static inline uint64_t span__end(const struct span *s)
{
	return s->ev.ts_ns + s->ev.dur_ns;
}

struct pool {
	struct node *free_list;
	void *blocks;
	uint64_t live;
};
struct node *pool__new(struct pool *p); /* NULL: out of memory */
void pool__release(struct pool *p, struct node *n);
void pool__release_tree(struct pool *p, struct span *s); /* and its siblings */
void pool__free(struct pool *p);

struct memory_item {
	struct event ev;
	struct event_memory args;
	struct span *span;
};

/* What a track has that was not given out yet. */
struct track_state {
	const struct track *track;
	struct span **pending; /* finished spans by time, none inside another: roots so far */
	size_t cnt, cap;
	struct memory_item *memory; /* by time */
	size_t memory_cnt, memory_cap, memory_done;
	bool memory_unordered;
	bool unordered;	      /* a span came that does not nest, so trees are sorted and
				 corrected before they are given out */
	bool active;	      /* is in model.active */
	uint64_t work_end_ns; /* latest end of the device work that this thread launched */
	struct span *roots;   /* of the current batch */
	size_t root_cnt;
};

struct interval {
	uint64_t begin, end;
	enum span_kind kind;
	bool continued; /* a later part of a forward pass */
};

/* A place at which a batch may end. */
struct boundary {
	uint64_t end_ns;
	bool is_step;
	struct step step;
};

struct live_table { /* address -> bytes of live allocations */
	struct live_slot *slots;
	size_t slot_cnt, used;
};

struct model {
	const struct recording *r;
	const struct model_opts *opts;
	int (*visit)(const struct batch *b, void *ctx);
	void *ctx;
	struct model_stats stats;
	uint64_t inside_ns, total_ns; /* cost of a span's probes: within the span; in total */
	bool free_calls;	      /* calls of the device API were recorded without probes */

	uint8_t *scopes;       /* by name id: see scopes.c; NULL: the recording has none */
	bool has_scopes;       /* some name is in a scope */
	bool timer_only;       /* recording__is_timer_only */
	bool steps_come;       /* a rule for steps was known at recording time */
	bool steps_found;      /* by a rule, not by --step-probe or --step-range */
	bool phases_elsewhere; /* in this batch the operators of another thread show the phases */

	struct pool pool;
	struct track_state *tracks; /* by track id */
	uint32_t track_cnt;
	struct track_state **active;
	size_t active_cnt, active_cap;
	bool has_device, several_devices;
	int32_t device; /* the device, if there is only one */
	struct device_join join;
	struct executions executions;
	uint64_t device_seen;	/* number of device events read so far */
	struct node **unlinked; /* device events without a launch in the recording, not given out
				   yet */
	size_t unlinked_cnt, unlinked_cap;
	bool is_paddle; /* names show the parts of its operators */
	struct live_table live;
	struct event *others;
	size_t other_cnt, other_cap;

	struct boundary queue[2];
	size_t queue_cnt;  /* batches held back for spans that cross a boundary */
	uint64_t done_ns;  /* end of the last boundary queued */
	uint64_t given_ns; /* end of the last batch given out */
	uint64_t max_end_ns, seq;
	uint64_t since_boundary, longest; /* since_boundary: spans since the last boundary;
					     longest: spans of the longest step */
	bool steps_seen;

	struct interval *phases; /* phases of the step's track in this batch */
	size_t phase_cnt, phase_cap, phase_pos;
	struct track_batch *out_tracks;
	size_t out_cap;
	struct event *out_memory;
	struct span **out_memory_spans;
	size_t out_memory_cap;
	struct node **device_done; /* device events of this batch */
	size_t device_done_cnt, device_done_cap;
};

/* span_kind.c */
/* Did it cost the target a probe at its begin or end? */
bool model__is_probed(const struct model *m, const struct span *s);
enum span_category model__category(const struct model *m, const struct span *s);
/* The kind of a span of this category that is inside no other operator. */
enum span_kind kind__of_category(enum span_category cat);

/* span.c: makes a copy with its arguments, and counts it. NULL: out of memory */
struct node *model__copy_span(struct model *m, const struct event *e);

/* tree.c */
int tree__add(struct model *m, struct track_state *t, struct node *n);
/* Moves roots that ended by end_ns from pending to t->roots. */
int tree__take(struct model *m, struct track_state *t, uint64_t end_ns);

/* finish.c: sets kinds, phases, costs, memory and device links of t->roots. */
int finish__track(struct model *m, struct track_state *t, const struct step *step);

/* scopes.c: a span's category by its full name, else by its name; see marks.h. */
int scopes__load(struct model *m);
enum span_category scopes__category(const struct model *m, const struct span *s);

/* phase.c */
/* Adds the inferred FORWARD spans to t->roots and collects m->phases. step NULL: no steps. */
int phase__infer(struct model *m, struct track_state *t, const struct step *step);
enum span_kind phase__at(struct model *m, uint64_t ts_ns); /* times must not decrease between
							      calls */
int phase__account(struct model *m, struct track_state *t, struct step *step);

static inline bool event__is_impossible(const struct event *e)
{
	return e->ts_ns > UINT64_MAX / 4 || e->dur_ns > UINT64_MAX / 4;
}

/* device.c */
/* Takes a device event that was read. */
int device__see(struct model *m, const struct event *e);
/* Gives a launch its device events, which belong to this batch. */
int device__take(struct model *m, uint32_t pid, struct span *launch);
/* The number of device events that a span has probably launched. */
uint32_t device__expect(const struct model *m, const struct event *e);
/* Collects into m->device_done device events without a launch that ended by end_ns. */
int device__take_unlinked(struct model *m, uint64_t end_ns);
/* At the end: gives out some events that no launch took. Returns their number, 0: none is left, or
 * -ENOMEM. */
int device__take_rest(struct model *m);
/* Appends one entry to out per device track in device_done. */
void device__emit(struct model *m, struct track_batch *out, size_t *cnt);
void device__free(struct model *m);

/* memory.c */
int memory__add(struct model *m, struct track_state *t, const struct event *e);
/* Attributes events before until_ns that are not attributed yet to s. s may be NULL. */
void memory__attribute(struct track_state *t, struct span *s, uint64_t until_ns);
void memory__sort(struct track_state *t);
/* Moves attributed events of all active tracks to m->out_memory. */
int memory__emit(struct model *m, size_t *cnt);
void memory__drop_done(struct track_state *t);
void memory__free(struct model *m);

#endif
