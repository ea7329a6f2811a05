package api

import (
	"cmp"
	"encoding/json"
	"net/url"

	"confab/app/api/rest"
	"confab/storage"
)

const (
	maxViewName = 50
	// How many views an organization may share, and how many a person may keep besides: people
	// choose from all of them.
	maxSharedViews = 100
	maxOwnViews    = 50
	// maxStates is how long a list of all states is, and more.
	maxStates = 50
)

type savedView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	storage.View
}

func viewView(v storage.View) savedView { return savedView{v.ID, "view", v} }

// listViews handles GET /v1/views.
func (s *Server) listViews(r *rest.Request) (rest.Reply, error) {
	return rest.ListOf(s.Server, r, rest.Lister[storage.View, savedView]{
		Scope: "views " + storage.OrEmpty(r.UserID()),
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.View, storage.After, error) {
			return rx.Within(q.Budget).Views(r.Org.ID, storage.OrEmpty(r.UserID()), q.After, q.Fetch())
		},
		Key:  func(v storage.View) storage.After { return storage.After{Key: v.CreatedAt, ID: v.ID} },
		View: viewView,
	})
}

// viewFilter are the filters of a list of conversations that a view keeps. A false is as
// good as absent, but for snoozed.
type viewFilter struct {
	Status     *string `json:"status,omitempty"`
	AssignedTo *string `json:"assigned_to,omitempty"`
	LabelID    *string `json:"label_id,omitempty"`
	Unread     *bool   `json:"unread,omitempty"`
	Waiting    *bool   `json:"waiting,omitempty"`
	Snoozed    *bool   `json:"snoozed,omitempty"`
	Mentioned  *string `json:"mentioned,omitempty"`
}

// me means the person who looks at a view, and at a list in the console.
const me = "me"

func (f *viewFilter) check() error {
	q := rest.Filters{Values: url.Values{}}
	q.Set("status", f.Status)
	q.Set("label_id", f.LabelID)
	q.Set("mentioned", f.Mentioned)
	q.SomeOf("status", storage.ConversationOpen, storage.ConversationResolved, storage.ConversationPending)
	q.ID("label_id", storage.PrefixLabel)
	q.OneOf("mentioned", me)
	if len(storage.OrEmpty(f.Status)) > maxStates {
		q.Refuse("status", "must name each state once")
	}

	if who := storage.OrEmpty(f.AssignedTo); f.AssignedTo != nil && who != me && who != unassigned {
		q.Set("assigned_to", f.AssignedTo)
		q.UserID("assigned_to", ", "+me+" or "+unassigned)
	}
	return rest.Within("filter", q.Err)
}

// checkReferences refuses a filter by what the organization does not have.
func (f *viewFilter) checkReferences(rx *storage.Rx, organization int64) error {
	if f.LabelID != nil {
		if err := checkLabel(rx, organization, "filter.label_id", *f.LabelID); err != nil {
			return err
		}
	}

	if who := storage.OrEmpty(f.AssignedTo); who != "" && who != me && who != unassigned {
		return checkAnyUser(rx, organization, "filter.assigned_to", who)
	}
	return nil
}

// newView is the body of POST /v1/views.
type newView struct {
	Name          *string     `json:"name"`
	Shared        *bool       `json:"shared"`
	PhoneNumberID *string     `json:"phone_number_id"`
	Filter        *viewFilter `json:"filter"`
	Sort          *string     `json:"sort"`
}

func (v *newView) Validate() error {
	rest.Trim(v.Name)
	if v.Filter == nil {
		v.Filter = &viewFilter{}
	}
	return cmp.Or(rest.Required("name", v.Name, maxViewName), v.Filter.check(), rest.OptionalOneOf("sort", v.Sort, sortWaiting))
}

// createView handles POST /v1/views. What a key makes is shared: nobody else could see it.
func (s *Server) createView(r *rest.Request, in newView) (rest.Reply, error) {
	if r.User == nil && in.Shared != nil && !*in.Shared {
		return rest.Reply{}, rest.Invalid("shared", "must be true for a view that is made with an API key")
	}

	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		v := storage.View{
			OrganizationID: r.Org.ID,
			OwnerID:        r.UserID(),
			Name:           *in.Name,
			Shared:         r.User == nil || in.Shared != nil && *in.Shared,
			Sort:           in.Sort,
		}
		err := cmp.Or(setViewNumber(tx, r, &v, in.PhoneNumberID), setViewFilter(tx, r, &v, in.Filter), checkViewRoom(tx, r, v))
		if err != nil {
			return rest.Reply{}, err
		}
		err = tx.InsertView(&v)
		return rest.Created(viewView(v)), err
	})
}

// setViewNumber sets the number that a view is for; nil is every number.
func setViewNumber(tx *storage.Tx, r *rest.Request, v *storage.View, number *string) error {
	v.AccountID, v.PhoneNumberID = nil, number
	if number == nil {
		return nil
	}

	a, err := tx.AccountByNumber(*number)
	if err == nil && a.OrganizationID != r.Org.ID {
		err = storage.ErrNotFound
	}
	v.AccountID = &a.ID
	return rest.InvalidIf(err, storage.ErrNotFound, "phone_number_id", "is not the id of one of this organization's numbers")
}

func setViewFilter(tx *storage.Tx, r *rest.Request, v *storage.View, f *viewFilter) (err error) {
	if err := f.checkReferences(&tx.Rx, r.Org.ID); err != nil {
		return err
	}
	v.Filter, err = json.Marshal(f)
	return err
}

// checkViewRoom checks whether there may be one more view such as this, which is new or becomes
// shared.
func checkViewRoom(tx *storage.Tx, r *rest.Request, v storage.View) error {
	if v.Shared && r.User != nil && r.User.Role != storage.RoleAdmin {
		return rest.Fail(rest.PermissionDenied, "Only admins of the organization can share a view.")
	}

	shared, own, err := tx.CountViews(r.Org.ID, storage.OrEmpty(v.OwnerID))
	switch {
	case err != nil:
		return err
	case v.Shared && shared >= maxSharedViews:
		return rest.Fail(rest.QuotaExceeded, "An organization can share at most 100 views: delete one first.")
	case !v.Shared && own >= maxOwnViews:
		return rest.Fail(rest.QuotaExceeded, "A person can keep at most 50 views: delete one first.")
	}
	return nil
}

// viewIn finds the view in the path, among those that the caller may see.
func viewIn(rx *storage.Rx, r *rest.Request) (storage.View, error) {
	return rest.InPath(r, "id", storage.PrefixView, r.Org.ID, func(organization int64, id string) (storage.View, error) {
		return rx.View(organization, id, storage.OrEmpty(r.UserID()))
	})
}

// checkViewOwner refuses to let an agent change a view that somebody else shares.
func checkViewOwner(r *rest.Request, v storage.View) error {
	if r.User == nil || r.User.Role == storage.RoleAdmin || storage.OrEmpty(v.OwnerID) == r.User.ID {
		return nil
	}
	return rest.Fail(rest.PermissionDenied, "Only its owner and admins of the organization can change a view.")
}

// viewChanges is the body of PATCH /v1/views/:id.
type viewChanges struct {
	Name          rest.Patch[string]     `json:"name"`
	Shared        rest.Patch[bool]       `json:"shared"`
	PhoneNumberID rest.Patch[string]     `json:"phone_number_id"`
	Filter        rest.Patch[viewFilter] `json:"filter"`
	Sort          rest.Patch[string]     `json:"sort"`
}

func (c *viewChanges) Validate() error {
	if !c.Name.Set && !c.Shared.Set && !c.PhoneNumberID.Set && !c.Filter.Set && !c.Sort.Set {
		return rest.NoneGiven("name", "Provide at least one of name, shared, phone_number_id, filter and sort.")
	}
	rest.Trim(&c.Name.Value)
	return cmp.Or(
		c.Name.NotNull("name"),
		rest.Optional("name", c.Name.OrNil(), maxViewName),
		c.Shared.NotNull("shared"),
		c.Filter.NotNull("filter"),
		c.Filter.Value.check(),
		rest.OptionalOneOf("sort", c.Sort.OrNil(), sortWaiting),
	)
}

// updateView handles PATCH /v1/views/:id.
func (s *Server) updateView(r *rest.Request, in viewChanges) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, viewIn, func(tx *storage.Tx, v storage.View) (rest.Reply, error) {
		if err := checkViewOwner(r, v); err != nil {
			return rest.Reply{}, err
		}

		if err := in.applyTo(tx, r, &v); err != nil {
			return rest.Reply{}, err
		}
		err := tx.UpdateView(&v)
		return rest.OK(viewView(v)), err
	})
}

func (c *viewChanges) applyTo(tx *storage.Tx, r *rest.Request, v *storage.View) error {
	c.Name.Apply(&v.Name)
	c.Sort.ApplyOrNil(&v.Sort)
	if c.PhoneNumberID.Set {
		if err := setViewNumber(tx, r, v, c.PhoneNumberID.OrNil()); err != nil {
			return err
		}
	}
	if c.Filter.Set {
		if err := setViewFilter(tx, r, v, &c.Filter.Value); err != nil {
			return err
		}
	}

	if !c.Shared.Set || c.Shared.Value == v.Shared {
		return nil
	}
	if !c.Shared.Value && v.OwnerID == nil {
		return rest.Invalid("shared", "must be true for a view that was made with an API key")
	}
	v.Shared = c.Shared.Value
	return checkViewRoom(tx, r, *v)
}

// deleteView handles DELETE /v1/views/:id.
func (s *Server) deleteView(r *rest.Request) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, viewIn, func(tx *storage.Tx, v storage.View) (rest.Reply, error) {
		if err := checkViewOwner(r, v); err != nil {
			return rest.Reply{}, err
		}
		return rest.Deleted("view", v.ID), tx.DeleteView(r.Org.ID, v.ID)
	})
}
