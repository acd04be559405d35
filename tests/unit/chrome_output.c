// SPDX-License-Identifier: BSD-2-Clause
/* Names, compression and failure of the written file. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>
#include "chrome_sample.h"
#include "common/err.h"
#include "common/util.h"
#include "exporters/parts/text_file.h"
#include "recording_sample.h"

static void fill(struct made *s, json_t *meta, uint64_t cnt)
{
	made__begin(s, meta);
	for (uint64_t i = 0; i < cnt; i++)
		made__span(s, CAT_OPERATOR, "aten::add", i * 2000, i * 2000 + 1500, i);
	made__close(s);
}

static size_t files_in(const char *path)
{
	DIR *d = opendir(path);
	size_t cnt = 0;

	cr_assert_not_null(d);
	for (struct dirent *e; (e = readdir(d));)
		cnt += e->d_name[0] != '.';
	closedir(d);
	return cnt;
}

Test(chrome_output, default_name_is_what_tensorboard_parses)
{
	char dir[128], path[4096], want[256];
	struct made s;

	fill(&s,
	     json_pack("{s:{s:s},s:{s:i},s:{s:i}}", "host", "name", "gpu_1.lab/x", "process", "pid",
		       77, "window", "index", 2),
	     1);
	snprintf(dir, sizeof(dir), "%s/", s.dir);
	cr_assert_eq(made__export_to(&s, dir, -1, path), 0);
	snprintf(want, sizeof(want), "%s/gpu-1-lab-x_77.2.pt.trace.json.gz", s.dir);
	cr_expect_str_eq(path, want);
	unlink(path);
	cr_assert_eq(made__export_to(&s, s.dir, 0, path), 0);
	snprintf(want, sizeof(want), "%s/gpu-1-lab-x_77.2.pt.trace.json", s.dir);
	cr_expect_str_eq(path, want);
	unlink(path);
	made__remove(&s);
}

/* Large enough for several blocks on several threads. */
Test(chrome_output, gzip_holds_the_plain_text)
{
	char gz[128], plain[128], a[65536], b[65536];
	struct made s;
	gzFile packed;
	FILE *text;
	size_t len, total = 0;

	fill(&s, NULL, 30000);
	snprintf(gz, sizeof(gz), "%s/t.json.gz", s.dir);
	snprintf(plain, sizeof(plain), "%s/t.json", s.dir);
	cr_assert_eq(made__export_to(&s, plain, -1, NULL), 0);
	for (int level = 1; level <= 9; level += 4) {
		cr_assert_eq(made__export_to(&s, gz, level, NULL), 0);
		packed = gzopen(gz, "rb");
		text = fopen(plain, "rb");
		cr_assert(packed && text && !gzdirect(packed));
		while ((len = fread(a, 1, sizeof(a), text)) > 0) {
			cr_assert_eq(gzread(packed, b, (unsigned int)len), (int)len);
			cr_assert_eq(memcmp(a, b, len), 0, "level %d differs at %zu", level, total);
			total += len;
		}
		cr_expect_eq(gzread(packed, b, 1), 0);
		cr_expect_eq(gzclose(packed), Z_OK, "checksum");
		fclose(text);
		unlink(gz);
	}
	cr_expect_gt(total, 3 * 1000 * 1000);
	unlink(plain);
	made__remove(&s);
}

Test(chrome_output, a_full_disk_leaves_nothing_under_the_name)
{
	const struct rlimit small = {100000, RLIM_INFINITY};
	struct rlimit before;
	char path[128];
	struct made s;
	int err;

	fill(&s, NULL, 30000);
	snprintf(path, sizeof(path), "%s/t.json", s.dir);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &small);
	err = made__export_to(&s, path, 0, NULL);
	setrlimit(RLIMIT_FSIZE, &before);
	cr_expect_eq(err, -EFBIG);
	cr_expect_not_null(strstr(err__take(err), path));
	cr_expect_eq(files_in(s.dir), 1, "only the recording is left");
	made__remove(&s);
}

Test(chrome_output, no_space_is_said_plainly)
{
	struct made s;
	int err;

	fill(&s, NULL, 30000);
	err = made__export_to(&s, "/dev/full", 1, NULL);
	cr_expect_eq(err, -ENOSPC);
	cr_expect_not_null(strstr(err__take(err), "/dev/full: no space left"));
	err = made__export_to(&s, "/nonexistent/t.json.gz", 1, NULL);
	cr_expect_eq(err, -ENOENT);
	cr_expect_not_null(strstr(err__take(err), "directory does not exist"));
	made__remove(&s);
}

Test(chrome_output, the_name_tells_what_is_inside)
{
	char path[128];
	struct made s;

	fill(&s, NULL, 1);
	snprintf(path, sizeof(path), "%s/t.json.gz", s.dir);
	cr_expect_eq(made__export_to(&s, path, 0, NULL), -EINVAL);
	snprintf(path, sizeof(path), "%s/t.json", s.dir);
	cr_expect_eq(made__export_to(&s, path, 6, NULL), -EINVAL);
	cr_expect_eq(files_in(s.dir), 1);
	made__remove(&s);
}

Test(chrome_output, a_link_is_refused_and_a_mode_kept)
{
	char dir[] = "/tmp/proftrace-mode.XXXXXX"; /* in /tmp itself no mode is kept */
	auto_free char *target = NULL, *link = NULL;
	struct text_file *f;
	struct stat st;
	uint64_t bytes;

	cr_assert(mkdtemp(dir) != NULL);
	cr_assert_neq(asprintf(&target, "%s/trace", dir), -1);
	cr_assert_neq(asprintf(&link, "%s.link", dir), -1);
	cr_assert_eq(symlink(target, link), 0);
	cr_expect_eq(text_file__open(link, 0, &f), -ELOOP);
	cr_assert_eq(lstat(link, &st), 0);
	cr_expect(S_ISLNK(st.st_mode));
	cr_assert_eq(text_file__open(target, 0, &f), 0);
	text_file__put(f, "through", 7);
	cr_assert_eq(text_file__finish(f, &bytes), 0);
	cr_assert_eq(stat(target, &st), 0);
	cr_expect_eq(st.st_size, 7);

	cr_assert_eq(chmod(target, 0640), 0);
	cr_assert_eq(text_file__open(target, 0, &f), 0);
	cr_assert_eq(text_file__finish(f, &bytes), 0);
	cr_assert_eq(stat(target, &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0640);
	cr_expect_eq(st.st_size, 0);
	unlink(link);
	unlink(target);
	rmdir(dir);
}

Test(chrome_output, text_without_a_path_is_counted_and_goes_nowhere)
{
	struct text_file *f;
	uint64_t bytes;

	cr_assert_eq(text_file__open(NULL, 0, &f), 0);
	text_file__put(f, "nowhere", 7);
	cr_expect_eq(text_file__taken(f), 7);
	cr_assert_eq(text_file__finish(f, &bytes), 0);
	cr_expect_eq(bytes, 7);
}
