// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/cuda_log_config.h"
#include <criterion/criterion.h>
#include <string.h>
#include "common/err.h"

#define ALWAYS (1u << LOG_METHOD | 1u << LOG_GPU_TIME | 1u << LOG_CPU_TIME | 1u << LOG_OCCUPANCY)

static void expect_columns(const char *text, uint32_t columns)
{
	struct cuda_log_config c;

	cr_assert_eq(cuda_log_config__parse(text, &c), 0, "%s: %s", text, err__take(-1));
	cr_expect_eq(c.columns, ALWAYS | columns, "%s: %x", text, c.columns);
}

Test(cuda_log_config, options_between_commas_and_on_lines)
{
	expect_columns("", 0);
	expect_columns(NULL, 1u << LOG_BEGIN | 1u << LOG_END | 1u << LOG_GRID_3D | 1u << LOG_BLOCK |
				     1u << LOG_STREAM);
	expect_columns("streamID, memtransfersize", 1u << LOG_STREAM | 1u << LOG_COPY_BYTES);
	expect_columns("# gridsize, timestamp\n  regperthread \r\n\nconckerneltrace\n",
		       1u << LOG_REGISTERS);
	expect_columns("enableonstart 0\nconckerneltrace 1,countermodeaggregate", 0);
	expect_columns("gridsize,gridsize3d", 1u << LOG_GRID_3D);
}

Test(cuda_log_config, values)
{
	struct cuda_log_config c;

	cr_assert_eq(cuda_log_config__parse("cudadevice\t12,profilelogformat csv", &c), 0);
	cr_expect_eq(c.device, 12);
	cr_expect_eq(c.mode, LOG_CSV);
	cr_assert_eq(cuda_log_config__parse("profilelogformat KVP", &c), 0);
	cr_expect_eq(c.mode, LOG_KVP);
	cr_expect_eq(c.device, -1);
}

Test(cuda_log_config, what_is_wrong_is_named)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{"gpustartimestamp", "did you mean gpustarttimestamp?"},
		{"active_warps", "known: gpustarttimestamp, gpuendtimestamp,"},
		{"active_warps", "hardware counters are not recorded"},
		{"streamid 7", "streamid takes no value, not '7'"},
		{"enableonstart", "enableonstart needs 0 or 1"},
		{"conckerneltrace on", "conckerneltrace needs 0 or 1, not 'on'"},
		{"profilelogformat xml", "profilelogformat needs CSV or KVP, not 'xml'"},
		{"cudadevice -1", "cudadevice needs the number of a device, not '-1'"},
		{"cudadevice", "cudadevice needs the number of a device"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct cuda_log_config c;
		const char *message;

		cr_expect_eq(cuda_log_config__parse(wrong[i].text, &c), -22, "%s", wrong[i].text);
		message = err__take(-22);
		cr_expect_not_null(strstr(message, wrong[i].message), "%s: %s", wrong[i].text,
				   message);
	}
}
