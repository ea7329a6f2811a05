package api

import (
	"encoding/base64"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
)

func TestOnlyAWholeKeyInTheBearerHeaderIsTaken(t *testing.T) {
	f := serve(t)
	secret := f.tenant.Secret
	unknown := secret[:len(secret)-4] + "----"
	tests := []struct {
		name   string
		path   string
		header []string
		want   string
	}{
		{"nothing", "/me", nil, "401 missing_api_key"},
		{"an empty header", "/me", []string{"Authorization: "}, "401 missing_api_key"},
		{"a query parameter", "/me?api_key=" + secret + "&key=" + secret, nil, "401 missing_api_key"},
		{"a cookie", "/me", []string{"Cookie: api_key=" + secret}, "401 missing_api_key"},
		{"another header", "/me", []string{"X-Api-Key: " + secret}, "401 missing_api_key"},
		{"basic as password", "/me", []string{"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("key:"+secret))}, "401 invalid_api_key"},
		{"basic with the key itself", "/me", []string{"Authorization: Basic " + secret}, "401 invalid_api_key"},
		{"the key without a scheme", "/me", []string{"Authorization: " + secret}, "401 invalid_api_key"},
		{"the scheme alone", "/me", []string{"Authorization: Bearer"}, "401 invalid_api_key"},
		{"another prefix", "/me", []string{"Authorization: Bearer " + storagetest.Swap(t, secret, "svc_live_", "svc_test_")}, "401 invalid_api_key"},
		{"a character less", "/me", []string{"Authorization: Bearer " + secret[:len(secret)-1]}, "401 invalid_api_key"},
		{"a character more", "/me", []string{"Authorization: Bearer " + secret + "A"}, "401 invalid_api_key"},
		{"two spaces", "/me", []string{"Authorization: Bearer  " + secret}, "401 invalid_api_key"},
		{"two keys", "/me", []string{"Authorization: Bearer " + secret + ", Bearer " + secret}, "401 invalid_api_key"},
		{"in capitals", "/me", []string{"Authorization: Bearer " + strings.ToUpper(secret)}, "401 invalid_api_key"},
		{"an unknown key", "/me", []string{"Authorization: Bearer " + unknown}, "401 invalid_api_key"},
		{"the scheme in lower case", "/me", []string{"Authorization: bearer " + secret}, "200"},
		{"the scheme in capitals", "/me", []string{"Authorization: BEARER " + secret}, "200"},
		{"as it should be", "/me", []string{"Authorization: Bearer " + secret}, "200"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			got := f.callAs("", "GET", tt.path, "", tt.header...)
			is.Equal(got.code(), tt.want)
			if got.status == 401 {
				is.Equal(got.get("error.type"), "authentication_error")
				is.Equal(got.header.Get("WWW-Authenticate"), "Bearer")
				is.Equal(got.header.Get("X-RateLimit-Limit"), "") // a stranger learns of no bucket
			}
		})
	}
}

func TestARevokedKeyFailsOnItsNextRequest(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	is.Equal(f.call("GET", "/me", "").status, 200) // and is cached now
	storagetest.Update(t, f.db, func(tx *storage.Tx) error { _, err := tx.RevokeKey(0, f.tenant.Key.ID); return err })
	got := f.call("GET", "/me", "")
	is.Equal(got.code(), "401 revoked_api_key")
	is.Equal(got.header.Get("WWW-Authenticate"), "Bearer")
}

func TestAKeyExpiresAtItsInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t)
		var secret string
		storagetest.Update(t, f.db, func(tx *storage.Tx) (err error) {
			secret, err = tx.InsertKey(&storage.Key{OrganizationID: f.tenant.Organization.ID, ExpiresAt: tx.Now.Add(time.Hour)})
			return err
		})
		is.True(f.callAs(secret, "GET", "/me", "").text("data.api_key.expires_at") != "")
		time.Sleep(time.Hour - time.Millisecond)
		is.Equal(f.callAs(secret, "GET", "/me", "").code(), "200")
		time.Sleep(time.Millisecond)
		is.Equal(f.callAs(secret, "GET", "/me", "").code(), "401 expired_api_key") // without a word to the cache
		is.Equal(f.call("GET", "/me", "").code(), "200")                           // the other key has no end
	})
}

// TestTheBodyOfAStrangerIsNotReadByTheAPI sends bodies that must be refused before
// anybody looks at them: a stranger must not make the server hold them.
func TestTheBodyOfAStrangerIsNotReadByTheAPI(t *testing.T) {
	f := serveDirectly(t)
	unknown := storage.KeyPrefix + strings.Repeat("x", storage.KeyLength-len(storage.KeyPrefix))
	for _, rt := range f.api.Routes() {
		path := strings.NewReplacer(":phone_number_id", "123", ":", "").Replace("/v1" + rt.Path)
		for name, key := range map[string]string{"no key": "", "no such key": "Bearer " + unknown, "something else": "Basic " + strings.Repeat("x", 10_000)} {
			body := strings.NewReader(strings.Repeat("{", 100_000))
			r := httptest.NewRequest(rt.Method, path, body)
			r.Header.Set("Authorization", key)
			r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
			rec := httptest.NewRecorder()
			f.api.ServeHTTP(rec, r)
			if read := 100_000 - body.Len(); read > 0 || !rt.Has(rest.Public) && rec.Code != 401 {
				t.Errorf("%s %s with %s: %d, and %d bytes were read", rt.Method, rt.Path, name, rec.Code, read)
			}
		}
	}
}
