/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts an exporter's protocol buffers to text, with the fields of the format's .proto. */
#ifndef PROFTRACE_PROTO_TEXT_H
#define PROFTRACE_PROTO_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* A message's field. of: "string", "packed" (varints), "double", a message, or NULL: a number. The
 * first row's message is the file's; a row of NULL ends the list. */
struct proto_field {
	const char *message;
	uint32_t number;
	const char *name, *of;
};
extern const struct proto_field proto_perfetto[], proto_pprof[], proto_paddle[];

/* One line per field of the file: `events { name: "mm" start_ns: 5 }`; a field that is not in the
 * list is `?7: ...`. The caller frees. */
char *proto_text(const unsigned char *data, size_t len, const struct proto_field *fields);

#endif
