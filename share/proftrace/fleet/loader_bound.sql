-- Jobs that wait for their data loader for over 20 % of their steps. A process of no known job stands for itself.
SELECT coalesce(job, host || ' ' || pid) AS job, count(DISTINCT host) AS hosts, count(*) AS recordings,
    sum(step_mean_ns * steps) / sum(steps) / 1e6 AS step_ms,
    sum(loader_ns * steps) / sum(steps) / 1e6 AS loader_ms,
    100 * sum(loader_ns * steps) / sum(step_mean_ns * steps) AS loader_percent
FROM recording WHERE incomplete IS NULL AND steps > 0 AND step_mean_ns > 0 AND loader_ns IS NOT NULL
GROUP BY 1 HAVING loader_percent > 20 ORDER BY loader_percent DESC, 1;
