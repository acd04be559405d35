// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/chrome/chrome_names.h"
#include <ctype.h>
#include <string.h>
#include "common/util.h"
#include "exporters/parts/text_file.h"
#include "model/device_info.h"

#define PARAMS_MAX 64
#define FULL_MAX   8200 /* bytes of a quoted full name: 4096 bytes, each of which may be escaped */

static const struct category_row {
	const char *kineto, *tb;
	enum chrome_role role;
} category_rows[CAT_CNT] = {
	[CAT_NONE] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_OPERATOR] = {"cpu_op", "cpu_op", ROLE_OPERATOR},
	[CAT_BACKWARD_NODE] = {"cpu_op", "cpu_op", ROLE_OPERATOR},
	[CAT_PYTHON_OP] = {"cpu_op", "cpu_op", ROLE_OPERATOR},
	[CAT_USER] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_DATALOADER] = {"user_annotation", "cpu_op", ROLE_ANNOTATION},
	[CAT_FORWARD] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_BACKWARD] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_OPTIMIZER] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_ZERO_GRAD] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_PROFILER_STEP] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_COMMUNICATION] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_RUNTIME] = {"cuda_runtime", "Runtime", ROLE_LAUNCH},
	[CAT_DRIVER] = {"cuda_driver", "cuda_driver", ROLE_LAUNCH},
	[CAT_KERNEL] = {"kernel", "Kernel", ROLE_DEVICE},
	[CAT_MEMCPY] = {"gpu_memcpy", "Memcpy", ROLE_DEVICE},
	[CAT_MEMSET] = {"gpu_memset", "Memset", ROLE_DEVICE},
	[CAT_SYNC] = {"cuda_sync", "cuda_sync", ROLE_SYNC},
	[CAT_SCRIPT] = {"cpu_op", "cpu_op", ROLE_OPERATOR},
	[CAT_ALLOCATION] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_FUNCTION] = {"cpu_op", "cpu_op", ROLE_OPERATOR},
	[CAT_REGION] = {"cpu_op", "cpu_op", ROLE_OPERATOR},
	[CAT_EVALUATION] = {"cpu_op", "cpu_op", ROLE_OPERATOR},
	[CAT_OPTIMIZER_BEGIN] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_EXECUTION] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_STORAGE] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_PIPELINE] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_QUEUE_EMPTY] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_QUEUE_FULL] = {"user_annotation", "user_annotation", ROLE_ANNOTATION},
	[CAT_OPTIMIZER_OP] = {"cpu_op", "cpu_op", ROLE_OPERATOR},
};

/* ---- signatures ---- */

static uint8_t param__kind(const char *type, size_t len)
{
	static const char *const scalars[] = {"int",	"float",      "bool",	 "Scalar",
					      "SymInt", "ScalarType", "Layout",	 "MemoryFormat",
					      "number", "complex",    "SymBool", "SymFloat"};
	size_t base = 0;

	while (base < len && isalnum((unsigned char)type[base]))
		base++;
	if (base == 6 && !strncmp(type, "Tensor", 6))
		return memchr(type, '[', len) ? PARAM_TENSOR_LIST : PARAM_TENSOR;
	if (type[len - 1] == '?')
		return PARAM_OTHER; /* absent, as far as known */
	for (size_t i = 0; i < ARRAY_SIZE(scalars); i++)
		if (strlen(scalars[i]) == base && !strncmp(type, scalars[i], base))
			return memchr(type, '[', len) ? PARAM_SCALAR_LIST : PARAM_SCALAR;
	return PARAM_OTHER;
}

/* Length of `Tensor(a!)[] self=None` up to the comma or bracket after it, and of its type. */
static size_t param__span(const char *s, size_t *type_len)
{
	int depth = 0;
	bool quoted = false;
	size_t i;

	*type_len = 0;
	for (i = 0; s[i]; i++) {
		if (s[i] == '"' || s[i] == '\'')
			quoted = !quoted;
		if (quoted)
			continue;
		if (!depth && (s[i] == ',' || s[i] == ')'))
			break;
		if (!depth && !*type_len && s[i] == ' ')
			*type_len = i;
		depth += (s[i] == '(' || s[i] == '[') - (s[i] == ')' || s[i] == ']');
	}
	if (!*type_len)
		*type_len = i;
	return i;
}

size_t chrome_schema__params(const char *schema, uint8_t *params, size_t max)
{
	const char *s = strchr(schema, '(');
	size_t cnt = 0;

	while (s && *s && *s != ')' && cnt < max) {
		size_t type_len;

		s += 1 + strspn(s + 1, " ");
		if (*s == ')')
			break;
		const size_t len = param__span(s, &type_len);

		if (type_len && !(type_len == 1 && *s == '*'))
			params[cnt++] = param__kind(s, type_len);
		s += len;
	}
	return cnt;
}

bool chrome_name__takes_no_tensor(const struct chrome_name *n)
{
	for (size_t i = 0; i < n->param_cnt; i++)
		if (n->params[i] == PARAM_TENSOR || n->params[i] == PARAM_TENSOR_LIST)
			return false;
	return n->param_cnt > 0;
}

/* ---- collectives ---- */

/* TensorBoard's distributed view recognises PyTorch's ranges around collectives by their names. */
static const char *collective__name(const struct name *n)
{
	static const struct {
		const char *part, *name;
	} rows[] = {
		{"AllReduce", "nccl:all_reduce"}, {"ReduceScatter", "nccl:reduce_scatter"},
		{"AllGather", "nccl:all_gather"}, {"Broadcast", "nccl:broadcast"},
		{"SendRecv", "nccl:send_recv"},	  {"AllToAll", "nccl:all_to_all"},
		{"Reduce", "nccl:reduce"},
	};

	if (!n || n->category != CAT_KERNEL || !n->text || !kernel_name__is_collective(n->text))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strstr(n->text, rows[i].part))
			return rows[i].name;
	return "nccl:collective";
}

/* ---- heads ---- */

/* For example cudaMemcpyAsync_ptsz, cuMemcpyHtoD_v2: readers know names without the ABI's
 * suffix. */
static void strip_abi_suffix(char *api)
{
	for (;;) {
		char *at = strrchr(api, '_');

		if (!at || at == api)
			return;
		if (strcmp(at, "_ptsz") && strcmp(at, "_ptds") &&
		    !(at[1] == 'v' && at[2] && strspn(at + 2, "0123456789") == strlen(at + 2)))
			return;
		*at = '\0';
	}
}

static char *name__text(const struct name *n, enum chrome_role role)
{
	char *text = strdup(n && n->text ? n->text : "");

	if (text && role == ROLE_LAUNCH)
		strip_abi_suffix(text);
	/* step ranges of the framework must not mix with ours, which readers find by this prefix */
	if (text && !strncmp(text, "ProfilerStep#", 13))
		text[12] = ' ';
	return text;
}

/* full: its full name; NULL: none. */
static int name__make(const struct name *n, const char *full, enum chrome_dialect dialect,
		      struct chrome_name *out)
{
	const struct category_row *row =
		&category_rows[n && n->category < CAT_CNT ? n->category : 0];
	const char *cat = dialect == DIALECT_TB ? row->tb : row->kineto;
	auto_free char *text = name__text(n, row->role);
	auto_free char *quoted = text ? json__quote(text) : NULL;
	uint8_t params[PARAMS_MAX];
	int len;

	if (!quoted)
		return -ENOMEM;
	out->role = row->role;
	out->category = n ? n->category : CAT_NONE;
	out->collective = collective__name(n);
	len = asprintf(&out->head, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":%s", cat, quoted);
	if (len < 0) {
		out->head = NULL;
		return -ENOMEM;
	}
	out->head_len = (size_t)len;
	out->quoted = out->head_len - strlen(quoted);
	if (!n || !n->schema)
		return 0;
	if (full) {
		out->full = json__quote(full);
		if (!out->full)
			return -ENOMEM;
		if (strlen(out->full) > FULL_MAX) {
			free(out->full);
			out->full = NULL;
		}
		return 0;
	}
	out->param_cnt = chrome_schema__params(n->schema, params, PARAMS_MAX);
	out->params = malloc(out->param_cnt + 1);
	if (!out->params)
		return -ENOMEM;
	memcpy(out->params, params, out->param_cnt);
	return 0;
}

static int chrome_names__dtypes(const struct recording *r, struct chrome_names *out)
{
	const json_t *list = json_object_get(recording__meta(r), "dtypes");
	const size_t cnt = json_array_size(list);

	out->dtypes = calloc(cnt + 1, sizeof(*out->dtypes));
	if (!out->dtypes)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		const char *name = json_string_value(json_array_get(list, i));
		auto_free char *quoted = json__quote(name ? name : "");

		if (!quoted)
			return -ENOMEM;
		out->dtypes[out->dtype_cnt++] = quoted;
		quoted = NULL;
	}
	return 0;
}

int chrome_names__make(const struct recording *r, enum chrome_dialect dialect,
		       struct chrome_names *out)
{
	int err;

	*out = (struct chrome_names){
		.cnt = recording__name_cnt(r),
		.shapes = json_is_true(json_object_get(recording__meta(r), "record_shapes")),
		.values = json_is_true(json_object_get(recording__meta(r), "record_values")),
	};
	out->names = calloc((size_t)out->cnt + 1, sizeof(*out->names));
	err = out->names ? chrome_names__dtypes(r, out) : -ENOMEM;
	for (uint32_t id = 0; !err && id <= out->cnt; id++)
		err = name__make(id ? recording__name(r, id) : NULL, recording__full_name(r, id),
				 dialect, &out->names[id]);
	if (err)
		chrome_names__free(out);
	return err;
}

void chrome_names__free(struct chrome_names *n)
{
	for (uint32_t id = 0; n->names && id <= n->cnt; id++) {
		free(n->names[id].head);
		free(n->names[id].params);
		free(n->names[id].full);
	}
	for (size_t i = 0; i < n->dtype_cnt; i++)
		free(n->dtypes[i]);
	free(n->names);
	free(n->dtypes);
	*n = (struct chrome_names){0};
}
