// SPDX-License-Identifier: BSD-2-Clause
/* Reads the description of a random job. Each line is one part or one action of a thread. */
#include "job.h"
#include "tests/simgpu/client/client.h"
#include <string.h>

static const char *const words[ACTION_CNT] = {
	"kernel", "copy", "set",  "graph",	 "operator", "range",  "end",
	"sleep",  "spin", "sync", "sync_device", "order",    "reduce", "broadcast",
};

static void add_action(struct program *p, const char *line)
{
	struct action a = {.kind = ACTION_CNT};
	char word[32];

	CHECK(p && p->cnt < MAX_ACTIONS);
	CHECK(sscanf(line, "%31s %d %d %d %d %d", word, &a.arg[0], &a.arg[1], &a.arg[2], &a.arg[3],
		     &a.arg[4]) >= 1);
	for (int kind = 0; kind < ACTION_CNT; kind++)
		if (!strcmp(word, words[kind]))
			a.kind = kind;
	CHECK(a.kind != ACTION_CNT);
	if (!p->actions)
		p->actions = calloc(MAX_ACTIONS, sizeof(a));
	CHECK(p->actions);
	p->actions[p->cnt++] = a;
}

/* A line of the whole job's. */
static bool read_setting(struct description *d, const char *line)
{
	return sscanf(line, "devices %d", &d->device_cnt) == 1 ||
	       sscanf(line, "streams %d", &d->stream_cnt) == 1 ||
	       sscanf(line, "depth %d", &d->depth) == 1 ||
	       sscanf(line, "every %d", &d->every) == 1 ||
	       sscanf(line, "rank %d %d %511s", &d->rank, &d->rank_cnt, d->id_path) == 3;
}

void description__read(const char *path, struct description *d)
{
	struct program *program = NULL;
	FILE *f = fopen(path, "r");
	char line[512];

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "thread")) {
			CHECK(d->thread_cnt < MAX_THREADS);
			program = &d->threads[d->thread_cnt++];
		} else if (!strcmp(line, "define")) {
			CHECK(d->graph_cnt < MAX_GRAPHS);
			program = &d->graphs[d->graph_cnt++];
		} else if (!read_setting(d, line)) {
			add_action(program, line);
		}
	}
	fclose(f);
	CHECK(d->device_cnt > 0 && d->device_cnt <= MAX_DEVICES && d->thread_cnt);
	CHECK(d->stream_cnt > 0 && d->stream_cnt <= MAX_STREAMS);
}
