// SPDX-License-Identifier: BSD-2-Clause
/* Questions to the running kernel, asked once, by its version or by trying. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/utsname.h>
#include "attach/attach.h"
#include "common/util.h"

bool kernel__at_least(unsigned int major, unsigned int minor)
{
	unsigned int have_major, have_minor;
	struct utsname uts;

	if (uname(&uts) || sscanf(uts.release, "%u.%u", &have_major, &have_minor) != 2)
		return true;
	return have_major != major ? have_major > major : have_minor >= minor;
}

/* Since libbpf 1.4 it reserves a descriptor for each map that it opens (create_placeholder_fd). */
#define LIBBPF_OPENS_ALL_MAPS                                                                      \
	(LIBBPF_MAJOR_VERSION > 1 || (LIBBPF_MAJOR_VERSION == 1 && LIBBPF_MINOR_VERSION >= 4))

size_t bpf_object__descriptors(const struct bpf_object *obj)
{
	struct bpf_program *prog;
	struct bpf_map *map;
	size_t cnt = 0;

	bpf_object__for_each_program(prog, obj) cnt += bpf_program__autoload(prog);
	bpf_object__for_each_map(map, obj) cnt += LIBBPF_OPENS_ALL_MAPS || bpf_map__autocreate(map);
	return cnt;
}

static int try_fentry(int function)
{
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = (__u32)function);
	int fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "try", "GPL", nothing, ARRAY_SIZE(nothing),
			       &opts);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int kernel__traces_page_faults(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id, err;

	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, "handle_mm_fault", BTF_KIND_FUNC);
	err = id < 0 ? id : try_fentry(id);
	btf__free(btf);
	return err;
}
