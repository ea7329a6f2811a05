package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"confab/app/tools/rig"
)

// How much of everything strangers take, all from one address.
const (
	halfCallbacks = 1300 // callbacks whose body never ends, each of 8 KB
	openHeads     = 1600 // request heads that never end
	guessers      = 4    // of passwords
	greedyOrgs    = 6    // organizations, each with as many uploads that never end
	greedyBodies  = 40
)

// strangers lets strangers hold all that they can get for a time: half-sent bodies, slow heads,
// wrong passwords, and six organizations with uploads that never end. Authenticated calls are
// timed for as long before, and meanwhile.
func (t *trial) strangers(ctx context.Context, length time.Duration) {
	var keys []string
	for len(keys) < greedyOrgs {
		_, key := t.server.NewOrganization("Greedy")
		keys = append(keys, key)
	}

	t.alone = append(t.alone, t.timeCalls(ctx, length)...)
	arrived, leave := context.WithCancel(ctx)
	var group sync.WaitGroup
	t.sendStrangers(arrived, &group, keys)
	sleep(ctx, 3*time.Second) // until those that were turned away have come once more
	t.beside = append(t.beside, t.timeCalls(ctx, length)...)
	leave()
	group.Wait()
}

// sendStrangers returns when each of them has sent what it sends first.
func (t *trial) sendStrangers(ctx context.Context, group *sync.WaitGroup, keys []string) {
	var sent sync.WaitGroup
	hold := func(n int, request string) {
		sent.Add(n)
		for range n {
			group.Go(func() { t.holdOpen(ctx, request, sync.OnceFunc(sent.Done)) })
		}
	}

	const post = "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n\r\n%s"
	forged := "X-Hub-Signature-256: sha256=" + strings.Repeat("0", 64)
	hold(halfCallbacks, fmt.Sprintf(post, "/provider/webhook", 8<<10+1, forged, strings.Repeat(" ", 8<<10-1)))
	hold(openHeads, "GET /v1/me HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	for _, key := range keys {
		header := "Authorization: Bearer " + key + "\r\nContent-Type: application/json"
		hold(greedyBodies, fmt.Sprintf(post, "/v1/labels", 1<<20-1, header, strings.Repeat(" ", 20<<10)))
	}
	for range guessers {
		group.Go(func() { t.guessPasswords(ctx) })
	}
	sent.Wait()
}

// holdOpen sends a part of a request, and then a byte a second. When the server hangs up it
// begins again.
func (t *trial) holdOpen(ctx context.Context, request string, sent func()) {
	defer sent()
	for ; ctx.Err() == nil; sleep(ctx, time.Second) {
		conn, err := net.Dial("tcp", t.server.Address)
		if err != nil {
			continue
		}
		_, err = io.WriteString(conn, request)
		sent()
		for err == nil && sleep(ctx, time.Second) {
			_, err = io.WriteString(conn, " ")
		}
		conn.Close()
	}
}

func (t *trial) guessPasswords(ctx context.Context) {
	form := url.Values{"email": {"owner@example.com"}, "password": {"a wrong password"}}.Encode()
	client := rig.Client{Base: t.server.URL(), Timeout: 5 * time.Second}
	for ctx.Err() == nil {
		_, _, err := client.Do(ctx, rig.Request{
			Method: "POST", Path: "/console/sign-in", Body: form, ContentType: "application/x-www-form-urlencoded",
		})
		if err != nil {
			sleep(ctx, 50*time.Millisecond)
		}
	}
}

const callersAtOnce = 8

// timeCalls makes authenticated calls for a time, half of them over new connections, and
// returns how long each took. One that is refused or not answered took longer than any.
func (t *trial) timeCalls(ctx context.Context, length time.Duration) []time.Duration {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()

	took := make([][]time.Duration, callersAtOnce)
	rig.RunParallel(callersAtOnce, func(i int) {
		one := t.tenants[i%len(t.tenants)]
		caller := one.Client
		caller.Transport = &http.Transport{DisableKeepAlives: i%4 < 2}
		defer caller.Transport.CloseIdleConnections()

		for sleep(ctx, 10*time.Millisecond) {
			began := time.Now()
			status, _, err := caller.Do(context.Background(), rig.Request{Method: "GET", Path: "/" + one.number + "/messages?limit=5"})
			if err != nil || status != http.StatusOK {
				began = began.Add(-time.Hour)
			}
			took[i] = append(took[i], time.Since(began))
		}
	})
	return slices.Concat(took...)
}

func (t *trial) auditStrangers(r *report) {
	if len(t.beside) == 0 {
		return
	}

	r.calls = [2]time.Duration{rig.Percentile(t.alone, 99), rig.Percentile(t.beside, 99)}
	if t.length >= 5*time.Minute && r.calls[1] > 3*r.calls[0] { // in a short trial a single pause would decide
		r.discrepancy("the slowest hundredth of calls took %v, and %v beside strangers", r.calls[0], r.calls[1])
	}
}
