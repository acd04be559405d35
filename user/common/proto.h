/* SPDX-License-Identifier: BSD-2-Clause */
/* A writer of protocol buffers: fields into a growing buffer. */
#ifndef PROFTRACE_PROTO_H
#define PROFTRACE_PROTO_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct proto {
	unsigned char *buf;
	size_t len, cap;
	int err; /* 0 or -ENOMEM, which stays */
};

void proto__free(struct proto *p);

/* int32, int64, uint64, bool, enum. A negative number is its 64-bit two's complement. */
void proto__varint(struct proto *p, uint32_t field, uint64_t v);
void proto__fixed64(struct proto *p, uint32_t field, uint64_t v);
void proto__double(struct proto *p, uint32_t field, double v);
void proto__bytes(struct proto *p, uint32_t field, const void *data, size_t len);
static inline void proto__string(struct proto *p, uint32_t field, const char *text)
{
	proto__bytes(p, field, text, strlen(text));
}

/* A message in a message: its fields come between begin and end. end gets what begin returned. */
size_t proto__begin(struct proto *p, uint32_t field);
void proto__end(struct proto *p, size_t at);

/* Packed repeated field: values between begin and end. */
void proto__raw_varint(struct proto *p, uint64_t v);

#endif
