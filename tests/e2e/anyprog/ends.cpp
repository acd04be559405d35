// SPDX-License-Identifier: BSD-2-Clause
// Requests whose ranges are not all ended, late, or by another thread: ends FORM.
#include <cstring>
#include <thread>
#include <unistd.h>

#include "include/proftrace.h"

static proftrace_range request = {"ends", "request"}, parse = {"ends", "parse"}, reply = {"ends", "reply"};
static proftrace_range others[40];

static void part(const proftrace_range *r, bool ends)
{
	proftrace_begin(r);
	usleep(300);
	if (ends)
		proftrace_end(r);
}

static void leaves_open()
{
	part(&parse, false);
	part(&reply, true);
}

static void ends_elsewhere()
{
	part(&parse, false);
	std::thread([] { proftrace_end(&parse); }).join();
	part(&reply, true);
}

// parse ends before reply, which ends after the request.
static void overlaps()
{
	proftrace_begin(&parse);
	proftrace_begin(&reply);
	usleep(300);
	proftrace_end(&parse);
	usleep(300);
	proftrace_end(&request);
	usleep(300);
	proftrace_end(&reply);
}

// The second ends after the third.
static void frames_overlap()
{
	proftrace_frame_begin(&request);
	proftrace_frame_begin(&reply);
	usleep(300);
	proftrace_end(&request);
	usleep(300);
	proftrace_frame_begin(&parse);
	usleep(300);
	proftrace_end(&parse);
	proftrace_end(&reply);
}

// More than a thread's open ranges that are seen.
static void is_deep()
{
	for (auto &other : others)
		proftrace_begin(&other);
	proftrace_frame_begin(&request);
	usleep(300);
	proftrace_end(&request);
	for (int i = 39; i >= 0; i--)
		proftrace_end(&others[i]);
}

int main(int, char **argv)
{
	const bool no_frame = !strcmp(argv[1], "no frame"), leaves_frame = !strcmp(argv[1], "frame");

	for (auto &other : others)
		other = {nullptr, "other"};
	for (unsigned n = 0;; n++) {
		if (!strcmp(argv[1], "deep")) {
			is_deep();
			continue;
		}
		if (!strcmp(argv[1], "frames overlap")) {
			frames_overlap();
			continue;
		}
		if (no_frame)
			proftrace_begin(&request);
		else
			proftrace_frame_begin(&request);
		if (!strcmp(argv[1], "overlaps"))
			overlaps();
		else if (!strcmp(argv[1], "elsewhere"))
			ends_elsewhere();
		else
			leaves_open();
		if (!leaves_frame || n % 4 < 2)
			proftrace_end(&request);
		usleep(300);
	}
}
