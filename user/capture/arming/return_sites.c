// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/return_sites.h"
#include "attach/site.h"
#include "bpf/skeleton.h"
#include "capture/arming/arm_groups.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include "device/shim_library.h"
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

static const struct planned_probe *entry_of(const struct probe_plan *plan, uint32_t row)
{
	for (size_t i = 0; i < plan->cnt; i++)
		if (plan->probes[i].row == row)
			return &plan->probes[i];
	return NULL;
}

static bool is_planned(const struct probe_plan *plan, uint32_t row, uint64_t return_address)
{
	for (size_t i = 0; i < plan->cnt; i++)
		if (plan->probes[i].row == row && plan->probes[i].return_address == return_address)
			return true;
	return false;
}

/* The return site, or a cheaper instruction after it; 0: no instruction there can have a probe. */
static uint64_t place(struct elf_file *elf, uint64_t vaddr)
{
	size_t len;
	const uint8_t *code = elf_file__bytes(elf, vaddr, &len);
	int shift, off = code ? site__slide(code, len, SITE_RSP | SITE_RAX, &shift) : -ENOENT;

	return off < 0 ? 0 : vaddr + (uint64_t)off;
}

static int plan_return_site(struct session *s, uint32_t row, uint64_t address)
{
	const struct planned_probe *entry = entry_of(&s->plan, row);
	struct planned_probe site;
	struct elf_file *elf;
	uint64_t vaddr;

	if (!entry || !entry->return_site_program || is_planned(&s->plan, row, address))
		return 0;
	site = *entry;
	site.lib = target__lib_at(s->target, address, &vaddr);
	if (!site.lib)
		return 0; /* code made at run time: such calls end by inference */
	elf = target__elf(s->target, site.lib);
	site.program = entry->return_site_program;
	site.return_program = NULL;
	site.pointer_hook = POINTER_HOOK_NOT;
	site.return_address = address;
	site.vaddr = place(elf, vaddr);
	if (!site.vaddr || elf_file__offset(elf, site.vaddr, &site.offset))
		return 0;
	log__debug("%s returns to %s+0x%llx", site.symbol, site.lib->path,
		   (unsigned long long)vaddr);
	return probe_plan__add(&s->plan, &site);
}

/* New return sites, for which no probe was planned yet. */
struct places {
	uint64_t addresses[PT_MAX_RETURNS];
	uint32_t rows[PT_MAX_RETURNS];
	size_t cnt;
};

/* Our library is then between caller and function, and either replaces the probe or goes away. */
static bool is_in_our_library(const struct session *s, uint64_t address)
{
	uint64_t vaddr;
	const struct target_lib *lib = target__lib_at(s->target, address, &vaddr);

	return lib && strstr(lib->path, SHIM_LIBRARY_NAME);
}

static void find_new(const struct session *s, int fd, struct places *p)
{
	uint64_t key, *prev = NULL;
	uint32_t row;

	while (p->cnt < PT_MAX_RETURNS && !bpf_map_get_next_key(fd, prev, &key)) {
		prev = &key;
		if (bpf_map_lookup_elem(fd, &key, &row) || row & PT_RETURN_IS_SEEN ||
		    is_in_our_library(s, key))
			continue;
		p->addresses[p->cnt] = key;
		p->rows[p->cnt++] = row;
	}
}

/* From now on calls that return to these sites are recorded. */
static int set_seen(int fd, const struct places *p)
{
	for (size_t i = 0; i < p->cnt; i++) {
		const uint32_t row = p->rows[i] | PT_RETURN_IS_SEEN;

		if (bpf_map_update_elem(fd, &p->addresses[i], &row, BPF_EXIST))
			return err__set(-errno, MESSAGE_RETURN_SITES_NOT_WATCHED, strerror(errno));
	}
	return 0;
}

static int reattach(struct session *s, size_t from)
{
	bool groups[GROUP_CNT] = {false};
	int err = 0;

	for (size_t i = from; i < s->plan.cnt; i++)
		groups[s->plan.probes[i].group] = true;
	for (int g = 0; g < GROUP_CNT && !err; g++)
		if (groups[g] &&
		    (g == GROUP_STEP ? s->residency != RESIDENCY_NONE
				     : s->residency == RESIDENCY_FULL || s->probes.attached[g]))
			err = arm__reattach(s, g);
	if (!err)
		probes__forget_spans(&s->probes);
	return err;
}

/* During a window nothing is detached: the new probes are added. */
static int attach_new(struct session *s, size_t from)
{
	int err = probes__plan_grew(&s->probes, from);

	decoder__plan_grew(s->records.decoder);
	if (err)
		return err;
	if (!s->window.writer)
		return reattach(s, from);
	arm__hurry(true);
	err = probes__attach_added(&s->probes, from, s->target->pid);
	arm__hurry(false);
	return err;
}

bool return_sites__are_needed(const struct session *s)
{
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (s->plan.probes[i].return_site_program)
			return true;
	return false;
}

/* Plans probes for the return sites that the programs have noted since the last turn. Calls that
 * return elsewhere are counted and not recorded. */
static int plan_new(struct session *s, uint64_t *next_ns)
{
	const int fd = bpf_map__fd(s->probes.skel->maps.returns);
	const uint32_t cnt = s->probes.ctl->return_cnt;
	const size_t before = s->plan.cnt;
	struct places new = {.cnt = 0};
	int err = 0;

	(void)next_ns;
	if (cnt == s->attaching.return_sites)
		return 0;
	s->attaching.return_sites = cnt;
	if (target__refresh_libs(s->target))
		err__take(-ESRCH); /* the target has ended; the loop notices that */
	find_new(s, fd, &new);
	for (size_t i = 0; i < new.cnt && !err; i++)
		err = plan_return_site(s, new.rows[i], new.addresses[i]);
	if (!err && s->plan.cnt > before)
		err = attach_new(s, before);
	return err ? err : set_seen(fd, &new);
}

const struct component component_return_sites = {
	.name = "places that calls return to",
	.poll = plan_new,
};
