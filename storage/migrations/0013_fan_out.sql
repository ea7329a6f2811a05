-- Whether jobs wait that make an organization's deliveries is asked for its events, and must not
-- walk through all jobs. The condition is about lanes, because one about kinds would let SQLite
-- prepare every statement anew that is given a kind.

CREATE INDEX jobs_fan_out ON jobs (lane) WHERE lane BETWEEN 'webhook.fan_out:' AND 'webhook.fan_out;';
