package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	"confab/app/rig"
)

// picture is the smallest one that there is.
var picture, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

// receiverProcess is a receiver as the trial sees it.
type receiverProcess struct {
	*rig.Process
	url string
}

// startReceiver runs one in a process of its own.
func startReceiver(self rig.Program) (*receiverProcess, error) {
	service, err := self.StartService(receiverCommand)
	if err != nil {
		return nil, err
	}
	return &receiverProcess{service.Process, service.URL}, nil
}

// endpoint is the URL of an endpoint.
func (r *receiverProcess) endpoint(name string) string { return r.url + "/hook/" + name }

// behave tells an endpoint how to answer.
func (r *receiverProcess) behave(name, mode string) error { return r.put("/mode/"+name+"/"+mode, "") }

// trust tells an endpoint of a signing secret.
func (r *receiverProcess) trust(name, secret string) error { return r.put("/secret/"+name, secret) }

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

// findings asks for everything that the receiver noted.
func (r *receiverProcess) findings() (f findings, err error) {
	res, err := http.Get(r.url + "/findings")
	if err != nil {
		return f, err
	}
	defer res.Body.Close()
	return f, json.NewDecoder(res.Body).Decode(&f)
}
