package guard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
)

// The reasons that Reason gives: the error_code of a webhook delivery.
const (
	AddressBlocked    = "address_blocked"
	DNSFailure        = "dns_failure"
	ConnectionRefused = "connection_refused"
	ConnectionFailed  = "connection_failed"
	TLSFailure        = "tls_failure"
	Timeout           = "timeout"
)

var (
	// ErrURL means that a URL is not one that we would call: its scheme, its
	// host, its port or the credentials in it.
	ErrURL = errors.New("unusable URL")
	// ErrTooManyRedirects ends a chain that is longer than the options allow.
	ErrTooManyRedirects = errors.New("too many redirects")
	// ErrTooLarge means that a body goes on past its limit.
	ErrTooLarge = errors.New("body is too large")
)

// BlockedError says that an address is neither public nor allowed. Its text
// leaves the address out: whoever gave us the name would learn from it how our
// network is laid out.
type BlockedError struct {
	Addr netip.Addr
}

// Error implements error.
func (*BlockedError) Error() string { return "address is not public" }

// Reason names what went wrong in a request, or in reading its answer, and is
// empty for nil.
func Reason(err error) string {
	if err == nil {
		return ""
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f.reason
	}
	if _, ok := errors.AsType[*BlockedError](err); ok || errors.Is(err, ErrURL) {
		return AddressBlocked
	}
	if isTimeout(err) {
		return Timeout
	}
	return ConnectionFailed
}

// failure is an error whose stage is known where it happened.
type failure struct {
	reason string
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// Timeout makes a url.Error around the failure tell the truth.
func (f *failure) Timeout() bool { return f.reason == Timeout }

// dialFailure names the stage of a failed connection. For a blocked address it
// drops the error of package net, which spells the address out.
func dialFailure(err error) error {
	if blocked, ok := errors.AsType[*BlockedError](err); ok {
		return &failure{reason: AddressBlocked, err: blocked}
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return &failure{reason: DNSFailure, err: err}
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return &failure{reason: ConnectionRefused, err: err}
	case isTimeout(err):
		return &failure{reason: Timeout, err: err}
	default:
		return &failure{reason: ConnectionFailed, err: err}
	}
}

// tlsFailure names the stage of a failed handshake.
func tlsFailure(err error) error {
	if isTimeout(err) {
		return &failure{reason: Timeout, err: err}
	}
	return &failure{reason: TLSFailure, err: err}
}

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}
