// SPDX-License-Identifier: BSD-2-Clause
/* Finds out what the running kernel and our privileges allow, by trying each thing on proftrace
 * itself. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/utsname.h>
#include "attach/attach.h"
#include "attach/calibrate.h"
#include "attach/trace_event.h"
#include "common/capability.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "common/mounts.h"
#include "common/util.h"

static void missing(struct attach_caps *caps, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void missing(struct attach_caps *caps, const char *fmt, ...)
{
	size_t len = strlen(caps->missing);
	va_list ap;

	if (len && len + 2 < sizeof(caps->missing)) {
		memcpy(caps->missing + len, "; ", 3);
		len += 2;
	}
	va_start(ap, fmt);
	vsnprintf(caps->missing + len, sizeof(caps->missing) - len, fmt, ap);
	va_end(ap);
}

static int no_uprobes_err; /* error of the last try */

static void *call_from_thread(void *calls)
{
	calibration__call_emulated(*(const unsigned int *)calls);
	return NULL;
}

/*
 * Attaches to our own function and calls it from another thread. Before Linux 6.10 (46ba0e49b642,
 * in stable 6.6.33 and 6.9.4) a multi link with a pid saw only the main thread.
 */
static bool reaches_threads(enum attach_method method)
{
	struct calibration_programs *progs = NULL;
	struct attach_set *set = NULL;
	struct attach_point point;
	unsigned int calls = 3;
	bool works = false;
	pthread_t thread;

	no_uprobes_err = calibration_programs__load(method, &progs);
	if (no_uprobes_err)
		return false;
	set = attach_set__new("calibration", method, NULL);
	calibration__point(CALIBRATE_EMULATED, &point);
	if (set && attach_set__add(set, progs->count, &point) == 0 &&
	    attach_set__attach(set, getpid()) == 0 &&
	    pthread_create(&thread, NULL, call_from_thread, &calls) == 0) {
		pthread_join(thread, NULL);
		works = *progs->hits == calls;
	}
	calibration__discard(set, progs);
	err__take(0);
	return works;
}

enum attach_method attach_method__resolve(enum attach_method method)
{
	static enum attach_method best;

	if (method != ATTACH_AUTO)
		return method;
	if (!best)
		best = reaches_threads(ATTACH_UPROBE_MULTI) ? ATTACH_UPROBE_MULTI
							    : ATTACH_PERF_EVENT;
	return best;
}

void attach__prepare(enum attach_method method)
{
	if (attach_method__resolve(method) == ATTACH_PERF_EVENT)
		trace_event__prepare();
}

/* Linux 6.16 wants CAP_SYS_ADMIN for uprobes of perf events. */
static const char *why_no_uprobes(void)
{
	const char *lack = capability__lack(CAPABILITY(CAP_SYS_ADMIN));

	if (descriptors__lack(no_uprobes_err))
		return descriptors__why(no_uprobes_err, 0);
	if (access("/sys/bus/event_source/devices/uprobe", F_OK) < 0)
		return "the kernel was built without CONFIG_UPROBE_EVENTS";
	return *lack && kernel__at_least(6, 16) ? lack : "cause unknown";
}

static void explain_missing(struct attach_caps *caps)
{
	if (!caps->can_bpf)
		missing(caps, "no BPF program may be loaded: %s",
			capability__why_refused(CAPABILITIES_TO_LOAD));
	if (!caps->btf)
		missing(caps, "/sys/kernel/btf/vmlinux cannot be read: %s",
			mounts__why_no_btf("/sys"));
	if (caps->can_bpf && !caps->uprobe_multi && caps->perf_uprobe)
		missing(caps, "no uprobe multi links that reach all threads (Linux 6.6, all "
			      "threads since 6.10): probes are attached by perf events, which "
			      "takes longer");
	if (caps->can_bpf && caps->btf && !caps->uprobe_multi && !caps->perf_uprobe)
		missing(caps, "no uprobes at all: %s", why_no_uprobes());
	if (caps->can_bpf && !caps->ringbuf)
		missing(caps, "no BPF ring buffer (Linux 5.8)");
	if (caps->can_bpf && !caps->cookies)
		missing(caps, "no cookies of probes, which say what was hit (Linux 5.15)");
}

static void probe_all(struct attach_caps *caps)
{
	struct utsname uts;

	if (uname(&uts) == 0)
		snprintf(caps->kernel, sizeof(caps->kernel), "%s", uts.release);
	caps->btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0;
	caps->can_bpf = libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_KPROBE, NULL) == 1;
	if (caps->can_bpf) {
		/* 457f44363a88, 7adfc6c9b315 */
		caps->ringbuf = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL) == 1;
		caps->cookies = libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE,
							BPF_FUNC_get_attach_cookie, NULL) == 1;
		caps->page_faults = !kernel__traces_page_faults();
		/* 89ae89f53d20; the perf events' cookies came with 82e6b1eee6a8 */
		caps->uprobe_multi = reaches_threads(ATTACH_UPROBE_MULTI);
		caps->perf_uprobe = reaches_threads(ATTACH_PERF_EVENT);
	}
	explain_missing(caps);
}

int attach_caps__probe(struct attach_caps *caps)
{
	static struct attach_caps known;
	static bool is_known;

	if (!is_known)
		probe_all(&known);
	is_known = true;
	*caps = known;
	return 0;
}
