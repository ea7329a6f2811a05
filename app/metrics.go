package app

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"confab/app/api/rest"
	"confab/app/stream"
	"confab/jobs/guard"
	"confab/storage"
)

// metrics is what Prometheus reads. Every series stays in memory, so a label holds only words of
// ours: route templates, kinds, known methods and fields, never an id or what somebody sent.
type metrics struct {
	registry *prometheus.Registry
	handler  http.Handler

	requests   *prometheus.CounterVec
	latency    *prometheus.HistogramVec
	unlogged   prometheus.Counter
	batch      prometheus.Observer
	writerWait prometheus.Observer
	jobs       *prometheus.CounterVec
	jobTime    *prometheus.HistogramVec
	attempts   *prometheus.HistogramVec
	kept       *prometheus.CounterVec
	dropped    prometheus.Counter
	clockAhead prometheus.Gauge
}

// maxScrapes is how many scrapes are answered at once: each reads the database and holds all series.
const maxScrapes = 4

func newMetrics() *metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	add := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return add.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(buckets []float64, name, help string, labels ...string) *prometheus.HistogramVec {
		return add.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	fast := prometheus.ExponentialBuckets(0.0001, 3, 11) // 0.1 ms to 6 s
	slow := prometheus.ExponentialBuckets(0.001, 3, 10)  // 1 ms to 20 s
	sizes := prometheus.ExponentialBuckets(1, 2, 9)

	// A metric without labels is shown from the start, with its 0.
	return &metrics{
		registry: registry,
		handler:  promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes}),

		requests: counter("confab_requests_total", "API calls.", "method", "route", "status"),
		latency:  histogram(fast, "confab_request_seconds", "How long API calls took.", "method", "route"),
		unlogged: counter("confab_unlogged_requests_total",
			"Requests without a key or signature that were not logged, because there were too many.").WithLabelValues(),

		batch: histogram(sizes, "confab_writer_batch_size", "Writes that shared one commit.").WithLabelValues(),
		writerWait: histogram(fast, "confab_writer_wait_seconds",
			"How long the first write of a commit had waited.").WithLabelValues(),

		jobs: counter("confab_jobs_total",
			"Job runs by result; webhook deliveries have the kind deliver.", "kind", "outcome"),
		jobTime: histogram(slow, "confab_job_seconds", "How long job runs took.", "kind"),
		attempts: histogram(slow, "confab_webhook_attempt_seconds",
			"How long webhook delivery attempts took, by result.", "result"),

		kept: counter("confab_callbacks_kept_total",
			"Changes in provider callbacks that were only stored, by field and reason.", "field", "reason"),
		dropped: counter("confab_callbacks_dropped_total",
			"Provider callbacks that were dropped because their message did not appear within a day.").WithLabelValues(),
		clockAhead: add.NewGauge(prometheus.GaugeOpts{
			Name: "confab_clock_ahead_seconds",
			Help: "How far this machine's clock is ahead of where it should be. While it is not 0, nothing is deleted by age.",
		}),
	}
}

// watch adds a metric whose value is read at each scrape.
func (m *metrics) watch(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// watchDatabase adds the metrics that are read from the database at each scrape.
func (m *metrics) watchDatabase(db *storage.DB) {
	m.watch("confab_database_bytes", "Size of the database and its log on disk.", func() float64 { return float64(db.Size()) })

	depth := prometheus.NewDesc("confab_queue_depth", "Jobs by kind and state.", []string{"kind", "state"}, nil)
	age := prometheus.NewDesc("confab_queue_age_seconds", "How long the oldest job of a kind and state has been due.",
		[]string{"kind", "state"}, nil)

	m.registry.MustRegister(collector(func(ch chan<- prometheus.Metric) {
		ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
		defer cancel()
		var counts []storage.JobCount
		err := db.Search(ctx, storage.InternalWork, func(rx *storage.Rx) (err error) {
			counts, err = rx.JobCounts()
			return err
		})
		if err != nil {
			ch <- prometheus.NewInvalidMetric(depth, err)
			return
		}

		now := db.Now()
		for _, n := range counts {
			ch <- prometheus.MustNewConstMetric(depth, prometheus.GaugeValue, float64(n.Count), n.Kind, n.State)
			ch <- prometheus.MustNewConstMetric(age, prometheus.GaugeValue, max(0, now.Sub(n.Oldest).Seconds()), n.Kind, n.State)
		}
	}))
}

// collectTimeout keeps a scrape from waiting for a busy database.
const collectTimeout = 5 * time.Second

// watchStreams adds the metrics of the streams of events, by their class.
func (m *metrics) watchStreams(hub *stream.Hub) {
	class := []string{"class"}
	open := prometheus.NewDesc("confab_streams", "Open event streams.", class, nil)
	behind := prometheus.NewDesc("confab_stream_behind_seconds",
		"How long the slowest stream has had events that it has not sent yet.", class, nil)
	dropped := prometheus.NewDesc("confab_streams_dropped_total",
		"Streams that were closed because their client stopped reading.", class, nil)

	m.registry.MustRegister(collector(func(ch chan<- prometheus.Metric) {
		for _, s := range hub.Stats() {
			ch <- prometheus.MustNewConstMetric(open, prometheus.GaugeValue, float64(s.Open), s.Name)
			ch <- prometheus.MustNewConstMetric(behind, prometheus.GaugeValue, s.Behind.Seconds(), s.Name)
			ch <- prometheus.MustNewConstMetric(dropped, prometheus.CounterValue, float64(s.Dropped), s.Name)
		}
	}))
}

// collector makes metrics at each scrape. It describes none of them beforehand: unlike
// prometheus.CollectorFunc, it does not have to collect them for that while the server starts.
type collector func(chan<- prometheus.Metric)

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) { c(ch) }

// Describe implements prometheus.Collector.
func (collector) Describe(chan<- *prometheus.Desc) {}

func (m *metrics) observeRequest(o rest.Observation) {
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
	if slices.Contains(rest.Methods, method) || method == http.MethodOptions {
		return method
	}
	return "other"
}

func (m *metrics) observeCommit(c storage.Commit) {
	m.batch.Observe(float64(c.Writes))
	m.writerWait.Observe(c.Waited.Seconds())
}

func (m *metrics) observeJob(kind, outcome string, took time.Duration) {
	m.jobs.WithLabelValues(kind, outcome).Inc()
	m.jobTime.WithLabelValues(kind).Observe(took.Seconds())
}

// serveMetrics serves server.metrics_listen, if it is set, to anyone who can reach it.
func (a *App) serveMetrics(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if guard.IsFetch(r) {
			a.refuseFetch(w, r)
			return
		}
		a.metrics.handler.ServeHTTP(w, r)
	})
	return a.serveListener(ctx, a.metricsListener, mux, nil)
}
