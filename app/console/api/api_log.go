package api

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"confab/app/api/rest"
	"confab/storage"
)

// CallView is the public shape of a call in the API log, in the console and on the command
// line.
type CallView struct {
	Object string `json:"object"`
	storage.APICall
}

// ViewCall shows a call.
func ViewCall(c storage.APICall) CallView { return CallView{"api_call", c} }

// loggedCallView is a call with the names of who made it.
type loggedCallView struct {
	CallView
	APIKey *callerView `json:"api_key"`
	User   *callerView `json:"user"`
}

// callerView is who made a call: a key or a person. One that was deleted has no name.
type callerView struct {
	ID    string  `json:"id"`
	Name  *string `json:"name"`
	Last4 *string `json:"last4,omitempty"`
}

func viewLoggedCall(c storage.LoggedCall) loggedCallView {
	v := loggedCallView{CallView: ViewCall(c.APICall)}
	if c.KeyID != nil {
		v.APIKey = &callerView{ID: *c.KeyID, Name: c.KeyLabel, Last4: c.KeyLast4}
	}
	if c.UserID != nil {
		v.User = &callerView{ID: *c.UserID, Name: c.UserName}
	}
	return v
}

// ParseStatuses reads one HTTP status, or a class of them such as 5xx, as the lowest and
// the highest that are meant.
func ParseStatuses(s string) (lowest, highest int, ok bool) {
	number, isClass := strings.CutSuffix(strings.ToLower(s), "xx")
	n, err := strconv.ParseUint(number, 10, 16)

	switch {
	case err == nil && isClass && 1 <= n && n <= 5:
		return int(n) * 100, int(n)*100 + 99, true
	case err == nil && !isClass && 100 <= n && n <= 599:
		return int(n), int(n), true
	}
	return 0, 0, false
}

func callFilters(r *rest.Request) (storage.CallFilter, error) {
	q := rest.Filters{Values: r.Query()}
	f := storage.CallFilter{
		WithoutPeople: q.OneOf("console", "true", "false") == "false",
		Method:        strings.ToUpper(q.Text("method", rest.MaxLoggedMethod)),
		Path:          q.Text("path", rest.MaxLoggedPath),
		KeyID:         q.ID("api_key_id", storage.PrefixKey),
		UserID:        q.UserID("user_id", ""),
		ErrorCode:     q.Text("error_code", maxErrorCode),
		CreatedAfter:  q.After("created_after"),
		CreatedBefore: q.Before("created_before"),
	}

	if q.Values.Has("status") {
		var ok bool
		if f.MinStatus, f.MaxStatus, ok = ParseStatuses(q.Values.Get("status")); !ok {
			q.Refuse("status", "must be a status such as 404, or a class such as 5xx")
		}
	}
	return f, q.Err
}

// maxErrorCode is longer than any error code.
const maxErrorCode = 64

// listCalls handles GET /console/api/log. The latest calls are in it.
func (s *Server) listCalls(r *rest.Request) (rest.Reply, error) {
	f, err := callFilters(r)
	if err != nil {
		return rest.Reply{}, err
	}
	if err := s.APILog.Flush(r.HTTP.Context()); err != nil {
		return rest.Reply{}, err
	}

	return rest.ListOf(s.Server, r, rest.Lister[storage.LoggedCall, loggedCallView]{
		Scope: fmt.Sprintf("log %#v", f),
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.LoggedCall, storage.After, error) {
			return rx.Within(q.Budget).LoggedCalls(r.Org.ID, f, q.After, q.Fetch())
		},
		Key:  func(c storage.LoggedCall) storage.After { return storage.After{Key: c.CreatedAt, ID: c.RequestID} },
		View: viewLoggedCall,
	})
}

// callDetailView is a call with what was sent and answered.
type callDetailView struct {
	loggedCallView
	Bodies       string    `json:"bodies"`        // of which calls they are kept: log.bodies
	RequestBody  *bodyView `json:"request_body"`  // null for one that is not kept
	ResponseBody *bodyView `json:"response_body"` // likewise
}

// bodyView is a body as the log keeps it.
type bodyView struct {
	Text  string `json:"text"`
	Bytes int    `json:"bytes"` // as it was sent
	IsCut bool   `json:"is_cut"`
}

// viewBody shows a body. One that is kept whole may have got shorter by what was masked, but
// never reaches the bound.
func viewBody(text string, size int) *bodyView {
	return &bodyView{Text: text, Bytes: size, IsCut: size > rest.MaxLoggedBody}
}

// getCall handles GET /console/api/log/:id, by the id of a request.
func (s *Server) getCall(r *rest.Request) (rest.Reply, error) {
	if err := s.APILog.Flush(r.HTTP.Context()); err != nil {
		return rest.Reply{}, err
	}

	view := callDetailView{Bodies: cmp.Or(s.LogBodies, rest.BodiesOff)}
	err := s.View(r, func(rx *storage.Rx) error {
		c, err := rest.InPath(r, "id", storage.PrefixRequest, r.Org.ID, rx.LoggedCall)
		if err != nil {
			return err
		}
		view.loggedCallView = viewLoggedCall(c)

		kept, err := rx.CallBodies(r.Org.ID, c.RequestID)
		if err == nil {
			view.RequestBody = viewBody(kept.Request, kept.RequestBytes)
			view.ResponseBody = viewBody(kept.Response, kept.ResponseBytes)
		}
		return storage.IgnoreNotFound(err)
	})
	return rest.OK(view), err
}
