-- Jobs whose steps became over 5 % longer with another version of the framework.
-- Versions with fewer than 3 recordings do not count.
WITH version AS (
    SELECT job, framework, framework_version, count(*) AS recordings, min(begin_ns) AS first_ns,
        median(step_mean_ns) AS step_ns
    FROM recording WHERE incomplete IS NULL AND job IS NOT NULL AND step_mean_ns IS NOT NULL
    GROUP BY ALL HAVING count(*) >= 3
), compared AS (
    SELECT *, lag(framework_version) OVER same_job AS version_before, lag(step_ns) OVER same_job AS before_ns
    FROM version WINDOW same_job AS (PARTITION BY job, framework ORDER BY first_ns)
)
SELECT job, framework, version_before, framework_version, recordings, before_ns / 1e6 AS step_before_ms,
    step_ns / 1e6 AS step_ms, step_ns / before_ns AS ratio
FROM compared WHERE step_ns > 1.05 * before_ns ORDER BY ratio DESC, job;
