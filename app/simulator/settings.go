package simulator

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Settings is how the simulated world behaves. Delays are milliseconds after
// the message was accepted; null means that it never happens.
type Settings struct {
	SentMS      *int64 `json:"sent_ms"`
	DeliveredMS *int64 `json:"delivered_ms"`
	ReadMS      *int64 `json:"read_ms"`
	// AutoRead reads each message shortly after its delivery where ReadMS is
	// null, and plays voice messages.
	AutoRead bool `json:"auto_read"`
	// ServiceWindow enforces the 24 hours in which free-form messages may be
	// sent after the user last wrote.
	ServiceWindow    bool   `json:"service_window"`
	TemplateReviewMS int64  `json:"template_review_ms"`
	TemplateVerdict  string `json:"template_verdict"` // APPROVED, REJECTED or PENDING for no verdict
	// MessagesPerSecond is the throughput of each number, at most 20 beside the phone app; 0 is no limit.
	MessagesPerSecond float64 `json:"messages_per_second"`
	PairLimit         bool    `json:"pair_limit"`

	// OpenDownloads serves media to requests that carry no token.
	OpenDownloads bool `json:"open_downloads"`
	// WebhookVersion is the Graph version of callbacks: up to v23.0 statuses
	// name a conversation.
	WebhookVersion string `json:"webhook_version"`

	// AsOf is the day whose provider is played, such as 2026-09-30; "" is today's. In
	// October 2026 most messages got a price, and changes of identity another callback.
	AsOf string `json:"as_of"`
	// ServiceAllowance is how many service messages of a number and month are free.
	ServiceAllowance int64 `json:"service_allowance"`
	// PaymentMethod says whether the account can pay. Without one, service messages beyond
	// the allowance are accepted and never delivered.
	PaymentMethod bool `json:"payment_method"`
	// NameStatus and MessagingLimit are those of all numbers.
	NameStatus     string `json:"name_status"`
	MessagingLimit string `json:"messaging_limit"`
}

// Friendly defaults: a developer sees each status arrive after the other.
const (
	defaultSentMS = 50
	autoReadMS    = 300 // after delivery
	playedMS      = 300 // after reading
)

func defaultSettings() Settings {
	return Settings{
		SentMS: new(int64(defaultSentMS)), DeliveredMS: new(int64(200)), ServiceWindow: true,
		TemplateReviewMS: 2000, TemplateVerdict: statusApproved,
		MessagesPerSecond: 80, PairLimit: true, WebhookVersion: "v24.0",
		ServiceAllowance: 1000, PaymentMethod: true, NameStatus: "APPROVED", MessagingLimit: "TIER_250",
	}
}

const maxDelayMS = 30 * 24 * 3600 * 1000

// check refuses settings that mean nothing.
func (s *Settings) check() error {
	for name, ms := range map[string]*int64{
		"sent_ms": s.SentMS, "delivered_ms": s.DeliveredMS, "read_ms": s.ReadMS, "template_review_ms": &s.TemplateReviewMS,
	} {
		if ms != nil && (*ms < 0 || *ms > maxDelayMS) {
			return invalid(name, "must be between 0 and 30 days of milliseconds")
		}
	}

	s.TemplateVerdict = strings.ToUpper(s.TemplateVerdict)
	_, noDate := time.Parse(time.DateOnly, s.AsOf)
	switch {
	case s.TemplateVerdict != statusApproved && s.TemplateVerdict != statusRejected && s.TemplateVerdict != statusPending:
		return invalid("template_verdict", "must be APPROVED, REJECTED or PENDING")
	case s.MessagesPerSecond < 0:
		return invalid("messages_per_second", "must not be negative")
	case !versionSegment.MatchString(s.WebhookVersion):
		return invalid("webhook_version", "must look like v24.0")
	case s.AsOf != "" && noDate != nil:
		return invalid("as_of", "must be a date such as 2026-09-30, or empty")
	case s.ServiceAllowance < 0:
		return invalid("service_allowance", "must not be negative")
	}
	return nil
}

// sinceOctober reports whether the provider is played as it is since October 2026.
func (s *Settings) sinceOctober(now time.Time) bool {
	return firstOf(s.AsOf, now.UTC().Format(time.DateOnly)) >= "2026-10-01"
}

func (s *Settings) includeConversations() bool {
	major, _, _ := strings.Cut(strings.TrimPrefix(s.WebhookVersion, "v"), ".")
	n, err := strconv.Atoi(major)
	return err == nil && n <= 23
}

// Settings returns how the world behaves.
func (s *Server) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.Settings
}

// SetSettings changes how the world behaves from now on.
func (s *Server) SetSettings(settings Settings) error {
	if err := settings.check(); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applySettings(settings)
	return nil
}

// controlPatchSettings handles PATCH /_sim/settings: it changes the settings that the
// body names, or none when it names a bad one.
func (s *Server) controlPatchSettings(c *controlCall) (any, error) {
	if len(c.in) == 0 {
		return nil, refused(http.StatusBadRequest, "The body names no setting.")
	}

	// A copy, down to what the settings point to: a decoder writes through pointers.
	settings := throughJSON[Settings](s.world.Settings)
	if err := c.decode(&settings); err != nil {
		return nil, err
	}
	if err := settings.check(); err != nil {
		return nil, err
	}

	s.applySettings(settings)
	return settings, nil
}

// applySettings puts settings into force, with fresh limits.
func (s *Server) applySettings(settings Settings) {
	s.world.Settings = settings
	s.limits = limits{}
	s.markDirty()
	s.publish("settings", func() any { return settings })
}
