package simulator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	maxTemplateButtons = 10
	maxLabel           = 25
	maxURL             = 2000
	maxPhone           = 20
	maxCardButtons     = 2
)

// buttonCaps is how many buttons of a type a template may have.
var buttonCaps = map[string]int{
	"QUICK_REPLY": 10, "URL": 2, "PHONE_NUMBER": 1, "COPY_CODE": 1, "FLOW": 1, "CATALOG": 1,
	"MPM": 1, "SPM": 1, "VOICE_CALL": 1, "APP": 1, "REQUEST_CONTACT_INFO": 1,
}

func (r *rules) buttons(comp object, offer bool) error {
	list := comp.objects("buttons")
	limit := maxTemplateButtons
	if r.card {
		limit = maxCardButtons
	}
	if len(list) < 1 || len(list) > limit {
		return malformed("There must be 1 to %d buttons.", limit)
	}

	counts := map[string]int{}
	groups, wasReply := 0, false
	var normalized []object
	for i, given := range list {
		button := maps.Clone(given)
		kind := strings.ToUpper(button.text("type"))
		counts[kind]++

		switch most, known := buttonCaps[kind]; {
		case !known:
			return badParameter("Param components['buttons'][%d]['type'] is not a type of button - got \"%s\".", i, kind)
		case counts[kind] > most:
			return malformed("There can be at most %d buttons of type %s.", most, kind)
		case offer && kind == "COPY_CODE" && i > 0:
			return malformed("The copy code button of a limited-time offer comes first.")
		}

		button["type"] = kind
		if err := r.button(kind, button); err != nil {
			return err
		}

		// Each time the group changes a new one begins; more than two means they are mixed.
		if isReply := kind == "QUICK_REPLY"; i == 0 || isReply != wasReply {
			groups, wasReply = groups+1, isReply
		}
		normalized = append(normalized, button)
	}

	if groups > 2 {
		return malformed("Quick replies and other buttons must each stand together.")
	}

	comp["buttons"] = normalized
	return nil
}

func (r *rules) button(kind string, button object) error {
	label := button.text("text")
	if kind != "COPY_CODE" && kind != "REQUEST_CONTACT_INFO" && kind != "APP" {
		switch {
		case strings.TrimSpace(label) == "":
			return malformed("A button of type %s needs a text.", kind)
		case chars(label) > maxLabel:
			return tooManyCharacters("button text", maxLabel)
		case strings.Contains(label, "{{"):
			return malformed("The text of a button can have no variables.")
		}
	}

	switch kind {
	case "URL":
		return r.urlButton(button)
	case "PHONE_NUMBER":
		if !validPhone(button.text("phone_number")) || chars(button.text("phone_number")) > maxPhone {
			return malformed("The phone number of a button is not valid.")
		}
	case "COPY_CODE":
		code := button.text("example")
		if list := button.list("example"); len(list) > 0 {
			code = fmt.Sprint(list[0])
		}
		if !between(code, 1, maxCouponCode) {
			return missingField("A copy code button needs an example of at most 20 characters.")
		}
	case "FLOW":
		if button.text("flow_id") == "" && button.text("flow_name") == "" && button.text("flow_json") == "" {
			return malformed("A flow button needs flow_id, flow_name or flow_json.")
		}
	}
	return nil
}

func (r *rules) urlButton(button object) error {
	link := button.text("url")
	plain := variablePattern.ReplaceAllString(link, "")
	names := variables(link)

	switch {
	case !fetchable(plain):
		return malformed("The URL of a button is not valid.")
	case chars(link) > maxURL:
		return tooManyCharacters("button URL", maxURL)
	case len(names) > 1 || len(names) == 1 && !strings.HasSuffix(link, "}}"):
		return malformed("The URL of a button can have one variable, at its end.")
	case strings.Contains(plain, "{{") || strings.Contains(plain, "}}"):
		return malformed("The URL of a button has braces that do not match.")
	case len(names) == 1 && names[0] != "1" && (!r.named || !variableName.MatchString(names[0])):
		return malformed("The variable in the URL of a button is {{1}}.")
	case len(names) == 1 && len(button.list("example")) == 0 && button.text("example") == "":
		return missingField("A URL button with a variable needs an example.")
	}
	return nil
}

const (
	minExpiration = 1
	maxExpiration = 90
	codeText      = "*{{1}}* is your verification code."
	codeAdvice    = " For your security, do not share this code."
	signatureHash = 11
)

// authentication checks the parts of an authentication template, whose texts
// the provider writes itself.
func (r *rules) authentication(kind string, comp object) error {
	switch kind {
	case "BODY":
		if comp.has("text") && !strings.HasPrefix(comp.text("text"), codeText) {
			return badBodyText("The body of an authentication template cannot be written freely.")
		}

		text := codeText
		if comp.boolean("add_security_recommendation") {
			text += codeAdvice
		}

		comp["text"] = text
		comp["example"] = object{"body_text": [][]string{{"123456"}}}
		return nil
	case "FOOTER":
		minutes, ok := comp.integer("code_expiration_minutes")
		if !ok || minutes < minExpiration || minutes > maxExpiration {
			return malformed("code_expiration_minutes must be between %d and %d.", minExpiration, maxExpiration)
		}
		comp["text"] = fmt.Sprintf("This code expires in %d minutes.", minutes)
		return nil
	case "BUTTONS":
		return r.codeButtons(comp)
	}
	return malformed("An authentication template has no component of type %s.", kind)
}

// codeButtons makes of the one button of an authentication template the
// link that it becomes.
func (r *rules) codeButtons(comp object) error {
	list := comp.objects("buttons")
	if len(list) != 1 {
		return malformed("An authentication template has exactly one button.")
	}
	button := list[0]
	otp := strings.ToUpper(button.text("otp_type"))

	switch {
	case strings.EqualFold(button.text("type"), "URL") && strings.Contains(button.text("url"), "otp_type="):
		return nil // an edit that sends back what a GET returned
	case !strings.EqualFold(button.text("type"), "OTP"):
		return malformed("The button of an authentication template is of type OTP.")
	case otp != "COPY_CODE" && otp != "ONE_TAP" && otp != "ZERO_TAP":
		return badParameter("Param otp_type must be one of {COPY_CODE, ONE_TAP, ZERO_TAP} - got \"%s\".", button.text("otp_type"))
	case otp == "ZERO_TAP" && !button.boolean("zero_tap_terms_accepted"):
		return malformed("zero_tap_terms_accepted must be true.")
	case chars(button.text("text")) > maxLabel:
		return tooManyCharacters("button text", maxLabel)
	case otp != "COPY_CODE" && !hasSupportedApps(button):
		return malformed("A %s button needs supported_apps with package_name and signature_hash of %d characters.", otp, signatureHash)
	}

	link := "https://www.whatsapp.com/otp/code/?otp_type=" + otp + "&code=otp"
	comp["buttons"] = []object{{
		"type": "URL", "text": firstOf(button.text("text"), "Copy code"),
		"url": link + "{{1}}", "example": []string{link + "123456"},
	}}
	return nil
}

func hasSupportedApps(button object) bool {
	isNamed := func(app object) bool {
		return app.text("package_name") != "" && chars(app.text("signature_hash")) == signatureHash
	}
	apps := button.objects("supported_apps")
	return len(apps) == 0 && isNamed(button) || len(apps) > 0 && !slices.ContainsFunc(apps, func(app object) bool { return !isNamed(app) })
}
