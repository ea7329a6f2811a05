package main

import (
	"errors"
	"testing"
	"time"
)

func TestMeterSharesProcessorTime(t *testing.T) {
	var server, load time.Duration
	m := meter{processes: []process{
		{"server", func() (time.Duration, error) { return server, nil }},
		{loadGenerator.name, func() (time.Duration, error) { return load, nil }},
	}}
	for _, used := range []time.Duration{time.Millisecond, 3 * time.Millisecond, 2 * time.Millisecond} {
		if err := m.begin(); err != nil {
			t.Fatal(err)
		}
		server += used
		load += time.Millisecond
		if err := m.end(10); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.String(); got != "µs of processor each: server 200, load generator 100" {
		t.Error(got)
	}
	if got := m.sum(); got != 200 {
		t.Errorf("%v µs without the load generator, want 200", got)
	}
}

func TestMeterTellsWhoCannotBeMeasured(t *testing.T) {
	gone := errors.New("gone")
	m := meter{processes: []process{{"server", func() (time.Duration, error) { return 0, gone }}}}
	if err := m.begin(); !errors.Is(err, gone) {
		t.Error(err)
	}
}

func TestGeneratorUsesProcessorTime(t *testing.T) {
	before, err := loadGenerator.used()
	if err != nil {
		t.Fatal(err)
	}
	for after := before; after <= before; {
		if after, err = loadGenerator.used(); err != nil {
			t.Fatal(err)
		}
	}
}
