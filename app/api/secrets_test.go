package api

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// keys are the plaintext secrets that sign for a subscription.
func (f *fixture) keys(subscription string) (keys []string) {
	f.t.Helper()
	storagetest.View(f.t, f.db, func(rx *storage.Rx) (err error) { keys, err = rx.SigningKeys(subscription); return err })
	return keys
}

func TestSecretsAreMintedAndRevoked(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	made := f.call("POST", hooks, hook)
	id, first := made.text("data.id"), made.text("data.initial_secret")
	path := hooks + "/" + id + "/secrets"
	firstID := made.get("data.secrets").([]any)[0].(map[string]any)["id"].(string)
	got := f.call("DELETE", path+"/"+firstID, "")
	is.Equal(got.code(), "422 cannot_revoke_last_secret")
	is.Equal(got.get("error.type"), "invalid_request_error")

	minted := f.call("POST", path, "")
	is.Equal(minted.status, 201)
	golden(t, "webhook_secret", anySecret.ReplaceAllString(minted.body, "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD4zOZKyTFfrg="))
	is.Equal(f.keys(id), []string{first, minted.text("data.secret")})
	listed := f.call("GET", hooks+"/"+id, "").get("data.secrets").([]any)
	is.Equal(listed[1], map[string]any{"id": minted.get("data.id"), "created_at": minted.get("data.created_at"), "expires_at": nil})

	is.Equal(f.call("DELETE", path+"/"+firstID, "").get("data"), map[string]any{"id": firstID, "object": "webhook_secret", "deleted": true})
	is.Equal(f.keys(id), []string{minted.text("data.secret")})
	is.Equal(f.call("DELETE", path+"/"+firstID, "").code(), "404 resource_not_found")
	is.Equal(f.call("DELETE", path+"/sec_1", "").code(), "404 resource_not_found")
	is.Equal(f.call("DELETE", path+"/"+minted.text("data.id"), "").code(), "422 cannot_revoke_last_secret")

	other := f.call("POST", hooks, hook).text("data.id")
	f.call("POST", hooks+"/"+other+"/secrets", "")
	is.Equal(f.call("DELETE", hooks+"/"+other+"/secrets/"+minted.text("data.id"), "").code(), "404 resource_not_found") // of another subscription
	f.disable(other)
	last := f.call("GET", hooks+"/"+other, "").get("data.secrets").([]any)[1].(map[string]any)["id"].(string)
	is.Equal(f.call("DELETE", hooks+"/"+other+"/secrets/"+last, "").status, 200) // works while disabled
}

func TestAtMostTenSecretsLiveAndExpiredOnesDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t, withNames(t))
		made := f.call("POST", hooks, `{"url":"https://93.184.216.34/","events":["*"]}`)
		id := made.text("data.id")
		path := hooks + "/" + id + "/secrets"
		for range 9 {
			is.Equal(f.call("POST", path, `{"expires_in_hours":1}`).status, 201)
		}
		is.Equal(f.call("POST", path, "{}").code(), "400 invalid_field_value secrets")
		time.Sleep(time.Hour)
		is.Equal(f.keys(id), []string{made.text("data.initial_secret")})
		first := made.get("data.secrets").([]any)[0].(map[string]any)["id"].(string)
		is.Equal(f.call("DELETE", path+"/"+first, "").code(), "422 cannot_revoke_last_secret") // the only live one
		secrets := f.call("GET", hooks+"/"+id, "").get("data.secrets").([]any)
		is.Equal(len(secrets), 10)
		is.Equal(f.call("DELETE", path+"/"+secrets[9].(map[string]any)["id"].(string), "").status, 200) // an expired one may go
		is.Equal(f.call("POST", path, `{"expires_in_hours":8760}`).text("data.expires_at"), storage.Now().Add(8760*time.Hour).String())
	})
}

func TestTheLifeOfASecretIsInWholeHours(t *testing.T) {
	f := serveHooks(t)
	path := hooks + "/" + f.call("POST", hooks, hook).text("data.id") + "/secrets"
	for body, want := range map[string]string{
		`{"expires_in_hours":1}`: "201", `{"expires_in_hours":8760}`: "201", `{"expires_in_hours":null}`: "201", `{}`: "201",
		`{"expires_in_hours":0}`: "400 invalid_field_value expires_in_hours", `{"expires_in_hours":8761}`: "400 invalid_field_value expires_in_hours",
		`{"expires_in_hours":-1}`: "400 invalid_field_value expires_in_hours", `{"expires_in_hours":1.5}`: "400 invalid_field_value expires_in_hours",
		`{"expires_in_hours":"24"}`: "400 invalid_field_value expires_in_hours", `{`: "400 invalid_json",
	} {
		is.New(t).Equal(f.call("POST", path, body).code(), want)
	}
}

// A subscription whose secrets all expire would one day have none to sign with.
func TestTheLastSecretThatDoesNotExpireStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t, withNames(t))
		made := f.call("POST", hooks, `{"url":"https://93.184.216.34/","events":["*"]}`)
		id := made.text("data.id")
		path := hooks + "/" + id + "/secrets"
		lasting := made.get("data.secrets").([]any)[0].(map[string]any)["id"].(string)
		brief := f.call("POST", path, `{"expires_in_hours":1}`).text("data.id")

		refused := f.call("DELETE", path+"/"+lasting, "")
		is.Equal(refused.code(), "422 cannot_revoke_last_secret")
		is.Equal(refused.get("error.type"), "invalid_request_error")
		is.Equal(len(f.keys(id)), 2) // nothing changed
		time.Sleep(2 * time.Hour)
		is.Equal(f.keys(id), []string{made.text("data.initial_secret")}) // it still signs
		is.Equal(f.call("DELETE", path+"/"+brief, "").status, 200)

		second := f.call("POST", path, `{}`)
		is.Equal(f.call("DELETE", path+"/"+lasting, "").status, 200) // another one lasts
		is.Equal(f.call("DELETE", path+"/"+second.text("data.id"), "").code(), "422 cannot_revoke_last_secret")
	})
}

// Databases of older releases have subscriptions whose secrets all expire.
func TestOfSecretsThatAllExpireTheLastLiveOneStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t, withNames(t))
		made := f.call("POST", hooks, `{"url":"https://93.184.216.34/","events":["*"]}`)
		path := hooks + "/" + made.text("data.id") + "/secrets"
		first := made.get("data.secrets").([]any)[0].(map[string]any)["id"].(string)
		f.exec(`UPDATE signing_secrets SET expires_at = ?`, storage.Now().Add(time.Hour))
		second := f.call("POST", path, `{"expires_in_hours":2}`).text("data.id")
		is.Equal(f.call("DELETE", path+"/"+first, "").status, 200) // the second is live
		is.Equal(f.call("DELETE", path+"/"+second, "").code(), "422 cannot_revoke_last_secret")
		time.Sleep(3 * time.Hour)
		is.Equal(f.call("DELETE", path+"/"+second, "").status, 200) // expired: it signs nothing
	})
}
