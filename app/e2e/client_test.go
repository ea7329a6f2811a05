package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/piusalfred/whatsapp/config"
	waMedia "github.com/piusalfred/whatsapp/media"
	waMessage "github.com/piusalfred/whatsapp/message"
	"github.com/piusalfred/whatsapp/phonenumber"
	whttp "github.com/piusalfred/whatsapp/pkg/http"
	"github.com/piusalfred/whatsapp/webhooks"

	"confab/app/simulator"
)

// door is where a client of the provider calls: the played provider itself, or the gateway before it.
type door struct {
	*is.I
	*stage
	url, token string
	number     simulator.Number
	isGateway  bool
}

// atBothDoors runs a test with a client library that we did not write, at each door. Only its base
// URL and its token differ.
func atBothDoors(t *testing.T, test func(*testing.T, door)) {
	t.Parallel()
	for _, name := range []string{"simulator", "gateway"} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, withGateway(5*time.Second), withLocalEndpoints)
			n, err := s.sim.AddNumber(simulator.Number{DisplayPhoneNumber: "+1 555 000 9999", VerifiedName: "Acme"})
			if err != nil {
				t.Fatal(err)
			}
			s.connectAt(n)

			d := door{I: is.New(t), stage: s, url: s.simURL, token: s.sim.Credentials().AccessToken, number: n}
			if name == "gateway" {
				d.url, d.token, d.isGateway = s.app.URL()+"/graph", s.tenant.Secret, true
			}
			test(t, d)
		})
	}
}

// reader is the client's configuration.
func (d door) reader() config.Reader {
	creds := d.sim.Credentials()
	return config.ReaderFunc(func(context.Context) (*config.Config, error) {
		return &config.Config{
			BaseURL: d.url, APIVersion: "v24.0", AccessToken: d.token, PhoneNumberID: d.number.PhoneNumberID,
			BusinessAccountID: d.number.WABAID, AppSecret: creds.AppSecret, AppID: creds.AppID, SecureRequests: true,
		}, nil
	})
}

// clients are the library's two ways to send.
func (d door) clients(ctx context.Context) (*waMessage.BaseClient, *waMessage.Client) {
	base, err := waMessage.NewBaseClient(whttp.NewSender[waMessage.Message](), d.reader())
	d.NoErr(err)
	cached, err := waMessage.NewClient(ctx, d.reader(), whttp.NewSender[waMessage.Message]())
	d.NoErr(err)
	return base, cached
}

// upload uploads a file with the client.
func (d door) upload(ctx context.Context, name string, kind waMedia.Type, content []byte) string {
	d.t.Helper()
	path := filepath.Join(d.t.TempDir(), name)
	d.NoErr(os.WriteFile(path, content, 0o600))
	up, err := waMedia.NewBaseClient(d.reader(), whttp.NewAnySender()).Upload(ctx, &waMedia.UploadRequest{MediaType: kind, Filepath: path})
	d.NoErr(err)
	return up.ID
}

// foreignCalls is every kind of message that the client can send.
func foreignCalls(ctx context.Context, c waMessage.Service, sticker, sound, inbound string) map[string]func() (*waMessage.Response, error) {
	type result = *waMessage.Response
	prompt := "Where are you?"
	return map[string]func() (result, error){
		"text": func() (result, error) {
			return c.SendText(ctx, waMessage.NewRequest(recipient, &waMessage.Text{Body: "hi", PreviewURL: true}, waMessage.WithRequestAsReplyTo[waMessage.Text](inbound)))
		},
		"location": func() (result, error) {
			return c.SendLocation(ctx, waMessage.NewRequest(recipient, &waMessage.Location{Latitude: 1, Longitude: 2}))
		},
		"image": func() (result, error) {
			return c.SendImage(ctx, waMessage.NewRequest(recipient, &waMessage.Image{Link: "https://x.y/a.png", Caption: "c"}))
		},
		"video": func() (result, error) {
			return c.SendVideo(ctx, waMessage.NewRequest(recipient, &waMessage.Video{Link: "https://x.y/a.mp4"}))
		},
		"document": func() (result, error) {
			return c.SendDocument(ctx, waMessage.NewRequest(recipient, &waMessage.Document{Link: "https://x.y/a.pdf", Filename: "a.pdf"}))
		},
		"audio": func() (result, error) {
			return c.SendAudio(ctx, waMessage.NewRequest(recipient, &waMessage.Audio{ID: sound}))
		},
		"sticker": func() (result, error) {
			return c.SendSticker(ctx, waMessage.NewRequest(recipient, &waMessage.Sticker{ID: sticker}))
		},
		"reaction": func() (result, error) {
			return c.SendReaction(ctx, waMessage.NewRequest(recipient, &waMessage.Reaction{MessageID: inbound, Emoji: "👍"}))
		},
		"contacts": func() (result, error) {
			contacts := waMessage.Contacts{waMessage.NewContact(waMessage.WithContactName(&waMessage.Name{FormattedName: "Ann B", FirstName: "Ann"}))}
			return c.SendContacts(ctx, waMessage.NewRequest(recipient, &contacts))
		},
		"location request": func() (result, error) {
			return c.RequestLocation(ctx, waMessage.NewRequest(recipient, &prompt))
		},
		"link button": func() (result, error) {
			return c.SendInteractiveMessage(ctx, waMessage.NewRequest(recipient, waMessage.NewInteractiveCTAURLButton(&waMessage.InteractiveCTARequest{
				DisplayText: "Go", URL: "https://x.y", Body: "b", Header: waMessage.InteractiveHeaderText("h"),
			})))
		},
		"template": func() (result, error) {
			return c.SendTemplate(ctx, waMessage.NewRequest(recipient, &waMessage.Template{
				Name: "hello", Language: &waMessage.TemplateLanguage{Code: "en_US", Policy: "deterministic"},
				Components: []*waMessage.TemplateComponent{{Type: "body", Parameters: []*waMessage.TemplateParameter{{Type: "text", Text: "Ann"}}}},
			}))
		},
	}
}

const recipient = "16505551234"

func TestAForeignClientSendsEveryTypeOfMessage(t *testing.T) {
	atBothDoors(t, func(t *testing.T, d door) {
		ctx := t.Context()
		base, cached := d.clients(ctx)
		sticker := d.upload(ctx, "a.webp", waMedia.TypeStickerStatic, []byte("RIFF"))
		sound := d.upload(ctx, "a.ogg", waMedia.TypeAudioOGG, []byte("OggS"))
		inbound, err := d.sim.Inbound(map[string]any{"from": recipient, "text": "hi"})
		d.NoErr(err)
		_, err = d.sim.AddTemplate(d.number.WABAID, greetingTemplate)
		d.NoErr(err)

		for _, c := range []waMessage.Service{base, cached} {
			for name, call := range foreignCalls(ctx, c, sticker, sound, inbound) {
				res, err := call()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				d.Equal(res.Contacts[0].WhatsappID, recipient)
				d.True(strings.HasPrefix(res.Messages[0].ID, "wamid."))
				d.Equal(res.Messages[0].MessageStatus == "accepted", name == "template")
			}
		}
		for _, option := range []waMessage.Option{
			waMessage.WithInteractiveReplyButtons(&waMessage.InteractiveReplyButtonsRequest{
				Body: "b", Buttons: []*waMessage.InteractiveReplyButton{{ID: "1", Title: "Yes"}, {ID: "2", Title: "No"}},
			}),
			waMessage.WithInteractiveFlow(&waMessage.InteractiveFlowRequest{Body: "b", FlowMessageVersion: "3", FlowID: "1", FlowCTA: "Go", FlowAction: "navigate"}),
		} {
			m, err := waMessage.New(recipient, option)
			d.NoErr(err)
			_, err = base.SendMessage(ctx, m)
			d.NoErr(err)
		}
	})
}

// greetingTemplate is a template with one variable.
var greetingTemplate = simulator.Template{Name: "hello", Language: "en_US", Category: "utility", Components: []map[string]any{
	{"type": "BODY", "text": "Hello {{1}}, welcome.", "example": map[string]any{"body_text": [][]string{{"Ann"}}}},
}}

func TestAForeignClientMarksMessagesReadAndUnderstandsRefusals(t *testing.T) {
	atBothDoors(t, func(t *testing.T, d door) {
		base, cached := d.clients(t.Context())
		inbound, err := d.sim.Inbound(map[string]any{"from": recipient, "text": "hi"})
		d.NoErr(err)
		for _, c := range []waMessage.StatusUpdater{base, cached} {
			res, err := c.UpdateStatus(t.Context(), &waMessage.StatusUpdateRequest{MessageID: inbound, Status: waMessage.StatusRead, WithTypingIndicator: true})
			d.NoErr(err)
			d.True(res.Success)
		}
		_, err = base.SendText(t.Context(), waMessage.NewRequest("1999000131030", &waMessage.Text{Body: "x"}))
		refusal, ok := errors.AsType[*whttp.ResponseError](err)
		d.True(ok)
		d.Equal(refusal.Err.Code, 131030)
		d.True(refusal.Err.Data.Details != "")
	})
}

func TestAForeignClientHandlesMedia(t *testing.T) {
	atBothDoors(t, func(t *testing.T, d door) {
		ctx := t.Context()
		png := []byte("\x89PNG\r\n\x1a\n0000")
		c := waMedia.NewBaseClient(d.reader(), whttp.NewAnySender())
		req := &waMedia.BaseRequest{MediaID: d.upload(ctx, "a.png", waMedia.TypeImagePNG, png), RestrictToOwnMedia: true}
		info, err := c.GetInfo(ctx, req)
		d.NoErr(err)
		d.Equal(info.FileSize, int64(len(png)))
		var got bytes.Buffer
		d.NoErr(c.DownloadByMediaID(ctx, req, whttp.BodyReaderResponseDecoder(func(_ context.Context, r io.Reader) error {
			_, err := got.ReadFrom(r)
			return err
		})))
		d.Equal(got.Bytes(), png)
		gone, err := c.Delete(ctx, req)
		d.NoErr(err)
		d.True(gone.Success)
		_, err = c.GetInfo(ctx, req)
		d.True(err != nil)
		d.upload(ctx, "a.3gp", waMedia.TypeVideo3GPP, png) // which it labels video/3gp
	})
}

func TestAForeignClientReadsNumbers(t *testing.T) {
	atBothDoors(t, func(t *testing.T, d door) {
		numbers, err := phonenumber.NewBaseClient(d.reader(), &phonenumber.BaseSender{Sender: whttp.NewAnySender()})
		d.NoErr(err)
		list, err := numbers.List(t.Context())
		d.NoErr(err)
		d.Equal(list.Data[0].ID, d.number.PhoneNumberID)
		one, err := numbers.Get(t.Context(), &phonenumber.GetRequest{})
		d.NoErr(err)
		d.Equal(one.DisplayPhoneNumber, "+1 555-000-9999")
		one, err = numbers.Get(t.Context(), &phonenumber.GetRequest{Fields: []string{"id", "name_status"}}) // joined by semicolons
		d.NoErr(err)
		d.Equal(one.NameStatus, "APPROVED")
		d.Equal(one.VerifiedName, "")
	})
}

// Native webhooks are to a foreign receiver what the callbacks of the provider are.
func TestAForeignReceiverAcceptsNativeWebhooks(t *testing.T) {
	atBothDoors(t, func(t *testing.T, d door) {
		if !d.isGateway {
			return // app/simulator has that
		}
		seen := make(chan *webhooks.Notification, 10)
		handler := webhooks.NotificationHandlerFunc(func(_ context.Context, n *webhooks.Notification) *webhooks.Response {
			seen <- n
			return &webhooks.Response{StatusCode: http.StatusOK}
		})
		conf := webhooks.ConfigReaderFunc(func(*http.Request) (*webhooks.Config, error) {
			return &webhooks.Config{Token: "verify-me", Validate: true, AppSecret: appSecret}, nil
		})
		listener := webhooks.NewListener(handler, conf)
		mux := http.NewServeMux()
		mux.HandleFunc("GET /", listener.HandleSubscriptionVerification)
		mux.HandleFunc("POST /", listener.HandleNotification)
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		d.subscribeNative(server.URL, `"messages","message_template_status_update"`, "")

		base, _ := d.clients(t.Context())
		sent, err := base.SendText(t.Context(), waMessage.NewRequest(recipient, &waMessage.Text{Body: "x"}))
		d.NoErr(err)

		// Deliveries may overtake each other, and one may carry several changes.
		var early []*webhooks.Value
		next := func(isWanted func(*webhooks.Value) bool) *webhooks.Value {
			for late := time.After(patience); !slices.ContainsFunc(early, isWanted); {
				select {
				case n := <-seen:
					d.Equal(n.Object, "whatsapp_business_account")
					for _, entry := range n.Entry {
						for _, change := range entry.Changes {
							early = append(early, change.Value)
						}
					}
				case <-late:
					t.Fatal("it did not come")
				}
			}
			return early[slices.IndexFunc(early, isWanted)]
		}

		v := next(func(v *webhooks.Value) bool { return len(v.Statuses) > 0 })
		d.Equal(v.Statuses[0].ID, sent.Messages[0].ID)

		_, err = d.sim.Inbound(map[string]any{"from": recipient, "name": "Zoë", "text": "héllo / 😀"})
		d.NoErr(err)
		v = next(func(v *webhooks.Value) bool { return len(v.Messages) > 0 })
		d.Equal(v.Messages[0].Text.Body, "héllo / 😀")
		d.Equal(v.Contacts[0].Profile.Name, "Zoë")

		_, err = d.sim.AddTemplate(d.number.WABAID, greetingTemplate)
		d.NoErr(err)
		d.exchange("POST", d.simURL+"/_sim/templates/hello/review", `{"status":"REJECTED","reason":"SCAM"}`)
		v = next(func(v *webhooks.Value) bool { return v.Reason != nil })
		d.Equal(*v.Reason, "SCAM")
		d.True(v.MessageTemplateID > 0) // a number
	})
}
