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
	var components []any
	if err := throughJSON(in.Components, &components); err != nil {
		return "", err
	}

	t, err := readTemplate(object{
		"name": in.Name, "language": in.Language, "category": in.Category,
		"parameter_format": in.ParameterFormat, "components": components,
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
