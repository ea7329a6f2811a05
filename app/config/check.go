package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"confab/storage/objects"
)

// maxDays keeps every number of days within what a time.Duration can hold.
const maxDays = 36500

var (
	// hostName has a letter in its last part: 127.0.0.300 is no name.
	hostName       = regexp.MustCompile(`^([A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]*[A-Za-z][A-Za-z0-9_-]*$`)
	domainName     = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])$`)
	organizationID = regexp.MustCompile(`^org_[0-9A-Z]{26}$`)
	apiVersion     = regexp.MustCompile(`^v[0-9]+\.[0-9]+$`)
)

var (
	errAddress  = errors.New("must be host:port, such as 127.0.0.1:8080")
	errURL      = errors.New("must be an http or https URL without user, query or fragment")
	errOrigin   = errors.New("must be * or an origin in lower case without a path, such as https://app.example.com")
	errPlanName = errors.New("a plan's name must have 1 to 50 characters of a-z, 0-9 and _")
)

type check func(value any) error

// checks has the rules about the value of one setting, by its pattern. A setting without
// one takes every value of its type. The rules between several settings are in problems.
func checks() map[string]check {
	return map[string]check{
		"data_dir": checkOf(notEmpty),

		"server.listen":       checkOf(address),
		"server.public_url":   optional(webURL),
		"server.cors_origins": everyItem(corsOrigin),
		"server.tls_domains": everyItem(matching(domainName,
			"must be a domain name in lower case, such as chat.example.com, not a wildcard or an address")),
		"server.metrics_listen": optional(address),
		"server.max_streams":    between(0, 10_000),

		"storage.synchronous": oneOf("full", "normal"),
		"storage.readers":     between(0, 1000),

		"media.store":            optional(objects.CheckURL),
		"media.cache_bytes":      atLeast(Bytes(0)),
		"replica.url":            optional(objects.CheckURL),
		"replica.interval":       atLeast(50 * time.Millisecond),
		"replica.snapshot_every": atLeast(time.Minute),
		"replica.keep":           atLeast(time.Minute),
		"replica.max_backlog":    atLeast(Bytes(1 << 20)),

		"provider.base_url":            checkOf(webURL),
		"provider.version":             checkOf(matching(apiVersion, "must be a version such as v26.0")),
		"provider.timeout":             checkOf(positive),
		"provider.messages_per_second": atLeast(0.0),
		"provider.retry_schedule":      everyItem(positive),
		"provider.reconcile_window":    atLeast(time.Duration(0)),

		"webhooks.retry_schedule":         everyItem(positive),
		"webhooks.timeout":                checkOf(positive),
		"webhooks.disable_after_failures": atLeast(1),
		"webhooks.disable_min_age":        atLeast(time.Duration(0)),
		"webhooks.per_subscription":       atLeast(1),
		"webhooks.retention_days":         between(1, maxDays),

		"jobs.workers":       between(1, 100_000),
		"jobs.poll_interval": checkOf(positive),

		"log.level":        oneOf("debug", "info", "warn", "error"),
		"log.format":       oneOf("", "text", "json"),
		"log.api_log_days": between(1, maxDays),
		"log.bodies":       oneOf("off", "errors", "all"),

		"console.audit_days":  between(1, maxDays),
		"console.max_streams": between(0, 10_000),

		"console.second_factor": oneOf("optional", "admins", "everyone"),

		"oidc.issuer":       optional(webURL),
		"oidc.name":         checkOf(notEmpty),
		"oidc.create":       oneOf("off", "agent"),
		"oidc.domains":      everyItem(matching(domainName, "must be a domain name in lower case, such as example.com")),
		"oidc.organization": optional(matching(organizationID, "must be the id of an organization, org_…")),

		"gateway.wait": checkOf(patience),

		"plans.*.monthly_messages": atLeast(0),
		"plans.*.retention_days":   between(0, maxDays),
		"plans.*.rate_per_second":  atLeast(0.0),
		"plans.*.burst":            atLeast(0),

		"plans.*.webhook_subscriptions": atLeast(0),
	}
}

// problems checks the rules between settings, and returns an Error for each that is broken,
// sorted by key. Each value was checked when its layer was read.
func (c Config) problems() []*Error {
	var found []*Error
	fail := func(key string, value any, problem string) {
		found = append(found, &Error{Key: key, Value: formatValue(value), Problem: problem})
	}

	c.Server.checkTogether(fail)
	c.Replica.checkTogether(fail)
	c.OIDC.checkTogether(fail)
	if c.OIDC.Only && c.Console.SecondFactor != "optional" {
		fail("console.second_factor", c.Console.SecondFactor,
			"must be optional with oidc.only: the identity provider asks for second factors then")
	}
	for name, plan := range c.Plans {
		if plan.RatePerSecond > 0 && plan.Burst < 1 {
			fail("plans."+name+".burst", plan.Burst, "must be at least 1 unless rate_per_second is 0")
		}
	}

	slices.SortStableFunc(found, func(a, b *Error) int { return strings.Compare(a.Key, b.Key) })
	return found
}

func (s Server) checkTogether(fail func(key string, value any, problem string)) {
	switch {
	case s.TLSCert != "" && s.TLSKey == "":
		fail("server.tls_cert", s.TLSCert, "needs server.tls_key too")
	case s.TLSKey != "" && s.TLSCert == "":
		fail("server.tls_key", s.TLSKey, "needs server.tls_cert too")
	case s.TLSCert != "" && len(s.TLSDomains) > 0:
		fail("server.tls_domains", s.TLSDomains,
			"must be empty when server.tls_cert is set: use either your own certificate or a fetched one")
	}

	if s.MetricsListen != "" && s.MetricsListen == s.Listen && !strings.HasSuffix(s.Listen, ":0") {
		fail("server.metrics_listen", s.MetricsListen, "must differ from server.listen")
	}
}

func (o OIDC) checkTogether(fail func(key string, value any, problem string)) {
	switch {
	case o.Issuer != "" && o.ClientID == "":
		fail("oidc.issuer", o.Issuer, "needs oidc.client_id too")
	case o.Issuer == "" && o.Only:
		fail("oidc.only", o.Only, "needs oidc.issuer too")
	case o.Create == "agent" && len(o.Domains) == 0:
		fail("oidc.create", o.Create, "needs oidc.domains too: else anyone with an account at the provider could join")
	case o.AdminClaim != "" && o.AdminValue == "":
		fail("oidc.admin_claim", o.AdminClaim, "needs oidc.admin_value too")
	case o.AdminValue != "" && o.AdminClaim == "":
		fail("oidc.admin_value", o.AdminValue, "needs oidc.admin_claim too")
	case !slices.Contains(o.Scopes, "openid"):
		fail("oidc.scopes", o.Scopes, "must contain openid")
	}
}

// checkOf makes a check of a rule for values of one type.
func checkOf[T any](rule func(T) error) check {
	return func(value any) error { return rule(value.(T)) }
}

func optional(rule func(string) error) check {
	return checkOf(func(s string) error {
		if s == "" {
			return nil
		}
		return rule(s)
	})
}

func everyItem[T any](rule func(T) error) check {
	return checkOf(func(items []T) error {
		for _, item := range items {
			if err := rule(item); err != nil {
				return fmt.Errorf("item %s %w", formatValue(item), err)
			}
		}
		return nil
	})
}

func oneOf(allowed ...string) check {
	return checkOf(func(s string) error {
		if slices.Contains(allowed, s) {
			return nil
		}
		return errors.New("must be one of " + strings.Trim(strings.Join(allowed, ", "), ", "))
	})
}

func atLeast[T cmp.Ordered](least T) check {
	return checkOf(func(n T) error {
		if n >= least { // false for a NaN too
			return nil
		}
		return fmt.Errorf("must be at least %v", least)
	})
}

func between(least, most int) check {
	return checkOf(func(n int) error {
		if least <= n && n <= most {
			return nil
		}
		return fmt.Errorf("must be between %d and %d", least, most)
	})
}

// patience is how long a client may be left waiting: less than any answer may take.
func patience(d time.Duration) error {
	if 0 < d && d <= 100*time.Second {
		return nil
	}
	return errors.New("must be positive and at most 100s")
}

func positive(d time.Duration) error {
	if d > 0 {
		return nil
	}
	return errors.New("must be longer than 0")
}

func notEmpty(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("must not be empty")
	}
	return nil
}

func matching(pattern *regexp.Regexp, problem string) func(string) error {
	return func(s string) error {
		if pattern.MatchString(s) {
			return nil
		}
		return errors.New(problem)
	}
}

// address accepts host:port. The port is a number: service names differ between machines.
func address(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil || !isPort(port) {
		return errAddress
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "" && !hostName.MatchString(host) {
		return errAddress
	}
	return nil
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

func webURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil,
		u.Scheme != "http" && u.Scheme != "https",
		u.Hostname() == "",
		u.Port() != "" && !isPort(u.Port()),
		u.User != nil,
		strings.ContainsAny(s, "?#"):
		return errURL
	}
	return nil
}

// corsOrigin accepts an origin in exactly the form that browsers send.
func corsOrigin(s string) error {
	if s == "*" {
		return nil
	}
	u, err := url.Parse(s)
	if webURL(s) != nil || err != nil || u.Path != "" || strings.ToLower(s) != s {
		return errOrigin
	}
	return nil
}

// IsReplicaURL reports whether a text names a place for a replica, and not a file.
func IsReplicaURL(s string) bool { return strings.Contains(s, "://") && objects.CheckURL(s) == nil }

func (r Replica) checkTogether(fail func(key string, value any, problem string)) {
	switch {
	case r.AccessKeyID != "" && r.SecretAccessKey == "":
		fail("replica.access_key_id", r.AccessKeyID, "needs replica.secret_access_key too")
	case r.AccessKeyID == "" && r.SecretAccessKey != "":
		fail("replica.secret_access_key", r.SecretAccessKey, "needs replica.access_key_id too")
	}
	if r.Keep < r.SnapshotEvery {
		fail("replica.keep", r.Keep, "must be at least replica.snapshot_every, which is the step in which it can be kept")
	}
}
