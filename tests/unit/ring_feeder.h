/* SPDX-License-Identifier: BSD-2-Clause */
/* A ring's place for a test, and a program that puts records of steps into it. Needs root. */
#ifndef PROFTRACE_TEST_RING_FEEDER_H
#define PROFTRACE_TEST_RING_FEEDER_H

#include <bpf/bpf.h>
#include <criterion/criterion.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>
#include "bpf/events.h"
#include "common/util.h"

#define RECORD_WORDS (sizeof(struct pt_rec_step) / 8)
#define KEY_OFF	     (-(int)sizeof(struct pt_rec_step) - 8) /* in the frame, below the record */

struct ring_feeder {
	int slot_fd, prog_fd;
};

#define INSN(c, d, s, o, i)                                                                        \
	((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (short)(o), .imm = (int)(i)})

/* Copies its arguments into a record, and sends it. */
static inline int feeder__program(int slot_fd)
{
	struct bpf_insn insns[2 * RECORD_WORDS + 16];
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	size_t cnt = 0;

	for (int at = 0; at < (int)sizeof(struct pt_rec_step); at += 8) {
		insns[cnt++] = INSN(BPF_LDX | BPF_MEM | BPF_DW, 0, 1, at, 0);
		insns[cnt++] = INSN(BPF_STX | BPF_MEM | BPF_DW, 10, 0,
				    at - (int)sizeof(struct pt_rec_step), 0);
	}
	insns[cnt++] = INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, KEY_OFF, 0);
	insns[cnt++] = INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, slot_fd);
	insns[cnt++] = INSN(0, 0, 0, 0, 0);
	insns[cnt++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0);
	insns[cnt++] = INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, KEY_OFF);
	insns[cnt++] = INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem);
	insns[cnt++] = INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 6, 0);
	insns[cnt++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 0, 0, 0);
	insns[cnt++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0);
	insns[cnt++] = INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -(int)sizeof(struct pt_rec_step));
	insns[cnt++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, sizeof(struct pt_rec_step));
	insns[cnt++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, 0);
	insns[cnt++] = INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ringbuf_output);
	insns[cnt++] = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "feed", "GPL", insns, cnt, &opts);
}

static inline void feeder__begin(struct ring_feeder *f)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int inner;

	if (geteuid() != 0)
		cr_skip_test("a ring needs root");
	inner = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "inner", 0, 0, 4096, NULL);
	cr_assert_geq(inner, 0);
	opts.inner_map_fd = (__u32)inner;
	f->slot_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "slot", 4, 4, 1, &opts);
	cr_assert_geq(f->slot_fd, 0);
	close(inner);
	f->prog_fd = feeder__program(f->slot_fd);
	cr_assert_geq(f->prog_fd, 0, "%s", strerror(errno));
}

static inline void feeder__end(struct ring_feeder *f)
{
	close(f->prog_fd);
	close(f->slot_fd);
}

static inline void feeder__put(const struct ring_feeder *f, const struct pt_rec_step *r)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = r, .ctx_size_in = sizeof(*r));

	cr_assert_eq(bpf_prog_test_run_opts(f->prog_fd, &opts), 0, "%s", strerror(errno));
	cr_assert_eq(opts.retval, 0);
}

#endif
