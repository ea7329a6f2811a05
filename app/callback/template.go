package callback

// takeTemplate applies what the provider says about a template.
func (s *Server) takeTemplate(n news) []step { return keeping(n, "not handled") }
