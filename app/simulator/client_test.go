package simulator

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/piusalfred/whatsapp/auth"
	"github.com/piusalfred/whatsapp/business"
	"github.com/piusalfred/whatsapp/config"
	waMedia "github.com/piusalfred/whatsapp/media"
	waMessage "github.com/piusalfred/whatsapp/message"
	"github.com/piusalfred/whatsapp/phonenumber"
	whttp "github.com/piusalfred/whatsapp/pkg/http"
	"github.com/piusalfred/whatsapp/uploads"
	"github.com/piusalfred/whatsapp/webhooks"
	waCallbacks "github.com/piusalfred/whatsapp/webhooks/callbacks"
)

// reader is the client's configuration: only the base URL is ours.
func (b *bench) reader() config.Reader {
	return config.ReaderFunc(func(context.Context) (*config.Config, error) {
		return b.conf(), nil
	})
}

func (b *bench) conf() *config.Config {
	creds := b.s.Credentials()
	return &config.Config{
		BaseURL: b.url, APIVersion: "v24.0", AccessToken: creds.AccessToken, PhoneNumberID: b.number.PhoneNumberID,
		BusinessAccountID: b.number.WABAID, AppSecret: creds.AppSecret, AppID: creds.AppID, SecureRequests: true,
	}
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
	b := newBench(t)
	ctx := context.Background()
	base, err := waMessage.NewBaseClient(whttp.NewSender[waMessage.Message](), b.reader())
	b.NoErr(err)
	cached, err := waMessage.NewClient(ctx, b.reader(), whttp.NewSender[waMessage.Message]())
	b.NoErr(err)
	sticker := b.upload("/"+b.number.PhoneNumberID+"/media", "image/webp", []byte("RIFF"), "messaging_product", "whatsapp").text("id")
	sound := b.upload("/"+b.number.PhoneNumberID+"/media", "audio/ogg", []byte("OggS"), "messaging_product", "whatsapp").text("id")
	inbound, err := b.s.Inbound(Inbound{From: recipient, Text: "hi"})
	b.NoErr(err)
	_, err = b.s.AddTemplate(b.number.WABAID, bodyTemplate("hello", "utility"))
	b.NoErr(err)
	for _, c := range []waMessage.Service{base, cached} {
		for name, call := range foreignCalls(ctx, c, sticker, sound, inbound) {
			res, err := call()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			b.Equal(res.Contacts[0].WhatsappID, recipient)
			b.True(strings.HasPrefix(res.Messages[0].ID, "wamid."))
			b.Equal(res.Messages[0].MessageStatus == "accepted", name == "template")
		}
	}
	for _, option := range []waMessage.Option{
		waMessage.WithInteractiveReplyButtons(&waMessage.InteractiveReplyButtonsRequest{
			Body: "b", Buttons: []*waMessage.InteractiveReplyButton{{ID: "1", Title: "Yes"}, {ID: "2", Title: "No"}},
		}),
		waMessage.WithInteractiveFlow(&waMessage.InteractiveFlowRequest{Body: "b", FlowMessageVersion: "3", FlowID: "1", FlowCTA: "Go", FlowAction: "navigate"}),
	} {
		m, err := waMessage.New(recipient, option)
		b.NoErr(err)
		_, err = base.SendMessage(ctx, m)
		b.NoErr(err)
	}
}

func TestAForeignClientMarksMessagesReadAndUnderstandsRefusals(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	base, err := waMessage.NewBaseClient(whttp.NewSender[waMessage.Message](), b.reader())
	b.NoErr(err)
	cached, err := waMessage.NewClient(ctx, b.reader(), whttp.NewSender[waMessage.Message]())
	b.NoErr(err)
	inbound, err := b.s.Inbound(Inbound{From: recipient, Text: "hi"})
	b.NoErr(err)
	for _, c := range []waMessage.StatusUpdater{base, cached} {
		res, err := c.UpdateStatus(ctx, &waMessage.StatusUpdateRequest{MessageID: inbound, Status: waMessage.StatusRead, WithTypingIndicator: true})
		b.NoErr(err)
		b.True(res.Success)
	}
	_, err = base.SendText(ctx, waMessage.NewRequest("1999000131030", &waMessage.Text{Body: "x"}))
	refusal, ok := errors.AsType[*whttp.ResponseError](err)
	b.True(ok)
	b.Equal(refusal.Err.Code, 131030)
	b.True(refusal.Err.Data.Details != "")
}

func TestAForeignClientHandlesMedia(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	c := waMedia.NewBaseClient(b.reader(), whttp.NewAnySender())
	path := filepath.Join(t.TempDir(), "a.png")
	b.NoErr(os.WriteFile(path, png, 0o600))
	up, err := c.Upload(ctx, &waMedia.UploadRequest{MediaType: waMedia.TypeImagePNG, Filepath: path})
	b.NoErr(err)
	req := &waMedia.BaseRequest{MediaID: up.ID, RestrictToOwnMedia: true}
	info, err := c.GetInfo(ctx, req)
	b.NoErr(err)
	b.Equal(info.FileSize, int64(len(png)))
	var got bytes.Buffer
	b.NoErr(c.DownloadByMediaID(ctx, req, whttp.BodyReaderResponseDecoder(func(_ context.Context, r io.Reader) error {
		_, err := got.ReadFrom(r)
		return err
	})))
	b.Equal(got.Bytes(), png)
	gone, err := c.Delete(ctx, req)
	b.NoErr(err)
	b.True(gone.Success)
	_, err = c.GetInfo(ctx, req)
	b.True(err != nil)
	_, err = c.Upload(ctx, &waMedia.UploadRequest{MediaType: waMedia.TypeVideo3GPP, Filepath: path})
	b.NoErr(err) // which it labels video/3gp
}

func TestAForeignClientReadsNumbersAndProfiles(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	numbers, err := phonenumber.NewBaseClient(b.reader(), &phonenumber.BaseSender{Sender: whttp.NewAnySender()})
	b.NoErr(err)
	list, err := numbers.List(ctx)
	b.NoErr(err)
	b.Equal(list.Data[0].ID, b.number.PhoneNumberID)
	one, err := numbers.Get(ctx, &phonenumber.GetRequest{})
	b.NoErr(err)
	b.Equal(one.DisplayPhoneNumber, "+1 555-000-9999")
	one, err = numbers.Get(ctx, &phonenumber.GetRequest{Fields: []string{"id", "name_status"}}) // joined by semicolons
	b.NoErr(err)
	b.Equal(one.NameStatus, "APPROVED")
	b.Equal(one.VerifiedName, "")

	profiles := business.NewBaseClient(&business.BaseSender{Sender: whttp.NewAnySender()}, b.reader())
	ok, err := profiles.Update(ctx, &business.UpdateProfileRequest{MessagingProduct: "whatsapp", About: "We sell", Websites: []string{"https://x.y"}, Vertical: "RETAIL"})
	b.NoErr(err)
	b.True(ok)
	got, err := profiles.Get(ctx, []string{"about", "vertical", "websites"})
	b.NoErr(err)
	b.Equal(got[0].About, "We sell")
	got, err = profiles.Get(ctx, nil)
	b.NoErr(err)
	b.Equal(got[0].Websites, []string{"https://x.y"})
}

func TestAForeignClientUploadsHeaderFilesAndHandlesTokens(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	c := uploads.NewBaseClient(b.reader(), whttp.NewAnySender())
	session, err := c.InitUploadSession(ctx, &uploads.InitUploadSessionRequest{FileName: "a.png", FileLength: int64(len(png)), FileType: "image/png"})
	b.NoErr(err)
	status, err := c.GetUploadStatus(ctx, session.ID)
	b.NoErr(err)
	b.Equal(status.FileOffset, int64(0))
	chunk, err := c.UploadChunk(ctx, &uploads.UploadChunkRequest{UploadSessionID: session.ID, FileReader: bytes.NewReader(png)})
	b.NoErr(err)
	b.True(strings.HasPrefix(chunk.FileHandle, "4::"))

	creds := b.s.Credentials()
	tokens := auth.NewClient(b.url, "v24.0", whttp.NewAnySender())
	fresh, err := tokens.RefreshAccessToken(ctx, auth.RefreshAccessTokenParams{ClientID: creds.AppID, ClientSecret: creds.AppSecret, FbExchangeToken: testToken})
	b.NoErr(err)
	b.True(fresh.ExpiresIn > 0)
	b.Equal(b.do("GET", "/"+b.number.PhoneNumberID, nil, "Authorization", "Bearer "+fresh.AccessToken).status, 200)
	revoked, err := tokens.RevokeAccessToken(ctx, auth.RevokeAccessTokenParams{ClientID: creds.AppID, ClientSecret: creds.AppSecret, RevokeToken: fresh.AccessToken, AccessToken: testToken})
	b.NoErr(err)
	b.True(revoked.Success)
	b.Equal(b.do("GET", "/"+b.number.PhoneNumberID, nil, "Authorization", "Bearer "+fresh.AccessToken).status, 401)
}

func TestAForeignClientSetsCallbackOverrides(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	// This client forgets the token in these calls; its own hook adds it.
	sender := whttp.NewSender(whttp.WithCoreClientRequestInterceptor[waCallbacks.BaseRequest](func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+testToken)
		return nil
	}))
	conf := b.conf()
	conf.SecureRequests = false // its proof would be made over no token
	c := &waCallbacks.Client{BaseClient: &waCallbacks.BaseClient{BaseSender: sender}, Config: conf}
	other := newReceiver(t)
	for _, kind := range []waCallbacks.OverrideType{waCallbacks.OverrideTypeWABA, waCallbacks.OverrideTypePhoneNumber} {
		res, err := c.SetAlternativeCallback(ctx, &waCallbacks.SetAlternativeCallbackRequest{OverrideCallbackURI: other.url, VerifyToken: "x", OverrideType: kind})
		b.NoErr(err)
		b.True(res.Success)
		b.sentID(b.text("16505551234"))
		b.Equal(other.next().statusOf(t).text("status"), "sent")
		res, err = c.DeleteAlternativeCallback(ctx, waCallbacks.OverrideTypeWABA)
		b.NoErr(err)
		b.True(res.Success)
	}
	got, err := c.BaseClient.Send(ctx, conf, &waCallbacks.BaseRequest{RequestType: whttp.RequestTypeGetWABAAlternateCallbackURI})
	b.NoErr(err)
	b.Equal(got.Data[0].WhatsappBusinessAPIData.ID, b.s.Credentials().AppID)
	b.Equal(got.Data[0].OverrideCallbackURI, "")
}

func TestAForeignReceiverAcceptsTheCallbacks(t *testing.T) {
	b := newBench(t)
	seen := make(chan *webhooks.Notification, 10)
	handler := webhooks.NotificationHandlerFunc(func(_ context.Context, n *webhooks.Notification) *webhooks.Response {
		seen <- n
		return &webhooks.Response{StatusCode: http.StatusOK}
	})
	conf := webhooks.ConfigReaderFunc(func(*http.Request) (*webhooks.Config, error) {
		return &webhooks.Config{Token: "verify-me", Validate: true, AppSecret: b.s.Credentials().AppSecret}, nil
	})
	listener := webhooks.NewListener(handler, conf)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", listener.HandleSubscriptionVerification)
	mux.HandleFunc("POST /", listener.HandleNotification)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b.s.SetWebhook(server.URL)
	b.NoErr(b.s.VerifyWebhook(context.Background()))

	id := b.sentID(b.text("16505551234"))
	n := <-seen
	b.Equal(n.Object, "whatsapp_business_account")
	b.Equal(n.Entry[0].Changes[0].Value.Statuses[0].ID, id)
	_, err := b.s.Inbound(Inbound{From: "16505551234", Name: "Zoë", Text: "héllo / 😀"})
	b.NoErr(err)
	n = <-seen
	b.Equal(n.Entry[0].Changes[0].Value.Messages[0].Text.Body, "héllo / 😀")
	b.Equal(n.Entry[0].Changes[0].Value.Contacts[0].Profile.Name, "Zoë")
	_, err = b.s.AddTemplate(b.number.WABAID, bodyTemplate("hello", "utility"))
	b.NoErr(err)
	b.sim("POST", "/templates/hello/review", object{"status": "REJECTED", "reason": "SCAM"})
	n = <-seen
	b.Equal(*n.Entry[0].Changes[0].Value.Reason, "SCAM")
	b.True(n.Entry[0].Time > 0)
	b.True(n.Entry[0].Changes[0].Value.MessageTemplateID > 0) // a number
}
