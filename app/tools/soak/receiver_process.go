package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	"confab/app/tools/rig"
)

// picture is a PNG of one pixel.
var picture, _ = base64.StdEncoding.DecodeString(
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

// receiverProcess is a receiver of webhooks in a process of its own.
type receiverProcess struct {
	*rig.Process
	url string
}

// startReceiver runs this program once more, as a receiver.
func startReceiver(self rig.Program) (*receiverProcess, error) {
	service, err := self.StartService(receiverCommand)
	if err != nil {
		return nil, err
	}
	return &receiverProcess{service.Process, service.URL}, nil
}

// endpoint returns the URL of an endpoint.
func (r *receiverProcess) endpoint(name string) string { return r.url + "/hook/" + name }

// setMode sets how an endpoint answers.
func (r *receiverProcess) setMode(name, mode string) error { return r.put("/mode/"+name+"/"+mode, "") }

// addSecret adds a signing secret that an endpoint accepts.
func (r *receiverProcess) addSecret(name, secret string) error { return r.put("/secret/"+name, secret) }

func (r *receiverProcess) put(path, body string) error {
	req, err := http.NewRequest(http.MethodPut, r.url+path, bytes.NewBufferString(body))
	if err != nil {
		return err
	}

	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the receiver answered %d", res.StatusCode)
	}
	return nil
}

// findings returns everything that the receiver has recorded.
func (r *receiverProcess) findings() (f findings, err error) {
	res, err := http.Get(r.url + "/findings")
	if err != nil {
		return f, err
	}
	defer res.Body.Close()
	return f, json.NewDecoder(res.Body).Decode(&f)
}
