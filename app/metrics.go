package app

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"confab/app/api"
	"confab/app/limit"
	"confab/app/stream"
	"confab/jobs/queue"
	"confab/storage"
)

// metrics is what Prometheus reads. Every series stays in memory, so a label holds
// only words of ours: route templates, kinds, known methods and fields, never an id
// or what somebody sent.
type metrics struct {
	registry *prometheus.Registry
	handler  http.Handler

	requests   *prometheus.CounterVec
	latency    *prometheus.HistogramVec
	unlogged   prometheus.Counter
	batch      prometheus.Histogram
	writerWait prometheus.Histogram
	jobs       *prometheus.CounterVec
	jobTime    *prometheus.HistogramVec
	attempts   *prometheus.HistogramVec
	kept       *prometheus.CounterVec
	dropped    prometheus.Counter
	clockAhead prometheus.Gauge
}

// maxScrapes is how many scrapes are answered at the same time: each reads the
// database and holds all series.
const maxScrapes = 4

func newMetrics() *metrics {
	fast := prometheus.ExponentialBuckets(0.0001, 3, 11) // 0.1 ms to 6 s
	slow := prometheus.ExponentialBuckets(0.001, 3, 10)  // 1 ms to 20 s
	m := &metrics{
		registry: prometheus.NewRegistry(),

		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "confab_requests_total",
			Help: "Calls of the API.",
		}, []string{"method", "route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "confab_request_seconds",
			Help:    "How long calls of the API took.",
			Buckets: fast,
		}, []string{"method", "route"}),

		unlogged: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "confab_unlogged_requests_total",
			Help: "Requests without a key or signature that are not in the logs, because there were too many.",
		}),

		batch: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "confab_writer_batch_size",
			Help:    "Writes that shared one commit.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 9),
		}),
		writerWait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "confab_writer_wait_seconds",
			Help:    "How long the first write of a commit had waited.",
			Buckets: fast,
		}),

		jobs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "confab_jobs_total",
			Help: "Runs of jobs by how they ended; webhook deliveries are the kind deliver.",
		}, []string{"kind", "outcome"}),
		jobTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "confab_job_seconds",
			Help:    "How long runs of jobs took.",
			Buckets: slow,
		}, []string{"kind"}),
		attempts: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "confab_webhook_attempt_seconds",
			Help:    "How long attempts of webhook deliveries took, by how they ended.",
			Buckets: slow,
		}, []string{"result"}),

		kept: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "confab_callbacks_kept_total",
			Help: "Changes in callbacks of the provider that were only kept, by their field and why.",
		}, []string{"field", "reason"}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "confab_callbacks_dropped_total",
			Help: "Callbacks of the provider that were dropped because no message of theirs turned up within a day.",
		}),
		clockAhead: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "confab_clock_ahead_seconds",
			Help: "How far this machine's clock is ahead of where it is expected. While it is not 0, nothing is deleted by age.",
		}),
	}

	m.registry.MustRegister(m.requests, m.latency, m.unlogged, m.batch, m.writerWait, m.jobs, m.jobTime, m.attempts,
		m.kept, m.dropped, m.clockAhead,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes})
	return m
}

// watchDatabase adds the metrics that are read from the database at each scrape.
func (m *metrics) watchDatabase(db *storage.DB) {
	m.registry.MustRegister(&queueCollector{db: db}, prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: "confab_database_bytes", Help: "Size of the database and its log on disk."},
		func() float64 { return float64(db.Size()) }))
}

// watchBodies adds the memory that bodies of requests outside of /v1 take now.
func (m *metrics) watchBodies(bodies *limit.Bodies) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: "confab_body_bytes", Help: "Memory that bodies of requests outside of /v1 take."},
		func() float64 { return float64(bodies.Used()) }))
}

// watchStreams adds what can be told of the streams of events.
func (m *metrics) watchStreams(hub *stream.Hub) { m.registry.MustRegister(&streamCollector{hub}) }

func (m *metrics) observeRequest(o api.Observation) {
	method := methodLabel(o.Method)
	m.requests.WithLabelValues(method, o.Route, strconv.Itoa(o.Status)).Inc()
	m.latency.WithLabelValues(method, o.Route).Observe(o.Took.Seconds())

	if o.Unlogged {
		m.unlogged.Inc()
	}
}

// methodLabel is a method of HTTP, or "other": a client may send any word, and each
// would be a new series, which stays in memory for good.
func methodLabel(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return method
	}
	return "other"
}

func (m *metrics) observeCommit(c storage.Commit) {
	m.batch.Observe(float64(c.Writes))
	m.writerWait.Observe(c.Waited.Seconds())
}

func (m *metrics) observeJob(f queue.RunResult) {
	m.jobs.WithLabelValues(f.Kind, f.Outcome).Inc()
	m.jobTime.WithLabelValues(f.Kind).Observe(f.Took.Seconds())
}

func (m *metrics) countKept(field, reason string) { m.kept.WithLabelValues(field, reason).Inc() }

func (m *metrics) countDropped(n int64) { m.dropped.Add(float64(n)) }

func (m *metrics) setClockAhead(d time.Duration) { m.clockAhead.Set(d.Seconds()) }

func (m *metrics) observeAttempt(result string, took time.Duration) {
	m.attempts.WithLabelValues(result).Observe(took.Seconds())
}

// queueCollector counts the jobs table.
type queueCollector struct{ db *storage.DB }

// collectTimeout keeps a scrape from waiting for a busy database.
const collectTimeout = 5 * time.Second

func (c *queueCollector) depth() *prometheus.Desc {
	return prometheus.NewDesc("confab_queue_depth", "Jobs by kind and state.", []string{"kind", "state"}, nil)
}

func (c *queueCollector) age() *prometheus.Desc {
	return prometheus.NewDesc("confab_queue_age_seconds", "How long the oldest job of a kind and state has been due.",
		[]string{"kind", "state"}, nil)
}

// Describe implements prometheus.Collector.
func (c *queueCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.depth()
	ch <- c.age()
}

// Collect implements prometheus.Collector.
func (c *queueCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()

	var counts []storage.JobCount
	err := c.db.Search(ctx, storage.InternalWork, func(rx *storage.Rx) (err error) {
		counts, err = rx.JobCounts()
		return err
	})
	if err != nil {
		ch <- prometheus.NewInvalidMetric(c.depth(), err)
		return
	}

	now := storage.Now()
	for _, n := range counts {
		ch <- prometheus.MustNewConstMetric(c.depth(), prometheus.GaugeValue, float64(n.Count), n.Kind, n.State)
		ch <- prometheus.MustNewConstMetric(c.age(), prometheus.GaugeValue, max(0, now.Sub(n.Oldest).Seconds()), n.Kind, n.State)
	}
}

// serveMetrics serves the metrics on server.metrics_listen, if it is set, to anyone
// who can reach it.
func (a *App) serveMetrics(ctx context.Context) error {
	if a.metricsListener == nil {
		<-ctx.Done()
		return nil
	}

	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.metrics.handler)
	return serveUntil(ctx, newHTTPServer(mux, a.Log), func(server *http.Server) error {
		return server.Serve(a.metricsListener)
	})
}
