// SPDX-License-Identifier: BSD-2-Clause
/*
 * The library in the target under ThreadSanitizer: threads that launch, copy and wait on the
 * simulated GPU, and some that live for one call, while windows open and close beside them. Its two
 * sides map their file at two places, so order between them is not what this sees.
 */
#include "device/shim_link.h"
#include "cupti_shim/shim.h"
#include "tests/simgpu/client/client.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS 4
#define WINDOWS 6
#define BYTES	4096

static char stub;
static atomic_bool stop;
static atomic_ulong calls, activities, noted, nodes;

/* ---- functions that are called through pointers ---- */

static void *inner(void *a, void *b, void *c, void *d)
{
	return (char *)a + (d == b) + (c == b);
}

typedef void *(*function)(void *, void *, void *, void *);

static function inner_entry = inner;

/* A program reads such a pointer in any way. */
static function at(function *entry)
{
	return __atomic_load_n(entry, __ATOMIC_ACQUIRE);
}

static void *outer(void *a, void *b, void *c, void *d)
{
	return (char *)at(&inner_entry)(a, b, c, d) + 1;
}

struct node {
	uint64_t kind, number;
};

static void *apply(void *result, void *node, void *c, void *d)
{
	((struct node *)node)->number++;
	return c == d ? result : NULL;
}

static function outer_entry = outer, apply_entry = apply;

static uint64_t next_node(void)
{
	return 7;
}

/* Python's hash of a function. */
static int64_t hash(void *object)
{
	return object != NULL;
}

static int64_t (*hash_entry)(void *) = hash;

static void call_functions(void)
{
	struct node node = {.kind = 1};
	char x[8];

	CHECK((char *)at(&outer_entry)(x, x + 1, x + 2, x + 3) == x + 1);
	CHECK((char *)at(&outer_entry)(x, x + 1, x + 1, x + 1) == x + 3);
	CHECK(at(&apply_entry)(x, &node, NULL, NULL) == x && node.number == 1);
}

#define ADDRESS(of) (uint64_t)(uintptr_t)(of)

static void see_functions(struct shim_link *l)
{
	static const struct shim_function functions[] = {
		{ADDRESS(outer), SHIM_FUNCTION_CALL, 0},
		{ADDRESS(inner), SHIM_FUNCTION_CALL, 0},
		{ADDRESS(apply), SHIM_FUNCTION_NODE, 0},
	};
	const struct shim_pointer pointers[] = {{ADDRESS(&outer_entry), 0, 0},
						{ADDRESS(&inner_entry), 1, 0},
						{ADDRESS(&apply_entry), 2, 0}};
	const struct shim_functions f = {.functions = functions,
					 .function_cnt = 3,
					 .pointers = pointers,
					 .pointer_cnt = 3,
					 .node_seq = sizeof(uint64_t),
					 .node_number = ADDRESS(next_node),
					 .python_hash = ADDRESS(&hash_entry)};

	CHECK(!shim_link__set_functions(l, &f));
}

static void check_pointers(void)
{
	CHECK(at(&outer_entry) == outer && at(&inner_entry) == inner && at(&apply_entry) == apply);
	CHECK(__atomic_load_n(&hash_entry, __ATOMIC_ACQUIRE) == hash);
}

static void *work(void *unused)
{
	cudaStream_t stream;
	cudaEvent_t done;
	void *device, *host = malloc(BYTES);

	OK(cudaStreamCreate(&stream));
	OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
	OK(cudaMalloc(&device, BYTES));
	while (!stop) {
		kernel_launch(&stub, 1, stream);
		OK(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, stream));
		OK(cudaEventRecord(done, stream));
		OK(cudaStreamWaitEvent(stream, done, 0));
		OK(cudaStreamSynchronize(stream));
		call_functions();
		usleep(2000);
	}
	OK(cudaFree(device));
	OK(cudaStreamDestroy(stream));
	free(host);
	return unused;
}

static void *wait_once(void *stream)
{
	OK(cudaStreamSynchronize(stream));
	return NULL;
}

/* Their rings are taken over by id alone, so short lives matter. */
static void *short_lives(void *unused)
{
	cudaStream_t stream;
	pthread_t thread;

	OK(cudaStreamCreate(&stream));
	while (!stop) {
		CHECK(!pthread_create(&thread, NULL, wait_once, stream));
		pthread_join(thread, NULL);
		usleep(20000);
	}
	return unused;
}

static int on_call(void *ctx, size_t ring, uint32_t tid, const struct shim_call *call)
{
	calls += call->domain != SHIM_FUNCTION;
	noted += call->domain == SHIM_FUNCTION && call->api < 2 && call->node == SHIM_NO_NODE;
	nodes += call->domain == SHIM_FUNCTION && call->api == 2 && call->type == 1;
	return 0;
}

static int on_record(void *ctx, const struct shim_record *r)
{
	activities += r->kind == SHIM_REC_KERNEL || r->kind == SHIM_REC_COPY;
	return 0;
}

static void drain(struct shim_link *l, unsigned int ms)
{
	for (unsigned int i = 0; i < ms / 5; i++) {
		shim_link__beat(l);
		CHECK(!shim_link__activities(l, on_record, NULL));
		CHECK(!shim_link__calls(l, on_call, NULL));
		usleep(5000);
	}
}

static void command(struct shim_link *l, enum shim_command what)
{
	uint32_t seq = shim_link__command(l, what);

	for (int i = 0; i < 4000 && !shim_link__is_done(l, seq); i++)
		drain(l, 5);
	if (!shim_link__is_done(l, seq))
		fprintf(stderr, "command %d is not done, state %d\n", (int)what,
			(int)shim_link__state(l));
	else if (shim_link__error(l))
		fprintf(stderr, "command %d: %s\n", (int)what, shim_link__error(l));
	CHECK(shim_link__is_done(l, seq) && !shim_link__error(l));
}

static void window(const char *cupti)
{
	struct shim_link *l;
	int err;

	CHECK(!shim_link__create(&l));
	shim_link__set_cupti(l, cupti, 0);
	CHECK(!shim_link__keep_alive(l));
	for (int i = 0; i < 1000 && (err = proftrace_cupti_attach(shim_link__path(l))) == -EBUSY;
	     i++)
		usleep(1000); /* the one before is leaving */
	CHECK(!err);
	see_functions(l);
	command(l, SHIM_RECORD);
	CHECK(shim_link__pointers_set(l) == 3 && at(&outer_entry) != outer);
	drain(l, 100);
	command(l, SHIM_FLUSH);
	drain(l, 100);
	command(l, SHIM_PARK);
	check_pointers();
	drain(l, 20);
	command(l, SHIM_LEAVE);
	shim_link__free(l);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS + 1];

	CHECK(argc == 2);
	kernel_register(&stub, "_Z6kernelv");
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, work, NULL));
	CHECK(!pthread_create(&threads[THREADS], NULL, short_lives, NULL));
	for (int i = 0; i < WINDOWS; i++)
		window(argv[1]);
	stop = true;
	for (int i = 0; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("tsan: %lu calls, %lu activities, %lu functions, %lu nodes in %d windows\n", calls,
	       activities, noted, nodes, WINDOWS);
	CHECK(calls > 500 && activities > 200 && noted > 400 && nodes > 100);
	return 0;
}
