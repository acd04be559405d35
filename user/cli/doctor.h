/* SPDX-License-Identifier: BSD-2-Clause */
/* What `proftrace doctor` found out, and its two output forms. */
#ifndef PROFTRACE_DOCTOR_H
#define PROFTRACE_DOCTOR_H

#include "attach/attach.h"
#include "attach/site.h"
#include "device/shim_attach.h"
#include "frameworks/framework.h"
#include "target/target.h"

#define DETAIL_CNT 3

/* One detail level, planned but not attached. */
struct doctor_plan {
	int err; /* planning failed */
	struct probe_plan plan;
	size_t functions;		   /* rows of the plan */
	size_t by_class[SITE_UNKNOWN + 1]; /* entry and inner sites, counted by class */
	const struct planned_probe **stepped; /* the single-stepped ones; they belong to the plan */
	size_t stepped_cnt, stepped_cap;
	size_t sites;	/* of probes */
	size_t watched; /* data breakpoints */
	size_t with_return;
	size_t returns_refused;		  /* not on the list of allowed returns */
	uint64_t cheapest_ns, dearest_ns; /* cost of one traced call; 0 if nothing was planned */
};

/* Are device times possible, and with which library? */
struct doctor_device {
	bool uses_cuda; /* the process has the driver's library */
	bool may_come;	/* it has only the runtime, so it may load the driver later */
	bool works;
	struct shim_attached attached;
	char why_not[320];
};

/* What this process may do, and which kernel features could restrict it. Read before rights are
 * given up. */
struct doctor_rights {
	uint64_t has; /* capabilities */
	unsigned int uid;
	unsigned int lacks; /* bits of enum protection: what the kernel does not have */
	int landlock;	    /* its version */
};

struct doctor {
	struct doctor_rights rights;
	struct attach_caps caps;
	enum attach_method method;
	bool needs_admin; /* CAP_SYS_ADMIN, while probes are attached */
	bool trace_events; /* one perf event can have many probes */
	bool has_cost;
	struct attach_cost cost;
	/* with -p */
	struct target *target; /* NULL without */
	size_t thread_cnt;
	struct framework_match match; /* framework NULL: the process has none */
	size_t own_usdt; /* number of probes of proftrace.h */
	struct doctor_plan plans[DETAIL_CNT];
	struct doctor_device device;
};

extern const char *const doctor_detail_names[DETAIL_CNT];

bool doctor__can_profile(const struct doctor *d);
void doctor__print_text(const struct doctor *d, FILE *out);
int doctor__print_json(const struct doctor *d, FILE *out); /* 0 or -ENOMEM */

#endif
