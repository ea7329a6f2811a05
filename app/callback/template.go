package callback

import "confab/jobs/provider"

// takeTemplate applies what the provider says about a template.
func (s *Server) takeTemplate(n provider.News) []step { return s.keeping(n, "not handled") }
