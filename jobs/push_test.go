package jobs_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs"
	"confab/jobs/guard"
	"confab/jobs/push"
	"confab/storage"
	"confab/storage/storagetest"
)

var b64 = base64.RawURLEncoding

// pushBrowser is a browser that takes push messages.
type pushBrowser struct {
	user    storage.User
	session string
	device  string
	key     *ecdh.PrivateKey
	auth    []byte
	url     string
}

// decrypt reads a message as RFC 8291 and RFC 8188 say, without the library that wrote it.
func (b *pushBrowser) decrypt(body []byte) ([]byte, error) {
	salt, size, keySize := body[:16], int(body[16])<<24|int(body[17])<<16|int(body[18])<<8|int(body[19]), int(body[20])
	sender, err := ecdh.P256().NewPublicKey(body[21 : 21+keySize])
	if err != nil {
		return nil, err
	}
	record := body[21+keySize:]
	if len(record) > size {
		return nil, errors.New("there is more than one record")
	}

	secret, err := b.key.ECDH(sender)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(b.key.PublicKey().Bytes()) + string(sender.Bytes())
	ikm, err := hkdf.Key(sha256.New, secret, b.auth, info, 32)
	if err != nil {
		return nil, err
	}
	key, _ := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	nonce, _ := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)

	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	padded, err := gcm.Open(nil, nonce, record, nil)
	if err != nil {
		return nil, err
	}
	text, ok := bytes.CutSuffix(bytes.TrimRight(padded, "\x00"), []byte{2})
	if !ok {
		return nil, errors.New("the record is not the last")
	}
	return text, nil
}

// The example of RFC 8291, appendix A, shows that the test itself can read.
func TestTheTestReadsTheExampleOfTheStandard(t *testing.T) {
	is := is.New(t)
	bytesOf := func(s string) []byte { raw, err := b64.DecodeString(s); is.NoErr(err); return raw }
	key, err := ecdh.P256().NewPrivateKey(bytesOf("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
	is.NoErr(err)
	b := &pushBrowser{key: key, auth: bytesOf("BTBZMqHH6r4Tts7J_aSIgg")}
	text, err := b.decrypt(bytesOf("DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"))
	is.NoErr(err)
	is.Equal(string(text), "When I grow up, I want to be a watermelon")
}

// pushService is the push service of all browsers. Every message must be one that its browser can
// read and that the server has signed.
type pushService struct {
	w        *world
	public   string // of the server's key
	browsers map[string]*pushBrowser
	answer   func(n int, r *http.Request) (*http.Response, error) // nil: 201

	mu    sync.Mutex
	shown []string // user: title | body
	times []time.Duration
	last  map[string]any
}

// withPush gives the world a push service and a key.
func (w *world) withPush() *pushService {
	s := &pushService{w: w, browsers: make(map[string]*pushBrowser)}
	made, err := push.NewKey()
	w.is.NoErr(err)
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		key, err := tx.EnsureVAPIDKey(made)
		w.is.Equal(key, made)
		return err
	})
	s.public, err = push.PublicKey(made)
	w.is.NoErr(err)
	w.options.Push = jobs.Push{Sender: push.Sender{Client: &http.Client{Transport: s, Timeout: 10 * time.Second}, PublicURL: "https://confab.test"}}
	return s
}

// browser signs somebody in and switches notifications on.
func (s *pushService) browser(name, about string) *pushBrowser {
	w := s.w
	w.t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	w.is.NoErr(err)
	b := &pushBrowser{key: key, auth: make([]byte, 16), url: "https://push.test/send/" + name}
	rand.Read(b.auth)
	b.user = storage.User{OrganizationID: w.tenant.Organization.ID, TeamID: w.tenant.Team.ID, Name: name}
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		if err := tx.InsertUser(&b.user); err != nil {
			return err
		}
		if err := tx.SetNotifyAbout(b.user.ID, about); err != nil {
			return err
		}
		session := storage.UserSession{UserID: b.user.ID}
		if _, err := tx.InsertUserSession(&session); err != nil {
			return err
		}
		b.session = session.ID
		b.device, err = tx.EnsurePushDevice(storage.SignedIn{Session: session, User: b.user}, b.subscription())
		return err
	})
	s.browsers[b.url] = b
	return b
}

func (b *pushBrowser) subscription() storage.PushSubscription {
	return storage.PushSubscription{Endpoint: b.url, P256DH: b64.EncodeToString(b.key.PublicKey().Bytes()), Auth: b64.EncodeToString(b.auth)}
}

// RoundTrip implements http.RoundTripper.
func (s *pushService) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.times = append(s.times, time.Since(s.w.began))
	n := len(s.times)
	s.mu.Unlock()

	b := s.browsers[r.URL.String()]
	text, err := b.decrypt(body)
	if err != nil {
		s.w.t.Error(err)
	}
	s.checkVAPID(r)
	if s.answer != nil {
		if answer, err := s.answer(n, r); answer != nil || err != nil {
			return answer, err
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = nil
	if err := json.Unmarshal(text, &s.last); err != nil {
		s.w.t.Error(err)
	}
	s.shown = append(s.shown, fmt.Sprintf("%s: %s | %s", b.user.Name, s.last["title"], s.last["body"]))
	return pushAnswer(201), nil
}

func pushAnswer(status int, header ...string) *http.Response {
	r := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// checkVAPID checks that a request is signed as RFC 8292 says.
func (s *pushService) checkVAPID(r *http.Request) {
	is := s.w.is
	var token, key string
	for part := range strings.SplitSeq(strings.TrimPrefix(r.Header.Get("Authorization"), "vapid "), ", ") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			token = value
		case "k":
			key = value
		}
	}
	is.Equal(key, s.public) // what the browser was given

	parts := strings.Split(token, ".")
	is.Equal(len(parts), 3)
	head, _ := b64.DecodeString(parts[0])
	claims, _ := b64.DecodeString(parts[1])
	signature, _ := b64.DecodeString(parts[2])
	is.True(bytes.Contains(head, []byte(`"ES256"`)))

	raw, err := b64.DecodeString(key)
	is.NoErr(err)
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	is.NoErr(err)
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	is.True(ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])))

	var claimed struct {
		Aud, Sub string
		Exp      int64
	}
	is.NoErr(json.Unmarshal(claims, &claimed))
	is.Equal(claimed.Aud, "https://push.test")
	is.Equal(claimed.Sub, "https://confab.test")
	left := time.Until(time.Unix(claimed.Exp, 0))
	is.True(0 < left && left <= 24*time.Hour)
	is.Equal(r.Header.Get("Content-Encoding"), "aes128gcm")
	is.True(r.Header.Get("TTL") != "")
}

// news is what was shown since the last call.
func (s *pushService) news() (all []string) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	all, s.shown = s.shown, nil
	slices.Sort(all)
	return all
}

// ask lets somebody write to the number.
func (w *world) ask(wamid, text string) {
	w.t.Helper()
	w.callback("messages", fmt.Sprintf(`"messages":[{"from":"15550001111","id":%q,"timestamp":"1750030073","type":"text","text":{"body":%q}}]`, wamid, text))
}

func (w *world) assign(u *storage.User) {
	w.t.Helper()
	t := w.thread("+15550001111")
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		c, err := tx.Conversation(w.account.ID, t.ConversationID)
		if err != nil {
			return err
		}
		c.AssigneeID = nil
		if u != nil {
			c.AssigneeID = &u.ID
		}
		return tx.UpdateConversation(&c.Conversation, storage.ChangedByAPI)
	})
}

func TestPeopleAreNotifiedOfWhatConcernsThem(t *testing.T) {
	bubble(t, func(w *world) {
		s := w.withPush()
		s.browser("Everything", storage.NotifyEverything)
		mine := s.browser("Mine", storage.NotifyMine)
		mentions := s.browser("Mentions", storage.NotifyMentions)
		nothing := s.browser("Nothing", storage.NotifyNothing)
		off := s.browser("Off", storage.NotifyEverything)
		storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return tx.DisableUser(off.user.ID) })
		w.start()

		w.ask("wamid.1", strings.Repeat("é", 150))
		w.is.Equal(s.news(), []string{"Everything: +15550001111 | " + strings.Repeat("é", 100), "Mine: +15550001111 | " + strings.Repeat("é", 100)})
		t := w.thread("+15550001111")
		w.is.Equal([]any{s.last["conversation"], s.last["tag"], s.last["unread"]}, []any{t.ConversationID, t.ConversationID, 1.0})

		time.Sleep(time.Minute)
		w.assign(&nothing.user)
		w.ask("wamid.2", "somebody else's")
		w.is.Equal(s.news(), []string{"Everything: +15550001111 | somebody else's"})

		time.Sleep(time.Minute)
		w.assign(&mine.user)
		w.ask("wamid.3", "mine")
		w.is.Equal(s.news(), []string{"Everything: +15550001111 | mine", "Mine: +15550001111 | mine"})

		time.Sleep(time.Minute)
		w.callback("messages", `"messages":[{"from":"15550001111","id":"wamid.4","timestamp":"1750030073","type":"reaction","reaction":{"message_id":"wamid.out","emoji":"x"}}]`)
		w.is.Equal(s.news(), nil) // a reaction asks nothing

		// A mention.
		note := storage.Note{AccountID: w.account.ID, ConversationID: t.ConversationID, NoteAuthor: storage.NoteAuthor{Type: storage.NoteByUser, ID: "x", Name: new("Bo")}, Text: "look here"}
		storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
			if err := tx.InsertNote(&note); err != nil {
				return err
			}
			return jobs.EnqueueNotify(tx, w.tenant.Organization.ID, jobs.Notice{AboutAccount: storage.AboutAccount{Account: w.account.ID},
				Conversation: t.ConversationID, Note: note.ID, Users: []string{mine.user.ID, mentions.user.ID, nothing.user.ID}})
		})
		w.is.Equal(s.news(), []string{"Mentions: Bo · +15550001111 | look here", "Mine: Bo · +15550001111 | look here"})

		// The end of a snooze is told to whose it is.
		storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
			c, err := tx.Conversation(w.account.ID, t.ConversationID)
			if err != nil {
				return err
			}
			if err := tx.Snooze(&c.Conversation, tx.Now.Add(time.Hour)); err != nil {
				return err
			}
			return tx.UpdateConversation(&c.Conversation, storage.ChangedByAPI)
		})
		time.Sleep(time.Hour)
		w.is.Equal(s.news(), []string{"Mine: +15550001111 | Snooze ended"})
	})
}

func TestABurstMakesNoMoreNotificationsThanTheRuleAllows(t *testing.T) {
	bubble(t, func(w *world) {
		w.periodic = []string{"housekeeping"}
		s := w.withPush()
		onScreen := false
		w.options.Push.OnScreen = func(organization int64, _, conversation string) bool {
			w.is.Equal(organization, w.tenant.Organization.ID)
			return onScreen && conversation != ""
		}
		first := s.browser("First", storage.NotifyMine)
		s.browser("Second", storage.NotifyMine)
		w.start()

		for i := range 150 {
			w.ask(fmt.Sprint("wamid.", i), "hi")
		}
		w.is.Equal(len(s.news()), 2) // one a device
		time.Sleep(29 * time.Second)
		w.ask("wamid.29s", "still")
		w.is.Equal(len(s.news()), 0)
		w.callback("messages", `"messages":[{"from":"15550002222","id":"wamid.other","timestamp":"1750030073","type":"text","text":{"body":"other"}}]`)
		w.is.Equal(len(s.news()), 2) // another conversation has its own
		time.Sleep(time.Second)
		w.ask("wamid.30s", "again")
		w.is.Equal(len(s.news()), 2)
		time.Sleep(10*time.Minute + time.Second)
		w.is.Equal(storagetest.Select[int](w.t, w.dir, `SELECT count(*) FROM push_times`), []int{0}) // housekeeping

		onScreen = true
		w.ask("wamid.onscreen", "seen")
		w.is.Equal(len(s.news()), 0)
		onScreen = false

		// A device goes with its session.
		storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return tx.DeleteUserSession(first.user.ID, first.session) })
		w.ask("wamid.left", "hi")
		w.is.Equal(s.news(), []string{"Second: +15550001111 | hi"})
		w.is.Equal(storagetest.Select[int](w.t, w.dir, `SELECT count(*) FROM jobs WHERE kind LIKE 'push%'`), []int{0})
	})
}

// What the push service did not take at first must not follow a newer one, nor replace it.
func TestANotificationThatIsLateGivesWayToTheNext(t *testing.T) {
	bubble(t, func(w *world) {
		s := w.withPush()
		s.browser("Ana", storage.NotifyMine)
		s.answer = func(n int, _ *http.Request) (*http.Response, error) {
			return map[bool]*http.Response{true: pushAnswer(500)}[n < 3], nil // at once and after 5 s
		}
		w.start()
		w.ask("wamid.1", "first")
		time.Sleep(31 * time.Second)
		w.ask("wamid.2", "second")
		w.is.Equal(s.news(), []string{"Ana: +15550001111 | second"})
		time.Sleep(time.Hour)
		w.is.Equal(s.news(), nil)
		w.is.Equal(storagetest.Select[int](w.t, w.dir, `SELECT count(*) FROM jobs WHERE kind LIKE 'push%'`), []int{0})
	})
}

func TestWhatAPushServiceAnswersDecides(t *testing.T) {
	minutes := func(all ...float64) (times []time.Duration) {
		for _, m := range all {
			times = append(times, time.Duration(m*float64(time.Minute)).Round(time.Second))
		}
		return times
	}
	hang := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	s5, s35 := 5.0/60, 35.0/60
	for name, c := range map[string]struct {
		answer  func(n int, r *http.Request) (*http.Response, error)
		tries   []time.Duration
		devices int
		shown   int
	}{
		"404":      {func(int, *http.Request) (*http.Response, error) { return pushAnswer(404), nil }, minutes(0), 0, 0},
		"410":      {func(int, *http.Request) (*http.Response, error) { return pushAnswer(410), nil }, minutes(0), 0, 0},
		"400":      {func(int, *http.Request) (*http.Response, error) { return pushAnswer(400), nil }, minutes(0), 1, 0},
		"redirect": {func(int, *http.Request) (*http.Response, error) { return pushAnswer(304), nil }, minutes(0), 1, 0},
		"500":      {func(int, *http.Request) (*http.Response, error) { return pushAnswer(500), nil }, minutes(0, s5, s35, 2+s35, 12+s35), 1, 0},
		"429 for now": {func(n int, _ *http.Request) (*http.Response, error) {
			return map[bool]*http.Response{true: pushAnswer(429, "Retry-After", "60")}[n == 1], nil
		}, minutes(0, 1), 1, 1},
		"429 forever": {func(int, *http.Request) (*http.Response, error) {
			return pushAnswer(429, "Retry-After", "99999999"), nil
		}, minutes(0, 10, 20, 30, 40), 1, 0},
		"refused": {func(int, *http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }, minutes(0, s5, s35, 2+s35, 12+s35), 1, 0},
		"blocked": {func(int, *http.Request) (*http.Response, error) { return nil, &guard.BlockedError{} }, minutes(0), 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				s := w.withPush()
				s.browser("Ana", storage.NotifyMine)
				s.answer = c.answer
				w.start()
				w.ask("wamid.1", "hi")
				time.Sleep(2 * time.Hour)
				for i := range s.times {
					s.times[i] = s.times[i].Round(time.Second)
				}
				w.is.Equal(s.times, c.tries)
				w.is.Equal(len(s.news()), c.shown)
				w.is.Equal(storagetest.Select[int](w.t, w.dir, `SELECT count(*) FROM push_devices`), []int{c.devices})
				w.is.Equal(storagetest.Select[int](w.t, w.dir, `SELECT count(*) FROM jobs WHERE kind LIKE 'push%'`), []int{0})
			})
		})
	}
	t.Run("hangs", func(t *testing.T) {
		bubble(t, func(w *world) {
			s := w.withPush()
			slow := s.browser("Slow", storage.NotifyMine)
			s.browser("Quick", storage.NotifyMine)
			s.answer = func(_ int, r *http.Request) (*http.Response, error) {
				if r.URL.String() == slow.url {
					return hang(r)
				}
				return nil, nil
			}
			w.start()
			w.ask("wamid.1", "hi")
			w.is.Equal(s.news(), []string{"Quick: +15550001111 | hi"}) // it waits for no other
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			w.is.Equal(len(s.times), 1+5)
		})
	})
}

func TestNotificationsCanHideWhatWasSaid(t *testing.T) {
	bubble(t, func(w *world) {
		s := w.withPush()
		w.options.Push.HidesContent = true
		b := s.browser("Ana", storage.NotifyMine)
		w.start()
		w.ask("wamid.1", "secret")
		w.is.Equal(s.news(), []string{"Ana: New message | "})
		storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return jobs.EnqueueTestPush(tx, b.user.ID, b.device) })
		w.is.Equal(s.news(), []string{"Ana: Test | Notifications work on this device."})
		w.is.True(!w.inFiles("push.test")) // endpoints are sealed

		b.user.Language = new("pt-BR")
		storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
			if err := tx.UpdateUser(&b.user); err != nil {
				return err
			}
			return jobs.EnqueueTestPush(tx, b.user.ID, b.device)
		})
		w.is.Equal(s.news(), []string{"Ana: Teste | As notificações funcionam neste dispositivo."})
	})
}

func TestAPersonHasABoundedNumberOfDevices(t *testing.T) {
	bubble(t, func(w *world) {
		s := w.withPush()
		b := s.browser("Ana", storage.NotifyMine)
		who := storage.SignedIn{Session: storage.UserSession{ID: b.session}, User: b.user}
		add := func(url string) (err error) {
			return w.db.Update(w.t.Context(), func(tx *storage.Tx) error {
				d := b.subscription()
				d.Endpoint = url
				_, err := tx.EnsurePushDevice(who, d)
				return err
			})
		}
		for i := range storage.MaxDevices - 1 {
			w.is.NoErr(add(fmt.Sprint("https://push.test/", i)))
		}
		w.is.True(errors.Is(add("https://push.test/more"), storage.ErrTooMany))
		w.is.NoErr(add(b.url)) // one that is there already
	})
}

// A push service is reached like every address of a stranger: not on this machine.
func TestPushServicesAreReachedByTheGuardedClient(t *testing.T) {
	is := is.New(t)
	asked := false
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked = true }))
	defer local.Close()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	is.NoErr(err)
	b := &pushBrowser{key: key, auth: make([]byte, 16), url: local.URL}
	vapid, err := push.NewKey()
	is.NoErr(err)
	client := guard.New(guard.Options{AllowInsecure: true})
	defer client.Close()
	err = push.Sender{Client: client, PublicURL: "https://confab.test"}.Send(t.Context(), vapid, b.subscription(), "", []byte("{}"))
	is.Equal(guard.Reason(err), guard.AddressBlocked)
	is.True(!push.IsTransient(err))
	is.True(!asked)
}
