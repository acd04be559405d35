// SPDX-License-Identifier: BSD-2-Clause
/* Ranges, counters and markers of proftrace.h. Their names, or domains, differ only at the end. */
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "include/proftrace.h"

#define DOMAIN "application.with.a.domain.that.is.longer.than.forty.six.bytes"

static char text[64][8192];
static int cnt;

/* `part` over and over, cut at `len` bytes, and an end. */
static const char *name(const char *part, size_t len, const char *end)
{
	char *p = text[cnt++];

	while (strlen(p) + strlen(part) + strlen(end) <= len)
		strcat(p, part);
	while (strlen(p) + strlen(end) < len)
		strcat(p, "-");
	return strcat(p, end);
}

static void range(const char *domain, const char *name, unsigned int us)
{
	const proftrace_range r = {domain, name};

	proftrace_begin(&r);
	usleep(us);
	proftrace_end(&r);
}

int main(void)
{
	static const size_t lens[] = {79, 80, 126, 127, 128, 129, 255, 256, 257, 1024, 4095, 4096};
	const char *fast[16], *slow[16];
	const char *beyond[] = {name("block/", 5000, "a"), name("block/", 5000, "b")};
	const char *accents[] = {name("\xc3\xa9", 201, "a"), name("\xc3\xa9", 201, "b")};
	const char *bytes[] = {name("x", 131, "\xfe"), name("x", 131, "\xff")};
	const char *domains[] = {name("domain.", 300, "1"), name("domain.", 300, "2")};
	proftrace_counter counters[] = {{DOMAIN "1", name("queue.", 150, "in"), 0},
					{DOMAIN "1", name("queue.", 150, "out"), 0}};
	static const proftrace_range frame = {"names", "step"};

	for (int i = 0; i < 12; i++) {
		fast[i] = name("layer/", lens[i], "f");
		slow[i] = name("layer/", lens[i], "s");
	}
	for (time_t end = time(NULL) + 120; time(NULL) < end;) {
		proftrace_frame_begin(&frame);
		for (int i = 0; i < 12; i++) {
			range(NULL, fast[i], 10);
			range(NULL, slow[i], 2000);
		}
		for (int i = 0; i < 2; i++) {
			range(NULL, beyond[i], 10);
			range(NULL, accents[i], 10);
			range(NULL, bytes[i], 10);
			range(domains[i], "work", 10);
			range(i ? DOMAIN "1" : DOMAIN "2", "short", 10);
			proftrace_counter_set(&counters[i], i + 5);
			proftrace_mark(NULL, beyond[0] + 4000 + 6 * i, 't');
		}
		proftrace_end(&frame);
	}
}
