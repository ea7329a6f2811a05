package callback

// takeAccount applies what the provider says about a business account or one of
// its numbers.
func (s *Server) takeAccount(n news) []step { return keeping(n, "not handled") }
