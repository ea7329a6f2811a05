package simulator

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/piusalfred/whatsapp/auth"
	"github.com/piusalfred/whatsapp/business"
	"github.com/piusalfred/whatsapp/config"
	whttp "github.com/piusalfred/whatsapp/pkg/http"
	"github.com/piusalfred/whatsapp/uploads"
	"github.com/piusalfred/whatsapp/webhooks"
	waCallbacks "github.com/piusalfred/whatsapp/webhooks/callbacks"
)

// The calls that the gateway offers too are tested in app/e2e.

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

func TestAForeignClientReadsProfiles(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
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
	_, err := b.s.Inbound(map[string]any{"from": "16505551234", "name": "Zoë", "text": "héllo / 😀"})
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
