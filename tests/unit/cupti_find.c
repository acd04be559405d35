// SPDX-License-Identifier: BSD-2-Clause
/* Tests which libcupti is chosen for a process, from the places of its libraries. */
#include "common/err.h"
#include "device/cupti_find.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/proftrace-cupti.XXXXXX";
static struct target_lib libs[4];
static struct target target;
static struct cupti_found found;

static void make(const char *path)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(whole, 0755);
		*slash = '/';
	}
	fclose(fopen(whole, "w"));
}

static void map(const char *path)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	libs[target.lib_cnt++].path = strdup(whole);
}

/* This process with other libraries. */
static void begin(void)
{
	cr_assert(mkdtemp(root));
	target = (struct target){.pid = getpid(), .libs = libs};
}

static void end(void)
{
	char command[64];

	for (size_t i = 0; i < target.lib_cnt; i++)
		free(libs[i].path);
	snprintf(command, sizeof(command), "rm -r %s", root);
	cr_assert_eq(system(command), 0);
}

TestSuite(cupti_find, .init = begin, .fini = end);

static void expect(const char *path)
{
	int err = cupti__find(&target, NULL, &found);

	cr_assert_eq(err, 0, "%s", err__take(err));
	cr_assert_eq(strncmp(found.path, root, strlen(root)), 0, "%s", found.path);
	cr_assert_str_eq(found.path + strlen(root), path);
}

Test(cupti_find, the_loaded_one_is_used)
{
	map("/x/libcuda.so.550.54.14");
	map("/x/libcudart.so.12");
	map("/x/libcupti.so.12");
	make("/x/libcupti.so.12");
	cr_assert(cuda__has_driver(&target) && cuda__has_runtime(&target));
	cr_assert_eq(cupti__find(&target, NULL, &found), 0);
	cr_assert(found.loaded && found.major == 12 && !found.path[0]);
}

Test(cupti_find, beside_the_runtime)
{
	map("/cuda/lib64/libcudart.so.12.4.127");
	make("/cuda/lib64/libcupti.so.2024.1.1");
	make("/cuda/lib64/libcupti.so.12");
	expect("/cuda/lib64/libcupti.so.12");
}

Test(cupti_find, in_the_toolkit_of_the_runtime)
{
	map("/cuda/lib64/libcudart.so.11.8.89");
	make("/cuda/lib64/libcudart.so.11.8.89");
	make("/cuda/extras/CUPTI/lib64/libcupti.so.11.8");
	expect("/cuda/lib64/../extras/CUPTI/lib64/libcupti.so.11.8");
}

Test(cupti_find, in_the_wheel_of_the_right_version)
{
	map("/v/lib/python3.12/site-packages/jaxlib/libjax_common.so");
	map("/v/lib/python3.12/site-packages/nvidia/cuda_runtime/lib/libcudart.so.12");
	make("/v/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13");
	make("/v/lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
	expect("/v/lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
}

/* The program contains the runtime. Only its other libraries can show the version. */
Test(cupti_find, without_a_runtime_the_newest)
{
	map("/v/dist-packages/libcublasLt.so.13");
	make("/v/dist-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
	make("/v/dist-packages/nvidia/cu13/lib/libcupti.so.13");
	expect("/v/dist-packages/nvidia/cu13/lib/libcupti.so.13");
	strcpy(strrchr(libs[0].path, '/'), "/libx.so");
	expect("/v/dist-packages/nvidia/cu13/lib/libcupti.so.13");
	cr_assert_eq(found.major, 0);
}

Test(cupti_find, none_and_one_that_is_not_there)
{
	char there[512];

	map("/x/libcudart.so.17");
	make("/x/libcupti.so.12");
	cr_assert_eq(cupti__find(&target, NULL, &found), -ENOENT);
	cr_assert(strstr(err__take(-ENOENT), "no libcupti of CUDA 17"));
	cr_assert_eq(cupti__find(&target, "/nonexistent/libcupti.so.12", &found), -ENOENT);
	cr_assert(strstr(err__take(-ENOENT), "does not see"));
	snprintf(there, sizeof(there), "%s/x/libcupti.so.12", root);
	cr_assert_eq(cupti__find(&target, there, &found), -ENOEXEC);
	cr_assert(strstr(err__take(-ENOEXEC), "not a libcupti: it has no function cuptiSubscribe"));
}

/* This function makes the program look like a libcupti. */
int cuptiSubscribe(void);
int cuptiSubscribe(void)
{
	return 0;
}

static const char *passes(const char *path)
{
	static char whole[512], own[512];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);

	cr_assert(len > 0);
	make(path);
	snprintf(whole, sizeof(whole), "%s%s", root, path);
	cr_assert(!unlink(whole) && !symlink(own, whole));
	return whole;
}

Test(cupti_find, the_chosen_one)
{
	const char *there = passes("/x/libcupti.so.12");

	cr_assert_eq(cupti__find(&target, there, &found), 0);
	cr_assert_str_eq(found.path, there);
	cr_assert(!found.loaded && !found.unused);
}

Test(cupti_find, the_chosen_one_is_not_used_beside_another)
{
	const char *there = passes("/y/libcupti.so.12");

	make("/x/libcupti.so.12");
	map("/x/libcupti.so.12");
	libs[0].host_path = libs[0].path;
	cr_assert_eq(cupti__find(&target, there, &found), 0);
	cr_assert(found.loaded && found.unused);
	map("/y/libcupti.so.12");
	free(libs[0].path);
	libs[0] = libs[--target.lib_cnt];
	libs[0].host_path = libs[0].path;
	cr_assert_eq(cupti__find(&target, there, &found), 0);
	cr_assert(found.loaded && !found.unused);
}

/* PyTorch for CUDA 13 and another framework for CUDA 11, loaded in any order. */
Test(cupti_find, of_several_runtimes_the_newest_counts)
{
	map("/a/libcudart.so.11.0");
	map("/b/libcudart.so.13");
	make("/a/libcudart.so.11.0");
	make("/a/libcupti.so.11.8");
	make("/b/libcudart.so.13");
	make("/b/libcupti.so.13");
	expect("/b/libcupti.so.13");
	cr_assert_eq(found.major, 13);
	cr_assert_eq(found.older_major, 11);
	cr_assert_eq(found.loaded_major, 0);
}

/* If a framework contains its runtime, its math libraries show the version. */
Test(cupti_find, runtimes_without_a_number_are_known_by_other_libraries)
{
	map("/a/libcudart.so.11.0");
	map("/b/libcublas.so.13");
	cr_assert_eq(cupti__find(&target, NULL, &found), -ENOENT);
	cr_assert_eq(found.major, 13);
	cr_assert_eq(found.older_major, 11);
}

Test(cupti_find, the_loaded_one_may_be_of_another_major)
{
	map("/b/libcudart.so.13");
	map("/a/libcupti.so.11.8");
	cr_assert_eq(cupti__find(&target, NULL, &found), 0);
	cr_assert(found.loaded && found.major == 13 && found.loaded_major == 11);
	cr_assert_eq(found.older_major, 0);
}
