// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include "common/err.h"
#include "common/util.h"
#include "target/elf_file.h"

/* The test binary itself is the ELF file under test. */
int elf_test_object = 0x12345678;
int elf_test_function(int x);
__attribute__((noinline)) int elf_test_function(int x)
{
	return x * 3 + 1;
}
static __attribute__((noinline, used)) int elf_test_local(int x)
{
	return x * 5 + 2;
}

static struct elf_file *open_self(void)
{
	struct elf_file *f = NULL;

	cr_assert_eq(elf_file__open("/proc/self/exe", &f), 0);
	return f;
}

static uint64_t self_bias(struct elf_file *f)
{
	struct elf_symbol s;

	cr_assert_eq(elf_file__symbol(f, "elf_test_function", &s), 0);
	return (uint64_t)elf_test_function - s.vaddr;
}

Test(elf_file, finds_symbols_by_name)
{
	struct elf_file *f = open_self();
	struct elf_symbol s;
	const uint8_t *bytes;
	size_t len;

	cr_assert_eq(elf_file__symbol(f, "elf_test_function", &s), 0);
	cr_expect(s.is_function);
	cr_expect_gt(s.size, 0);
	bytes = elf_file__bytes(f, s.vaddr, &len);
	cr_assert_not_null(bytes);
	cr_assert_geq(len, s.size);
	cr_expect_arr_eq(bytes, (void *)elf_test_function, s.size);
	cr_assert_eq(elf_file__symbol(f, "elf_test_object", &s), 0);
	cr_expect_not(s.is_function);
	cr_expect_eq(*(const int *)elf_file__bytes(f, s.vaddr, &len), elf_test_object);
	cr_expect_eq(elf_file__symbol(f, "elf_test_no_such", &s), -ENOENT);
	cr_expect_eq(elf_file__symbol(f, "printf_is_undefined_here", &s), -ENOENT);
	elf_file__close(f);
}

Test(elf_file, finds_symbols_by_address)
{
	struct elf_file *f = open_self();
	uint64_t bias = self_bias(f);
	struct elf_symbol s;

	cr_assert_eq(elf_file__symbol_at(f, (uint64_t)elf_test_local - bias + 1, &s), 0);
	cr_expect_str_eq(s.name, "elf_test_local");
	cr_assert_eq(elf_file__symbol_at(f, (uint64_t)&elf_test_object - bias, &s), 0);
	cr_expect_str_eq(s.name, "elf_test_object");
	cr_expect_eq(elf_file__symbol_at(f, 0, &s), -ENOENT);
	cr_expect_eq(elf_file__symbol_at(f, UINT64_MAX, &s), -ENOENT);
	elf_file__close(f);
}

Test(elf_file, finds_all_again_after_its_memory_was_given_back)
{
	struct elf_file *f = open_self();
	const uint64_t bias = self_bias(f);
	const uint8_t *bytes;
	struct elf_symbol s;
	size_t len;

	cr_assert_eq(elf_file__symbol_at(f, (uint64_t)elf_test_local - bias, &s), 0);
	elf_file__drop(f);
	cr_assert_eq(elf_file__symbol_at(f, (uint64_t)elf_test_local - bias, &s), 0);
	cr_expect_str_eq(s.name, "elf_test_local");
	elf_file__drop(f);
	cr_assert_eq(elf_file__symbol(f, "elf_test_function", &s), 0);
	bytes = elf_file__bytes(f, s.vaddr, &len);
	cr_expect_arr_eq(bytes, (void *)elf_test_function, s.size);
	elf_file__close(f);
}

struct seen {
	int function, local, object, total;
};

static int note_symbol(const struct elf_symbol *s, void *ctx)
{
	struct seen *seen = ctx;

	seen->total++;
	seen->function += strcmp(s->name, "elf_test_function") == 0;
	seen->local += strcmp(s->name, "elf_test_local") == 0;
	seen->object += strcmp(s->name, "elf_test_object") == 0;
	cr_assert_null(strchr(s->name, '@'), "version left in %s", s->name);
	return 0;
}

static int stop_at_third(const struct elf_symbol *s, void *ctx)
{
	return ++*(int *)ctx == 3 ? 42 : 0;
}

Test(elf_file, iterates_each_symbol_once)
{
	struct elf_file *f = open_self();
	struct seen seen = {0};
	int cnt = 0;

	cr_assert_eq(elf_file__for_each_symbol(f, note_symbol, &seen), 0);
	cr_expect_eq(seen.function, 1);
	cr_expect_eq(seen.local, 1);
	cr_expect_eq(seen.object, 1);
	cr_expect_eq(elf_file__for_each_symbol(f, stop_at_third, &cnt), 42);
	cr_expect_eq(cnt, 3);
	elf_file__close(f);
}

Test(elf_file, maps_addresses_to_offsets)
{
	struct elf_file *f = open_self();
	auto_close int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint8_t from_file[16];
	struct elf_symbol s;
	uint64_t offset;

	cr_assert_eq(elf_file__symbol(f, "elf_test_function", &s), 0);
	cr_assert_eq(elf_file__offset(f, s.vaddr, &offset), 0);
	cr_assert_eq(pread(fd, from_file, sizeof(from_file), (off_t)offset), sizeof(from_file));
	cr_expect_arr_eq(from_file, (void *)elf_test_function, sizeof(from_file));
	cr_expect_eq(elf_file__offset(f, UINT64_MAX - 5, &offset), -ENOENT);
	elf_file__close(f);
}

Test(elf_file, tells_sections_build_id_and_kind)
{
	struct elf_file *f = open_self();
	uint64_t vaddr = 0;
	size_t len = 0;

	cr_assert_not_null(elf_file__section(f, ".text", &vaddr, &len));
	cr_expect_gt(vaddr, 0);
	cr_expect_gt(len, 0);
	cr_expect_null(elf_file__section(f, ".no_such_section", &vaddr, &len));
	cr_expect_null(elf_file__section(f, ".bss", &vaddr, &len), ".bss has no bytes");
	cr_expect_eq(strlen(elf_file__build_id(f)) % 2, 0);
	cr_expect_not(elf_file__is_static(f));
	elf_file__close(f);
}

Test(elf_file, refuses_what_is_not_an_elf)
{
	struct elf_file *f = NULL;

	cr_expect_eq(elf_file__open("/proc/self/status", &f), -ENOEXEC);
	cr_expect_eq(elf_file__open("/dev/null", &f), -ENOEXEC);
	cr_expect_eq(elf_file__open("/no/such/file", &f), -ENOENT);
	cr_expect_not_null(strstr(err__take(-ENOENT), "/no/such/file"));
	cr_expect_null(f);
}

/* Uses everything that an opened file offers; sanitizers watch. */
static void use_file(struct elf_file *f)
{
	struct seen seen = {0};
	struct elf_symbol s;
	uint64_t offset;
	size_t len;

	elf_file__for_each_symbol(f, note_symbol, &seen);
	elf_file__symbol(f, "elf_test_function", &s);
	for (uint64_t at = 0; at < 1 << 20; at += 1 << 14) {
		elf_file__symbol_at(f, at, &s);
		elf_file__offset(f, at, &offset);
		elf_file__bytes(f, at, &len);
	}
	elf_file__section(f, ".text", NULL, &len);
	elf_file__build_id(f);
}

static void try_bytes(int fd, const uint8_t *bytes, size_t size)
{
	struct elf_file *f = NULL;
	char path[32];

	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(pwrite(fd, bytes, size, 0), (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (elf_file__open(path, &f) == 0) {
		use_file(f);
		elf_file__close(f);
	}
}

Test(elf_file, survives_hostile_files, .timeout = 60)
{
	size_t size;
	auto_free uint8_t *bytes =
		(uint8_t *)file__read("/usr/lib/x86_64-linux-gnu/libZydis.so", &size);
	auto_close int fd = memfd_create("hostile", MFD_CLOEXEC);
	uint64_t random = 12345;

	cr_assert_not_null(bytes);
	cr_assert_geq(fd, 0);
	for (size_t i = 1; i <= 64; i++) /* cut off anywhere */
		try_bytes(fd, bytes, size * i / 64);
	for (size_t i = 0; i < 400; i++) { /* headers and tables with random fields */
		size_t area = i % 2 ? 1024 : size, at;
		uint8_t saved[8];

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		at = (random >> 20) % (area - 8);
		memcpy(saved, bytes + at, 8);
		memcpy(bytes + at, &random, i % 8 + 1);
		try_bytes(fd, bytes, size);
		memcpy(bytes + at, saved, 8);
	}
}
