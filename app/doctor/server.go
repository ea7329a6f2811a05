package doctor

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
)

// locate asks the server that runs on the directory where it listens, for a flag
// or a free port may have decided it. What the settings say stays if others can
// reach it: that is where the next start listens.
func (e *examination) locate(ctx context.Context) {
	listen, local, err := e.dir.Address(ctx, e.config.Server)
	if err != nil {
		return
	}
	e.listening, e.at = listen, local
	if isLoopback(e.config.Server.Listen) {
		e.config.Server.Listen = listen
	}
}

// server asks the server that runs on the directory, directly and by the address
// that others use.
func (e *examination) server(ctx context.Context) {
	if !e.served {
		start := "confab serve"
		if e.isSandbox {
			start = "confab sandbox"
		}
		e.warn("server", "Start it: "+start+".", "No server runs on %s.", string(e.dir))
		e.publicName(ctx)
		return
	}
	if e.at == nil {
		e.ok("server", "A server runs.")
		return
	}
	// The certificate is not made out to this address; what is secret is not sent.
	direct := &http.Client{Timeout: networkTime, CheckRedirect: e.http.CheckRedirect, Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: serverName(e.config.Server.TLSDomains)}}}
	version, err := health(ctx, direct, e.at)
	switch {
	case err != nil:
		e.broken("server", "Look into its log. If it was started with other settings than these, name the same file with --config.",
			"A server runs on %s but does not answer at %s: %s.", string(e.dir), e.at, reason(err))
		return
	case version != e.Version:
		e.warn("server", "Restart it, to run what is installed.", "The server that runs is version %s, and this is %s.", version, e.Version)
	default:
		e.ok("server", "Version %s answers at %s.", version, e.at)
	}
	e.publicURL(ctx)
}

func serverName(domains []string) string {
	if len(domains) == 0 {
		return ""
	}
	return domains[0]
}

// publicName looks whether others would find the server if it ran.
func (e *examination) publicName(ctx context.Context) {
	public, err := url.Parse(e.config.PublicURL())
	if err != nil || isLoopbackHost(public.Hostname()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, networkTime)
	defer cancel()
	if _, err := net.DefaultResolver.LookupHost(ctx, public.Hostname()); err != nil {
		e.broken("public URL", "Correct server.public_url, or add an A or AAAA record for "+public.Hostname()+".", "%s cannot be resolved: %s.", public, reason(err))
	}
}

// publicURL asks the server as others do.
func (e *examination) publicURL(ctx context.Context) {
	public, err := url.Parse(e.config.PublicURL())
	if err != nil {
		return // the settings were checked
	}
	_, err = health(ctx, e.http, public)
	var (
		wrong *answerError
		cert  *tls.CertificateVerificationError
		slow  net.Error
	)
	switch {
	case err == nil:
		e.ok("public URL", "%s leads here.", public)
	case errors.As(err, &wrong):
		e.broken("public URL", "Correct server.public_url, or what the proxy or DNS does with it.", "%s leads somewhere else: %s.", public, err)
	case errors.As(err, &cert):
		e.broken("certificate", "Get a certificate for "+public.Hostname()+" that clients accept.", "%s: %s.", public, reason(err))
	case errors.As(err, &slow) && slow.Timeout():
		e.warn("public URL", "Try it from outside: some networks do not lead their own address back inside.", "%s does not answer from here.", public)
	default:
		e.broken("public URL", "Correct server.public_url, DNS, the proxy or the firewall.", "%s cannot be reached: %s.", public, reason(err))
	}
}

// answerError is an answer that is not confab's.
type answerError struct{ status string }

func (e *answerError) Error() string { return "it answers " + e.status + ", and not as confab does" }

// health asks a server who it is.
func health(ctx context.Context, client *http.Client, base *url.URL) (version string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("v1", "health").String(), nil)
	if err != nil {
		return "", err
	}
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var answer struct{ Data struct{ Version string } }
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<16)).Decode(&answer); err != nil || answer.Data.Version == "" {
		return "", &answerError{res.Status}
	}
	return answer.Data.Version, nil
}
