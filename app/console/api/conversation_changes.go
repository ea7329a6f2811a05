package api

import (
	"confab/app/api/rest"
	"confab/storage"
)

// changeView is something that happened to a conversation, besides its messages.
type changeView struct {
	ID        string       `json:"id"`
	Object    string       `json:"object"`
	Type      string       `json:"type"`
	By        changeActor  `json:"by"`
	Assignee  *changeUser  `json:"assignee"` // of assigned; null: to nobody
	Label     *string      `json:"label"`
	Until     storage.Time `json:"until"` // of snoozed
	CreatedAt storage.Time `json:"created_at"`
}

type changeActor struct {
	Type string  `json:"type"` // user, api, contact, time
	ID   *string `json:"id"`
	Name *string `json:"name"`
}

type changeUser struct {
	ID   string  `json:"id"`
	Name *string `json:"name"`
}

// listConversationChanges handles GET /console/api/:phone_number_id/conversations/:id/changes.
func (s *Server) listConversationChanges(r *rest.Request) (rest.Reply, error) {
	return rest.ListOf(s.Server, r, rest.Lister[storage.ConversationChange, changeView]{
		Scope: "changes " + r.Param("id"),
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.ConversationChange, storage.After, error) {
			return rx.Within(q.Budget).ConversationChanges(r.Param("id"), q.After, q.Fetch())
		},
		Key:  func(c storage.ConversationChange) storage.After { return storage.After{ID: c.ID} },
		View: viewChange,
	})
}

func viewChange(c storage.ConversationChange) changeView {
	v := changeView{
		ID:        c.ID,
		Object:    "conversation_change",
		Type:      c.Kind,
		By:        changeActor{c.Actor, c.UserID, c.UserName},
		Label:     c.Label,
		Until:     c.Until,
		CreatedAt: c.CreatedAt,
	}
	if c.AssigneeID != nil {
		v.Assignee = &changeUser{*c.AssigneeID, c.AssigneeName}
	}
	return v
}
