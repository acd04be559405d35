/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A framework is one file here and one row in frameworks.c. It says how to recognise the framework
 * in a process, and which probes show its steps, phases, operators and memory. It plans; capture
 * attaches.
 */
#ifndef PROFTRACE_FRAMEWORK_H
#define PROFTRACE_FRAMEWORK_H

#include <jansson.h>
#include <stdbool.h>
#include "attach/allow.h"
#include "attach/site.h"
#include "bpf/ctl.h"
#include "bpf/layout.h"
#include "bpf/probe_cfg.h"
#include "recording/event.h"
#include "target/target.h"

enum detail { DETAIL_PHASE = 0, DETAIL_OPERATOR = 1, DETAIL_INNER = 2 };

/* The attach set of a probe. A set is attached and detached as a whole. */
enum probe_group {
	GROUP_STEP = 0, /* steps and phases: attached for the whole session */
	GROUP_UPDATE,	/* operators of optimizers by which steps are counted, many per step. If
			   windows are far apart, backward passes may replace them */
	GROUP_PHASE,	/* the part of GROUP_STEP that counting steps does not need, if windows
			   are far apart */
	GROUP_OPERATOR, /* attached from ready to the end of the window */
	GROUP_INNER,	/* the same, in a link of its own for cost accounting */
	GROUP_MEMORY,
	GROUP_DEVICE, /* calls of a device's interface */
	GROUP_NODE_TYPE, /* backward nodes by type, replacing the operator group's probe for all
			    types; attached if some types are left out */
	GROUP_WATCH, /* data breakpoints */
	GROUP_ENCLOSING, /* replaces the probe of an optimizer's step: functions that the step
			    enters first and leaves last, but that others call, too */
	GROUP_LAUNCH, /* functions that launch work, only counted; attached while steps are
			 observed */
	GROUP_CNT,
};

/* How the library in the process can see a function that the program calls through pointers in its
 * data; see cupti_shim/protocol.h. */
enum pointer_hook {
	POINTER_HOOK_NOT = 0,
	POINTER_HOOK_CALL,
	POINTER_HOOK_NODE,
	POINTER_HOOK_PART, /* it ends where the next one begins, or at the end of its ENCLOSING */
	POINTER_HOOK_ENCLOSING, /* makes no span */
	POINTER_HOOK_RETURNING, /* as CALL, and an object of its has the name; at most
				   SHIM_STACK_WORDS of arguments lie on the stack */
};

/* A function that is only called through pointers, and that calls a function with a probe. A call
 * of it counts as a call of that one. */
struct pointer_hook_alias {
	const struct target_lib *lib;
	uint64_t vaddr;
	char *name; /* name of that function */
};

/* One planned probe: its place, its program, its row in the probe table and its name. */
struct planned_probe {
	enum probe_group group;
	const struct target_lib *lib;
	const char *symbol;	    /* mangled */
	uint64_t vaddr;		    /* of the instruction that carries the probe */
	uint64_t offset;	    /* the same as an offset in the file */
	uint64_t entry;		    /* entry of the function, if it is a pointer hook */
	uint64_t return_address;    /* in the target, for a probe at a return site; else 0 */
	/* GROUP_WATCH: the address in the target whose access is the event. 0: unknown yet. */
	uint64_t watch_address;
	pid_t watch_tid; /* the only thread that is watched, 0: all */
	bool writes_alone; /* only writes are events */
	/* Several functions of GROUP_WATCH may be the optimizer's step. This one is the step if the
	 * job calls the function of this symbol. NULL: there is only one. */
	const char *told_by;
	const char *program;	    /* BPF program at vaddr; NULL: there is only a return probe */
	const char *return_program; /* NULL: none; needs vaddr to be the function's entry */
	const char *return_site_program; /* program at the sites to which its calls return, as
					    they are found; NULL: none */
	const char *name;	    /* name in tables, NULL: read at run time */
	const char *schema;	    /* NULL if none */
	enum span_category category;
	enum pointer_hook pointer_hook;
	const struct target_lib *pointers_lib; /* another library in which pointers to the
						  function lie; NULL */
	bool chosen; /* by the user: never left out because of its cost */
	bool for_period; /* used only to find a period of operators, and attached only for that */
	const char *name_prefix; /* put before names read at run time, static text; NULL: none */
	const char *name_suffix;   /* appended to dynamic names, NULL: nothing */
	struct pt_probe_cfg cfg;
	bool stepped; /* the kernel single-steps its instruction; known when a window opens */
	uint32_t row; /* row of the probe table; probes of one function (entry, site) share one */
};

struct probe_plan {
	struct planned_probe *probes;
	size_t cnt, cap;
	uint32_t row_cnt; /* rows in use; row 0 means none */
	uint32_t row_max; /* rows of the loaded table; 0: not loaded yet */
	struct pt_layout layout;
	struct pt_name_rule name_rules[PT_MAX_NAME_RULES];
	size_t name_rule_cnt;
	const char *const *dtypes; /* names by code, NULL-terminated */
	struct target_lib *
		*libs; /* copies, because a target forgets libraries when it reads them again */
	size_t lib_cnt, lib_cap;
	struct pointer_hook_alias *aliases;
	size_t alias_cnt, alias_cap;
	size_t stepped; /* functions that the user chose whose probe the kernel single-steps */
	uint64_t node_number; /* runtime address, see struct shim_control; 0: there is none */
	struct allowed_returns returns; /* functions that may have return probes */
	char **missing; /* what was not found, and what it costs, for doctor and notes */
	size_t missing_cnt, missing_cap;
};
/* Adds a probe, with a new row if row is 0. 0 or -ENOMEM / -ENOSPC. Copies texts and the
 * library. */
int probe_plan__add(struct probe_plan *p, const struct planned_probe *probe);
int probe_plan__alias(struct probe_plan *p, const struct target_lib *lib, uint64_t vaddr,
		      const char *name);
/* Disables all pointer hooks. The arguments of this version's functions are unknown, and the
 * library in the process would read them unprotected. */
void probe_plan__forget_pointers(struct probe_plan *p);
bool probe_plan__has_group(const struct probe_plan *p, enum probe_group group);
int probe_plan__missing(struct probe_plan *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void probe_plan__free(struct probe_plan *p); /* frees the names and schemas that it owns */

/* The class of the instruction that carries the probe. */
enum site_class planned_probe__site(struct target *t, const struct planned_probe *probe);
/* Why the probe is on a single-stepped instruction, if it is; static text. */
const char *planned_probe__why_stepped(const struct planned_probe *probe);
/* Moves from a function's entry, of `size` bytes (0: unknown), to a cheaper instruction after it,
 * as site__slide() does. 0 or its negative errno. */
int planned_probe__slide(struct elf_file *elf, size_t size, unsigned int keep,
			 struct planned_probe *probe);

struct plan_opts {
	enum detail detail;
	bool record_shapes, profile_memory;
	bool node_types; /* plan GROUP_NODE_TYPE as well */
	bool find_period; /* at DETAIL_PHASE: plan operators for_period */
};

struct framework_match {
	const struct framework *framework;
	char version[64];   /* "2.15.0+cu132", empty if unknown */
	char why[512];	    /* in plain words: the files and symbols that showed it */
	bool known_version; /* layouts were measured for the version; else only symbols are used */
	bool ready;	    /* all the libraries that the probes need are loaded */
	char others[96];    /* titles of other frameworks that the process has loaded: "MXNet,
			       PyTorch" */
};

struct framework_scope {
	const char *prefix; /* NULL: end of the list */
	const char *phase;  /* "forward", "backward", "optimization" */
};

struct framework {
	const char *name;  /* "pytorch" */
	const char *title; /* "PyTorch" */
	const char *library; /* prefix of its libraries' names: a process without such a library
				does not run it */
	/* 1 and *m filled if the process runs it, 0 if not, or a negative errno. */
	int (*recognise)(struct target *t, struct framework_match *m);
	int (*plan)(struct target *t, const struct framework_match *m, const struct plan_opts *opts,
		    struct probe_plan *plan);
	/* The type name of a backward node, or of an operation of a data pipeline, made from the
	 * names of its type_info and of its Python type. Either may be NULL. Caller frees. */
	char *(*node_name)(const char *type_info, const char *type_obj_name);
	/* Does an operator of this name update parameters? NULL: the framework shows its optimizers
	 * itself. */
	bool (*updates_parameters)(const char *op);
	/* Is a function written in Python, given by file and qualified name, an optimizer's step?
	 * Operators that update parameters are called in it. NULL: unknown. */
	bool (*is_optimizer_step)(const char *file, const char *function);
	/* Is it a function written in Python that calls such a step, and first and last the
	 * functions of GROUP_ENCLOSING? NULL: unknown. */
	bool (*encloses_step)(const char *file, const char *function);
	/* Does an operator of this name compute gradients? NULL: names do not show it. */
	bool (*computes_gradients)(const char *op);
	/* Is an operator of this name a collective, a send or a receive? NULL: names do not show
	 * it. */
	bool (*communicates)(const char *op);
	/* Removes what differs between runs (paths, times) from a name read from the target. Not
	 * for the user's own names. NULL: nothing to remove. */
	void (*shorten)(char *name);
	/* Maps the begin of an operator's full name to a phase. The first that fits counts. The
	 * last has no prefix. NULL: full names do not show phases. */
	const struct framework_scope *scopes;
	/* Is a stage of the data pipeline, OPERATION::STAGE, work of the operation itself? Other
	 * stages are not recorded. NULL: there are no stages. */
	bool (*is_own_work)(const char *stage);
	/* The function that each call of an operator enters, for --step-probe. operator_prefix: the
	 * begin of operators' names. operator_function: LIB:FUNCTION, with %s for the rest of the
	 * name (dots as _). NULL: unknown. */
	const char *operator_prefix, *operator_function;
	/* on the CPU the calling thread runs the operator, which ends with the call */
	bool runs_in_caller;
	/* The time that the framework's own profiler adds per call that we would record, in units
	 * of a probe hit; 0: unknown. */
	double peer_hits_per_call;
	/* The name of an asynchronous operation without a title, by the framework's code; static
	 * text. It follows the name_prefix of the probe that saw the end. */
	const char *(*async_name)(uint64_t code);
};

const struct framework *const *frameworks__all(void); /* NULL-terminated */
/* Finds it by name; NULL: there is none. */
const struct framework *frameworks__find(const char *name);
/* The first framework that recognises the process. only: just this one, if not NULL. 0 with
 * m->framework NULL if none does. */
int frameworks__recognise(struct target *t, const struct framework *only, struct framework_match *m);

#endif
