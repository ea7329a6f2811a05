package callback

import "confab/jobs/provider"

// takeAccount applies what the provider says about a business account or one of
// its numbers.
func (s *Server) takeAccount(n provider.News) []step { return s.keeping(n, "not handled") }
