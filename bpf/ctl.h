/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The control block: what the loader wants, and what the programs keep. It is in .bss, and the loader maps it into its
 * memory. Both sides share it.
 */
#ifndef PROFTRACE_CTL_H
#define PROFTRACE_CTL_H

#include "events.h"
#include "layout.h"

#define PT_MAX_NAME_RULES 16   /* prefix rules that classify a dynamic name */
#define PT_PASSES	  1024 /* backward passes remembered, a power of two */
#define PT_PASSES_NEAR	  8    /* a node that ends now began in one of this many latest passes */
#define PT_STEP_RING	  64   /* step boundaries remembered, to split intervals */
#define PT_MAX_RETURNS	  256  /* return sites of calls whose end has no probe */
#define PT_RETURN_IS_SEEN (1u << 31) /* flag in a return site's row: the site has a probe, or cannot have one */
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
	PT_CLASS_GRAPH = 9, /* a run of a compiled graph, of any phases */
	PT_CLASS_OPTIMIZER_OP = 10, /* an operator that is a part of an optimizer's step */
	PT_CLASS_ITERATION = 11, /* an iteration range */
	PT_CLASS_INTERNAL = 12, /* an operator by which the framework makes ranges; it gets no span */
	PT_CLASS_EVALUATION = 13, /* a run of a compiled graph that only evaluates */
	PT_CLASS_GRADIENTS = 14, /* a run that computes gradients without the update */
	PT_CLASS_CNT,
};

struct pt_name_rule {
	char prefix[120];
	__u32 len; /* number of bytes to compare */
	__u32 name_class;
};

/* Overrides the schedule from the next step on: CLOSED opens no window, RECORD opens one. */
enum pt_hold { PT_HOLD_NONE = 0, PT_HOLD_CLOSED, PT_HOLD_RECORD };

struct pt_schedule {
	__u64 skip_first, closed, ready, record; /* numbers of steps */
	__u64 repeat;				 /* number of windows, 0: until stopped */
};

/* The Python function that is an optimizer's step (optimizer_step.bpf.c). */
struct pt_optimizer_step {
	__u64 refs_at;	  /* address of the reference count of its code object */
	__u32 row;	  /* row of the probe table; 0: do not look for the function */
	__u32 tid;	  /* the thread that calls the function; 0: the thread that counts steps */
	/* The enclosing function: address of its function object (0: unknown), and of its instruction that calls the
	 * step. */
	__u64 enclosing, enclosing_calls;
};

/* The latest backward passes that have ended: passes[(cnt - 1) % PT_PASSES] is the newest. */
struct pt_passes {
	struct {
		__u64 begin_ns, end_ns;
		__u32 tid, pad;
	} passes[PT_PASSES];
	__u32 cnt;
};

/* CPU time of the thread that counts steps, while the programs see its context switches. */
struct pt_step_run {
	__u64 ran_ns;		/* until the thread last left a processor */
	__u64 at[PT_STEP_RING]; /* at boundaries, as step_ns; 0: unknown */
	__u64 opened, closed;	/* when the latest window opened and closed at a boundary, as at[] */
};

/* Each owner writes to its own cache lines, since all programs read what the loader sets. */
#define PT_CTL_LINE __attribute__((aligned(64)))

/* One for each loaded object, in .bss. scripts/house proves who writes which group. */
struct pt_ctl {
	/* The loader sets these members. */
	struct {
		__u32 target_pid;      /* tgid of the main target */
		__u32 boundary_class;  /* enum pt_name_class that opens a step, 0: learning */
		__u32 boundary_at_end; /* 1: the span's end is the boundary, 0: its begin */
		__u32 boundary_needs;  /* class that must be seen between two boundaries, 0: none */
		__u32 counting;	       /* 1: steps count (step 0 begins at the next boundary) */
		__u64 count_from_ns;   /* earlier boundaries do not count, so that ranks begin together */
		/* Not 0: all probes of a window are attached, so a window may open. With `armed_once` it must also
		 * equal `closes` + 1. Then the loader has seen the end of the window before. */
		__u32 armed;
		__u32 armed_once;
		__u32 learn;	       /* 1: spans are made even while the window is closed */
		__u32 step_row;	       /* row whose span opens a step (class STEP_PROBE), 0: none */
		__u64 measure_from, measure_to; /* statistics of probes are kept while step_seq is in [from, to) */
		__u64 clip_ns; /* for struct pt_probe_stat */
		struct pt_schedule schedule;
		struct pt_layout layout;
		struct pt_name_rule name_rules[PT_MAX_NAME_RULES];
		struct pt_optimizer_step optimizer_step;
		__u32 follow_forks; /* 1: children of targets become targets */
		__u32 hold;	    /* enum pt_hold */
		__u64 open_from_ns; /* with PT_HOLD_RECORD: no window opens before this time */
		__u32 steps_only;     /* 1: ends of ranges have no probes, and begins make steps */
		/* 1: while steps_only is set, the end of a backward pass also counts as the optimizer's update */
		__u32 pass_is_update;
		__u64 rearmed_ns;	    /* the ends of ranges that began before this are unknown */
		/* probes changed at this time: calls with PT_MAY_MISS_END that began before may have ended unseen */
		__u64 changed_ns;
		__u32 loader_next_alone;  /* the data loader, and nothing else, makes the steps */
		__u32 run_is_seen;	  /* 1: the programs see when the step thread runs */
		__u64 steps_left_probeless; /* steps from the latest boundary to the next window */
	} PT_CTL_LINE;
	/* The window. The programs write it if steps open and close windows, otherwise the loader. */
	struct {
		__u32 window_open;		       /* 1: records are kept */
		__u32 state;			       /* enum pt_step_state */
		__u64 window_open_ns, window_close_ns; /* edges of the latest window */
		__u64 window_cnt;		       /* windows opened so far */
	} PT_CTL_LINE;
	/* Written by both. The programs write while they run. The loader writes before it attaches the programs that
	 * use the member, or at any time if the comment says so. */
	struct {
		/* the thread whose boundaries count; 0: the first thread that shows a boundary */
		__u32 step_tid;
		/* 1: the next boundary ends the window for one step. The loader sets it at any time, a program resets
		 * it */
		__u32 gap;
		/* 1: a loader next at a breakpoint opens the step of the next boundary; 0 once a loader next came
		 * before the previous step's update */
		__u32 loader_next_ahead;
		__u32 loader_next_opened;  /* 1: a loader next opened a step, and its boundary has not come yet */
		__u32 need_seen;    /* 1: boundary_needs was seen since the last boundary */
		__u32 epoch_ended; /* 1: the latest loader next found no batch */
		/* 1: spans that make boundaries were seen inside each other; the loader resets it at any time */
		__u32 nests;
		/* 1: layout.counters show how many steps end at the next boundary; a program resets it */
		__u32 probeless;
		__u64 probeless_steps;     /* probable number of steps since the latest boundary; programs reset it */
		/* when the step thread came onto a processor; 0: it is on none, or this was not seen */
		__u64 run_in_ns;
		/* 1: the next operator of an optimizer sends its stack, to find the optimizer's step. The loader sets
		 * it at any time, a program resets it */
		__u32 optimizer_stack;
		/* 1: a call of the optimizer's step may be under way whose begin no probe saw; a program resets it */
		__u32 optimizer_under_way;
		__u32 optimizer_refs;	/* latest reference count of the code of the optimizer's step; 0: unknown */
		__u32 target_cnt;   /* indices given out in `targets`; programs continue at forks */
		/* texts in `long_names`; the loader subtracts the texts that it took out, at any time */
		__u32 long_name_cnt;
		/* spans of each class since the attach; the loader resets the class of a step probe at any time */
		__u64 class_seen[PT_CLASS_CNT];
	} PT_CTL_LINE;
	/* The programs keep these members. */
	struct {
		__u64 step;			       /* current step */
		__u64 step_seq; /* boundaries seen; step_ns[step_seq % PT_STEP_RING] is the latest */
		__u64 step_ns[PT_STEP_RING];
		struct pt_step_run run;
		__u64 step_took_ns; /* length of the latest step; the mean if several steps ended at one boundary */
		__u32 class_tid[PT_CLASS_CNT];	/* the thread of the latest span of the class */
		__u32 aside_tid; /* the latest other thread that showed a boundary */
		__u32 started;	    /* 1: step 0 has begun */
		__u32 passes;	      /* backward passes since the latest boundary */
		struct pt_passes ended;
		/* 1: a loader next was seen to return; one without a seen return has thrown */
		__u32 loader_next_ended;
		__u64 loader_next_exception; /* the exception that the thread handled when the loader next began */
		__u32 loader_next_tid;	   /* the thread of the latest loader next at a breakpoint; 0: none */
		__u32 cupti_claimed; /* 1: another tool has begun to use CUPTI */
		__u64 cupti_kinds;   /* activity kinds that other tools enabled, one bit each */
		/* layout.counters at the latest boundary, and their growth in the latest step that was seen whole. 0:
		 * the thread's counter, 1: the common counter. */
		__u64 counter[2], counter_step[2];
		__u32 optimizer_passes;	 /* backward passes since the latest call of the optimizer's step */
		__u64 optimizer_functions[PT_STACK_FRAMES]; /* function objects in the frames of the latest stack */
	} PT_CTL_LINE;
	/* The programs count these members. */
	struct {
		__u32 closes; /* windows that have ended at a step */
		__u64 traced;	     /* number of times that tracing began (torch.compile, torch.export) */
		/* optimizer steps after another optimizer step of the thread, without a backward pass in between */
		__u64 updates_again;
		/* boundaries of other threads than the step thread, in windows and in measured steps */
		__u64 aside_beside;
		__u64 shifted;	    /* steps by which windows were late because probes were not attached yet */
		__u32 passes_alike;   /* number of consecutive steps with one backward pass each */
		__u32 passes_odd;     /* steps with another number of passes */
		__u64 lost_ring;    /* records that found the ring full */
		__u64 lost_depth;   /* spans deeper than PT_MAX_OPEN_SPANS */
		__u64 lost_ends;    /* calls in windows whose end has no probe yet */
		__u64 lost_storage; /* threads without storage, since none was available */
		__u64 lost_targets; /* children that found `targets` full */
		__u64 stacks_cut;    /* stacks with more than PT_STACK_FRAMES frames */
		__u64 stacks_unread; /* spans whose stack could not be read, or whose thread is not of Python */
		__u64 stacks_full;   /* spans without a stack, since there were PT_MAX_STACKS others */
		__u64 stack_cnt, stack_ns; /* stacks read, and the time that reading took */
		__u64 loader_next_steps; /* boundaries at which a loader next had already opened the step */
		__u32 return_cnt;    /* return sites noted in the map `returns` */
		__u64 callee_ends;   /* hits of callee_end in windows: they make no record */
		/* hits in windows of probes that look for the function enclosing the optimizer's step */
		__u64 enclosing_hits;
		__u32 optimizer_outside; /* operators of optimizers outside the optimizer's step, in measured steps */
		__u32 optimizer_endless; /* calls of the optimizer's step without a seen end: they are in no span */
		__u32 counter_alike; /* consecutive steps in which layout.counters grew by the same */
		/* boundaries at which the counters had not grown by the same number of whole steps */
		__u32 counter_odd;
		__u64 counted_steps; /* steps that ended without a boundary */
	} PT_CTL_LINE;
};

#endif
