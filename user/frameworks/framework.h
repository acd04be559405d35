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

/* Which attach set a probe belongs to: sets come and go as a whole. */
enum probe_group {
	GROUP_STEP = 0, /* steps and phases: live as long as we are attached */
	GROUP_UPDATE,	/* operators of optimizers by which steps are told, many in each: where windows
			   are far apart backward passes may stand for them */
	GROUP_PHASE,	/* what of those steps can be counted without, if windows are far apart */
	GROUP_OPERATOR, /* live from ready to the end of the window */
	GROUP_INNER,	/* the same, in its own link for cost accounting */
	GROUP_MEMORY,
	GROUP_DEVICE, /* calls of a device's interface */
	GROUP_NODE_TYPE, /* backward nodes by type, in place of the operator group's for all types:
			    live where some types are left out */
	GROUP_WATCH, /* data breakpoints */
	GROUP_ENCLOSING, /* in place of that of an optimizer's step: what it enters and leaves first and
			 last, which others do, too */
	GROUP_LAUNCH, /* what gives a device work, only counted: live while steps are observed */
	GROUP_CNT,
};

/* How a function may be seen where the program calls it through pointers in its data; see
 * cupti_shim/protocol.h. */
enum pointer_hook {
	POINTER_HOOK_NOT = 0,
	POINTER_HOOK_CALL,
	POINTER_HOOK_NODE,
	POINTER_HOOK_PART, /* it ends where the next one begins, or where its ENCLOSING ends */
	POINTER_HOOK_ENCLOSING, /* of no span */
	POINTER_HOOK_RETURNING, /* as CALL, with its name in an object: no more than SHIM_STACK_WORDS of
			      arguments lie on the stack */
};

/* A function that is called through pointers alone, and calls one of those that have probes: a call
 * of it is one of theirs. */
struct pointer_hook_alias {
	const struct target_lib *lib;
	uint64_t vaddr;
	char *name; /* of theirs */
};

/* One planned probe: a resolved place, its program, its row of the probe table and its name. */
struct planned_probe {
	enum probe_group group;
	const struct target_lib *lib;
	const char *symbol;	    /* mangled */
	uint64_t vaddr;		    /* of the instruction, already slid */
	uint64_t offset;	    /* the same as an offset in the file */
	uint64_t entry;		    /* of the function, where it is a pointer hook */
	uint64_t return_address;    /* in the target, of a probe behind a call; else 0 */
	/* In the target, of GROUP_WATCH, 0: not known yet; reading or writing it is the event. */
	uint64_t watch_address;
	pid_t watch_tid; /* the thread alone that is watched, 0: all */
	bool writes_alone; /* reading it is none */
	/* Several functions of GROUP_WATCH may be the optimizer's step. It is this one if the job
	 * calls that function, by its symbol in the table. NULL: it is the only one. */
	const char *told_by;
	const char *program;	    /* BPF program at vaddr; NULL: only at the return */
	const char *return_program; /* NULL: none; needs vaddr to be the function's entry */
	const char *return_site_program; /* where its calls return to, by and by; NULL: none */
	const char *name;	    /* what tables call it, NULL: dynamic */
	const char *schema;	    /* NULL if none */
	enum span_category category;
	enum pointer_hook pointer_hook;
	const struct target_lib *pointers_lib; /* where else the pointers lie than in `lib`; NULL */
	bool chosen; /* by the user: never left out for its cost */
	bool for_period; /* of no use but to find a period of operators: attached for that alone */
	const char *name_prefix; /* before dynamic names, static text; NULL: none */
	const char *name_suffix;   /* appended to dynamic names, NULL: nothing */
	struct pt_probe_cfg cfg;
	bool stepped; /* the kernel single-steps its instruction; known once a window opens */
	uint32_t row; /* row of the probe table; probes of one function (entry, site) share one */
};

struct probe_plan {
	struct planned_probe *probes;
	size_t cnt, cap;
	uint32_t row_cnt; /* rows used; row 0 means none */
	uint32_t row_max; /* rows of the loaded table; 0: not loaded yet */
	struct pt_layout layout;
	struct pt_name_rule name_rules[PT_MAX_NAME_RULES];
	size_t name_rule_cnt;
	const char *const *dtypes; /* names by code, NULL-terminated */
	struct target_lib *
		*libs; /* its own copies: a target forgets libraries when it looks again */
	size_t lib_cnt, lib_cap;
	struct pointer_hook_alias *aliases;
	size_t alias_cnt, alias_cap;
	size_t stepped; /* functions of the user's choice with a probe that the kernel single-steps */
	uint64_t node_number; /* runtime address, see struct shim_control; 0: there is none */
	struct allowed_returns returns; /* which of its functions may have return probes */
	char **missing; /* what could not be resolved and what that costs, for doctor and notes */
	size_t missing_cnt, missing_cap;
};
/* Adds a probe with a new row (row 0) or the row given; 0 or -ENOMEM / -ENOSPC. Texts and the
 * library are copied. */
int probe_plan__add(struct probe_plan *p, const struct planned_probe *probe);
int probe_plan__alias(struct probe_plan *p, const struct target_lib *lib, uint64_t vaddr,
		      const char *name);
/* Nothing is seen through pointers. The functions' arguments are not known of this version, and the
 * library in the process would read them without a net. */
void probe_plan__forget_pointers(struct probe_plan *p);
bool probe_plan__has_group(const struct probe_plan *p, enum probe_group group);
int probe_plan__missing(struct probe_plan *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void probe_plan__free(struct probe_plan *p); /* frees the names and schemas that it owns */

/* Of the instruction that carries the probe. */
enum site_class planned_probe__site(struct target *t, const struct planned_probe *probe);
/* Why it sits on an instruction that the kernel single-steps, if it does; static text. */
const char *planned_probe__why_stepped(const struct planned_probe *probe);
/* From a function's entry, of `size` bytes (0: not known), to an instruction behind it that costs less,
 * as site__slide() does. 0 or its negative errno. */
int planned_probe__slide(struct elf_file *elf, size_t size, unsigned int keep,
			 struct planned_probe *probe);

struct plan_opts {
	enum detail detail;
	bool record_shapes, profile_memory;
	bool node_types; /* plan GROUP_NODE_TYPE, too */
	bool find_period; /* at DETAIL_PHASE: operators, too, for_period */
};

struct framework_match {
	const struct framework *framework;
	char version[64];   /* "2.15.0+cu132", empty if unknown */
	char why[512];	    /* in plain words, which files and symbols told us */
	bool known_version; /* measured layouts exist for it; else symbols alone are used */
	bool ready;	    /* all the libraries that the probes need are loaded */
	char others[96];    /* titles of frameworks that the process has loaded, too: "MXNet, PyTorch" */
};

struct framework_scope {
	const char *prefix; /* NULL: end of the list */
	const char *phase;  /* "forward", "backward", "optimization" */
};

struct framework {
	const char *name;  /* "pytorch" */
	const char *title; /* "PyTorch" */
	const char *library; /* how the names of its libraries begin: a process without one does not run it */
	/* 1 and *m filled if the process runs it, 0 if not, negative errno. */
	int (*recognise)(struct target *t, struct framework_match *m);
	int (*plan)(struct target *t, const struct framework_match *m, const struct plan_opts *opts,
		    struct probe_plan *plan);
	/* The type name of a backward node, or of a data pipeline's operation, from the names of its
	 * type_info and of its Python type (either may be NULL). Caller frees. */
	char *(*node_name)(const char *type_info, const char *type_obj_name);
	/* An operator of this name updates parameters; NULL: the framework shows its optimizers
	 * itself. */
	bool (*updates_parameters)(const char *op);
	/* A function written in Python, by its file and its qualified name, that is an optimizer's
	 * step: the operators that update parameters are called in it. NULL: none is known. */
	bool (*is_optimizer_step)(const char *file, const char *function);
	/* A function written in Python that calls it, and before and behind that what has a probe of
	 * GROUP_ENCLOSING. NULL: none is known. */
	bool (*encloses_step)(const char *file, const char *function);
	/* An operator of this name computes gradients; NULL: names do not tell. */
	bool (*computes_gradients)(const char *op);
	/* An operator of this name is a collective, or sends or receives; NULL: names do not tell. */
	bool (*communicates)(const char *op);
	/* Cuts what differs from run to run (paths, times) off a name read from the target that is not
	 * the user's own; NULL: nothing does. */
	void (*shorten)(char *name);
	/* Which full names of operators are of which phase of a step, by how they begin; the first
	 * that fits, up to one without prefix. NULL: full names do not tell. */
	const struct framework_scope *scopes;
	/* A stage of the data pipeline, OPERATION::STAGE, is what the operation does itself; others
	 * are not recorded. NULL: none has stages. */
	bool (*is_own_work)(const char *stage);
	/* The function that each call of an operator enters, for --step-probe. operator_prefix: how
	 * operators' names begin. operator_function: a LIB:FUNCTION in which %s is the rest of the
	 * name (a dot as _). NULL: none is known. */
	const char *operator_prefix, *operator_function;
	/* On the CPU an operator is run by the thread that calls it, and is over when the call is. */
	bool runs_in_caller;
	/* What the framework's own profiler adds to a step for each call that we would see, in probe
	 * hits among the job's work; 0: not known. */
	double peer_hits_per_call;
	/* Name of an asynchronous operation without a title, by the framework's own code; static
	 * text. It goes behind the name_prefix of the probe that saw the end. */
	const char *(*async_name)(uint64_t code);
};

const struct framework *const *frameworks__all(void); /* NULL-terminated */
/* By its name; NULL: there is none. */
const struct framework *frameworks__find(const char *name);
/* The first that recognises the process, of `only` if that is not NULL; 0 with m->framework NULL if none does. */
int frameworks__recognise(struct target *t, const struct framework *only, struct framework_match *m);

#endif
