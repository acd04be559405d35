-- Hosts whose own work in a step takes over 20 % longer than that of the job's other hosts.
-- Own work is the step less its waits in collectives: other hosts wait there for the slow one.
WITH own AS (
    SELECT job, host, count(*) AS recordings, median(step_mean_ns - coalesce(collective_ns, 0)) AS own_ns
    FROM recording WHERE incomplete IS NULL AND job IS NOT NULL AND step_mean_ns IS NOT NULL
    GROUP BY job, host
), compared AS (
    SELECT *, median(own_ns) OVER (PARTITION BY job) AS job_ns, count(*) OVER (PARTITION BY job) AS hosts FROM own
)
SELECT job, host, recordings, own_ns / 1e6 AS own_ms, job_ns / 1e6 AS job_median_ms, own_ns / job_ns AS ratio
FROM compared WHERE hosts >= 3 AND own_ns > 1.2 * job_ns ORDER BY ratio DESC, job, host;
