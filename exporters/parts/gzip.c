// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/gzip.h"
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>
#include "common/util.h"

#define JOB_CNT	    8
#define THREADS_MAX 4
#define DICT_BYTES  (32u << 10) /* the window of deflate */
#define TEXT_BYTES  (2 * GZIP_BLOCK_BYTES)

enum job_state { JOB_FREE, JOB_READY, JOB_BUSY, JOB_DONE };

struct job {
	enum job_state state;
	bool last;
	unsigned char dict[DICT_BYTES];
	unsigned char text[TEXT_BYTES];
	unsigned char *packed; /* has packed_cap bytes */
	size_t dict_len, text_len, packed_len, packed_cap;
	uLong crc;
	int err;
};

struct gzip {
	int level;
	int (*write)(void *ctx, const void *data, size_t len);
	void *ctx;
	struct job *jobs;			 /* a ring: job n is at n % JOB_CNT */
	uint64_t put_cnt, take_cnt, written_cnt; /* number of jobs added, taken by threads, and
						    written */
	uLong crc;
	uint64_t text_bytes;
	pthread_mutex_t lock;
	pthread_cond_t ready, done;
	pthread_t threads[THREADS_MAX];
	unsigned int thread_cnt;
	bool stop;
};

static int job__deflate(struct job *j, z_stream *z)
{
	int rc;

	if (deflateReset(z) != Z_OK)
		return -EIO;
	if (j->dict_len && deflateSetDictionary(z, j->dict, (uInt)j->dict_len) != Z_OK)
		return -EIO;
	z->next_in = j->text;
	z->avail_in = (uInt)j->text_len;
	z->next_out = j->packed;
	z->avail_out = (uInt)j->packed_cap;
	rc = deflate(z, j->last ? Z_FINISH : Z_SYNC_FLUSH);
	if (rc != (j->last ? Z_STREAM_END : Z_OK) || z->avail_in || !z->avail_out)
		return -EIO;
	j->packed_len = j->packed_cap - z->avail_out;
	j->crc = crc32(crc32(0, NULL, 0), j->text, (uInt)j->text_len);
	return 0;
}

static void *gzip__thread(void *arg)
{
	struct gzip *g = arg;
	z_stream z = {0};
	const bool usable =
		deflateInit2(&z, g->level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK;

	pthread_mutex_lock(&g->lock);
	for (;;) {
		struct job *j;

		while (g->take_cnt == g->put_cnt && !g->stop)
			pthread_cond_wait(&g->ready, &g->lock);
		if (g->stop)
			break;
		j = &g->jobs[g->take_cnt++ % JOB_CNT];
		j->state = JOB_BUSY;
		pthread_mutex_unlock(&g->lock);
		j->err = usable ? job__deflate(j, &z) : -ENOMEM;
		pthread_mutex_lock(&g->lock);
		j->state = JOB_DONE;
		pthread_cond_signal(&g->done);
	}
	pthread_mutex_unlock(&g->lock);
	if (usable)
		deflateEnd(&z);
	return NULL;
}

static int gzip__start_threads(struct gzip *g)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const unsigned int want = cpus < 1	       ? 1
				  : cpus > THREADS_MAX ? THREADS_MAX
						       : (unsigned int)cpus;

	while (g->thread_cnt < want) {
		const int err = pthread_create(&g->threads[g->thread_cnt], NULL, gzip__thread, g);

		if (err)
			return g->thread_cnt ? 0 : -err;
		g->thread_cnt++;
	}
	return 0;
}

int gzip__open(int level, int (*write)(void *ctx, const void *data, size_t len), void *ctx,
	       struct gzip **out)
{
	/* magic, deflate, no name, no time, unknown level, made on Unix */
	static const unsigned char header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
	struct gzip *g = calloc(1, sizeof(*g));
	int err = 0;

	if (!g)
		return -ENOMEM;
	g->level = level;
	g->write = write;
	g->ctx = ctx;
	g->crc = crc32(0, NULL, 0);
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->ready, NULL);
	pthread_cond_init(&g->done, NULL);
	g->jobs = calloc(JOB_CNT, sizeof(*g->jobs));
	if (!g->jobs)
		err = -ENOMEM;
	for (int i = 0; i < JOB_CNT && !err; i++) {
		struct job *j = &g->jobs[i];

		j->packed_cap = compressBound(TEXT_BYTES) + 64; /* and the marker of a flush */
		j->packed = malloc(j->packed_cap);
		if (!j->packed)
			err = -ENOMEM;
	}
	if (!err)
		err = gzip__start_threads(g);
	if (!err)
		err = write(ctx, header, sizeof(header));
	if (err) {
		gzip__close(g);
		return err;
	}
	*out = g;
	return 0;
}

/* Waits for the oldest job and writes it. */
static int gzip__drain_one(struct gzip *g)
{
	struct job *j = &g->jobs[g->written_cnt % JOB_CNT];

	pthread_mutex_lock(&g->lock);
	while (j->state != JOB_DONE)
		pthread_cond_wait(&g->done, &g->lock);
	pthread_mutex_unlock(&g->lock);
	g->written_cnt++;
	j->state = JOB_FREE;
	if (j->err)
		return j->err;
	g->crc = crc32_combine(g->crc, j->crc, (z_off_t)j->text_len);
	g->text_bytes += j->text_len;
	return g->write(g->ctx, j->packed, j->packed_len);
}

static int gzip__give(struct gzip *g, const void *data, size_t len, bool last)
{
	const struct job *before = g->put_cnt ? &g->jobs[(g->put_cnt - 1) % JOB_CNT] : NULL;
	struct job *j = &g->jobs[g->put_cnt % JOB_CNT];
	int err = 0;

	if (g->put_cnt - g->written_cnt == JOB_CNT)
		err = gzip__drain_one(g);
	if (err)
		return err;
	j->dict_len = 0;
	if (before) {
		j->dict_len = before->text_len < DICT_BYTES ? before->text_len : DICT_BYTES;
		memcpy(j->dict, before->text + before->text_len - j->dict_len, j->dict_len);
	}
	memcpy(j->text, data, len);
	j->text_len = len;
	j->last = last;
	pthread_mutex_lock(&g->lock);
	j->state = JOB_READY;
	g->put_cnt++;
	pthread_cond_signal(&g->ready);
	pthread_mutex_unlock(&g->lock);
	return 0;
}

int gzip__write(struct gzip *g, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		const size_t part = len < TEXT_BYTES ? len : TEXT_BYTES;
		const int err = gzip__give(g, p, part, false);

		if (err)
			return err;
		p += part;
		len -= part;
	}
	return 0;
}

int gzip__finish(struct gzip *g)
{
	unsigned char tail[8];
	int err = gzip__give(g, "", 0, true);

	while (!err && g->written_cnt < g->put_cnt)
		err = gzip__drain_one(g);
	if (err)
		return err;
	for (int i = 0; i < 4; i++) {
		tail[i] = (unsigned char)(g->crc >> (8 * i));
		tail[4 + i] = (unsigned char)(g->text_bytes >> (8 * i));
	}
	return g->write(g->ctx, tail, sizeof(tail));
}

void gzip__close(struct gzip *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&g->lock);
	g->stop = true;
	pthread_cond_broadcast(&g->ready);
	pthread_mutex_unlock(&g->lock);
	for (unsigned int i = 0; i < g->thread_cnt; i++)
		pthread_join(g->threads[i], NULL);
	for (int i = 0; g->jobs && i < JOB_CNT; i++)
		free(g->jobs[i].packed);
	free(g->jobs);
	pthread_cond_destroy(&g->ready);
	pthread_cond_destroy(&g->done);
	pthread_mutex_destroy(&g->lock);
	free(g);
}
