package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"confab/app/stream"
)

// streamCollector tells how the streams of events stand, by their class.
type streamCollector struct{ hub *stream.Hub }

func streamMetric(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"class"}, nil)
}

func (c *streamCollector) open() *prometheus.Desc {
	return streamMetric("confab_streams", "Streams of events that are open.")
}

func (c *streamCollector) behind() *prometheus.Desc {
	return streamMetric("confab_stream_behind_seconds", "How long the slowest stream has had something that it has not told yet.")
}

func (c *streamCollector) dropped() *prometheus.Desc {
	return streamMetric("confab_streams_dropped_total", "Streams that were ended because their client took nothing.")
}

// Describe implements prometheus.Collector.
func (c *streamCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.open()
	ch <- c.behind()
	ch <- c.dropped()
}

// Collect implements prometheus.Collector.
func (c *streamCollector) Collect(ch chan<- prometheus.Metric) {
	for _, s := range c.hub.Stats() {
		ch <- prometheus.MustNewConstMetric(c.open(), prometheus.GaugeValue, float64(s.Open), s.Name)
		ch <- prometheus.MustNewConstMetric(c.behind(), prometheus.GaugeValue, s.Behind.Seconds(), s.Name)
		ch <- prometheus.MustNewConstMetric(c.dropped(), prometheus.CounterValue, float64(s.Dropped), s.Name)
	}
}
