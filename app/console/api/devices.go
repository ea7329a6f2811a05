package api

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/guard"
	"confab/jobs/push"
	"confab/storage"
)

// maxEndpoint is how long the URL of a push service may be.
const maxEndpoint = 2048

// pushView is what a browser must know to take notifications.
type pushView struct {
	Object    string  `json:"object"`
	PublicKey *string `json:"public_key"` // null until somebody has started
	Problem   *string `json:"problem"`    // why there are no notifications; null where there are some
}

func (s *Server) viewPush(key string) (rest.Reply, error) {
	v := pushView{Object: "push", Problem: storage.OrNil(s.pushProblem())}
	if key == "" || v.Problem != nil {
		return rest.OK(v), nil
	}

	public, err := push.PublicKey(key)
	v.PublicKey = &public
	return rest.OK(v), err
}

// getDevices handles GET /console/api/devices.
func (s *Server) getDevices(r *rest.Request) (rest.Reply, error) {
	key, err := storage.Query(r.HTTP.Context(), s.DB, (*storage.Rx).VAPIDKey)
	if err != nil {
		return rest.Reply{}, err
	}
	return s.viewPush(key)
}

// startDevices handles POST /console/api/devices/start: it makes the key of the server, if there is
// none yet, with which a browser then subscribes.
func (s *Server) startDevices(r *rest.Request) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		key, err := ensureVAPIDKey(tx)
		if err != nil {
			return rest.Reply{}, err
		}
		return s.viewPush(key)
	})
}

func ensureVAPIDKey(tx *storage.Tx) (string, error) {
	made, err := push.NewKey()
	if err != nil {
		return "", err
	}
	return tx.EnsureVAPIDKey(made)
}

// pushProblem says why there are no notifications; "" if there are some. Browsers have them on
// https only, and on this machine.
func (s *Server) pushProblem() string {
	u, err := url.Parse(s.PublicURL)
	if err == nil && (u.Scheme == "https" || guard.IsLocalHost(u.Hostname())) {
		return ""
	}
	return "Notifications need https: server.public_url of this server is " + s.PublicURL + "."
}

// deviceKeys are the keys of a browser's push subscription.
type deviceKeys struct {
	P256DH *string `json:"p256dh"`
	Auth   *string `json:"auth"`
}

// device is the body of POST and DELETE /console/api/devices: a push subscription, as browsers
// write it.
type device struct {
	Endpoint *string     `json:"endpoint"`
	Keys     *deviceKeys `json:"keys"`
}

func (d *device) Validate() error {
	if err := rest.Required("endpoint", d.Endpoint, maxEndpoint); err != nil {
		return err
	}
	if strings.Contains(*d.Endpoint, "#") {
		return rest.Invalid("endpoint", "must not have a fragment")
	}
	return nil
}

// checkKeys checks what only a device that is stored must have.
func (d *device) checkKeys() error {
	switch {
	case d.Keys == nil:
		return rest.Missing("keys")
	case d.Keys.P256DH == nil:
		return rest.Missing("keys.p256dh")
	case d.Keys.Auth == nil:
		return rest.Missing("keys.auth")
	case !push.IsBrowserKey(*d.Keys.P256DH):
		return rest.Invalid("keys.p256dh", "must be a public key of the curve P-256 in base64url")
	case !push.IsAuthSecret(*d.Keys.Auth):
		return rest.Invalid("keys.auth", "must be 16 bytes in base64url")
	}
	return nil
}

type deviceView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
}

// createDevice handles POST /console/api/devices. A device that is there already belongs to this
// session from now on.
func (s *Server) createDevice(r *rest.Request, in device) (rest.Reply, error) {
	if problem := s.pushProblem(); problem != "" {
		return rest.Reply{}, rest.Invalid("endpoint", "cannot be used: "+strings.TrimSuffix(problem, "."))
	}
	if err := in.checkKeys(); err != nil {
		return rest.Reply{}, err
	}
	if err := s.api.Fetch.CheckURL(r.HTTP.Context(), *in.Endpoint); err != nil {
		return rest.Reply{}, rest.Invalid("endpoint", api.URLRule(err))
	}

	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		if _, err := ensureVAPIDKey(tx); err != nil { // for a device that subscribed without asking for it
			return rest.Reply{}, err
		}
		id, err := tx.EnsurePushDevice(r.Visitor.SignedIn, storage.PushSubscription{
			Endpoint: *in.Endpoint, P256DH: *in.Keys.P256DH, Auth: *in.Keys.Auth,
		})
		if errors.Is(err, storage.ErrTooMany) {
			return rest.Reply{}, rest.Fail(rest.QuotaExceeded,
				"You can have notifications on at most "+strconv.Itoa(storage.MaxDevices)+" devices: switch one off first.")
		}
		return rest.Created(deviceView{ID: id, Object: "device"}), err
	})
}

// deleteDevice handles DELETE /console/api/devices.
func (s *Server) deleteDevice(r *rest.Request, in device) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		id, err := tx.DeletePushDevice(r.User.ID, *in.Endpoint)
		return rest.Deleted("device", id), err
	})
}

// testDevices handles POST /console/api/devices/test: a notification for the devices of this session.
func (s *Server) testDevices(r *rest.Request) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		devices, err := tx.SessionDevices(r.Visitor.Session.ID)
		if err != nil {
			return rest.Reply{}, err
		}
		if len(devices) == 0 {
			return rest.Reply{}, rest.Fail(rest.ResourceNotFound, "Notifications are off on this device.")
		}

		for _, id := range devices {
			if err := jobs.EnqueueTestPush(tx, r.User.ID, id); err != nil {
				return rest.Reply{}, err
			}
		}
		return rest.Accepted(map[string]int{"devices": len(devices)}), nil
	})
}
