// SPDX-License-Identifier: BSD-2-Clause
/*
 * Functions that are called through pointers in the program's data, as methods of Python, virtual
 * functions and those of shared libraries are: who calls them, and when. While the library records,
 * such a pointer leads to a function of ours, which notes the time and calls the one that was
 * there. No instruction of the program is changed, and a thread that has read a pointer may follow
 * it at any later time: ours stay where they are, and each calls one function for the life of the
 * process.
 */
#include "cupti_shim/shim.h"
#include "cupti_shim/old_glibc.h"
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define OPEN_MAX                                                                                   \
	8 /* functions that a thread is in, one in the other; deeper ones have no open end */

#define TYPE_OF_OBJECT 8 /* in an object of Python */

typedef void *(*function)(void *, void *, void *, void *);

/* What the stubs lead to, in the order in which it was first asked for. */
static struct {
	function original;
	uint32_t kind;
	uint32_t number; /* in the latest file */
} functions[SHIM_FUNCTIONS];
static uint32_t function_cnt;
#define NO_NUMBER UINT16_MAX

/* Whoever sets or clears: our thread, and the one that ends the process. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool ended; /* the process ends: its data is not touched any more */

/* Replaced pointers. */
static struct {
	void **at;
	uint32_t function;
	bool read_only, is_set;
} pointers[SHIM_POINTERS];
static uint32_t pointer_cnt;

/* The hash function of Python's C functions, whose objects are keys of dictionaries: it makes the
 * hash of the function's address, among others. */
static struct {
	void **at; /* NULL: it is in its place */
	int64_t (*original)(void *);
	uintptr_t first, last; /* of the stubs */
} hash;

/* Of the file, for the threads that note. A late one may look while the next file is taken over, so
 * that each field, and functions[].number, is read and written as a whole. */
static struct {
	uint64_t (*next_node)(void); /* NULL: not known */
	uint64_t python_node;
	uint32_t node_seq, node_object;
} layout;

#define READ(field)	    __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define WRITE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

/* What a thread is in, for itself and for the one that ends it all: who takes a begin out tells of
 * it. The thread alone writes the rest, while the begin is out. By ring. */
struct inside {
	_Alignas(64) uint64_t node_begin; /* 0: none */
	uint64_t node, type;
	uintptr_t node_sp;
	uint16_t node_api;
	uint8_t node_flags;
	uint32_t depth;
	struct {
		uint64_t begin;
		uint32_t number;
	} open[OPEN_MAX];
};
static struct inside insides[SHIM_RINGS];

struct thread {
	uint32_t connection;
	int ring; /* of that connection */
};
static __thread struct thread self;

/* Tells of the ends of threads that note. */
static pthread_key_t ends;
static bool has_ends;

/* See calls.c. */
static struct thread *own_thread(void)
{
	struct thread *t = &self;

	__asm__("" : "+r"(t));
	return t;
}

static uint64_t take(uint64_t *begin)
{
	return __atomic_exchange_n(begin, 0, __ATOMIC_ACQ_REL);
}

/* By another thread than the one that put it there, with what it has read of the call before: false
 * if that one has taken it meanwhile, and may have gone on to the next call. */
static bool take_this(uint64_t *begin, uint64_t begin_ns)
{
	return begin_ns && __atomic_compare_exchange_n(begin, &begin_ns, 0, false, __ATOMIC_ACQ_REL,
						       __ATOMIC_RELAXED);
}

/* ---- what is noted ---- */

static struct inside *inside_of(struct thread *t)
{
	uint32_t connection = 0;
	int ring = calls__ring(&connection);
	struct inside *in = ring < 0 ? NULL : &insides[ring];

	if (!in || (t->connection == connection && t->ring == ring))
		return in;
	/* What was noted before was told, or is nobody's. */
	*t = (struct thread){connection, ring};
	take(&in->node_begin);
	for (uint32_t i = 0; i < OPEN_MAX; i++)
		take(&in->open[i].begin);
	in->depth = 0;
	if (has_ends)
		pthread_setspecific(ends, t);
	return in;
}

static struct shim_call node_call(const struct inside *in, uint64_t begin_ns)
{
	return (struct shim_call){.begin_ns = begin_ns,
				  .end_ns = shim_now(),
				  .api = READ(in->node_api),
				  .domain = SHIM_FUNCTION,
				  .flags = READ(in->node_flags),
				  .node = READ(in->node),
				  .type = READ(in->type)};
}

/* A node whose frame lies no higher than the stack pointer has returned. flags: of its call, too.
 */
static void end_node(struct inside *in, int ring, uintptr_t sp, uint8_t flags)
{
	uint64_t begin_ns;
	struct shim_call call;

	if (!__atomic_load_n(&in->node_begin, __ATOMIC_RELAXED) || in->node_sp > sp)
		return;
	begin_ns = take(&in->node_begin);
	if (!begin_ns)
		return;
	call = node_call(in, begin_ns);
	call.flags |= flags;
	calls__put(ring, &call);
}

/* No other function comes that would end its last node. */
static void on_thread_end(void *thread)
{
	const struct thread *t = thread;

	if (calls__is_current(t->connection))
		end_node(&insides[t->ring], t->ring, UINTPTR_MAX, 0);
}

static uint64_t word_at(const void *object, uint64_t offset)
{
	return *(const uint64_t *)((const char *)object + offset);
}

static void describe_node(struct inside *in, const void *node)
{
	const uint64_t python_node = READ(layout.python_node);
	const uint32_t node_seq = READ(layout.node_seq);
	const void *object;
	uint64_t type = word_at(node, 0);
	bool is_object;

	is_object = python_node && type == python_node;
	if (is_object) {
		object = (const void *)(uintptr_t)word_at(node, READ(layout.node_object));
		type = object ? word_at(object, TYPE_OF_OBJECT) : 0;
	}
	WRITE(in->node_flags, is_object ? SHIM_CALL_OBJECT : 0);
	WRITE(in->type, type);
	WRITE(in->node, node_seq ? word_at(node, node_seq) : SHIM_NO_NODE);
}

static void describe_part(struct inside *in)
{
	WRITE(in->node_flags, 0);
	WRITE(in->type, 0);
	WRITE(in->node, SHIM_NO_NODE);
}

static void note_node(uint32_t index, const void *node, uintptr_t sp)
{
	const bool is_part = functions[index].kind == SHIM_FUNCTION_PART;
	struct thread *t = own_thread();
	struct inside *in = inside_of(t);

	if (!in)
		return;
	end_node(in, t->ring, sp, 0);
	/* One that another runs as a part of it is none of the graph; what ends in no call has no
	 * end. */
	if (__atomic_load_n(&in->node_begin, __ATOMIC_RELAXED) || (is_part && !in->depth))
		return;
	if (is_part)
		describe_part(in);
	else
		describe_node(in, node);
	in->node_sp = sp;
	WRITE(in->node_api, (uint16_t)READ(functions[index].number));
	__atomic_store_n(&in->node_begin, shim_now(), __ATOMIC_RELEASE);
}

/* From entries_x86.c, at the very begin of a function, with its second argument: where to go. */
void *functions__enter(uint32_t index, const void *node, uintptr_t sp)
{
	note_node(index, node, sp);
	return (void *)(uintptr_t)functions[index].original;
}

static void *call_noted(uint32_t index, void *a, void *b, void *c, void *d, uintptr_t sp)
{
	struct shim_call call = {.domain = SHIM_FUNCTION, .node = SHIM_NO_NODE};
	struct thread *t = own_thread();
	struct inside *in = inside_of(t);
	uint64_t (*next_node)(void) = READ(layout.next_node), before;
	const struct thread then = *t;
	uint32_t number, depth;
	void *result;

	if (!in)
		return functions[index].original(a, b, c, d);
	number = READ(functions[index].number);
	end_node(in, then.ring, sp, 0);
	depth = in->depth++;
	before = next_node ? next_node() : 0;
	call.begin_ns = shim_now();
	if (depth < OPEN_MAX) {
		WRITE(in->open[depth].number, number);
		__atomic_store_n(&in->open[depth].begin, call.begin_ns, __ATOMIC_RELEASE);
	}
	result = functions[index].original(a, b, c, d);
	call.end_ns = shim_now();
	if (!calls__is_current(then.connection))
		return result;
	/* One that it called and did not return from is not in the way of the next. */
	in->depth = depth;
	if (depth < OPEN_MAX && !take(&in->open[depth].begin))
		return result;
	end_node(in, then.ring, sp, 0);
	if (next_node && next_node() > before)
		call.node = next_node() - 1;
	call.api = (uint16_t)number;
	calls__put(then.ring, &call);
	return result;
}

/* One whose parts are noted, and which ends the last of them. */
static void *call_around(uint32_t index, void *a, void *b, void *c, void *d, uintptr_t sp)
{
	struct thread *t = own_thread();
	struct inside *in = inside_of(t);
	const struct thread then = *t;
	uint32_t depth;
	void *result;

	if (!in)
		return functions[index].original(a, b, c, d);
	end_node(in, then.ring, sp, 0);
	depth = in->depth++;
	result = functions[index].original(a, b, c, d);
	if (!calls__is_current(then.connection))
		return result;
	in->depth = depth;
	end_node(in, then.ring, sp, SHIM_CALL_RETURNED);
	return result;
}

/* What every stub does. frame: of the stub, below the return address. */
static void *enter(void *a, void *b, void *c, void *d, uint32_t index, void *frame)
{
	const uintptr_t sp = (uintptr_t)frame + sizeof(void *);

	if (functions[index].kind == SHIM_FUNCTION_AROUND)
		return call_around(index, a, b, c, d, sp);
	return call_noted(index, a, b, c, d, sp);
}

/* ---- stubs ---- */

#define STUB(n)                                                                                    \
	static void *stub_##n(void *a, void *b, void *c, void *d)                                  \
	{                                                                                          \
		return enter(a, b, c, d, 0x##n, __builtin_frame_address(0));                       \
	}
#define NAME(n) stub_##n,
#define SIXTEEN(make, n)                                                                           \
	make(n##0) make(n##1) make(n##2) make(n##3) make(n##4) make(n##5) make(n##6) make(n##7)    \
		make(n##8) make(n##9) make(n##a) make(n##b) make(n##c) make(n##d) make(n##e)       \
			make(n##f)
#define ROW(make, n)                                                                               \
	SIXTEEN(make, n##0)                                                                        \
	SIXTEEN(make, n##1)                                                                        \
	SIXTEEN(make, n##2)                                                                        \
	SIXTEEN(make, n##3)                                                                        \
	SIXTEEN(make, n##4)                                                                        \
	SIXTEEN(make, n##5)                                                                        \
	SIXTEEN(make, n##6)                                                                        \
	SIXTEEN(make, n##7)                                                                        \
	SIXTEEN(make, n##8)                                                                        \
	SIXTEEN(make, n##9)                                                                        \
	SIXTEEN(make, n##a)                                                                        \
	SIXTEEN(make, n##b)                                                                        \
	SIXTEEN(make, n##c)                                                                        \
	SIXTEEN(make, n##d)                                                                        \
	SIXTEEN(make, n##e)                                                                        \
	SIXTEEN(make, n##f)
#define ALL(make)                                                                                  \
	ROW(make, 0)                                                                               \
	ROW(make, 1)                                                                               \
	ROW(make, 2)                                                                               \
	ROW(make, 3)                                                                               \
	ROW(make, 4)                                                                               \
	ROW(make, 5)                                                                               \
	ROW(make, 6)                                                                               \
	ROW(make, 7)

ALL(STUB)
static const function stubs[] = {ALL(NAME)};
_Static_assert(sizeof(stubs) / sizeof(*stubs) == SHIM_FUNCTIONS, "one stub for each function");

static bool returns_to_us(uint32_t kind)
{
	return kind == SHIM_FUNCTION_CALL || kind == SHIM_FUNCTION_AROUND;
}

static void *stub_of(uint32_t f)
{
	return returns_to_us(functions[f].kind) ? (void *)(uintptr_t)stubs[f] : entries__at(f);
}

/* ---- what Python makes of the address of a function ---- */

#define DEFINITION_OF_FUNCTION 16 /* in an object of Python */
#define ADDRESS_OF_DEFINITION  8

static const void *address_in(const void *object)
{
	void *const *definition =
		(void *const *)((const char *)(uintptr_t)word_at(object, DEFINITION_OF_FUNCTION) +
				ADDRESS_OF_DEFINITION);

	return __atomic_load_n(definition, __ATOMIC_ACQUIRE);
}

/* As Python does it, since 2.7. */
static uint64_t address_hash(uintptr_t address)
{
	return (uint64_t)address >> 4 | (uint64_t)address << 60;
}

static uint64_t hash_change(const void *address)
{
	/* Nearly all are none of ours. */
	if ((uintptr_t)address < hash.first || (uintptr_t)address > hash.last)
		return 0;
	for (uint32_t i = 0; i < SHIM_FUNCTIONS; i++)
		if ((uintptr_t)stubs[i] == (uintptr_t)address)
			return address_hash((uintptr_t)stubs[i]) ^
			       address_hash((uintptr_t)functions[i].original);
	return 0;
}

/* What it would be with the pointer in its place. -1 is none of Python's hashes. */
static int64_t hash_of(void *object)
{
	const void *address;
	uint64_t change;
	int64_t found;

	do {
		address = address_in(object);
		found = hash.original(object);
	} while (address_in(object) != address);
	change = hash_change(address);
	if (!change)
		return found;
	found = (int64_t)((uint64_t)found ^ change);
	return found == -1 ? -2 : found;
}

/* ---- pointers ---- */

/* Index of the function, new or old; SHIM_FUNCTIONS: there is no room. */
static uint32_t function_index(uint64_t address, uint32_t kind)
{
	for (uint32_t i = 0; i < function_cnt; i++)
		if ((uint64_t)(uintptr_t)functions[i].original == address)
			return functions[i].kind == kind ? i : SHIM_FUNCTIONS;
	if (function_cnt == SHIM_FUNCTIONS)
		return SHIM_FUNCTIONS;
	functions[function_cnt].original = (function)(uintptr_t)address;
	functions[function_cnt].kind = kind;
	return function_cnt++;
}

/* One store: whoever reads it meanwhile finds one address or the other. */
static bool replace(void **at, void *from, void *to)
{
	return __atomic_compare_exchange_n(at, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* Pages of data that are written to, one behind the other. */
struct pages {
	uintptr_t begin, end;
	uint32_t cnt; /* of pointers in them, from the first on */
};

static struct pages pages_from(uint32_t first)
{
	const uintptr_t bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	const bool read_only = pointers[first].read_only;
	struct pages p = {.begin = (uintptr_t)pointers[first].at & ~(bytes - 1)};
	uintptr_t page;

	p.end = p.begin + bytes;
	for (p.cnt = 1; first + p.cnt < pointer_cnt; p.cnt++) {
		page = (uintptr_t)pointers[first + p.cnt].at & ~(bytes - 1);
		if (pointers[first + p.cnt].read_only != read_only || page < p.begin ||
		    page > p.end)
			break;
		p.end = page == p.end ? page + bytes : p.end;
	}
	return p;
}

static bool protect(const struct pages *p, int protection)
{
	return !mprotect((void *)p->begin, p->end - p->begin, protection);
}

/* To our functions, or back. Data that is read-only once the program is loaded is made writable for
 * that moment. What cannot be replaced stays, and is not put back. */
static void replace_all(bool to_stubs)
{
	struct pages p;

	for (uint32_t i = 0; i < pointer_cnt; i += p.cnt) {
		const bool read_only = pointers[i].read_only;
		bool may;

		p = pages_from(i);
		may = !read_only || protect(&p, PROT_READ | PROT_WRITE);
		for (uint32_t k = i; k < i + p.cnt; k++) {
			const uint32_t f = pointers[k].function;
			void *original = (void *)(uintptr_t)functions[f].original;
			void *stub = stub_of(f);

			if (to_stubs)
				pointers[k].is_set = may && replace(pointers[k].at, original, stub);
			else if (may && pointers[k].is_set)
				replace(pointers[k].at, stub, original);
		}
		if (read_only && may)
			protect(&p, PROT_READ);
	}
}

/* Before the first pointer. A thread may be on its way into the one that was there. */
static bool keep_hashes(uint64_t at)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	void *original;

	if (!at)
		return false;
	for (uint32_t i = 0; i < SHIM_FUNCTIONS; i++) {
		hash.first =
			i && hash.first < (uintptr_t)stubs[i] ? hash.first : (uintptr_t)stubs[i];
		hash.last = hash.last > (uintptr_t)stubs[i] ? hash.last : (uintptr_t)stubs[i];
	}
	hash.at = (void **)(uintptr_t)at;
	original = __atomic_load_n(hash.at, __ATOMIC_RELAXED);
	hash.original = (int64_t (*)(void *))original;
	if (!replace(hash.at, original, (void *)hash_of)) {
		hash.at = NULL;
		return false;
	}
	nanosleep(&pause, NULL);
	return true;
}

bool functions__are_set(void)
{
	return pointer_cnt;
}

/* Nearly all of it is the clock, read twice; the rest was measured as in bench/shim_ring. */
static uint64_t note_ns(void)
{
	enum { TIMES = 256, REST_NS = 40 };
	const uint64_t begin = shim_now();

	for (int i = 1; i < 2 * TIMES; i++)
		shim_now();
	return (shim_now() - begin) / TIMES + REST_NS;
}

/* What none of them is any more has no number: a thread may still be on its way into it. */
static void number_functions(struct shim_control *c, uint32_t *index)
{
	const struct shim_function *wanted = shim_functions(c);

	for (uint32_t i = 0; i < function_cnt; i++)
		WRITE(functions[i].number, NO_NUMBER);
	for (uint32_t i = 0; i < c->function_cnt; i++) {
		index[i] = wanted[i].kind ? function_index(wanted[i].address, wanted[i].kind)
					  : SHIM_FUNCTIONS;
		if (index[i] < SHIM_FUNCTIONS)
			WRITE(functions[index[i]].number, i);
	}
}

static void set(struct shim_control *c)
{
	const struct shim_pointer *to_set = shim_pointers(c);
	uint32_t index[SHIM_FUNCTIONS], f, cnt = 0;
	bool keeps;

	WRITE(layout.next_node, (uint64_t (*)(void))(uintptr_t)c->node_number);
	WRITE(layout.python_node, c->python_node);
	WRITE(layout.node_seq, c->node_seq);
	WRITE(layout.node_object, c->node_object);
	number_functions(c, index);
	has_ends = has_ends || !pthread_key_create(&ends, on_thread_end);
	calls__connect(c);
	keeps = keep_hashes(c->python_hash);
	/* All are known before the first is replaced: a child that is made in between puts it back.
	 */
	for (uint32_t i = 0; i < c->pointer_cnt; i++) {
		f = to_set[i].function < c->function_cnt ? index[to_set[i].function]
							 : SHIM_FUNCTIONS;
		if (f == SHIM_FUNCTIONS || (!keeps && returns_to_us(functions[f].kind)))
			continue;
		pointers[cnt].at = (void **)(uintptr_t)to_set[i].at;
		pointers[cnt].function = f;
		pointers[cnt].is_set = true;
		pointers[cnt++].read_only = to_set[i].read_only;
	}
	__atomic_store_n(&pointer_cnt, cnt, __ATOMIC_RELEASE);
	replace_all(true);
	__atomic_store_n(&c->pointers_set, cnt, __ATOMIC_RELEASE);
}

void functions__set(struct shim_control *c)
{
	c->note_ns = note_ns();
	if (!c->pointer_cnt || c->function_cnt > SHIM_FUNCTIONS || c->pointer_cnt > SHIM_POINTERS)
		return;
	pthread_mutex_lock(&mutex);
	if (!ended && !pointer_cnt)
		set(c);
	pthread_mutex_unlock(&mutex);
}

static void put_back(void)
{
	replace_all(false);
	__atomic_store_n(&pointer_cnt, 0, __ATOMIC_RELEASE);
	if (hash.at)
		replace(hash.at, (void *)hash_of, (void *)hash.original);
	hash.at = NULL;
}

static void put_open(struct shim_control *c, size_t ring, const struct shim_call *call)
{
	const struct shim_open_call out = {
		.h = {SHIM_REC_CALL, sizeof(out)},
		.call = *call,
		.ring = (uint32_t)ring,
		.tid = __atomic_load_n(&c->rings[ring].tid, __ATOMIC_RELAXED),
	};

	records__put(c, &out.h);
}

/* Innermost first. */
static void put_inside(struct shim_control *c, size_t ring)
{
	struct inside *in = &insides[ring];
	struct shim_call call;
	uint64_t begin_ns;

	for (uint32_t i = OPEN_MAX; i-- > 0;) {
		begin_ns = __atomic_load_n(&in->open[i].begin, __ATOMIC_ACQUIRE);
		call = (struct shim_call){.begin_ns = begin_ns,
					  .end_ns = shim_now(),
					  .api = (uint16_t)READ(in->open[i].number),
					  .domain = SHIM_FUNCTION,
					  .node = SHIM_NO_NODE};
		if (take_this(&in->open[i].begin, begin_ns))
			put_open(c, ring, &call);
	}
	begin_ns = __atomic_load_n(&in->node_begin, __ATOMIC_ACQUIRE);
	call = node_call(in, begin_ns);
	if (take_this(&in->node_begin, begin_ns))
		put_open(c, ring, &call);
}

static void clear(struct shim_control *c)
{
	put_back();
	for (size_t ring = 0; ring < SHIM_RINGS; ring++)
		put_inside(c, ring);
	if (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) != SHIM_RECORDING)
		calls__connect(NULL);
	__atomic_store_n(&c->pointers_set, 0, __ATOMIC_RELEASE);
}

void functions__clear(struct shim_control *c)
{
	pthread_mutex_lock(&mutex);
	if (pointer_cnt)
		clear(c);
	pthread_mutex_unlock(&mutex);
}

void functions__end(struct shim_control *c)
{
	functions__clear(c);
	pthread_mutex_lock(&mutex);
	ended = true;
	pthread_mutex_unlock(&mutex);
}

void functions__forget(void)
{
	mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* whoever held it is not here */
	put_back();
}
