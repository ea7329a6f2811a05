-- The jobs that wait in a lane go out by their ids, which never go back, and not by times.

DROP INDEX jobs_held;
CREATE INDEX jobs_held ON jobs (kind, lane, id) WHERE state = 'held';
