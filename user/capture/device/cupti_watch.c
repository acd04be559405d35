// SPDX-License-Identifier: BSD-2-Clause
#include "capture/device/cupti_watch.h"
#include "bpf/events.h"
#include "bpf/skeleton.h"
#include "common/err.h"
#include "common/util.h"
#include "target/target.h"
#include <bpf/libbpf.h>
#include <string.h>

/* The first calls of a tool: it registers buffers for activities, or it subscribes. Our library
 * refuses a subscription that it cannot make way for. Then the tool enables the activities it
 * wants. */
static const char *const watched[] = {"cuptiActivityRegisterCallbacks", "cuptiSubscribe",
				      "cuptiActivityEnable"};
enum { BEGINNINGS = 2 };

struct cupti_watch {
	struct bpf_link *links[ARRAY_SIZE(watched)];
};

static struct bpf_program *program_of(struct proftrace_bpf *skel, size_t i)
{
	return i < BEGINNINGS ? skel->progs.cupti_claimed : skel->progs.cupti_enabled;
}

void cupti_watch__prepare(struct proftrace_bpf *skel, enum attach_method method)
{
	for (size_t i = BEGINNINGS - 1; i < ARRAY_SIZE(watched); i++) {
		bpf_program__set_autoload(program_of(skel, i), true);
		attach_method__prepare(program_of(skel, i), method);
	}
}

/* Attaches probes one by one: there are few, and each may fail. Perf events need CAP_SYS_ADMIN. The
 * session has given it up by then, if its other probes do not need it. */
static struct bpf_link *attach(enum attach_method method, const struct bpf_program *program,
			       int pid, const char *path, unsigned long offset)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .offsets = &offset, .cnt = 1);

	return method == ATTACH_UPROBE_MULTI
		       ? bpf_program__attach_uprobe_multi(program, pid, path, NULL, &opts)
		       : bpf_program__attach_uprobe(program, false, pid, path, offset);
}

static struct bpf_link *watch(enum attach_method method, const struct bpf_program *program,
			      struct target *t, const struct target_lib *lib, const char *name)
{
	struct elf_file *elf = target__elf(t, lib);
	struct elf_symbol symbol;
	struct bpf_link *link;
	uint64_t offset;

	if (!elf || elf_file__symbol(elf, name, &symbol) ||
	    elf_file__offset(elf, symbol.vaddr, &offset))
		return NULL;
	link = attach(method, program, t->pid, lib->host_path, offset);
	if (!link)
		log__debug("cannot watch %s: %s", name, strerror(errno));
	return link;
}

struct cupti_watch *cupti_watch__start(struct proftrace_bpf *skel, int pid,
				       enum attach_method method)
{
	struct cupti_watch *w = calloc(1, sizeof(*w));
	const struct target_lib *lib;
	struct target *t;

	if (!w || target__open(pid, &t)) {
		free(w);
		return NULL;
	}
	lib = target__find_lib(t, "libcupti*.so.*");
	for (size_t i = 0; lib && i < ARRAY_SIZE(watched); i++)
		w->links[i] = watch(method, program_of(skel, i), t, lib, watched[i]);
	target__close(t);
	return w;
}

void cupti_watch__stop(struct cupti_watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(watched); i++)
		bpf_link__destroy(w->links[i]);
	free(w);
}
