package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/jobs/provider"
	"confab/storage"
)

// kind is what an id stands for: the provider has one namespace for all.
type kind string

const (
	number   kind = "number"
	business kind = "business account"
	media    kind = "media"
	template kind = "template"
)

// proofName is the parameter of clients that know their app's secret, which is not ours.
const proofName = "appsecret_proof"

// methodName is the parameter by which a request is one of another method at the provider, for
// which the key may lack the scope.
const methodName = "method"

// on finds what the id in a path stands for, with the account through which the provider is
// asked. Only what the key's organization and numbers have exists, and only some kinds have the
// route.
func on(kinds ...kind) func(*storage.Rx, *rest.Request) error {
	return func(rx *storage.Rx, r *rest.Request) error {
		id := r.Param("object")
		if !provider.PhoneNumberID.MatchString(id) {
			return rest.NotFound()
		}

		found, a, err := find(rx, r, id)
		if err != nil {
			return err
		}
		if !slices.Contains(kinds, found) {
			return errNotOffered()
		}
		callOf(r).kind = found
		r.Account, err = rx.AccountKey(storage.OrEmpty(a.PhoneNumberID))
		return err
	}
}

// findTemplate finds a template of the business account in a path.
func findTemplate(rx *storage.Rx, r *rest.Request) error {
	if err := on(business)(rx, r); err != nil {
		return err
	}
	a, err := rx.GatewayTemplate(r.Org.ID, r.Key.Accounts, r.Param("id"))
	if err == nil && storage.OrEmpty(a.WABAID) != r.Param("object") {
		err = rest.NotFound()
	}
	return err
}

func find(rx *storage.Rx, r *rest.Request, id string) (kind, storage.Account, error) {
	a, err := rx.AccountByNumber(id)
	if err == nil && isKeys(r, a) {
		return number, a, nil
	}
	if storage.IgnoreNotFound(err) != nil {
		return "", a, err
	}

	all, err := rx.AccountsOfWABA(id)
	if err != nil {
		return "", a, err
	}
	if i := slices.IndexFunc(all, func(a storage.Account) bool { return isKeys(r, a) }); i >= 0 {
		return business, all[i], nil
	}

	a, err = rx.GatewayMedia(r.Org.ID, r.Key.Accounts, id)
	if !errors.Is(err, storage.ErrNotFound) {
		return media, a, err
	}
	a, err = rx.GatewayTemplate(r.Org.ID, r.Key.Accounts, id)
	return template, a, err
}

// isKeys reports whether an account is one that a key has.
func isKeys(r *rest.Request, a storage.Account) bool {
	return a.OrganizationID == r.Org.ID && a.PhoneNumberID != nil && r.Key.Accounts.Has(&a.ID)
}

// pass passes a request on as it is, but for the token.
func (g *Server) pass(r *rest.Request) (provider.Answer, error) {
	if err := g.API.CheckConnected(r); err != nil {
		return provider.Answer{}, err
	}

	query := r.Query()
	isOther := provider.GetMember(r.Body, methodName) != nil
	for name := range query {
		isOther = isOther || strings.Contains(name, methodName) // the provider may overlook a space before it
	}
	if isOther {
		return provider.Answer{}, errNotOffered()
	}

	query.Del(tokenName)
	query.Del(proofName)
	query.Del("")
	_, edge, _ := strings.Cut(strings.Trim(strings.TrimPrefix(r.HTTP.URL.Path, r.Prefix), "/"), "/")
	p := provider.PassedCall{Method: r.HTTP.Method, ID: r.Param("object"), Edge: edge, Query: query}
	switch p.Method {
	case http.MethodHead:
		p.Method = http.MethodGet
	case http.MethodPost:
		p.Body, p.Query = withoutToken(r.Body), nil // its parameters are in the body
	}

	answer, err := g.API.Accounts.Pass(r.HTTP.Context(), r.Account.ID, p)
	return answered(answer, err)
}

// withoutToken is a body without what only its sender and we need to know.
func withoutToken(body json.RawMessage) json.RawMessage {
	for _, name := range []string{tokenName, proofName} {
		if provider.GetMember(body, name) != nil {
			body = provider.DeleteMember(body, name)
		}
	}
	return body
}

// answered is an answer, or why there is none.
func answered(answer provider.Answer, err error) (provider.Answer, error) {
	if answer.Status != 0 || err == nil {
		return answer, nil
	}
	return answer, api.ProviderCallError(err, func(e *provider.Error) error {
		return &rest.Error{Code: rest.ProviderUnavailable, Message: "The provider could not be reached.", Cause: e}
	})
}

func asReply(answer provider.Answer) rest.Reply {
	return rest.Reply{Status: answer.Status, Type: answer.Type, Body: rest.OrEmpty(answer.Body)}
}

func idOf(object []byte) string {
	var id provider.ID
	_ = json.Unmarshal(provider.GetMember(object, "id"), &id) // stays empty
	return string(id)
}

// passRead handles what is only read.
func (g *Server) passRead(r *rest.Request) (rest.Reply, error) {
	answer, err := g.pass(r)
	answer.Body = g.withOurPages(r, answer.Body)
	return asReply(answer), err
}

// withOurPages makes the addresses of further pages ours. The provider's may hold a token.
func (g *Server) withOurPages(r *rest.Request, body []byte) []byte {
	paging := provider.GetMember(body, "paging")
	if len(paging) == 0 || paging[0] != '{' {
		return body
	}

	changed := []byte(paging)
	for _, name := range []string{"next", "previous"} {
		var theirs string
		if raw := provider.GetMember(paging, name); raw == nil || json.Unmarshal(raw, &theirs) != nil {
			continue
		}
		at, err := url.Parse(theirs)
		if err != nil {
			at = new(url.URL)
		}
		query := at.Query()
		query.Del(tokenName)
		query.Del(proofName)
		ours, _ := json.Marshal(g.PublicURL + r.HTTP.URL.Path + "?" + query.Encode())
		changed = provider.ReplaceMember(changed, name, ours)
	}
	return provider.ReplaceMember(body, "paging", changed)
}

// getObject handles GET /graph/:object: a number, a file or a template.
func (g *Server) getObject(r *rest.Request) (rest.Reply, error) {
	if callOf(r).kind == media {
		return g.getMedia(r)
	}
	return g.passRead(r)
}

// listNumbers handles GET /graph/:object/phone_numbers. Of the account's numbers only the key's
// exist.
func (g *Server) listNumbers(r *rest.Request) (rest.Reply, error) {
	answer, err := g.pass(r)
	if err != nil {
		return rest.Reply{}, err
	}
	if answer.Status/100 == 2 && provider.GetMember(answer.Body, "data") == nil { // what others have cannot be left out of it
		return rest.Reply{}, errNotOffered()
	}

	accounts, err := rest.Query(g.API.Server, r, func(rx *storage.Rx) ([]storage.Account, error) {
		return rx.AccountsOfWABA(r.Param("object"))
	})
	answer.Body = provider.FilterList(answer.Body, "data", func(item []byte) bool {
		id := idOf(item) // one without is nobody's
		return slices.ContainsFunc(accounts, func(a storage.Account) bool {
			return isKeys(r, a) && *a.PhoneNumberID == id
		})
	})
	answer.Body = g.withOurPages(r, answer.Body)
	return asReply(answer), err
}

// listTemplates handles GET /graph/:object/message_templates. Ours follow, at most once a minute,
// so that the ids in the list are known.
func (g *Server) listTemplates(r *rest.Request) (rest.Reply, error) {
	rep, err := g.passRead(r)
	if err == nil && rep.Status == http.StatusOK {
		if err := g.API.Accounts.SyncTemplatesOnce(r.HTTP.Context(), r.Account.ID); err != nil {
			g.API.Log.Warn("could not follow a list of templates", "account", r.Account.ID, "error", err)
		}
	}
	return rep, err
}

// createTemplate handles POST /graph/:object/message_templates.
func (g *Server) createTemplate(r *rest.Request) (rest.Reply, error) {
	if err := r.CheckBilling(); err != nil {
		return rest.Reply{}, err
	}
	return g.writeTemplates(r)
}

// deleteTemplates handles DELETE /graph/:object/message_templates.
func (g *Server) deleteTemplates(r *rest.Request) (rest.Reply, error) {
	r.Target = cmp.Or(r.Query().Get("name"), r.Query().Get("hsm_ids"))
	return g.writeTemplates(r)
}

// followTime is how long a client waits at most until we have read the templates that it changed.
const followTime = 30 * time.Second

// writeTemplates handles POST /graph/:object of a template: it passes the change on, and ours follow.
func (g *Server) writeTemplates(r *rest.Request) (rest.Reply, error) {
	r.DetachContext()
	answer, err := g.pass(r)
	if err != nil || answer.Status/100 != 2 {
		return asReply(answer), err
	}

	accounts, err := rest.Query(g.API.Server, r, func(rx *storage.Rx) ([]storage.Account, error) {
		a, err := rx.AccountByNumber(r.Account.PhoneNumberID)
		if err != nil {
			return nil, err
		}
		return rx.AccountsOfWABA(storage.OrEmpty(a.WABAID))
	})
	ctx, cancel := context.WithTimeout(r.HTTP.Context(), followTime)
	defer cancel()
	for _, a := range accounts {
		_, failed := g.API.Accounts.SyncTemplates(ctx, a.ID)
		err = errors.Join(err, failed)
	}
	if err != nil {
		g.API.Log.Warn("could not follow a change of templates", "account", r.Account.ID, "error", err)
	}
	rep := asReply(answer)
	rep.Made = idOf(answer.Body) // only of a new one
	return g.API.Update(r, func(*storage.Tx) (rest.Reply, error) { return rep, nil })
}

// listSubscribedApps handles GET /graph/:object/subscribed_apps. Callbacks come to us in any case.
func (g *Server) listSubscribedApps(*rest.Request) (rest.Reply, error) {
	app := map[string]string{"id": g.AppID, "name": "confab", "link": g.PublicURL}
	return jsonReply(map[string]any{"data": []any{map[string]any{"whatsapp_business_api_data": app}}})
}

// subscribeApp handles POST /graph/:object/subscribed_apps. Where callbacks go, only webhooks say.
func (g *Server) subscribeApp(r *rest.Request) (rest.Reply, error) {
	if provider.GetMember(r.Body, "override_callback_uri") != nil {
		return rest.Reply{}, errNotOffered()
	}
	return succeed(r)
}

func succeed(*rest.Request) (rest.Reply, error) { return jsonReply(map[string]bool{"success": true}) }

func jsonReply(view any) (rest.Reply, error) {
	body, err := json.Marshal(view)
	return rest.Reply{Status: http.StatusOK, Body: body}, err
}
