// SPDX-License-Identifier: BSD-2-Clause
#include "capture/user_probes/landings.h"
#include "attach/site.h"
#include "bpf/skeleton.h"
#include "capture/arming/arm.h"
#include "common/err.h"
#include "common/util.h"
#include <bpf/bpf.h>

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

/* The place itself, or a cheaper instruction behind it; 0: none that can have a probe. */
static uint64_t place(struct elf_file *elf, uint64_t vaddr)
{
	size_t len;
	const uint8_t *code = elf_file__bytes(elf, vaddr, &len);
	int shift, off = code ? site__slide(code, len, SITE_RSP | SITE_RAX, &shift) : -ENOENT;

	return off < 0 ? 0 : vaddr + (uint64_t)off;
}

static int plan_landing(struct session *s, uint32_t row, uint64_t address)
{
	const struct planned_probe *entry = entry_of(&s->plan, row);
	struct planned_probe landing;
	struct elf_file *elf;
	uint64_t vaddr;

	if (!entry || !entry->landing_program || is_planned(&s->plan, row, address))
		return 0;
	landing = *entry;
	landing.lib = target__lib_at(s->target, address, &vaddr);
	if (!landing.lib)
		return 0; /* code made while running: such calls end by inference */
	elf = target__elf(s->target, landing.lib);
	landing.program = entry->landing_program;
	landing.return_program = NULL;
	landing.return_address = address;
	landing.vaddr = place(elf, vaddr);
	if (!landing.vaddr || elf_file__offset(elf, landing.vaddr, &landing.offset))
		return 0;
	log__debug("%s returns to %s+0x%llx", landing.symbol, landing.lib->path,
		   (unsigned long long)vaddr);
	return probe_plan__add(&s->plan, &landing);
}

static int plan_all(struct session *s)
{
	int fd = bpf_map__fd(s->probes.skel->maps.returns), err = 0;
	uint64_t key, *prev = NULL;
	uint32_t row;

	while (!err && !bpf_map_get_next_key(fd, prev, &key)) {
		prev = &key;
		if (!bpf_map_lookup_elem(fd, &key, &row))
			err = plan_landing(s, row, key);
	}
	return err;
}

static int rearm(struct session *s, size_t from)
{
	bool groups[GROUP_CNT] = {false};
	int err = 0;

	for (size_t i = from; i < s->plan.cnt; i++)
		groups[s->plan.probes[i].group] = true;
	for (int g = 0; g < GROUP_CNT && !err; g++)
		if (groups[g] && (g == GROUP_STEP ? !s->far.out : s->armed))
			err = arm__reattach(s, g);
	if (!err)
		probes__forget_spans(&s->probes);
	return err;
}

int landings__adjust(struct session *s)
{
	uint32_t cnt = s->probes.ctl->return_cnt;
	size_t before = s->plan.cnt;
	int err;

	if (cnt == s->landing_cnt || s->window.writer)
		return 0;
	s->landing_cnt = cnt;
	if (target__refresh_libs(s->target))
		err__take(-ESRCH); /* it ended, which the loop will see */
	err = plan_all(s);
	if (err || s->plan.cnt == before)
		return err;
	decoder__plan_grew(s->decoder);
	err = probes__plan_grew(&s->probes, before);
	return err ? err : rearm(s, before);
}
