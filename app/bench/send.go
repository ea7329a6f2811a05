package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"confab/storage"
)

// playedProvider is the simulator in a process of its own.
type playedProvider struct {
	cmd *exec.Cmd
	dir string
	simulatorFile
}

// simulatorFile is what `confab simulator` writes down.
type simulatorFile struct {
	URL           string `json:"simulator_url"`
	PhoneNumberID string `json:"phone_number_id"`
	PhoneNumber   string `json:"phone_number"`
	WABAID        string `json:"waba_id"`
	AccessToken   string `json:"access_token"`
	AppSecret     string `json:"app_secret"`
	VerifyToken   string `json:"verify_token"`
}

// startProvider runs the simulator, which posts its callbacks to a server.
func (b *bench) startProvider(server string) (*playedProvider, error) {
	dir, err := os.MkdirTemp("", "confab-bench-*")
	if err != nil {
		return nil, err
	}
	p := &playedProvider{dir: dir}
	p.cmd = exec.Command(b.confab, "simulator", "--listen", "127.0.0.1:0", "--data-dir", dir, "--webhook-url", "http://"+server+"/provider/webhook")
	if err := p.cmd.Start(); err != nil {
		return p, err
	}
	for range 500 {
		text, err := os.ReadFile(filepath.Join(dir, "simulator.json"))
		if err == nil && json.Unmarshal(text, &p.simulatorFile) == nil && p.settings(`{"auto_read": false}`) == nil {
			return p, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return p, errors.New("the simulator did not start")
}

// settings changes how the provider behaves.
func (p *playedProvider) settings(change string) error {
	req, err := http.NewRequest(http.MethodPatch, p.URL+"/_sim/settings", bytes.NewBufferString(change))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the simulator answered %d", res.StatusCode)
	}
	return nil
}

func (p *playedProvider) stop() {
	if p.cmd != nil && p.cmd.Process != nil {
		p.cmd.Process.Signal(os.Interrupt)
		p.cmd.Wait()
	}
	os.RemoveAll(p.dir)
}

// uncapped lets the played provider take what it gets.
const uncapped = `"messages_per_second": 0, "pair_limit": false, "service_window": false`

// send measures messages from the POST to the recorded answer of the provider.
func (b *bench) send() error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	p, err := b.startProvider(address)
	if p != nil {
		defer p.stop()
	}
	if err != nil {
		return err
	}
	s, err := b.startServerAt(address,
		"CONFAB_PROVIDER__BASE_URL="+p.URL, "CONFAB_PROVIDER__APP_SECRET="+p.AppSecret, "CONFAB_PROVIDER__VERIFY_TOKEN="+p.VerifyToken,
		"CONFAB_PROVIDER__MESSAGES_PER_SECOND=0", "CONFAB_PROVIDER__PAIR_LIMIT=false")
	if s != nil {
		defer s.stop()
	}
	if err != nil {
		return err
	}
	db, err := b.connectAccount(s, p)
	if err != nil {
		return err
	}
	defer db.Close()
	// First, because callbacks of earlier messages would keep the server busy.
	if err := b.alone(s, p); err != nil {
		return err
	}
	if err := b.sendRates(s, p, db, ""); err != nil {
		return err
	}
	if b.messages == 0 {
		return nil
	}
	if err := b.prefill(db, p.PhoneNumberID); err != nil {
		return err
	}
	return b.sendRates(s, p, db, fmt.Sprintf(", %d messages there", b.messages))
}

// sendRates measures with the provider's status callbacks off and on.
func (b *bench) sendRates(s *server, p *playedProvider, db *storage.DB, note string) error {
	for _, callbacks := range []struct{ name, settings string }{
		{"callbacks off", `{` + uncapped + `, "sent_ms": null, "delivered_ms": null}`},
		{"callbacks on", `{` + uncapped + `, "sent_ms": 50, "delivered_ms": 200}`},
	} {
		if err := p.settings(callbacks.settings); err != nil {
			return err
		}
		for _, connections := range []int{1, 16, 64} {
			if err := b.accepted(s, p, db, connections, callbacks.name+note); err != nil {
				return err
			}
		}
	}
	return nil
}

// prefill stores messages of the past, so that every tree has some height.
func (b *bench) prefill(db *storage.DB, number string) error {
	const batch = 2000
	for done := 0; done < b.messages; done += batch {
		err := db.Update(context.Background(), func(tx *storage.Tx) error {
			account, err := tx.AccountByNumber(number)
			if err != nil {
				return err
			}
			phone := "+1666" + strconv.Itoa(1_000_000+done)
			contact := storage.Contact{AccountID: account.ID, PhoneNumber: &phone}
			if err := tx.InsertContact(&contact); err != nil {
				return err
			}
			conversation, err := tx.EnsureConversation(account.ID, contact.ID)
			if err != nil {
				return err
			}
			for i := range batch {
				id := "wamid.bench" + strconv.Itoa(done+i)
				m := storage.Message{AccountID: account.ID, ConversationID: conversation.ID, ContactID: contact.ID, Direction: storage.Outbound, Type: "text",
					Status: storage.MessageRead, Source: storage.SourceAPI, ProviderID: &id, Content: storage.JSON(`{"body":"a message of the past"}`)}
				if err := tx.InsertMessage(&m); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// connectAccount gives the server the simulator's number, and returns its
// database to watch.
func (b *bench) connectAccount(s *server, p *playedProvider) (*storage.DB, error) {
	key, err := storage.LoadMasterKey(s.dir, "")
	if err != nil {
		return nil, err
	}
	db, err := storage.Open(storage.Options{Path: storage.DatabaseFile(s.dir), Schema: b.schema, MasterKey: key, Readers: 1, SkipCheck: true, KeepVersion: true})
	if err != nil {
		return nil, err
	}
	return db, db.Update(context.Background(), func(tx *storage.Tx) error {
		orgs, err := tx.Organizations()
		if err != nil {
			return err
		}
		teams, err := tx.Teams(orgs[0].ID)
		if err != nil {
			return err
		}
		a := storage.Account{OrganizationID: orgs[0].ID, TeamID: teams[0].ID, PhoneNumberID: &p.PhoneNumberID, WABAID: &p.WABAID,
			PhoneNumber: &p.PhoneNumber, Status: storage.AccountConnected}
		return tx.InsertAccount(&a, p.AccessToken)
	})
}

// message is the n-th request to send one, to one of many people.
func (s *server) message(p *playedProvider, n int64) []byte {
	return s.request("POST", "/v1/"+p.PhoneNumberID+"/messages",
		`{"messaging_product":"chat","to":"+1555`+strconv.FormatInt(1_000_000+n%5000, 10)+`","type":"text","text":{"body":"message `+strconv.FormatInt(n, 10)+`"}}`)
}

// accepted measures the rate at which messages are accepted, the rate at which
// the provider has them and that is recorded, and what a message costs the server
// and the provider in processor time, which a busy machine distorts least.
func (b *bench) accepted(s *server, p *playedProvider, db *storage.DB, connections int, name string) error {
	var n atomic.Int64
	var accepts, sends, costs, theirs []float64
	for range b.rounds {
		began, spent, played := time.Now(), cpu(s.cmd), cpu(p.cmd)
		l, err := drive(s.address, connections, b.length, 200, func() []byte { return s.message(p, n.Add(1)) })
		if err != nil {
			return fmt.Errorf("send: %w", err)
		}
		if err := drained(db); err != nil {
			return err
		}
		count := float64(len(l.waits))
		accepts, sends = append(accepts, l.perSecond), append(sends, count/time.Since(began).Seconds())
		costs, theirs = append(costs, micros(cpu(s.cmd)-spent)/count), append(theirs, micros(cpu(p.cmd)-played)/count)
	}
	b.add(fmt.Sprintf("POST message accepted, %d connections, %s", connections, name), perSecond(median(accepts)),
		fmt.Sprintf("accepted → provider → recorded %s; processor %.0f µs each, the provider %.0f", perSecond(median(sends)), median(costs), median(theirs)))
	return nil
}

// drained waits until no message is queued any more.
func drained(db *storage.DB) error {
	for {
		var left []storage.Job
		err := db.View(context.Background(), func(rx *storage.Rx) (err error) {
			left, err = rx.Jobs(storage.JobFilter{Kind: "send", Limit: 1})
			return err
		})
		if err != nil || len(left) == 0 {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// alone measures one message at a time, from the POST to its recorded answer.
func (b *bench) alone(s *server, p *playedProvider) error {
	if err := p.settings(`{` + uncapped + `, "sent_ms": null, "delivered_ms": null}`); err != nil {
		return err
	}
	var waits []time.Duration
	for i := range 50 * b.rounds {
		began := time.Now()
		var made struct {
			Data struct {
				ID     string `json:"id"`
				Status string `json:"status"`
			} `json:"data"`
		}
		if err := s.call("POST", p.PhoneNumberID+"/messages", fmt.Sprintf(`{"messaging_product":"chat","to":"+1555%d","type":"text","text":{"body":"hi"}}`, 2_000_000+i), &made); err != nil {
			return err
		}
		for made.Data.Status == "queued" {
			if err := s.call("GET", p.PhoneNumberID+"/messages/"+made.Data.ID, "", &made); err != nil {
				return err
			}
		}
		waits = append(waits, time.Since(began))
	}
	b.add("one message alone, POST to recorded sent", fmt.Sprintf("p50 %.2f ms", ms(percentile(waits, 50))), fmt.Sprintf("p99 %.2f ms", ms(percentile(waits, 99))))
	return nil
}

// call makes one request with the standard client and reads its answer.
func (s *server) call(method, path, body string, into any) error {
	req, err := http.NewRequest(method, "http://"+s.address+"/v1/"+path, bytes.NewBufferString(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return json.NewDecoder(res.Body).Decode(into)
}
