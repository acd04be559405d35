// SPDX-License-Identifier: BSD-2-Clause
#include "capture/cupti_watch.h"
#include "bpf/events.h"
#include "bpf/proftrace.skel.h"
#include "attach/attach.h"
#include "common/err.h"
#include "common/util.h"
#include "target/target.h"
#include <bpf/libbpf.h>
#include <string.h>

/* How a tool begins: with buffers for activities, or with a subscription, which ours refuses. */
static const char *const beginnings[] = {"cuptiActivityRegisterCallbacks", "cuptiSubscribe"};

struct cupti_watch {
	struct bpf_link *links[ARRAY_SIZE(beginnings)];
};

void cupti_watch__prepare(struct proftrace_bpf *skel)
{
	bpf_program__set_autoload(skel->progs.cupti_claimed, true);
	/* One by one: there are two, and each may fail. */
	attach_method__prepare(skel->progs.cupti_claimed, ATTACH_PERF_EVENT);
}

static struct bpf_link *watch(struct proftrace_bpf *skel, struct target *t,
			      const struct target_lib *lib, const char *name)
{
	struct elf_file *elf = target__elf(t, lib);
	struct elf_symbol symbol;
	struct bpf_link *link;
	uint64_t offset;

	if (!elf || elf_file__symbol(elf, name, &symbol) ||
	    elf_file__offset(elf, symbol.vaddr, &offset))
		return NULL;
	link = bpf_program__attach_uprobe(skel->progs.cupti_claimed, false, t->pid, lib->host_path,
					  offset);
	if (!link)
		log__debug("cannot watch %s: %s", name, strerror(errno));
	return link;
}

struct cupti_watch *cupti_watch__start(struct proftrace_bpf *skel, int pid)
{
	struct cupti_watch *w = calloc(1, sizeof(*w));
	const struct target_lib *lib;
	struct target *t;

	if (!w || target__open(pid, &t)) {
		free(w);
		return NULL;
	}
	lib = target__find_lib(t, "libcupti*.so.*");
	for (size_t i = 0; lib && i < ARRAY_SIZE(beginnings); i++)
		w->links[i] = watch(skel, t, lib, beginnings[i]);
	target__close(t);
	return w;
}

void cupti_watch__stop(struct cupti_watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		bpf_link__destroy(w->links[i]);
	free(w);
}
