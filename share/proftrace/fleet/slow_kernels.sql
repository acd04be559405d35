-- Kernels that take over 20 % longer with one version than with another, on the same GPU in the same jobs.
-- Only jobs that ran both versions count, since other jobs have other shapes.
WITH version AS (
    SELECT k.name, r.gpu, r.job, r.framework, r.framework_version, r.cupti_version,
        sum(k.gpu_total_ns) / sum(k.calls) AS avg_ns, sum(k.gpu_total_ns) AS total_ns
    FROM kernel k JOIN recording r USING (recording_id)
    WHERE r.incomplete IS NULL AND r.job IS NOT NULL AND k.calls > 0 GROUP BY ALL
), compared AS (
    SELECT *, avg_ns / min(avg_ns) OVER same_job AS ratio, count(*) OVER same_job AS versions
    FROM version WINDOW same_job AS (PARTITION BY name, gpu, job)
)
SELECT name, gpu, framework, framework_version, cupti_version, count(*) AS jobs, median(ratio) AS ratio,
    median(avg_ns) / 1e3 AS avg_us, sum(total_ns) / 1e6 AS total_ms
FROM compared WHERE versions > 1 GROUP BY ALL HAVING median(ratio) > 1.2 ORDER BY total_ms DESC, name;
