// SPDX-License-Identifier: BSD-2-Clause
/* Causes of messages. Each cause is produced, and its message must be the right one. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "attach/privilege.h"
#include "common/capability.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "common/message_table.h"
#include "common/mounts.h"
#include "target/target.h"

#define LIB "/usr/lib/x86_64-linux-gnu/libZydis.so.4.0"

#define EXPECT_SAYS(text, words)                                                                   \
	cr_expect_not_null(strstr(text, words), "\"%s\" is not in: %s", words, text)

static void keep_capabilities(uint64_t kept)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	cr_assert_eq(syscall(SYS_capget, &header, data), 0);
	data[0].effective = data[0].permitted & (uint32_t)kept;
	data[1].effective = data[1].permitted & (uint32_t)(kept >> 32);
	cr_assert_eq(syscall(SYS_capset, &header, data), 0);
}

/* Expects that this cause was recorded: a message that has the cause's text as an argument names
 * its key. */
static void expect_key(const char *cause, const char *key)
{
	err__set_again(-EPERM, cause);
	cr_expect_str_eq(err__key(), key, "%s", err__take(-EPERM));
}

Test(causes, capabilities_that_are_missing_are_named)
{
	keep_capabilities(0);
	cr_expect_str_eq(capability__missing(CAPABILITIES_TO_LOAD), "CAP_BPF and CAP_PERFMON");
	cr_expect_str_eq(capability__missing(CAPABILITY(CAP_SYS_PTRACE)), "CAP_SYS_PTRACE");
	cr_expect_str_eq(capability__missing(0), "");
	cr_expect_eq(privilege__require(), -EPERM);
	EXPECT_SAYS(err__take(-EPERM), "needs CAP_BPF and CAP_PERFMON");
	expect_key(capability__lack(CAPABILITIES_TO_LOAD), /* sudo does not help root */
		   geteuid() ? MESSAGE_KEY(MESSAGE_CAPABILITY_MISSING)
			     : MESSAGE_KEY(MESSAGE_CAPABILITY_MISSING_TO_ROOT));
}

Test(causes, one_capability_may_stand_for_another)
{
	if (geteuid())
		cr_skip_test("needs root, to have capabilities");
	keep_capabilities(CAPABILITY(CAP_SYS_ADMIN) | CAPABILITY(CAP_SYS_PTRACE));
	cr_expect_str_eq(capability__missing(CAPABILITIES_TO_LOAD), "");
	cr_expect_eq(privilege__require(), 0);
	expect_key(capability__why_refused(CAPABILITIES_TO_LOAD),
		   MESSAGE_KEY(MESSAGE_REFUSED_DESPITE_CAPABILITIES));
	keep_capabilities(CAPABILITY(CAP_BPF));
	cr_expect_str_eq(capability__missing(CAPABILITIES_TO_LOAD), "CAP_PERFMON");
}

Test(causes, proc_and_sys_must_be_mounted)
{
	cr_expect_eq(mounts__check_proc("/proc"), 0);
	cr_expect_eq(mounts__check_proc("/nothing"), -ENOENT);
	cr_expect_eq(mounts__check_proc("/tmp"), -ENOENT);
	EXPECT_SAYS(err__take(-ENOENT), "/tmp is not mounted");
	EXPECT_SAYS(mounts__why_no_btf("/nothing"), "/sys is not mounted");
	if (access("/sys/kernel/btf/vmlinux", F_OK) == 0)
		EXPECT_SAYS(mounts__why_no_btf("/sys"), "unknown");
}

/* Our own number is 1 there, and /proc/1 is another process. */
static int open_ourselves(void)
{
	struct target *t = NULL;
	int err = target__open(getpid(), &t);

	return err == -EXDEV && strstr(err__take(err), "another pid namespace") ? 0 : 1;
}

Test(causes, proc_of_another_pid_namespace_is_refused)
{
	int status = -1;
	pid_t child;

	if (unshare(CLONE_NEWPID))
		cr_skip_test("no pid namespace can be made here");
	child = fork();
	if (child == 0)
		_exit(open_ourselves());
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(status, 0);
}

Test(causes, too_few_descriptors)
{
	const struct rlimit limit = {20, 20};
	struct target *t = NULL;
	const char *said;
	size_t open_cnt = descriptors__open_cnt();
	int err;

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	EXPECT_SAYS(descriptors__why(-EMFILE, 700), "the limit is 20, and at least 700 more");
	EXPECT_SAYS(descriptors__why(-EMFILE, 700), "ulimit -n 2048");
	EXPECT_SAYS(descriptors__why(-ENFILE, 0), "fs.file-max");
	for (; dup(0) >= 0; open_cnt++)
		;
	cr_expect_eq(descriptors__open_cnt(), open_cnt);
	err = target__open(getpid(), &t);
	said = err__take(err);
	cr_expect_eq(err, -EMFILE);
	EXPECT_SAYS(said, "the limit is 20");
	cr_expect_null(strstr(said, "no process"), "%s", said);
}

static void *text_of_lib(size_t *len)
{
	void *lib = dlopen(LIB, RTLD_NOW);
	struct link_map *map;
	const ElfW(Ehdr) * ehdr;
	const ElfW(Phdr) * ph;

	cr_assert_not_null(lib);
	cr_assert_eq(dlinfo(lib, RTLD_DI_LINKMAP, &map), 0);
	ehdr = (const void *)map->l_addr; // NOLINT: where its first segment is
	ph = (const void *)((const char *)ehdr + ehdr->e_phoff);
	while (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
		ph++;
	*len = (ph->p_filesz + 4095) & ~4095ul;
	return (char *)map->l_addr + ph->p_vaddr; // NOLINT
}

/* Copies text to other pages, as tools do that put text on huge pages. */
static void copy_text(char *text, size_t len)
{
	void *copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(copy, MAP_FAILED);
	memcpy(copy, text, len);
	cr_assert_eq(mprotect(copy, len, PROT_READ | PROT_EXEC), 0);
	cr_assert_eq(mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, text), text);
}

static void expect_copied(bool is_copied, bool is_listed)
{
	struct target *t = NULL;

	cr_assert_eq(target__open(getpid(), &t), 0, "%s", err__take(0));
	cr_expect_eq(t->copied_text_cnt, is_copied);
	cr_expect_eq(t->copied_text != NULL, is_copied);
	if (t->copied_text)
		EXPECT_SAYS(t->copied_text, "libZydis.so");
	cr_expect_eq(target__find_lib(t, "libZydis.so*") != NULL, is_listed);
	target__close(t);
}

Test(causes, text_copied_to_anonymous_memory)
{
	size_t len, half;
	char *text = text_of_lib(&len);

	half = len / 8192 * 4096;
	expect_copied(false, true);
	copy_text(text + half, len - half);
	expect_copied(true, true);
	copy_text(text, len);
	expect_copied(true, false);
}

/* Code that a compiler wrote at run time right behind a library is not the library's. */
Test(causes, code_behind_a_library_is_no_copy)
{
	size_t len;
	char *text = text_of_lib(&len), *after = text + len;

	/* its last mapping ends where mincore finds a hole */
	for (unsigned char c; mincore(after, 4096, &c) == 0; after += 4096)
		;
	cr_assert_neq(mmap(after, 4096, PROT_READ | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
		      MAP_FAILED);
	expect_copied(false, true);
}
