package factor

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// ErrPasskey means that a passkey did not prove what it should.
var ErrPasskey = errors.New("the passkey was refused")

// Passkeys makes and checks passkeys (WebAuthn): a key that a device keeps, and uses only for
// one host, after its owner has unlocked it. Users are named to the device by their ids alone.
type Passkeys struct {
	Host     string
	webauthn *webauthn.WebAuthn
}

// NewPasskeys makes Passkeys for the host of a URL; nil if browsers offer none there: they do
// on https, for a domain, and on localhost.
func NewPasskeys(publicURL string) *Passkeys {
	u, err := url.Parse(strings.ToLower(publicURL)) // as browsers write hosts
	if err != nil {
		return nil
	}
	host := u.Hostname()
	isDomain := u.Scheme == "https" && net.ParseIP(host) == nil
	if !isDomain && host != "localhost" {
		return nil
	}

	verified := protocol.AuthenticatorSelection{
		ResidentKey:        protocol.ResidentKeyRequirementRequired,
		RequireResidentKey: protocol.ResidentKeyRequired(),
		UserVerification:   protocol.VerificationRequired,
	}
	w, err := webauthn.New(&webauthn.Config{
		RPID:                   host,
		RPDisplayName:          "confab",
		RPOrigins:              []string{originOf(u)},
		AuthenticatorSelection: verified,
		AttestationPreference:  protocol.PreferNoAttestation,
	})
	if err != nil {
		return nil
	}
	return &Passkeys{Host: host, webauthn: w}
}

// originOf is the origin of a URL as browsers write it: without the port that the scheme has anyway.
func originOf(u *url.URL) string {
	usual := map[string]string{"https": ":443", "http": ":80"}[u.Scheme]
	return u.Scheme + "://" + strings.TrimSuffix(u.Host, usual)
}

// Owner is whose passkeys they are, with the credentials that it has.
type Owner struct {
	ID          string
	Name        string // as the device shows it: the address
	DisplayName string
	credentials []webauthn.Credential
}

// Add adds a credential that CreatePasskey returned.
func (o *Owner) Add(credential []byte) error {
	var c webauthn.Credential
	if err := json.Unmarshal(credential, &c); err != nil {
		return fmt.Errorf("read a passkey: %w", err)
	}
	o.credentials = append(o.credentials, c)
	return nil
}

// These are what the library asks of a user.

func (o Owner) WebAuthnID() []byte                         { return []byte(o.ID) }
func (o Owner) WebAuthnName() string                       { return o.Name }
func (o Owner) WebAuthnDisplayName() string                { return o.DisplayName }
func (o Owner) WebAuthnCredentials() []webauthn.Credential { return o.credentials }

// Ceremony is one exchange with a browser: the options go there, and the challenge must come
// back to CreatePasskey or CheckPasskey, unread.
type Ceremony struct {
	Options   any // for navigator.credentials
	Challenge webauthn.SessionData
}

// StartCreation begins to make a passkey. Devices that have one of the owner are left out.
func (p *Passkeys) StartCreation(o Owner) (Ceremony, error) {
	exclude := webauthn.Credentials(o.credentials).CredentialDescriptors()
	options, session, err := p.webauthn.BeginRegistration(o, webauthn.WithExclusions(exclude))
	if err != nil {
		return Ceremony{}, fmt.Errorf("start a passkey: %w", err)
	}
	return Ceremony{options.Response, *session}, nil
}

// CreatePasskey checks what a browser answered, and returns the id and the credential to store.
func (p *Passkeys) CreatePasskey(o Owner, challenge webauthn.SessionData, answer []byte) (id, credential []byte, err error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return nil, nil, refused(err)
	}
	c, err := p.webauthn.CreateCredential(o, challenge, parsed)
	if err != nil {
		return nil, nil, refused(err)
	}

	// What proves the make of the device is not asked for, and not kept.
	c.Attestation = webauthn.CredentialAttestation{}
	credential, err = json.Marshal(c)
	return c.ID, credential, err
}

// StartCheck begins to check a passkey of whoever has one.
func (p *Passkeys) StartCheck() (Ceremony, error) {
	options, session, err := p.webauthn.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return Ceremony{}, fmt.Errorf("start to check a passkey: %w", err)
	}
	return Ceremony{options.Response, *session}, nil
}

// CheckPasskey checks what a browser answered. find finds the owner with an id; its error is
// returned. The credential is to be stored again, in place of that with the id.
func (p *Passkeys) CheckPasskey(
	challenge webauthn.SessionData, answer []byte, find func(owner string) (Owner, error),
) (id, credential []byte, err error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return nil, nil, refused(err)
	}

	var failed error
	c, err := p.webauthn.ValidateDiscoverableLogin(func(_, handle []byte) (webauthn.User, error) {
		o, err := find(string(handle))
		failed = err
		return o, err
	}, challenge, parsed)

	switch {
	case failed != nil:
		return nil, nil, failed
	case err != nil:
		return nil, nil, refused(err)
	case c.Authenticator.CloneWarning:
		return nil, nil, fmt.Errorf("%w: it was used less often than before: somebody may have copied it", ErrPasskey)
	}
	credential, err = json.Marshal(c)
	return c.ID, credential, err
}

func refused(err error) error { return fmt.Errorf("%w: %w", ErrPasskey, err) }
