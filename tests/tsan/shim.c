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
static atomic_ulong calls, activities, noted, nodes, others, parts, left, named;

/* ---- functions that are called through pointers ---- */

static void *inner(void *a, void *b, void *c, void *d)
{
	return (char *)a + (d == b) + (c == b);
}

typedef void *(*function)(void *, void *, void *, void *);

static function inner_entry = inner;

/* Reads such a pointer as a program might. */
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

/* Ends its thread, and so the call, like an exception. */
static void *leave(void *a, void *b, void *c, void *d)
{
	if (b == c)
		pthread_exit(d);
	return a;
}

/* An object's name in the layout of GCC's old std::string. */
struct text {
	uint64_t len, capacity, count;
	char text[16];
};
static const struct text texts[] = {{3, 3, 0, "one"}, {10, 10, 0, "some other"}};

struct object {
	uint64_t kind;
	const char *name;
};

static void *launch(void *object, void *b, void *c, void *d)
{
	return ((struct object *)object)->kind == 3 && b == c ? object : d;
}

static function outer_entry = outer, apply_entry = apply, leave_entry = leave,
		launch_entry = launch;

/* Arguments and results of every kind: in registers, on the stack, and in the caller's memory. */
struct large {
	uint64_t words[5];
};
struct two {
	double number;
	uint64_t word;
};

static struct two mixed(const uint64_t *object, float f, int64_t b, double d, int64_t c,
			struct large l, int64_t e, int64_t g, int64_t h, double far)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < 5; i++)
		sum = sum * 10 + l.words[i];
	return (struct two){(double)f + d + far, sum + object[1] + (uint64_t)(b + c + e + g + h)};
}

static struct large part(struct large l, double d)
{
	l.words[0] += (uint64_t)d;
	return l;
}

static __typeof__(mixed) *mixed_entry = mixed;
static __typeof__(part) *part_entry = part;

static void *around(void *a, void *b, void *c, void *d)
{
	struct large l = {{1, 2, 3, 4, 5}};

	l = __atomic_load_n(&part_entry, __ATOMIC_ACQUIRE)(l, 2.5);
	return l.words[0] == 3 && l.words[4] == 5 && b == c ? a : d;
}

static function enclosing_entry = around;

static void call_named(void)
{
	struct object object = {.kind = 3, .name = texts[0].text};

	for (size_t i = 0; i < 2; i++) {
		CHECK(at(&launch_entry)(&object, NULL, NULL, NULL) == &object);
		object.name = texts[1].text; /* another object at the same address */
	}
}

static void call_others(void)
{
	static const struct large l = {{1, 2, 3, 4, 5}};
	const uint64_t object[] = {6, 100000};
	struct two t = __atomic_load_n(&mixed_entry, __ATOMIC_ACQUIRE)(object, 0.5F, 1, 2.25, 2, l,
								       3, 4, 5, 1000);
	char x[2];

	CHECK(t.number == 1002.75 && t.word == 112345 + 15);
	CHECK(at(&enclosing_entry)(x, x, x, NULL) == x);
	call_named();
}

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
	call_others();
}

enum { OUTER, INNER, APPLY, MIXED, AROUND, PART, LEAVE, LAUNCH, FUNCTIONS };

#define ADDRESS(of) (uint64_t)(uintptr_t)(of)

static void see_functions(struct shim_link *l)
{
	static const struct shim_function functions[] = {
		[OUTER] = {.address = ADDRESS(outer), .kind = SHIM_FUNCTION_CALL},
		[INNER] = {.address = ADDRESS(inner), .kind = SHIM_FUNCTION_CALL},
		[APPLY] = {.address = ADDRESS(apply), .kind = SHIM_FUNCTION_NODE},
		[MIXED] = {.address = ADDRESS(mixed), .kind = SHIM_FUNCTION_RETURNING, .object = 1},
		[AROUND] = {.address = ADDRESS(around), .kind = SHIM_FUNCTION_ENCLOSING},
		[PART] = {.address = ADDRESS(part), .kind = SHIM_FUNCTION_PART},
		[LEAVE] = {.address = ADDRESS(leave), .kind = SHIM_FUNCTION_RETURNING},
		[LAUNCH] = {.address = ADDRESS(launch),
			    .kind = SHIM_FUNCTION_RETURNING,
			    .object = 1,
			    .name_at = offsetof(struct object, name)},
	};
	const struct shim_pointer pointers[] = {
		{ADDRESS(&outer_entry), OUTER, 0},	{ADDRESS(&inner_entry), INNER, 0},
		{ADDRESS(&apply_entry), APPLY, 0},	{ADDRESS(&mixed_entry), MIXED, 0},
		{ADDRESS(&enclosing_entry), AROUND, 0}, {ADDRESS(&part_entry), PART, 0},
		{ADDRESS(&leave_entry), LEAVE, 0},	{ADDRESS(&launch_entry), LAUNCH, 0}};
	const struct shim_functions f = {.functions = functions,
					 .function_cnt = FUNCTIONS,
					 .pointers = pointers,
					 .pointer_cnt = FUNCTIONS,
					 .node_seq = sizeof(uint64_t),
					 .node_number = ADDRESS(next_node),
					 .python_hash = ADDRESS(&hash_entry)};

	CHECK(!shim_link__set_functions(l, &f));
}

static void check_pointers(void)
{
	CHECK(at(&outer_entry) == outer && at(&inner_entry) == inner && at(&apply_entry) == apply);
	CHECK(__atomic_load_n(&mixed_entry, __ATOMIC_ACQUIRE) == mixed &&
	      __atomic_load_n(&part_entry, __ATOMIC_ACQUIRE) == part &&
	      at(&enclosing_entry) == around && at(&leave_entry) == leave &&
	      at(&launch_entry) == launch);
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
	at (&leave_entry)(NULL, NULL, NULL, stream);
	CHECK(!"the thread goes on");
	return NULL;
}

/* A new thread takes over a ring by id alone, so threads with short lives matter. */
static void *short_lives(void *unused)
{
	cudaStream_t stream;
	pthread_t thread;
	void *ended;

	OK(cudaStreamCreate(&stream));
	while (!stop) {
		CHECK(!pthread_create(&thread, NULL, wait_once, stream));
		CHECK(!pthread_join(thread, &ended) && ended == stream);
		usleep(20000);
	}
	return unused;
}

static bool has_name(struct shim_link *l, const struct shim_call *call)
{
	char name[SHIM_SEEN_NAME_MAX + 1];

	CHECK(shim_link__seen_name(l, call->node, name));
	return !strcmp(name, texts[0].text) || !strcmp(name, texts[1].text);
}

static int on_call(void *ctx, size_t ring, uint32_t tid, const struct shim_call *call)
{
	calls += call->domain != SHIM_FUNCTION;
	if (call->domain != SHIM_FUNCTION)
		return 0;
	CHECK(call->api != AROUND);
	noted += call->api <= INNER && call->node == SHIM_NO_NODE;
	nodes += call->api == APPLY && call->type == 1;
	others += call->api == MIXED && call->type == 6 && call->flags == 0;
	parts += call->api == PART && call->flags == SHIM_CALL_RETURNED;
	left += call->api == LEAVE && call->flags == 0;
	named += call->api == LAUNCH && has_name(ctx, call);
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
		CHECK(!shim_link__calls(l, on_call, l));
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
	CHECK(shim_link__pointers_set(l) == FUNCTIONS && at(&outer_entry) != outer);
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
	printf("tsan: %lu calls, %lu activities, %lu functions, %lu nodes, %lu others, %lu parts, "
	       "%lu left, %lu by name in %d windows\n",
	       calls, activities, noted, nodes, others, parts, left, named, WINDOWS);
	CHECK(calls > 500 && activities > 200 && noted > 400 && nodes > 100 && others > 100 &&
	      parts > 100 && left > 10 && named > 100);
	return 0;
}
