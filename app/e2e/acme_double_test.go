package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// authority issues certificates by the protocol of RFC 8555, for one name and
// one account. It believes signatures, but it does prove that the name is the
// applicant's, as the real ones do: by a handshake on the protocol acme-tls/1.
type authority struct {
	t          *testing.T
	url        string
	address    func() string // where the name leads
	key        *ecdsa.PrivateKey
	root       *x509.Certificate
	orders     atomic.Int64
	domain     string
	thumbprint string
	proven     bool
	chain      []byte
}

const acmeToken = "token-of-the-test"

func newAuthority(t *testing.T, address func() string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{t: t, key: key, address: address}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err == nil {
		a.root, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /directory", func(w http.ResponseWriter, _ *http.Request) {
		a.answer(w, 200, map[string]string{"newNonce": a.url + "/nonce", "newAccount": a.url + "/account", "newOrder": a.url + "/order"})
	})
	mux.HandleFunc("/nonce", func(w http.ResponseWriter, _ *http.Request) { a.answer(w, 200, nil) })
	mux.HandleFunc("POST /account", a.account)
	mux.HandleFunc("POST /order", a.order)
	mux.HandleFunc("POST /orders/1", func(w http.ResponseWriter, _ *http.Request) { a.answer(w, 200, a.state()) })
	mux.HandleFunc("POST /authorization", func(w http.ResponseWriter, _ *http.Request) {
		a.answer(w, 200, map[string]any{"status": a.status("valid"), "identifier": map[string]string{"type": "dns", "value": a.domain}, "challenges": []any{a.challenge()}})
	})
	mux.HandleFunc("POST /challenge", a.prove)
	mux.HandleFunc("POST /finalize", a.finalize)
	mux.HandleFunc("POST /certificate", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Replay-Nonce", "nonce")
		w.Header().Set("Content-Type", "application/pem-certificate-chain")
		w.Write(a.chain)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

func (a *authority) answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Replay-Nonce", "nonce")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if v != nil {
		json.NewEncoder(w).Encode(v)
	}
}

// read opens a signed request.
func (a *authority) read(r *http.Request, protected, payload any) {
	var jws struct{ Protected, Payload string }
	if err := json.NewDecoder(r.Body).Decode(&jws); err != nil {
		a.t.Error(err)
	}
	for text, into := range map[string]any{jws.Protected: protected, jws.Payload: payload} {
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err == nil && into != nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			a.t.Error(err)
		}
	}
}

func (a *authority) account(w http.ResponseWriter, r *http.Request) {
	var head struct {
		JWK struct{ Crv, Kty, X, Y string }
	}
	a.read(r, &head, nil)
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":%q,"kty":%q,"x":%q,"y":%q}`, head.JWK.Crv, head.JWK.Kty, head.JWK.X, head.JWK.Y))
	a.thumbprint = base64.RawURLEncoding.EncodeToString(sum[:])
	w.Header().Set("Location", a.url+"/account/1")
	a.answer(w, 201, map[string]string{"status": "valid"})
}

func (a *authority) order(w http.ResponseWriter, r *http.Request) {
	var in struct{ Identifiers []struct{ Value string } }
	a.read(r, nil, &in)
	a.domain, a.proven, a.chain = in.Identifiers[0].Value, false, nil
	a.orders.Add(1)
	w.Header().Set("Location", a.url+"/orders/1")
	a.answer(w, 201, a.state())
}

// status is pending until the name was proven.
func (a *authority) status(proven string) string {
	if !a.proven {
		return "pending"
	}
	return proven
}

func (a *authority) state() map[string]any {
	out := map[string]any{"status": a.status("ready"), "identifiers": []any{map[string]string{"type": "dns", "value": a.domain}},
		"authorizations": []string{a.url + "/authorization"}, "finalize": a.url + "/finalize"}
	if a.chain != nil {
		out["status"], out["certificate"] = "valid", a.url+"/certificate"
	}
	return out
}

func (a *authority) challenge() map[string]string {
	return map[string]string{"type": "tls-alpn-01", "url": a.url + "/challenge", "token": acmeToken, "status": a.status("valid")}
}

// prove visits the name and wants to see the answer to the challenge in its certificate.
func (a *authority) prove(w http.ResponseWriter, _ *http.Request) {
	conn, err := tls.Dial("tcp", a.address(), &tls.Config{ServerName: a.domain, NextProtos: []string{"acme-tls/1"}, InsecureSkipVerify: true})
	if err != nil {
		a.t.Error(err)
	} else {
		defer conn.Close()
		state := conn.ConnectionState()
		sum := sha256.Sum256([]byte(acmeToken + "." + a.thumbprint))
		want, _ := asn1.Marshal(sum[:])
		for _, e := range state.PeerCertificates[0].Extensions {
			if e.Id.Equal(asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 31}) && bytes.Equal(e.Value, want) && state.NegotiatedProtocol == "acme-tls/1" {
				a.proven = true
			}
		}
	}
	a.answer(w, 200, a.challenge())
}

func (a *authority) finalize(w http.ResponseWriter, r *http.Request) {
	var in struct{ CSR string }
	a.read(r, nil, &in)
	raw, err := base64.RawURLEncoding.DecodeString(in.CSR)
	if err != nil {
		a.t.Error(err)
	}
	csr, err := x509.ParseCertificateRequest(raw)
	if err != nil || !a.proven {
		a.t.Errorf("finalize: %v", err)
		return
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: a.domain}, DNSNames: csr.DNSNames, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(90 * 24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.root, csr.PublicKey, a.key)
	if err != nil {
		a.t.Error(err)
	}
	a.chain = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	w.Header().Set("Location", a.url+"/orders/1")
	a.answer(w, 200, a.state())
}
