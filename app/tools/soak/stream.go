package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"time"

	"confab/app/tools/rig"
)

// streamReader reads the events of a tenant from the first one on. Whenever its connection
// ends it comes back with its last position.
type streamReader struct {
	*client
	position string
	seen     map[string]bool // events
	faults   []string        // what must not be in a stream
}

// follow reads until ctx ends. It drops its connection by itself now and then.
func (s *streamReader) follow(ctx context.Context) {
	for ctx.Err() == nil {
		s.read(ctx, time.Duration(2+rand.IntN(20))*time.Second, "")
		sleep(ctx, 20*time.Millisecond)
	}
}

func (s *streamReader) read(ctx context.Context, most time.Duration, query string) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	after := cmp.Or(s.position, "oldest")
	req := rig.Must(http.NewRequestWithContext(ctx, http.MethodGet, s.Base+"/events/stream?after="+after+query, nil))
	req.Header.Set("Authorization", "Bearer "+s.Key)
	req.Header.Set("Accept", "application/x-ndjson")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return // the server is down
	}
	defer res.Body.Close()
	if res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests {
		return // its disk is full, or it has not noticed yet that we were gone
	}
	rig.Require(res.StatusCode == http.StatusOK, "a stream was answered with %d", res.StatusCode)

	for lines := bufio.NewReader(res.Body); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return // what was cut off comes again
		}
		s.take(line)
	}
}

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
func (o *tenantAudit) auditStream() {
	o.stream.read(context.Background(), time.Minute, "&wait=0")
	for _, fault := range o.stream.faults {
		o.discrepancy("the stream had %s", fault)
	}

	listed := make(map[string]bool)
	for _, e := range list[struct{ ID string }](o.client, "/events?limit=100") {
		listed[e.ID] = true
	}

	o.expect(maps.Equal(listed, o.stream.seen), "the stream had %d events, and %d are listed", len(o.stream.seen), len(listed))
	for event := range o.taken {
		o.expect(o.stream.seen[event], "%s came to an endpoint and not in the stream", event)
	}
}
