/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks in a program in C99, C++11 or later for proftrace: ranges (task, frame, event), counters and
 * markers, in domains. Each is a USDT probe: one nop and a few registers while nobody listens, and
 * no library to link. `proftrace -p PID` finds them in the program and its libraries; so do other
 * tools that read USDT probes (provider "proftrace").
 *
 *	static proftrace_range parse = {"server", "parse"};	static proftrace_counter queue =
 *	proftrace_begin(&parse);					{"server", "queue length", 0};
 *	...							proftrace_counter_set(&queue, 3);
 *	proftrace_end(&parse);					proftrace_mark("server", "reload", 'p');
 *
 *	proftrace::domain server("server");			proftrace::counter queue(server, "queue");
 *	{							queue += 1;
 *		proftrace::scope in(server, "parse");		proftrace::marker(server, "reload").mark();
 *		...
 *	}
 *
 * Names and domains are kept by reference: give literals, or what lives as long as the object. A
 * name shows as DOMAIN::NAME, each up to some 4000 bytes; the domain may be NULL. A range ends on the
 * thread that began it; ranges nest, or overlap. One that is not ended there ends with the frame
 * around it, and a frame where it begins anew. PROFTRACE_DISABLE leaves everything out.
 */
#ifndef PROFTRACE_H
#define PROFTRACE_H

#include <stdint.h>

/* ---- probes: notes in the form of sys/sdt.h, arguments in the registers of a call ---- */

#if defined(PROFTRACE_DISABLE) || !defined(__GNUC__) || !defined(__ELF__)
#define PROFTRACE_PROBES 0
#elif defined(__x86_64__) && defined(__LP64__)
#define PROFTRACE_PROBES 1
#define PROFTRACE_ARGS_1 "8@%%rdi"
#define PROFTRACE_ARGS_3 "8@%%rdi 8@%%rsi 8@%%rdx"
#elif defined(__aarch64__) && defined(__LP64__)
#define PROFTRACE_PROBES 1
#define PROFTRACE_ARGS_1 "8@x0"
#define PROFTRACE_ARGS_3 "8@x0 8@x1 8@x2"
#else
#define PROFTRACE_PROBES 0
#endif

#if PROFTRACE_PROBES
#define PROFTRACE_NOTE(name, args)                                                                 \
	"990:	nop\n"                                                                             \
	"	.pushsection .note.stapsdt,\"?\",\"note\"\n"                                       \
	"	.balign 4\n"                                                                       \
	"	.4byte 992f-991f, 994f-993f, 3\n"                                                  \
	"991:	.asciz \"stapsdt\"\n"                                                              \
	"992:	.balign 4\n"                                                                       \
	"993:	.8byte 990b\n"                                                                     \
	"	.8byte _.stapsdt.base\n"                                                           \
	"	.8byte 0\n"                                                                        \
	"	.asciz \"proftrace\"\n"                                                            \
	"	.asciz \"" name "\"\n"                                                             \
	"	.asciz \"" args "\"\n"                                                             \
	"994:	.balign 4\n"                                                                       \
	"	.popsection\n"                                                                     \
	"	.ifndef _.stapsdt.base\n"                                                          \
	"	.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"             \
	"	.weak _.stapsdt.base\n"                                                            \
	"	.hidden _.stapsdt.base\n"                                                          \
	"_.stapsdt.base: .space 1\n"                                                               \
	"	.size _.stapsdt.base, 1\n"                                                         \
	"	.popsection\n"                                                                     \
	"	.endif\n"
#if defined(__x86_64__)
#define PROFTRACE_PROBE_1(name, a)                                                                 \
	__asm__ __volatile__(PROFTRACE_NOTE(name, PROFTRACE_ARGS_1)::"D"(a) : "memory")
#define PROFTRACE_PROBE_3(name, a, b, c)                                                           \
	__asm__ __volatile__(PROFTRACE_NOTE(name, PROFTRACE_ARGS_3)::"D"(a), "S"(b), "d"(c)        \
			     : "memory")
#else
#define PROFTRACE_PROBE_1(name, a)                                                                 \
	do {                                                                                       \
		register uint64_t pt_a_ __asm__("x0") = (a);                                       \
		__asm__ __volatile__(PROFTRACE_NOTE(name, PROFTRACE_ARGS_1)::"r"(pt_a_)            \
				     : "memory");                                                  \
	} while (0)
#define PROFTRACE_PROBE_3(name, a, b, c)                                                           \
	do {                                                                                       \
		const uint64_t pt_1_ = (a), pt_2_ = (b), pt_3_ = (c);                              \
		register uint64_t pt_a_ __asm__("x0") = pt_1_;                                     \
		register uint64_t pt_b_ __asm__("x1") = pt_2_;                                     \
		register uint64_t pt_c_ __asm__("x2") = pt_3_;                                     \
		__asm__ __volatile__(PROFTRACE_NOTE(name, PROFTRACE_ARGS_3)::"r"(pt_a_),           \
				     "r"(pt_b_), "r"(pt_c_)                                        \
				     : "memory");                                                  \
	} while (0)
#endif
#else
#define PROFTRACE_PROBE_1(name, a)	 ((void)(a))
#define PROFTRACE_PROBE_3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#endif

/* ---- C ---- */

typedef struct proftrace_range {
	const char *domain; /* NULL: none */
	const char *name;
} proftrace_range;

typedef struct proftrace_counter {
	const char *domain; /* NULL: none */
	const char *name;
	int64_t value; /* kept by the functions below, from any thread */
} proftrace_counter;

#define PROFTRACE_WORD(p) ((uint64_t)(uintptr_t)(p))

/* A task or an event: some work of this thread. */
static inline void proftrace_begin(const proftrace_range *r)
{
	PROFTRACE_PROBE_3("range_begin", PROFTRACE_WORD(r), PROFTRACE_WORD(r->name),
			  PROFTRACE_WORD(r->domain));
}

/* A frame: one of a sequence, a request, an image; proftrace takes frames for steps if nothing
 * better is known. Ends as any range. */
static inline void proftrace_frame_begin(const proftrace_range *r)
{
	PROFTRACE_PROBE_3("frame_begin", PROFTRACE_WORD(r), PROFTRACE_WORD(r->name),
			  PROFTRACE_WORD(r->domain));
}

static inline void proftrace_end(const proftrace_range *r)
{
	PROFTRACE_PROBE_1("range_end", PROFTRACE_WORD(r));
}

static inline void proftrace_counter_set(proftrace_counter *c, int64_t value)
{
	__atomic_store_n(&c->value, value, __ATOMIC_RELAXED);
	PROFTRACE_PROBE_3("counter", PROFTRACE_WORD(c->name), PROFTRACE_WORD(c->domain),
			  (uint64_t)value);
}

static inline void proftrace_counter_add(proftrace_counter *c, int64_t change)
{
	int64_t value = __atomic_add_fetch(&c->value, change, __ATOMIC_RELAXED);

	PROFTRACE_PROBE_3("counter", PROFTRACE_WORD(c->name), PROFTRACE_WORD(c->domain),
			  (uint64_t)value);
}

/* An instant. scope: 't' of this thread, 'p' of the process, 'g' of everything. */
static inline void proftrace_mark(const char *domain, const char *name, char scope)
{
	PROFTRACE_PROBE_3("mark", PROFTRACE_WORD(name), PROFTRACE_WORD(domain), (uint64_t)scope);
}

/* ---- C++ ---- */

#ifdef __cplusplus
namespace proftrace
{

class domain
{
      public:
	explicit constexpr domain(const char *name) : text(name) {}
	const char *const text;
};

/* Work of one thread; end() on the thread of begin(). */
class task
{
      public:
	task(const domain &d, const char *name) : range{d.text, name} {}
	task(const task &) = delete;
	task &operator=(const task &) = delete;
	void begin() const { proftrace_begin(&range); }
	void end() const { proftrace_end(&range); }

      protected:
	explicit task(const char *name) : range{nullptr, name} {}
	proftrace_range range;
};

/* A task without a domain. */
class event : public task
{
      public:
	explicit event(const char *name) : task(name) {}
};

/* One of a sequence: a step, if nothing better is known. */
class frame : public task
{
      public:
	frame(const domain &d, const char *name) : task(d, name) {}
	void begin() const { proftrace_frame_begin(&range); }
};

/* A range that is as long as it lives, exceptions included. */
class scope
{
      public:
	scope(const domain &d, const char *name) : range{d.text, name} { proftrace_begin(&range); }
	explicit scope(const char *name) : range{nullptr, name} { proftrace_begin(&range); }
	~scope() { proftrace_end(&range); }
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

      private:
	proftrace_range range;
};

/* The same for a frame. */
class frame_scope
{
      public:
	frame_scope(const domain &d, const char *name) : range{d.text, name}
	{
		proftrace_frame_begin(&range);
	}
	~frame_scope() { proftrace_end(&range); }
	frame_scope(const frame_scope &) = delete;
	frame_scope &operator=(const frame_scope &) = delete;

      private:
	proftrace_range range;
};

class counter
{
      public:
	counter(const domain &d, const char *name, int64_t value = 0) : state{d.text, name, value}
	{
	}
	counter(const counter &) = delete;
	counter &operator=(const counter &) = delete;
	void set(int64_t value) { proftrace_counter_set(&state, value); }
	void add(int64_t change) { proftrace_counter_add(&state, change); }
	counter &operator+=(int64_t change)
	{
		add(change);
		return *this;
	}
	counter &operator-=(int64_t change)
	{
		add(-change);
		return *this;
	}

      private:
	proftrace_counter state;
};

class marker
{
      public:
	marker(const domain &d, const char *name) : owner(d.text), name(name) {}
	void mark(char scope = 'p') const { proftrace_mark(owner, name, scope); }

      private:
	const char *owner, *name;
};

} // namespace proftrace
#endif

#endif
