package guard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
)

// The results of Reason. They are the error_code of a webhook delivery.
const (
	AddressBlocked    = "address_blocked"
	DNSFailure        = "dns_failure"
	ConnectionRefused = "connection_refused"
	ConnectionFailed  = "connection_failed"
	TLSFailure        = "tls_failure"
	Timeout           = "timeout"
)

var (
	// ErrURL means that we do not call such a URL, because of its scheme, its
	// host, its port or the credentials in it.
	ErrURL = errors.New("unusable URL")
	// ErrTooManyRedirects means that there are more than the options allow.
	ErrTooManyRedirects = errors.New("too many redirects")
)

// BlockedError means that an address is neither public nor allowed. Its text
// does not show the address: a customer could explore our network with it.
type BlockedError struct {
	Addr netip.Addr
}

// Error implements error.
func (*BlockedError) Error() string { return "address is not public" }

// Reason names what went wrong in a request or its answer; "" for a nil error.
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

// failure is an error with the reason that is known where it happened.
type failure struct {
	reason string
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// Timeout implements net.Error's method: url.Error asks the error that it wraps.
func (f *failure) Timeout() bool { return f.reason == Timeout }

// dialFailure gives a failed connection its reason. For a blocked address it
// drops the error of package net, whose text shows the address.
func dialFailure(err error) error {
	if err == nil {
		return nil
	}
	if blocked, ok := errors.AsType[*BlockedError](err); ok {
		return &failure{reason: AddressBlocked, err: blocked}
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return &failure{reason: DNSFailure, err: err}
	}

	if errors.Is(err, syscall.ECONNREFUSED) {
		return &failure{reason: ConnectionRefused, err: err}
	}
	return failureOf(ConnectionFailed, err)
}

// failureOf gives an error a reason, unless it came because the time was over.
func failureOf(reason string, err error) error {
	if isTimeout(err) {
		reason = Timeout
	}
	return &failure{reason: reason, err: err}
}

// isTimeout reports whether an error is a deadline of ours or of the network.
func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}
