-- Findings by the number of recordings that have them.
SELECT f.rule, count(DISTINCT r.job) AS jobs, count(DISTINCT r.host) AS hosts, count(*) AS recordings,
    median(f.share_percent) AS share_percent_median
FROM finding f JOIN recording r USING (recording_id) WHERE r.incomplete IS NULL
GROUP BY f.rule ORDER BY recordings DESC, f.rule;
