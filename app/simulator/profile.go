package simulator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

type profile struct {
	About       string   `json:"about,omitempty"`
	Address     string   `json:"address,omitempty"`
	Description string   `json:"description,omitempty"`
	Email       string   `json:"email,omitempty"`
	Picture     string   `json:"picture,omitempty"`
	Websites    []string `json:"websites,omitempty"`
	Vertical    string   `json:"vertical,omitempty"`
}

var verticals = strings.Fields(`
	UNDEFINED OTHER AUTO BEAUTY APPAREL EDU ENTERTAIN EVENT_PLAN FINANCE GROCERY GOVT HOTEL HEALTH NONPROFIT
	PROF_SERVICES RETAIL TRAVEL RESTAURANT NOT_A_BIZ ALCOHOL ONLINE_GAMBLING PHYSICAL_GAMBLING OTC_DRUGS
	MATRIMONY_SERVICE`)

// getProfile handles GET /{phone_number_id}/whatsapp_business_profile. The
// profile has no id of its own.
func (s *Server) getProfile(c *call) (any, error) {
	p := s.world.Numbers[c.id].Profile

	node := object{}
	for name, v := range map[string]string{
		"about": p.About, "address": p.Address, "description": p.Description, "email": p.Email,
		"profile_picture_url": p.Picture, "vertical": p.Vertical,
	} {
		node.put(name, v)
	}

	if len(p.Websites) > 0 {
		node["websites"] = p.Websites
	}
	view := project(node, c, slices.Collect(maps.Keys(node))...)
	view["messaging_product"] = "whatsapp"
	return object{"data": []object{view}}, nil
}

// updateProfile handles POST /{phone_number_id}/whatsapp_business_profile.
func (s *Server) updateProfile(c *call) (any, error) {
	// A copy is updated, so that one bad field leaves everything as it was.
	n := s.world.Numbers[c.id]
	p := n.Profile
	if err := p.update(c.params); err != nil {
		return nil, err
	}

	n.Profile = p
	return object{"success": true}, nil
}

func (p *profile) update(in object) error {
	for _, f := range []struct {
		name  string
		limit int
		field *string
	}{
		{"about", 139, &p.About}, {"address", 256, &p.Address}, {"description", 512, &p.Description},
		{"email", 128, &p.Email}, {"vertical", 64, &p.Vertical},
	} {
		if !in.has(f.name) {
			continue
		}
		if chars(in.text(f.name)) > f.limit {
			return tooLong(f.name, f.limit)
		}
		*f.field = in.text(f.name)
	}

	if p.Vertical != "" && !slices.Contains(verticals, p.Vertical) {
		return badParameter("Param vertical must be one of {%s} - got \"%s\".", strings.Join(verticals, ", "), p.Vertical)
	}

	if handle := in.text("profile_picture_handle"); handle != "" {
		p.Picture = "https://pps.whatsapp.net/v/" + randomDigits(12)
	}

	if !in.has("websites") {
		return nil
	}

	sites := in.list("websites")
	if len(sites) > 2 {
		return badParameter("Param websites must have at most 2 elements.")
	}
	p.Websites = nil
	for i, site := range sites {
		if !fetchable(fmt.Sprint(site)) {
			return badParameter("Param websites[%d] must be an http or https URL.", i)
		}
		p.Websites = append(p.Websites, fmt.Sprint(site))
	}
	return nil
}
