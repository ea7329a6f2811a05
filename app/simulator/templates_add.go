package simulator

import "fmt"

// Template is a message template to add, with the provider's own names.
type Template struct {
	Name, Language, Category string
	ParameterFormat          string // NAMED or POSITIONAL, which is the default
	Status                   string // APPROVED when empty
	Components               []map[string]any
}

// AddTemplate adds a template to an account without a review and returns its
// id. One that exists is left unchanged.
func (s *Server) AddTemplate(wabaID string, in Template) (id string, err error) {
	list := make([]any, len(in.Components))
	for i, comp := range in.Components {
		list[i] = comp
	}

	// A round trip through JSON gives the types that a request body would have.
	var plain any
	if b, err := marshal(list); err != nil {
		return "", err
	} else if err := decodeJSON(b, &plain); err != nil {
		return "", err
	}

	t, err := readTemplate(object{
		"name": in.Name, "language": in.Language, "category": in.Category,
		"parameter_format": in.ParameterFormat, "components": plain,
	})
	if err != nil {
		return "", fmt.Errorf("template %s: %w", in.Name, err)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.world.Accounts[wabaID] == nil {
		return "", fmt.Errorf("template %s: there is no account %s", in.Name, wabaID)
	}
	if there := s.world.findTemplate(wabaID, in.Name, in.Language); there != nil {
		return there.ID, nil
	}

	t.Account, t.Status = wabaID, firstOf(in.Status, statusApproved)
	s.insertTemplate(t)
	return t.ID, nil
}
