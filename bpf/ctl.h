/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The control block, in .bss and memory-mapped by the loader: what the loader wants, and what the
 * programs keep. Shared by both sides.
 */
#ifndef PROFTRACE_CTL_H
#define PROFTRACE_CTL_H

#include "events.h"
#include "layout.h"

#define PT_MAX_NAME_RULES 16   /* prefix rules that classify a dynamic name */
#define PT_PASSES	  1024 /* backward passes remembered, a power of two */
#define PT_PASSES_NEAR	  8    /* latest passes in which a node that ends now may have begun */
#define PT_STEP_RING	  64   /* step boundaries remembered for splitting intervals */
#define PT_MAX_RETURNS	  256  /* return sites of calls whose end has no probe */
#define PT_RETURN_IS_SEEN (1u << 31) /* flag in a return site's row: it has a probe, or can have
					none */
#define PT_MAX_TARGETS	  256  /* processes followed at once (the target and its workers) */

/* A step boundary is the begin or end of a span of one of these classes. */
enum pt_name_class {
	PT_CLASS_NONE = 0,
	PT_CLASS_DATALOADER = 1,
	PT_CLASS_OPTIMIZER = 2,
	PT_CLASS_ZERO_GRAD = 3,
	PT_CLASS_PROFILER_STEP = 4,
	PT_CLASS_USER_STEP = 5, /* --step-range */
	PT_CLASS_BACKWARD = 6,
	PT_CLASS_STEP_PROBE = 7, /* --step-probe, or the operator that opens each period */
	PT_CLASS_FORWARD = 8,
	PT_CLASS_GRAPH = 9, /* a run of a compiled graph, of whatever phases */
	PT_CLASS_OPTIMIZER_OP = 10, /* an operator that is part of an optimizer's step */
	PT_CLASS_ITERATION = 11, /* a range that its program calls one of a sequence */
	PT_CLASS_INTERNAL = 12, /* an operator with which the framework makes ranges; it gets no
				   span */
	PT_CLASS_EVALUATION = 13, /* a run of a compiled graph that only evaluates */
	PT_CLASS_GRADIENTS = 14, /* a run that computes gradients, and leaves the update to
				    others */
	PT_CLASS_CNT,
};

struct pt_name_rule {
	char prefix[120];
	__u32 len; /* number of bytes to compare */
	__u32 name_class;
};

/* Overrides the schedule from the next step on: opens no window, or opens one. */
enum pt_hold { PT_HOLD_NONE = 0, PT_HOLD_CLOSED, PT_HOLD_RECORD };

struct pt_schedule {
	__u64 skip_first, closed, ready, record; /* numbers of steps */
	__u64 repeat;				 /* number of windows, 0: until stopped */
};

/* The Python function that is an optimizer's step; see optimizer_step.bpf.c. */
struct pt_optimizer_step {
	__u64 refs_at;	  /* runtime address: how many references its code object has */
	__u32 row;	  /* of the probe table, 0: none is looked for */
	__u32 tid;	  /* the thread that calls it, 0: the one that counts steps */
	/* The enclosing function: the runtime address of its function object, 0: not known; and of
	 * the instruction in it that calls the step. */
	__u64 enclosing, enclosing_calls;
};

/* The latest backward passes that ended: passes[(cnt - 1) % PT_PASSES] is the newest. */
struct pt_passes {
	struct {
		__u64 begin_ns, end_ns;
		__u32 tid, pad;
	} passes[PT_PASSES];
	__u32 cnt;
};

/* Run time of the thread that counts steps, while its context switches are seen. */
struct pt_step_run {
	__u64 ran_ns;		/* until it left a processor last */
	__u64 at[PT_STEP_RING]; /* at boundaries, as step_ns; 0: not known */
	__u64 opened, closed;	/* as the latest window opened and closed at a boundary */
};

/* Each owner writes to cache lines of its own: all programs read what the loader sets. */
#define PT_CTL_LINE __attribute__((aligned(64)))

/* One per loaded object, in .bss. scripts/house proves who writes which group. */
struct pt_ctl {
	/* The loader sets it. */
	struct {
		__u32 target_pid;      /* tgid of the main target */
		__u32 boundary_class;  /* enum pt_name_class that opens a step, 0: learning */
		__u32 boundary_at_end; /* 1: the span's end is the boundary, 0: its begin */
		__u32 boundary_needs;  /* class that must be seen between two boundaries, 0: none */
		__u32 counting;	       /* 1: steps are counted (step 0 begins at the next boundary) */
		__u64 count_from_ns;   /* earlier boundaries are not counted, so that ranks begin
					  together */
		/* Not 0: the heavy probes are attached, so a window may open. With `armed_once` it
		 * must also be one more than `closes`: then the loader has seen the end of the
		 * window before. */
		__u32 armed;
		__u32 armed_once;
		__u32 learn;	       /* 1: spans are made even while the window is closed */
		__u32 step_row;	       /* row whose span opens a step (class STEP_PROBE), 0: none */
		__u64 measure_from, measure_to; /* probe statistics are kept while step_seq is in [from, to) */
		__u64 clip_ns; /* for struct pt_probe_stat */
		struct pt_schedule schedule;
		struct pt_layout layout;
		struct pt_name_rule name_rules[PT_MAX_NAME_RULES];
		struct pt_optimizer_step optimizer_step;
		__u32 follow_forks; /* 1: children of targets become targets */
		__u32 hold;	    /* enum pt_hold */
		__u64 open_from_ns; /* with PT_HOLD_RECORD: no window opens before */
		__u32 steps_only;     /* 1: ranges' ends have no probes, their begins tell of steps */
		__u32 pass_is_update; /* 1: while steps_only is set, the end of a backward pass
					 counts as the optimizer's update, too */
		__u64 rearmed_ns;	    /* ranges that began before this are not known to have ended */
		__u64 changed_ns;   /* calls that began before this are not, either (PT_MAY_MISS_END): probes were changed then */
		__u32 loader_next_alone;  /* the data loader, and nothing else, makes the steps */
		__u32 run_is_seen;	  /* 1: the programs see when the thread of the steps runs */
		__u64 steps_left_probeless; /* from the latest boundary to the next window */
	} PT_CTL_LINE;
	/* The window. Programs write it where a step opens and closes it, else the loader does. */
	struct {
		__u32 window_open;		       /* 1: records are kept */
		__u32 state;			       /* enum pt_step_state */
		__u64 window_open_ns, window_close_ns; /* edges of the latest window */
		__u64 window_cnt;		       /* windows opened so far */
	} PT_CTL_LINE;
	/* Both write it: the programs as they run, the loader before it attaches those concerned, or at any time where that
	 * is said. */
	struct {
		__u32 step_tid;	       /* thread whose boundaries count; 0: the programs choose the first that shows one */
		__u32 gap;	    /* 1, at any time: the next boundary ends the window for one step, and a program resets it */
		__u32 loader_next_ahead;  /* 1: a loader next by breakpoint opens the step whose boundary follows;
				      0 from when one came before the update of the step before */
		__u32 loader_next_opened;  /* 1: a loader next opened a step whose boundary has not come */
		__u32 need_seen;    /* 1: boundary_needs was seen since the last boundary */
		__u32 epoch_ended; /* 1: the latest loader next found no batch */
		__u32 nests;	    /* 1: spans that make the boundary were seen inside one another; the loader forgets it at any time */
		__u32 probeless;     /* 1: layout.counters tell how many steps end at the next boundary; a program resets it */
		__u64 probeless_steps;     /* steps since the latest boundary, as it seems; programs reset it */
		__u64 run_in_ns; /* when the thread of the steps came onto a processor; 0: it is on none, or that was not seen */
		__u32 optimizer_stack; /* 1, at any time: the next operator of an optimizer sends its stack, by which its
					  step is found; a program resets it */
		__u32 optimizer_under_way; /* 1: a call of its step whose begin no probe saw may be under way; a program
					      resets it */
		__u32 optimizer_refs;	/* latest count of references of the step's code, 0: not known */
		__u32 target_cnt;   /* indices given out in `targets`; programs count on at forks */
		__u32 long_name_cnt; /* texts in `long_names`; the loader takes off those it took out, at any time */
		__u64 class_seen[PT_CLASS_CNT]; /* spans of each class since attach; the loader forgets those of a step probe, at any time */
	} PT_CTL_LINE;
	/* The programs keep it. */
	struct {
		__u64 step;			       /* current step */
		__u64 step_seq; /* boundaries seen; step_ns[step_seq % PT_STEP_RING] is the latest */
		__u64 step_ns[PT_STEP_RING];
		struct pt_step_run run;
		__u64 step_took_ns; /* the latest step, on average where several ended at one boundary */
		__u32 class_tid[PT_CLASS_CNT];	/* the thread of the latest */
		__u32 aside_tid; /* the latest thread that showed a boundary, and is not the one of the steps */
		__u32 started;	    /* 1: step 0 has begun */
		__u32 passes;	      /* backward passes since the latest boundary */
		struct pt_passes ended;
		__u32 loader_next_ended;   /* 1: a loader next was seen to return; one that was not has thrown */
		__u64 loader_next_exception; /* what the thread handled when that began */
		__u32 loader_next_tid;	   /* the thread of the latest loader next by breakpoint, 0: none */
		__u32 cupti_claimed; /* 1: another tool has begun to use CUPTI */
		__u64 cupti_kinds;   /* activity kinds that other tools enabled, a bit each */
		/* layout.counters at the latest boundary, and their growth in the latest step seen
		 * from begin to end. 0: the thread's, 1: the common one. */
		__u64 counter[2], counter_step[2];
		__u32 optimizer_passes;	 /* backward passes since the latest call of the optimizer's step */
		__u64 optimizer_functions[PT_STACK_FRAMES]; /* function objects of the frames of the latest stack */
	} PT_CTL_LINE;
	/* The programs count it. */
	struct {
		__u32 closes; /* windows that have ended at a step */
		__u64 traced;	     /* times that a mode of tracing began (torch.compile, torch.export) */
		__u64 updates_again; /* optimizers' steps behind another one of their thread, and no backward pass */
		__u64 aside_beside; /* boundaries of threads that are not the one of the steps, in windows and in the steps that were measured */
		__u64 shifted;	    /* steps by which a window was late because probes were not yet armed */
		__u32 passes_alike;   /* number of consecutive steps with one backward pass each */
		__u32 passes_odd;     /* steps with another number of passes */
		__u64 lost_ring;    /* records that found the ring full */
		__u64 lost_depth;   /* spans deeper than PT_MAX_OPEN_SPANS */
		__u64 lost_ends;    /* calls to whose end no probe was put yet, in windows */
		__u64 lost_storage; /* threads for which no storage could be had */
		__u64 lost_targets; /* children that found `targets` full */
		__u64 stacks_cut;    /* stacks that have more than PT_STACK_FRAMES */
		__u64 stacks_unread; /* spans whose stack could not be read, or is of no thread of Python */
		__u64 stacks_full;   /* spans without a stack: there were PT_MAX_STACKS others */
		__u64 stack_cnt, stack_ns; /* stacks read, and the time that it took */
		__u64 loader_next_steps; /* boundaries in whose place a loader next opened the step */
		__u32 return_cnt;    /* places noted in the map `returns` */
		__u64 callee_ends;   /* hits of callee_end in windows: no record tells of them */
		__u64 enclosing_hits; /* in windows: calls that probes saw in search of what is around the optimizer's step */
		__u32 optimizer_outside; /* operators of optimizers that ran outside of its step, in measured steps */
		__u32 optimizer_endless; /* calls of its step whose end was not seen: they are in no span */
		__u32 counter_alike; /* steps in a row in which layout.counters grew by as much as in the one before */
		__u32 counter_odd;   /* boundaries at which they had not grown by the same whole steps */
		__u64 counted_steps; /* steps that ended without a boundary */
	} PT_CTL_LINE;
};

#endif
