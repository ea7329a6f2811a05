package rig

// Service is a running program that serves HTTP.
type Service struct {
	*Process
	URL string
}

// StartService runs the program with arguments and -listen ADDRESS, and waits
// until its front page answers.
func (p Program) StartService(args ...string) (*Service, error) {
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}

	process, err := Start(p.command(nil, append(args, "-listen", address)...))
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
