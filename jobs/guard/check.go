package guard

import (
	"context"
	"fmt"
	"net/url"
)

// ParseURL reads a URL and checks its scheme, host and port. It refuses
// credentials, and an IP address that may not be reached. It makes no DNS query.
// The error is ErrURL or a *BlockedError.
func (c *Client) ParseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: cannot be read", ErrURL) // url.Error would repeat a password
	}

	if err := c.policy.checkURL(u); err != nil {
		return nil, err
	}
	return u, nil
}

// CheckURL does what ParseURL does, then looks the name up for at most a second
// and refuses it if any of its addresses may not be reached. A name without an
// address is accepted: it may have one later, and every connection is checked
// again.
func (c *Client) CheckURL(ctx context.Context, raw string) error {
	u, err := c.ParseURL(raw)
	if err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := c.resolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil
	}

	for _, addr := range addrs {
		if err := c.policy.checkAddr(addr); err != nil {
			return err
		}
	}
	return nil
}
