package simulator

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
)

// BenchmarkSend measures accepted sends over HTTP, load generator included, at
// 64 connections: without callbacks, with them, and with the state saved.
func BenchmarkSend(b *testing.B) {
	for _, bb := range []struct {
		name            string
		callbacks, save bool
	}{{"silent", false, false}, {"callbacks", true, false}, {"saved", false, true}, {"callbacks+saved", true, true}} {
		b.Run(bb.name, func(b *testing.B) {
			app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
			defer app.Close()
			opt := Options{WebhookURL: app.URL, AccessToken: testToken}
			if bb.save {
				opt.StateFile = filepath.Join(b.TempDir(), "state")
			}
			s, err := New(opt)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			n, err := s.AddNumber(Number{})
			if err != nil {
				b.Fatal(err)
			}
			set := s.Settings()
			set.ServiceWindow, set.PairLimit, set.MessagesPerSecond = false, false, 0
			if !bb.callbacks {
				set.SentMS, set.DeliveredMS = nil, nil
			}
			if err := s.SetSettings(set); err != nil {
				b.Fatal(err)
			}
			server := httptest.NewServer(s)
			defer server.Close()
			benchSends(b, server.URL+"/v23.0/"+n.PhoneNumberID+"/messages")
		})
	}
}

func benchSends(b *testing.B, url string) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	body := []byte(`{"messaging_product":"whatsapp","to":"+16505551234","type":"text","text":{"body":"hello there"},"biz_opaque_callback_data":"msg_01J"}`)
	b.SetParallelism(32)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			req, _ := http.NewRequest("POST", url, bytes.NewReader(body))
			req.Header.Set("Authorization", "Bearer "+testToken)
			req.Header.Set("Content-Type", "application/json")
			res, err := client.Do(req)
			if err != nil {
				b.Error(err)
				return
			}
			io.Copy(io.Discard, res.Body)
			res.Body.Close()
			if res.StatusCode != http.StatusOK {
				b.Errorf("status %d", res.StatusCode)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sends/s")
}
