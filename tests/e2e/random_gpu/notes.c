// SPDX-License-Identifier: BSD-2-Clause
/* Notes are kept in memory, by thread, and written when all threads have ended. */
#include "job.h"
#include "tests/simgpu/client/client.h"
#include <pthread.h>
#include <unistd.h>

struct book {
	int tid;
	struct note *notes;
	size_t cnt, cap;
};
static struct book books[MAX_THREADS];
static _Atomic int book_cnt;
static __thread struct book *own;

size_t notes__begin(enum note_kind kind, int number)
{
	if (!own) {
		own = &books[book_cnt++];
		own->tid = gettid();
	}
	if (own->cnt == own->cap) {
		own->cap = own->cap ? own->cap * 2 : 65536;
		own->notes = realloc(own->notes, own->cap * sizeof(*own->notes));
		CHECK(own->notes);
	}
	own->notes[own->cnt] = (struct note){.kind = kind, .number = number, .before_ns = now_ns()};
	return own->cnt++;
}

struct note *notes__at(size_t at)
{
	return &own->notes[at];
}

void notes__write(const char *path)
{
	static const char *const kinds[] = {"step", "operator", "range"};
	FILE *f = fopen(path, "w");

	CHECK(f);
	fprintf(f, "kind\ttid\tnumber\tbefore_ns\tbegun_ns\tending_ns\tended_ns\n");
	for (int i = 0; i < book_cnt; i++)
		for (size_t n = 0; n < books[i].cnt; n++) {
			const struct note *note = &books[i].notes[n];

			fprintf(f, "%s\t%d\t%d\t%lu\t%lu\t%lu\t%lu\n", kinds[note->kind],
				books[i].tid, note->number, note->before_ns, note->begun_ns,
				note->ending_ns, note->ended_ns);
		}
	CHECK(!fclose(f));
}
