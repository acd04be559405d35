// SPDX-License-Identifier: BSD-2-Clause
#include "capture/decode/long_names.h"
#include "common/utf8.h"
#include "common/util.h"
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* If a job makes names without end, the oldest are dropped. */
#define KEPT_MAX   (16 * PT_LONG_NAMES)
#define TEXT_BYTES (64u << 20)

struct entry {
	uint64_t key;
	struct long_name name;
	UT_hash_handle hh;
};

struct long_names {
	int table_fd;
	uint32_t row_cnt, *in_table;
	struct entry *kept; /* in the order of arrival */
	size_t text_bytes;
	struct pt_long_name row;
};

struct long_names *long_names__new(int table_fd, uint32_t row_cnt, uint32_t *in_table)
{
	struct long_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->table_fd = table_fd;
	n->row_cnt = row_cnt;
	n->in_table = in_table;
	return n;
}

static void forget(struct long_names *n, struct entry *item)
{
	HASH_DEL(n->kept, item);
	n->text_bytes -= strlen(item->name.text);
	free(item->name.text);
	free(item);
}

void long_names__free(struct long_names *n)
{
	if (!n)
		return;
	while (n->kept)
		forget(n, n->kept);
	free(n);
}

/* The text as the programs read it. Two colons follow a domain; characters may be wide. */
static char *text_of(const struct pt_long_name *row)
{
	static const char colons[] = "::";
	const uint32_t max = row->kind ? PT_LONG_TEXT : PT_WHOLE_NAME;
	const uint32_t domain_len =
		row->domain_len < PT_WHOLE_DOMAIN ? row->domain_len : PT_WHOLE_DOMAIN;
	const uint32_t len = row->len < max ? row->len : max;
	char *text, *p;

	if (row->kind)
		return utf8__of_wide(row->text, len / row->kind, row->kind);
	text = p = malloc(domain_len + sizeof(colons) + len);
	if (!text)
		return NULL;
	if (domain_len) {
		p = mempcpy(p, row->text, domain_len);
		p = mempcpy(p, colons, sizeof(colons) - 1);
	}
	p = mempcpy(p, row->text + domain_len, len);
	*p = '\0';
	return text;
}

static struct entry *find(const struct long_names *n, uint64_t key)
{
	struct entry *item;

	HASH_FIND(hh, n->kept, &key, sizeof(key), item);
	return item;
}

int long_names__put(struct long_names *n, uint64_t key, const struct pt_long_name *row)
{
	struct entry *item;

	if (find(n, key))
		return 0;
	item = calloc(1, sizeof(*item));
	if (!item)
		return -ENOMEM;
	item->key = key;
	item->name.is_cut = row->is_cut;
	item->name.text = text_of(row);
	if (!item->name.text) {
		free(item);
		return -ENOMEM;
	}
	while (n->kept && (HASH_COUNT(n->kept) >= KEPT_MAX || n->text_bytes >= TEXT_BYTES))
		forget(n, n->kept);
	n->text_bytes += strlen(item->name.text);
	// NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all bytes are set
	HASH_ADD(hh, n->kept, key, sizeof(item->key), item);
	return 0;
}

const struct long_name *long_names__at(struct long_names *n, uint64_t key)
{
	const struct entry *item = find(n, key);

	if (item)
		return &item->name;
	if (n->table_fd < 0 || bpf_map_lookup_elem(n->table_fd, &key, &n->row) || !n->row.is_read ||
	    long_names__put(n, key, &n->row))
		return NULL;
	item = find(n, key);
	return item ? &item->name : NULL;
}

/* Moves a name out of the table. A row whose text is being read stays. */
static int take_out(struct long_names *n, uint64_t key)
{
	int err;

	if (bpf_map_lookup_elem(n->table_fd, &key, &n->row) || !n->row.is_read)
		return 0;
	err = long_names__put(n, key, &n->row);
	if (!err && !bpf_map_delete_elem(n->table_fd, &key))
		__atomic_fetch_sub(n->in_table, 1, __ATOMIC_RELAXED);
	return err;
}

int long_names__drain(struct long_names *n)
{
	uint64_t key, next = 0;
	bool more;
	int err = 0;

	if (n->table_fd < 0 || __atomic_load_n(n->in_table, __ATOMIC_RELAXED) < n->row_cnt / 2)
		return 0;
	more = !bpf_map_get_next_key(n->table_fd, NULL, &key);
	for (int i = 0; i < (int)n->row_cnt && more && !err; i++) {
		more = !bpf_map_get_next_key(n->table_fd, &key, &next);
		err = take_out(n, key);
		key = next;
	}
	return err;
}
