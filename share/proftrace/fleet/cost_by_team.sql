-- Core hours and GPU hours by team, from each process's first recording to its last.
-- Between its recordings a process is taken to use as many cores as within them, on average.
WITH process AS (
    SELECT coalesce(r.team, t.team, 'uid ' || r.uid, 'unknown') AS team, any_value(r.job) AS job,
        (max(r.end_ns) - min(r.begin_ns)) / 3.6e12 AS hours, avg(r.cores) AS cores,
        max(r.gpus) AS gpus, avg(r.gpus_busy) AS gpus_busy
    FROM recording r LEFT JOIN team t ON t.uid = r.uid
    GROUP BY 1, r.host, r.pid, r.process_start_ticks
)
SELECT team, count(DISTINCT job) AS jobs, count(*) AS processes, sum(hours * cores) AS core_hours,
    100 * sum(hours * cores) / sum(sum(hours * cores)) OVER () AS core_percent,
    sum(hours * gpus) AS gpu_hours, sum(hours * gpus_busy) AS busy_gpu_hours
FROM process GROUP BY team ORDER BY core_hours DESC, team;
