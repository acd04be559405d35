// SPDX-License-Identifier: BSD-2-Clause
/* Names of functions and kernels from files and devices: made readable, matched, cut. */
#include <string.h>
#include "analysis/render/text_width.h"
#include "capture/user_probes/functions.h"
#include "common/csv_cell.h"
#include "common/util.h"
#include "device/kernels/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t weight;

static void put(void *ctx, const char *text, size_t len)
{
	weight += len && text[0] + text[len - 1];
}

/* The output must have nothing that controls a terminal. */
static void check_shown(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			__builtin_trap();
}

static void show(const char *name)
{
	auto_free char *shown = NULL;
	size_t len;
	FILE *out = open_memstream(&shown, &len);

	if (!out)
		abort();
	for (int width = 1; width < 100; width += 33)
		text__put_cut(out, name, width);
	text__put_stack(out, name, 40);
	text__put_line(out, name);
	fclose(out);
	check_shown(shown, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *name = strndup((const char *)data, size < 4096 ? size : 4096);
	auto_free char *mangled = NULL, *readable = NULL;
	char plain[64];

	if (!name || asprintf(&mangled, "_Z%s", name) < 0)
		abort();
	readable = kernel_name__readable(mangled);
	if (!readable)
		abort();
	weight += function__matches("*step*", mangled, readable);
	api_name__plain(name, plain, sizeof(plain));
	show(readable);
	show(name);
	csv_cell__write(name, false, put, NULL);
	csv_cell__write_comment(name, false, put, NULL);
	return 0;
}
