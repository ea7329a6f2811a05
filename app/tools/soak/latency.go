package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"confab/app/tools/rig"
)

// How long the provider's answer to a send is on its way. It takes about as long in
// practice. So at any time there are calls that the provider has carried out and the
// server does not know of, and every fault meets some of them.
const (
	minLatency = 50 * time.Millisecond
	maxLatency = 350 * time.Millisecond
)

// startSlowProxy starts what is between the server and the provider, and delays the answers to
// sends. It returns its URL.
func startSlowProxy(provider string) string {
	target, silent := rig.Must(url.Parse(provider)), log.New(io.Discard, "", 0)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // of which the provider makes the URLs of media
		},
		Transport:      &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true},
		ModifyResponse: delayAnswer,
		ErrorLog:       silent,

		// The provider hung up, and so does the proxy.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	listener := rig.Must(net.Listen("tcp", "127.0.0.1:0"))
	go (&http.Server{Handler: proxy, ErrorLog: silent}).Serve(listener)
	return "http://" + listener.Addr().String()
}

func delayAnswer(res *http.Response) error {
	if req := res.Request; req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/messages") {
		sleep(req.Context(), minLatency+rand.N(maxLatency-minLatency))
	}
	return nil
}

// setStatusDelay sets how long after the usual time the provider reports the statuses of
// the messages that it accepts from now on.
func (t *trial) setStatusDelay(more time.Duration) {
	ms := more.Milliseconds()
	t.sim.Call("PATCH", "/_sim/settings", fmt.Sprintf(`{"sent_ms":%d,"delivered_ms":%d,"read_ms":%d}`, ms+150, ms+250, ms+400), nil)
}

// changeStatusDelay keeps changing when statuses come. At first they come about when the
// answer to the send does, before it or after it. Later they come when a server that does
// not wait for them has sent the message again.
func (t *trial) changeStatusDelay(ctx context.Context) {
	repeat(ctx, 500, 1500, func(int) { t.setStatusDelay(time.Duration(rand.IntN(2)) * 3 * time.Second) })
}
