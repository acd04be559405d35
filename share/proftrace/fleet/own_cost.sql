-- What proftrace itself cost within the recordings, by its version and by detail.
SELECT proftrace_version, detail, count(*) AS recordings, count(DISTINCT host) AS hosts,
    median(added_percent) AS added_percent_median, max(added_percent) AS added_percent_max,
    sum(loader_cpu_ns) / 1e9 AS cpu_s, sum(events_lost) AS events_lost, count(incomplete) AS incomplete
FROM recording GROUP BY ALL ORDER BY added_percent_median DESC, proftrace_version, detail;
