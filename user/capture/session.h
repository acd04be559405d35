/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of one capture session, shared by the files that make it up. */
#ifndef PROFTRACE_SESSION_H
#define PROFTRACE_SESSION_H

#include "capture/control/control_socket.h"
#include "capture/steps/call_log.h"
#include "capture/arming/bursts.h"
#include "capture/decode/decoder.h"
#include "capture/sched/fault_count.h"
#include "capture/probes.h"
#include "capture/ring_share.h"
#include "capture/processes/helpers.h"
#include "capture/arming/step_cost.h"
#include "capture/sched/sched_source.h"
#include "capture/sched/task_source.h"
#include "capture/window.h"
#include "device/device_source.h"
#include "device/shim_attach.h"

struct ring_buffer;

/* What was lost on the way from the target to the recording, since attach. */
struct losses {
	uint64_t ring, depth, storage, decode;
	uint64_t ends; /* calls whose end had no probe yet */
	uint64_t sched;
};

/* Stacks of Python since attach. */
struct stack_counts {
	uint64_t read, ns;	    /* and what that took of the target's time */
	uint64_t cut;		    /* different ones of which only the inner frames were read */
	uint64_t unread, full;	    /* spans without the one that was wanted */
	uint64_t unknown_functions; /* frames whose function could not be read */
};

enum dropped_kind {
	DROPPED_OPERATOR,
	DROPPED_NODE, /* of the backward pass */
	DROPPED_CALL, /* of a device's interface */
};

/* What was measured before a function was left out. */
struct dropped_probe {
	const char *name;
	uint64_t steps; /* that were measured */
	double per_step, avg_ns; /* of a step of any thread, or see struct timed_drops */
	double inner_per_step, inner_avg_ns; /* of these, the calls within other operators */
	enum dropped_kind kind;
};

/* Without steps functions are measured for a time, and per_step is of a second that the process runs. */
struct timed_drops {
	uint64_t ns; /* 0: by steps */
	double run_share; /* of that time; more than 1 of several threads */
};

/* A step that is over, but not yet in the file. */
struct held_step {
	uint32_t pid, tid;
	uint64_t step, begin_ns, end_ns;
};

struct session {
	const struct capture_opts *opts;
	struct capture_result *res;
	struct target *target;
	struct framework_match match;
	uint64_t learn_begin_ns, learn_cpu_ns; /* when steps began to be looked for, and the
						  processor time of the process then */
	struct bursts bursts;
	bool descendant_described; /* a process below it that has a framework was named */
	struct probe_plan plan;
	struct step_rule rule;
	uint64_t traced;   /* the programs' count when the rule was found */
	char explain[512]; /* of the rule, where it names an operator */
	/* Where no period was found: whether there were operators, and the option that makes a step of
	 * each call of what comes after the longest pauses. */
	bool called;
	char pausing[PT_NAME_MAX + 16];
	struct window_facts facts;
	struct probes probes;
	struct decoder *decoder;
	struct long_names *long_names;
	struct python_stacks *stacks; /* of --with-stack; NULL: none */
	struct ring_buffer *ring;
	struct ring_share ring_share;
	struct sched_source *sched;
	struct task_source *tasks;
	struct shim_link *link;	      /* to the library in the target, until device has it */
	struct device_source *device; /* NULL: no device times by CUPTI */
	struct shim_attached attached;
	bool functions_alone; /* the library sees functions, and no device: there is no CUDA */
	bool calls_on; /* calls of the device's interface are seen by probes */
	bool attach_tried;
	bool starts_late; /* the library came after that, and has not recorded yet */
	uint64_t cuda_looked_ns; /* when it was looked last whether the process has CUDA by now */
	bool told_why; /* the library stays out, though it was asked for */
	struct {
		struct {
			size_t probe; /* in the plan: its calls are those of the function */
			bool reached; /* there are pointers to it */
		} *functions; /* by number */
		size_t cnt;
		bool *noted; /* by row: the library sees its calls */
		bool in_the_way; /* of probes, until it sets its pointers again */
		bool lost;   /* it had left before the window ended */
	} pointer_hooks; /* functions called through pointers */
	struct cupti_watch *watch; /* while device is there; may be NULL */
	bool yielded;		   /* CUPTI is another tool's by now */
	char no_device[400]; /* why there are none, though the target uses CUDA; may be empty */
	bool armed;		      /* the heavy probes are attached */
	bool awaited_library;	      /* a window could not open yet, latest, for our library's sake */
	struct steps_only {
		uint64_t since; /* step_seq when the programs began to count so */
		uint32_t odd;	/* passes_odd when they ended */
		bool refuted;	/* backward passes do not tell of steps */
	} steps_only;
	struct probeless {
		bool out;		      /* no probe is in the job */
		bool refuted;		      /* its steps cannot be told without */
		uint64_t pause_ns;	      /* how long the probes are out, 0: never yet */
		uint64_t until_ns, looked_ns; /* the end of that, and the latest look at the job */
		uint64_t step_ns;	      /* a step's length by the latest look, 0: unknown */
		bool is_checked;	      /* the probes are back for that, */
		uint64_t seq;		      /* since step_seq, counter_odd, counter_alike were so */
		uint32_t odd, alike;
	} probeless;
	struct {
		struct python_code *code; /* to read functions by; NULL: none is looked for */
		unsigned int tries;
		uint64_t address;    /* of its code object; 0: not found */
		bool enclosing;	     /* what is around it tells, and no data breakpoint */
		bool known;	     /* all operators that update parameters are called in it */
		bool told;	     /* it makes steps and phases, and not they */
		bool tells_no_more;  /* the job does not call it any more */
		bool *left_out;	     /* by row: those not worth a probe while it does */
		enum probe_group steps_only_group; /* of them where it does not */
	} optimizer_step;
	struct held_step *held;
	size_t held_cnt, held_cap;
	uint64_t pumped_ns; /* when the device's side was read last */
	pid_t *children; /* followed beside the target */
	size_t child_cnt, child_cap;
	struct helper_list helpers; /* of the children */
	pid_t gone[16]; /* children that have ended, their links still held */
	size_t gone_cnt;
	struct newborn {
		pid_t pid;
		uint64_t forked_ns;
	} *newborn; /* forked, and not followed yet */
	size_t newborn_cnt, newborn_cap;
	/* Of this window: children that ended before they had probes, those forked in it that have
	 * them, and the longest that one of these ran before. */
	uint64_t unfollowed, followed, follow_late_ns;

	struct control_listener control; /* where proftrace ctl asks */
	uint32_t hold;	/* enum pt_hold asked for before the programs are loaded */
	uint64_t start_ns;  /* wall clock: it waits to start until then; 0: it does not wait */
	bool start_now;	    /* that was asked for */
	bool awaits_framework; /* it waits for one to be loaded */
	struct hold *program;  /* stands still while its probes go in; NULL: it runs */
	uint64_t sliced_ns;    /* before its libraries were there, between slices in which it ran */
	uint64_t held_ns;      /* for how long it did in all, as this window opened */
	bool has_probes;       /* they were attached */
	bool discard;	/* what the window has recorded is not wanted */
	bool timed;	/* windows open and close by time, and not at steps */

	struct window window; /* window.writer NULL: none is open */
	bool window_ending;   /* the window has closed, its last records are on their way */
	uint64_t boundary_ns, boundary_step; /* latest step boundary, 0 ns: not known */
	uint64_t recovered_cnt; /* boundaries whose records were lost, and which are known all the same */
	uint64_t window_cnt;  /* windows written */
	uint64_t opened_cnt;  /* windows opened, those that were thrown away too */
	uint32_t closes_seen; /* ctl.closes when the latest was told to close, */
	uint64_t unseen_since_ns; /* and since when they differ, 0: they do not */
	bool library_missed; /* it did not record when this one opened */

	struct call_log log; /* while it is open, records go to it and not to a file */

	uint32_t return_site_cnt; /* places that calls return to for which probes were planned */

	bool *dropped; /* by row */
	struct dropped_probe *drops;
	size_t drop_cnt, drop_cap;
	struct timed_drops timed_drops;
	/* What is written in Python and not watched, as there was none in so many steps; NULL: nothing. */
	const char *unwatched;
	uint64_t unwatched_after;
	uint64_t attach_begin_ns;  /* until the first event is seen */
	uint64_t longest_attach_ns; /* of what a window needs */
	uint64_t step_ns;	   /* length of a step before the window, 0: unknown */
	uint64_t step_run_ns;	   /* of it its thread ran, 0: unknown */
	struct step_cost step_cost; /* of this window */
	bool is_last;		   /* no window follows this one */
	uint64_t shifted_before, window_shift; /* steps by which windows were late: all, this one */
	const char *late_for; /* what this one waited for then, as a clause */
	uint64_t cpu_before_ns;	   /* our own CPU time at the window's begin */
	struct fault_count faults_before, faults; /* of the training thread, at its begin and end */
	struct stack_counts stacks_before;
	uint64_t enclosing_hits_before; /* of ctl, when windows before this one had ended */
	uint64_t callee_ends_before; /* of ctl, when windows before this one had ended */
	uint32_t endless_before;     /* and of its optimizer steps */
	uint64_t cut_names_before;
	uint64_t not_ended_before;   /* and of those that their program did not end */
	uint64_t sched_ns_before;    /* see sched_source__own_ns() */
	uint64_t beside_before;	     /* and steps of other threads, */
	uint64_t measured_steps; /* how many steps were measured before the first window */
	uint64_t beside_measured;    /* and in the steps that were measured */
	struct losses lost_before; /* what belongs to no recording, or to an earlier one */

	uint64_t last_flush_ns, last_progress_ns, last_alive_ns, last_look_ns;
	bool target_gone, target_execed;
	int ring_err; /* first error of a record's way to the file */
};

/* Reads the ring for up to timeout_ms, and does what is due: flush, progress, liveness. 0, -EINTR
 * when asked to stop, -ESRCH when the target is gone, or the first error on the way to the file. */
int session__pump(struct session *s, int timeout_ms);
/* Gives back memory that only planning and attaching need. Call before a long wait. */
void session__release_memory(struct session *s);
/* What the programs count from the attach on counts for a window from here on. */
void session__count_anew(struct session *s);
/* Was there a sign of steps of the job's own kind, though they are told by a period of operators? */
bool session__period_is_doubtful(const struct session *s);
/* The same of tracing: what repeats then are its operators. */
bool session__period_is_traced(const struct session *s);
/* One record. */
int session__on_record(void *ctx, void *data, size_t size);
/* The same as a callback of the ring buffer: RING_ENOUGH when what was there has been read. */
int session__on_ring(void *ctx, void *data, size_t size);
/* Reads what is in the ring now. */
int session__drain(struct session *s);

/* Finds the step rule; 0 with rule.boundary PT_CLASS_NONE if there are no steps to be seen. */
int session__learn(struct session *s);
/* Where frames of proftrace.h may come, they open steps from now on. */
void session__step_by_frames(struct session *s);
/* Keeps statistics of some whole steps; their number goes to *steps, the length of one to s->step_ns.
 * -EAGAIN: they turned out to be none, learn again. */
int session__measure_steps(struct session *s, uint64_t *steps);
/* Of which --max-overhead is a share: what a step's thread runs in it, else its length. */
uint64_t session__paid_ns(const struct session *s);
/* Leaves out functions that are not worth their probe, from what was seen since learning began.
 * -EAGAIN: the steps turned out to be none, learn again. */
int session__prune(struct session *s);
/* The same for a window without steps, from what some tenths of a second show; attaches what stays. */
int session__prune_by_time(struct session *s);

/* What probes see in a look, or so many steps (0: however many), or so many calls, goes to s->log,
 * which the caller frees. 0 or a negative errno of the ring. */
int session__log_calls(struct session *s, uint64_t steps, uint64_t calls);

/* A progress line: kept live on a tty, one line each otherwise. */
void session__progress(struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void session__progress_end(struct session *s);
/* The target is stopped: nothing comes before somebody lets it go on. */
void session__warn_stopped(struct session *s);

struct stack_counts session__stack_counts(const struct session *s);
struct losses session__losses(const struct session *s);

/* Window life. */
int session__window_open(struct session *s, uint64_t first_step, uint64_t open_ns);
/* Its last records are on their way; session__window_finish when they have come. */
void session__window_close(struct session *s, uint64_t close_ns);
int session__window_finish(struct session *s);
/* Closes a window that ended at a step whose record was lost. Call often. */
void session__find_end(struct session *s);

#endif
