package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"time"
)

// streamReader reads the events of a tenant from the first one on. Whenever its connection
// ends it comes back with its last position.
type streamReader struct {
	*client
	position string
	seen     map[string]bool // events
	faults   []string        // what must not be in a stream
	came     int             // connections
}

// follow reads until ctx ends. It drops its connection by itself now and then.
func (s *streamReader) follow(ctx context.Context, random *rand.Rand) error {
	for ctx.Err() == nil {
		connection, cancel := context.WithTimeout(ctx, time.Duration(2+random.IntN(20))*time.Second)
		err := s.read(connection, "")
		cancel()
		if err != nil {
			return err
		}
		sleep(ctx, 20*time.Millisecond)
	}
	return nil
}

// read reads one connection to its end.
func (s *streamReader) read(ctx context.Context, query string) error {
	after := cmp.Or(s.position, "oldest")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Base+"/events/stream?after="+after+query, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.Key)
	req.Header.Set("Accept", "application/x-ndjson")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil // the server is down
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		if res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests {
			return nil // its disk is full, or it has not noticed yet that we were gone
		}
		return fmt.Errorf("a stream was answered with %d", res.StatusCode)
	}

	s.came++
	for lines := bufio.NewReader(res.Body); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // what was cut off comes again
		}
		s.take(line)
	}
}

// take records a line of the stream.
func (s *streamReader) take(line []byte) {
	var item struct {
		ID, Object, Reason, Position string
	}
	if json.Unmarshal(line, &item) != nil {
		return // an empty line
	}

	switch {
	case item.Object == "gap":
		s.faults = append(s.faults, "a gap by "+item.Reason)
	case item.Object != "event":
	case s.seen[item.ID]:
		s.faults = append(s.faults, item.ID+" came twice")
	default:
		s.seen[item.ID] = true
	}
	if item.Position != "" {
		s.position = item.Position
	}
}

// auditStream reads the rest of the stream, and compares all that came with the list of
// events, and with what the steady endpoint took.
func (o *tenantAudit) auditStream() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := o.stream.read(ctx, "&wait=0"); err != nil {
		return err
	}
	for _, fault := range o.stream.faults {
		o.discrepancy("the stream had %s", fault)
	}

	events, err := list[struct{ ID string }](o.client, "/events?limit=100")
	if err != nil {
		return err
	}
	listed := make(map[string]bool)
	for _, e := range events {
		listed[e.ID] = true
	}

	if !maps.Equal(listed, o.stream.seen) {
		o.discrepancy("the stream had %d events, and %d are listed", len(o.stream.seen), len(listed))
	}
	for event := range o.taken {
		if !o.stream.seen[event] {
			o.discrepancy("%s came to an endpoint and not in the stream", event)
		}
	}
	o.report.streams += o.stream.came
	return nil
}
