// Package config holds the settings: their names, their defaults, and how a TOML
// file, CONFAB_ variables and flags change them. Each of these is a layer; a later
// layer replaces what an earlier one has set.
//
// Load decodes and checks the values of every layer by themselves, so that each error can name the
// file, variable or flag that is wrong, and collects all errors before it fails. Only then are the
// values applied to the defaults, and the rules between settings checked (see Config.problems).
//
// A setting is known by its dotted key, such as server.listen. The settings of
// plans, which users name, have a pattern in place of the name: plans.*.burst.
//
// The structs below are the whole list. Keys, variable names and types are read from them, so a new
// setting is a field, a default, a line in config.example.toml, and a rule in checks unless every
// value of its type will do; tests fail while one of the first three is missing.
package config

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"time"

	"confab/storage/objects"
)

// Config is every setting of a server. It may be printed and logged: a Secret hides its value.
type Config struct {
	DataDir  string          `koanf:"data_dir"`
	Server   Server          `koanf:"server"`
	Storage  Storage         `koanf:"storage"`
	Media    Media           `koanf:"media"`
	Replica  Replica         `koanf:"replica"`
	Provider Provider        `koanf:"provider"`
	Webhooks Webhooks        `koanf:"webhooks"`
	Security Security        `koanf:"security"`
	Jobs     Jobs            `koanf:"jobs"`
	Log      Log             `koanf:"log"`
	Console  Console         `koanf:"console"`
	OIDC     OIDC            `koanf:"oidc"`
	MCP      MCP             `koanf:"mcp"`
	Gateway  Gateway         `koanf:"gateway"`
	Plans    map[string]Plan `koanf:"plans"`

	// UnknownVariables are CONFAB_ variables that set nothing. They do not stop a
	// start, because another release may know them; doctor shows them.
	// Each is a sentence without the value: the name may be a misspelt one of a secret.
	UnknownVariables []string `koanf:"-"`
}

// Server is where the server listens, and how clients reach it.
type Server struct {
	Listen         string         `koanf:"listen"`
	PublicURL      string         `koanf:"public_url"` // as written; Config.PublicURL resolves it
	CORSOrigins    []string       `koanf:"cors_origins"`
	TLSCert        string         `koanf:"tls_cert"`
	TLSKey         string         `koanf:"tls_key"`
	TLSDomains     []string       `koanf:"tls_domains"`
	MetricsListen  string         `koanf:"metrics_listen"` // empty: /metrics answers loopback clients only
	TrustedProxies []netip.Prefix `koanf:"trusted_proxies"`
	MaxStreams     int            `koanf:"max_streams"` // of events, open at once
}

// Storage is how the database is opened.
type Storage struct {
	Synchronous string `koanf:"synchronous"` // full or normal
	Readers     int    `koanf:"readers"`     // connections for lists; 0: one for each core
}

// Media is where media files are kept.
type Media struct {
	Store           string `koanf:"store"` // URL of object storage; empty: files in the data directory
	AccessKeyID     string `koanf:"access_key_id"`
	SecretAccessKey Secret `koanf:"secret_access_key"`
	CacheBytes      Bytes  `koanf:"cache_bytes"` // of copies in the data directory
}

// Open makes the object storage of media; nil where there is none. It does not connect.
func (m Media) Open() (objects.Store, error) {
	if m.Store == "" {
		return nil, nil
	}
	store, err := objects.Open(m.Store, objects.Credentials{AccessKeyID: m.AccessKeyID, SecretAccessKey: m.SecretAccessKey.Reveal()})
	if err != nil {
		return nil, fmt.Errorf("media.store: %w", err)
	}
	return store, nil
}

// Replica is where a copy of the database is kept up to date.
type Replica struct {
	URL             string        `koanf:"url"` // empty: nowhere
	Interval        time.Duration `koanf:"interval"`
	SnapshotEvery   time.Duration `koanf:"snapshot_every"`
	Keep            time.Duration `koanf:"keep"`
	MaxBacklog      Bytes         `koanf:"max_backlog"`
	AccessKeyID     string        `koanf:"access_key_id"` // or the path of its file
	SecretAccessKey Secret        `koanf:"secret_access_key"`
}

// Provider is the messaging network that carries the messages.
type Provider struct {
	BaseURL           string          `koanf:"base_url"`
	Version           string          `koanf:"version"`
	AppID             string          `koanf:"app_id"`
	AppSecret         Secret          `koanf:"app_secret"`
	VerifyToken       Secret          `koanf:"verify_token"`
	SignupConfigID    string          `koanf:"signup_config_id"`
	SignupCoexistence bool            `koanf:"signup_coexistence"` // numbers of the phone app stay on it
	Timeout           time.Duration   `koanf:"timeout"`
	MessagesPerSecond float64         `koanf:"messages_per_second"` // per business number; 0: no limit
	PairLimit         bool            `koanf:"pair_limit"`
	RetrySchedule     []time.Duration `koanf:"retry_schedule"`
	ReconcileWindow   time.Duration   `koanf:"reconcile_window"`
}

// Webhooks is how events are delivered to subscribers.
type Webhooks struct {
	RetrySchedule        []time.Duration `koanf:"retry_schedule"`
	Timeout              time.Duration   `koanf:"timeout"`
	DisableAfterFailures int             `koanf:"disable_after_failures"`
	DisableMinAge        time.Duration   `koanf:"disable_min_age"`
	PerSubscription      int             `koanf:"per_subscription"`
	RetentionDays        int             `koanf:"retention_days"`
}

// Security is which URLs given by API clients the server may call.
type Security struct {
	AllowInsecureURLs bool           `koanf:"allow_insecure_urls"`
	AllowCIDRs        []netip.Prefix `koanf:"allow_cidrs"`
}

// Jobs is how work is done from the queue.
type Jobs struct {
	Workers      int           `koanf:"workers"`
	PollInterval time.Duration `koanf:"poll_interval"`
}

// Log says which lines are logged, in which format, and how long API calls are kept.
type Log struct {
	Level      string `koanf:"level"`  // debug, info, warn or error
	Format     string `koanf:"format"` // text, json, or empty: text on a terminal, json elsewhere
	APILogDays int    `koanf:"api_log_days"`
	Bodies     string `koanf:"bodies"` // of which API calls bodies are kept: off, errors or all
}

// Console is the web console, where people sign in.
type Console struct {
	Enabled      bool `koanf:"enabled"`
	AuditDays    int  `koanf:"audit_days"`
	ReadReceipts bool `koanf:"read_receipts"`
	PushContent  bool `koanf:"push_content"` // notifications on devices show names and texts
	MaxStreams   int  `koanf:"max_streams"`  // consoles that are open at once
	// SecondFactor is who must have one: optional (nobody), admins or everyone.
	SecondFactor string `koanf:"second_factor"`
}

// OIDC is the identity provider through which people sign in to the console, by OpenID
// Connect. Without an issuer there is none.
type OIDC struct {
	Issuer       string   `koanf:"issuer"`
	ClientID     string   `koanf:"client_id"`
	ClientSecret Secret   `koanf:"client_secret"`
	Name         string   `koanf:"name"` // what people call it
	Scopes       []string `koanf:"scopes"`
	TrustEmail   bool     `koanf:"trust_email"`  // addresses are verified unless it says otherwise
	Create       string   `koanf:"create"`       // whom it does not know here: off or agent
	Domains      []string `koanf:"domains"`      // of the addresses of those who are created
	Organization string   `koanf:"organization"` // that they belong to; optional where there is one
	AdminClaim   string   `koanf:"admin_claim"`  // of the token, that decides who is an admin
	AdminValue   string   `koanf:"admin_value"`
	Only         bool     `koanf:"only"` // no passwords and passkeys
}

// MCP is the endpoint for agents, /mcp.
type MCP struct {
	Enabled     bool `koanf:"enabled"`
	AllowWrites bool `koanf:"allow_writes"` // agents may also change things
}

// Gateway is where the provider's own clients call, /graph.
type Gateway struct {
	Enabled bool          `koanf:"enabled"`
	Wait    time.Duration `koanf:"wait"` // for the provider's answer to a message
}

// Default returns the settings of a server without file, variables and flags. The
// caller owns the result: no two share a list or a map.
func Default() Config {
	return Config{
		DataDir: "./confab-data",
		Server:  Server{Listen: "127.0.0.1:8080", MaxStreams: 200},
		Storage: Storage{Synchronous: "full"},
		Media:   Media{CacheBytes: 1 << 30},
		Replica: Replica{
			Interval:      250 * time.Millisecond,
			SnapshotEvery: 24 * time.Hour,
			Keep:          7 * 24 * time.Hour,
			MaxBacklog:    2 << 30,
		},

		Provider: Provider{
			BaseURL:           "https://graph.facebook.com",
			Version:           "v26.0",
			Timeout:           10 * time.Second,
			MessagesPerSecond: 80,
			PairLimit:         true,
			RetrySchedule:     []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute},
			ReconcileWindow:   30 * time.Second,
		},

		Webhooks: Webhooks{
			RetrySchedule: []time.Duration{
				10 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
				time.Hour, 6 * time.Hour, 24 * time.Hour,
			},
			Timeout:              10 * time.Second,
			DisableAfterFailures: 20,
			DisableMinAge:        time.Hour,
			PerSubscription:      16,
			RetentionDays:        30,
		},

		Jobs:    Jobs{Workers: 256, PollInterval: time.Second},
		Log:     Log{Level: "info", APILogDays: 30, Bodies: "off"},
		Console: Console{Enabled: true, AuditDays: 365, ReadReceipts: true, PushContent: true, MaxStreams: 500, SecondFactor: "optional"},
		OIDC:    OIDC{Name: "single sign-on", Scopes: []string{"openid", "email", "profile"}, Create: "off"},
		Gateway: Gateway{Wait: 20 * time.Second},
		Plans: map[string]Plan{
			SelfHosted: {API: true, Customers: true, RatePerSecond: 1000, Burst: 2000, WebhookSubscriptions: 100},
		},
	}
}

// PublicURL is the URL by which clients reach this server, without a final slash:
// server.public_url, or the listen address where that is unset. It never comes
// from a request, which could name any host.
//
// A server that listens on a free port (port 0) must put the port it got into Server.Listen first.
func (c Config) PublicURL() string {
	if c.Server.PublicURL != "" {
		return strings.TrimRight(c.Server.PublicURL, "/")
	}

	host, port, err := net.SplitHostPort(c.Server.Listen)
	if err != nil {
		return "http://" + c.Server.Listen
	}

	// A wildcard address can be listened on, but not connected to.
	if isWildcard(host) {
		host = "localhost"
	}

	if !c.Server.TLS() {
		return "http://" + net.JoinHostPort(host, port)
	}

	host = cmp.Or(c.Server.CertificateName(), host)
	return strings.TrimSuffix("https://"+net.JoinHostPort(host, port), ":443")
}

func isWildcard(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
}

// TLS reports whether the server speaks https itself.
func (s Server) TLS() bool {
	return s.TLSCert != "" || len(s.TLSDomains) > 0
}

// CertificateName is the name that a fetched certificate is for: the server has none for its
// address. It is "" where none is fetched.
func (s Server) CertificateName() string {
	if len(s.TLSDomains) == 0 {
		return ""
	}
	return s.TLSDomains[0]
}

// LocalURL is where a server with these settings is reached from this machine.
func (s Server) LocalURL() (*url.URL, error) {
	host, port, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return nil, fmt.Errorf("server.listen: %w", err)
	}

	if port == "0" {
		return nil, fmt.Errorf("server.listen is %s, which does not set a port", s.Listen)
	}

	// A server on all addresses, [::] included, is reached by IPv4: most containers have no ::1.
	if isWildcard(host) {
		host = "127.0.0.1"
	}

	u := &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
	if s.TLS() {
		u.Scheme = "https"
	}
	return u, nil
}

// FirstAdminAdvice says how to invite the first admin to a server that no one can sign in
// to, in commands that can be copied. The organizations are given by their ids: where
// there is none yet, one has to be made first.
func (c Config) FirstAdminAdvice(organizations []string) string {
	where := ""
	if c.DataDir != Default().DataDir {
		where = " --data-dir " + c.DataDir
	}

	organization, first := "ORG", ""
	switch len(organizations) {
	case 0:
		first = "create an organization with 'confab orgs create NAME" + where + "', which prints its id, then "
	case 1:
		organization = organizations[0]
	}
	return first + "invite the first admin with 'confab users invite --org " + organization +
		" --name NAME --email ADDRESS --role admin" + where + "', which prints a link to open"
}

// AddsPeople reports whether people are added who come through the identity provider.
func (c Config) AddsPeople() bool {
	return c.Console.Enabled && c.OIDC.Issuer != "" && c.OIDC.Create != "off"
}

// SelfHosted is the plan that a new organization and the sandbox have.
const SelfHosted = "self_hosted"

// planName matches names that can be part of a variable's name.
var planName = regexp.MustCompile(`^[a-z0-9_]{1,50}$`)

// Plan is what an organization may do.
type Plan struct {
	API             bool    `koanf:"api"`
	Customers       bool    `koanf:"customers"`
	MonthlyMessages int     `koanf:"monthly_messages"` // 0: no quota
	RetentionDays   int     `koanf:"retention_days"`   // 0: keep for ever
	RatePerSecond   float64 `koanf:"rate_per_second"`  // 0: no limit
	Burst           int     `koanf:"burst"`

	WebhookSubscriptions int `koanf:"webhook_subscriptions"` // 0: no limit
}

// buildPlans makes the plans when all layers are read, because every new plan begins as a copy of
// self_hosted: a plan of the file inherits what a variable has changed in self_hosted.
func (l *loader) buildPlans(defaults map[string]Plan) map[string]Plan {
	base := defaults[SelfHosted]
	l.applyValues(reflect.ValueOf(&base).Elem(), "plans."+SelfHosted+".")

	plans := map[string]Plan{SelfHosted: base}
	for name := range l.plans {
		plan := base
		l.applyValues(reflect.ValueOf(&plan).Elem(), "plans."+name+".")
		plans[name] = plan
	}
	return plans
}
