package template

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/storage"
)

const (
	MaxTemplateButtons = 10
	MaxCardButtons     = 2
	maxButtonLabel     = 25
	maxButtonURL       = 2000
	maxButtonPhone     = 20
	signatureLength    = 11
	maxSupportedApps   = 5
	maxPackageName     = 255
	maxFlowText        = 200
	maxFlowJSON        = 256 << 10
)

// draftButton is a button of a new template. Only the fields of its type count.
type draftButton struct {
	Type    *string       `json:"type,omitempty"`
	Text    *string       `json:"text,omitempty"`
	URL     *string       `json:"url,omitempty"`
	Phone   *string       `json:"phone_number,omitempty"`
	Example *stringOrList `json:"example,omitempty"` // of a URL's variable, or of a code

	OTPType         *string                  `json:"otp_type,omitempty"`
	AutofillText    *string                  `json:"autofill_text,omitempty"`
	ZeroTapAccepted *bool                    `json:"zero_tap_terms_accepted,omitempty"`
	SupportedApps   []*supportedApp          `json:"supported_apps,omitempty"`
	FlowID          *string                  `json:"flow_id,omitempty"`
	FlowName        *string                  `json:"flow_name,omitempty"`
	FlowJSON        *rest.LongText           `json:"flow_json,omitempty"`
	FlowAction      *string                  `json:"flow_action,omitempty"`
	NavigateScreen  *string                  `json:"navigate_screen,omitempty"`
	AppDeepLink     *appLink                 `json:"app_deep_link,omitempty"`
	TTLMinutes      *rest.LooseNumber[int64] `json:"ttl_minutes,omitempty"`
}

// appLink is the target of a button that opens an app.
type appLink struct {
	MetaAppID       *string `json:"meta_app_id,omitempty"`
	Android         *string `json:"android_deep_link,omitempty"`
	AndroidFallback *string `json:"android_fallback_playstore_url,omitempty"`
}

func (a *appLink) Check() error {
	if a == nil {
		return nil
	}
	return cmp.Or(
		rest.Short("meta_app_id", a.MetaAppID, maxFlowText),
		rest.Short("android_deep_link", a.Android, content.MaxLink),
		rest.Short("android_fallback_playstore_url", a.AndroidFallback, content.MaxLink),
	)
}

// supportedApp is an app that may fill in a code by itself.
type supportedApp struct {
	PackageName   *string `json:"package_name,omitempty"`
	SignatureHash *string `json:"signature_hash,omitempty"`
}

// buttonKinds are the types of buttons, and how many of each a template may have.
var buttonKinds = map[string]int{
	"QUICK_REPLY": 10, "URL": 2, "PHONE_NUMBER": 1, "COPY_CODE": 1, "FLOW": 1, "CATALOG": 1, "MPM": 1, "SPM": 1,
	"VOICE_CALL": 1, "APP": 1, "REQUEST_CONTACT_INFO": 1,
}

func (r draftRules) checkButtons(list []*draftButton) error {
	most := MaxTemplateButtons
	switch {
	case r.card:
		most = MaxCardButtons
	case r.category == Authentication:
		most = 1
	}
	if err := rest.Count("buttons", list, most); err != nil {
		return err
	}

	counts := make(map[string]int)
	groups, last := 0, ""
	return rest.Each("buttons", list, func(b *draftButton) error {
		if err := r.checkButton(b); err != nil {
			return err
		}

		kind := *b.Type
		if counts[kind]++; counts[kind] > cmp.Or(buttonKinds[kind], 1) {
			return rest.Invalid("type", "can be "+kind+" at most "+strconv.Itoa(buttonKinds[kind])+" times")
		}

		// Two groups are allowed, in either order: the quick replies and the rest.
		group := "other"
		if kind == "QUICK_REPLY" {
			group = kind
		}
		if group != last {
			groups, last = groups+1, group
		}

		switch {
		case groups > 2:
			return rest.Invalid("type", "is out of order: quick replies must be grouped together, apart from other buttons")
		case r.offer && kind == "COPY_CODE" && b != list[0]:
			return rest.Invalid("type", "can only be COPY_CODE in the first button of a limited-time offer")
		}
		return nil
	})
}

// checkButton checks one button by its type, and drops the fields of other types.
func (r draftRules) checkButton(b *draftButton) error {
	if r.category == Authentication {
		return b.checkOTP()
	}
	if err := oneOfAnyCase("type", b.Type, slices.Sorted(maps.Keys(buttonKinds))...); err != nil {
		return err
	}

	given := *b
	*b = draftButton{Type: given.Type, Text: given.Text}

	switch *b.Type {
	case "COPY_CODE":
		b.Text, b.Example = nil, given.Example
		return b.Example.Check(content.MaxCouponCode)
	case "REQUEST_CONTACT_INFO":
		b.Text = nil
		return nil
	case "APP":
		b.AppDeepLink = given.AppDeepLink
		return cmp.Or(rest.Optional("text", b.Text, maxButtonLabel), rest.Within("app_deep_link", b.AppDeepLink.Check()))
	}

	if err := cmp.Or(notBlank("text", b.Text, maxButtonLabel), noVariables("text", b.Text)); err != nil {
		return err
	}

	switch *b.Type {
	case "URL":
		b.URL, b.Example = given.URL, given.Example
		return r.checkURL(b)
	case "PHONE_NUMBER":
		b.Phone = given.Phone
		return b.checkPhone()
	case "FLOW":
		b.FlowID, b.FlowName, b.FlowJSON = given.FlowID, given.FlowName, given.FlowJSON
		b.FlowAction, b.NavigateScreen = given.FlowAction, given.NavigateScreen
		return b.checkFlow()
	case "VOICE_CALL":
		b.TTLMinutes = given.TTLMinutes
	}
	return nil
}

// Check checks that an example is there, and its length.
func (l *stringOrList) Check(most int) error {
	switch {
	case l == nil:
		return rest.Missing("example")
	case !rest.Between(l.text, 1, most):
		return rest.Invalid("example", rest.LengthRule(1, most))
	}
	return nil
}

// checkURL checks the URL of a button. It may end with one variable.
func (r draftRules) checkURL(b *draftButton) error {
	if err := rest.Required("url", b.URL, maxButtonURL); err != nil {
		return err
	}

	found := Placeholder.FindAllStringSubmatch(*b.URL, -1)
	fixed := Placeholder.ReplaceAllString(*b.URL, "")
	u, err := url.Parse(fixed)
	switch {
	case strings.Contains(fixed, "{{") || strings.Contains(fixed, "}}"):
		return rest.Invalid("url", "has braces that do not match")
	case err != nil, u.Host == "", u.Scheme != "https" && u.Scheme != "http":
		return rest.Invalid("url", "must be an http or https URL")
	case len(found) > 1 || len(found) == 1 && !strings.HasSuffix(*b.URL, "}}"):
		return rest.Invalid("url", "can have one variable, at its end")
	case len(found) == 0:
		b.Example = nil
		return nil
	}

	name := strings.TrimSpace(found[0][1])
	if name != "1" && !(r.named && variableName.MatchString(name)) {
		return rest.Invalid("url", "must call its variable {{1}}")
	}

	return b.Example.Check(maxButtonURL)
}

func (b *draftButton) checkPhone() error {
	switch {
	case b.Phone == nil:
		return rest.Missing("phone_number")
	case !rest.IsPhone(*b.Phone) || len(*b.Phone) > maxButtonPhone:
		return rest.ErrPhone("phone_number")
	}
	return nil
}

func (b *draftButton) checkFlow() error {
	if storage.OrEmpty(b.FlowID) == "" && storage.OrEmpty(b.FlowName) == "" && (b.FlowJSON == nil || *b.FlowJSON == "") {
		return rest.Missing("flow_id")
	}
	return cmp.Or(
		rest.Short("flow_id", b.FlowID, maxFlowText),
		rest.Short("flow_name", b.FlowName, maxFlowText),
		rest.Short("flow_json", b.FlowJSON, maxFlowJSON),
		rest.Short("flow_action", b.FlowAction, maxFlowText),
		rest.Short("navigate_screen", b.NavigateScreen, maxFlowText),
	)
}

// checkOTP checks the one button of a template for authentication.
func (b *draftButton) checkOTP() error {
	if err := cmp.Or(
		oneOfAnyCase("type", b.Type, "OTP"),
		oneOfAnyCase("otp_type", b.OTPType, "COPY_CODE", "ONE_TAP", "ZERO_TAP"),
	); err != nil {
		return err
	}

	given := *b
	*b = draftButton{Type: given.Type, OTPType: given.OTPType, Text: given.Text}
	if err := rest.Optional("text", b.Text, maxButtonLabel); err != nil {
		return err
	}

	if *b.OTPType == "COPY_CODE" {
		return nil
	}

	b.AutofillText, b.ZeroTapAccepted, b.SupportedApps = given.AutofillText, given.ZeroTapAccepted, given.SupportedApps
	switch {
	case *b.OTPType == "ZERO_TAP" && b.ZeroTapAccepted == nil:
		return rest.Missing("zero_tap_terms_accepted")
	case *b.OTPType == "ZERO_TAP" && !*b.ZeroTapAccepted:
		return rest.Invalid("zero_tap_terms_accepted", "must be true")
	}

	if err := cmp.Or(
		rest.Optional("autofill_text", b.AutofillText, maxButtonLabel),
		rest.Count("supported_apps", b.SupportedApps, maxSupportedApps),
	); err != nil {
		return err
	}

	return rest.Each("supported_apps", b.SupportedApps, func(a *supportedApp) error {
		err := cmp.Or(
			rest.Required("package_name", a.PackageName, maxPackageName),
			rest.Required("signature_hash", a.SignatureHash, signatureLength),
		)
		if err != nil {
			return err
		}
		if !rest.Between(*a.SignatureHash, signatureLength, signatureLength) {
			return rest.Invalid("signature_hash", "must have 11 characters")
		}
		return nil
	})
}
