package rig

import "os"

// Service is a running program that serves HTTP.
type Service struct {
	*Process
	URL string
}

// StartService runs the program with the name of one of its roles, an address to listen on
// and arguments, and waits until its front page answers.
func (p Program) StartService(role string, args ...string) (*Service, error) {
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}

	process, err := p.Start(os.Stderr, nil, append([]string{role, address}, args...)...)
	if err != nil {
		return nil, err
	}

	s := &Service{process, "http://" + address}
	if err := s.WaitReady(s.URL); err != nil {
		s.Kill()
		return nil, err
	}
	return s, nil
}

// Call makes a request to the service, which must succeed, and reads the answer into out,
// unless that is nil.
func (s *Service) Call(method, path, body string, out any) error {
	return Client{Base: s.URL}.Call(method, path, body, out)
}
