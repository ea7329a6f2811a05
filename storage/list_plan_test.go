package storage_test

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// listMethods are the methods of Rx that list page after page: all that take
// the start of a page. A new one is in by itself.
func listMethods() (lists []reflect.Method) {
	t := reflect.TypeFor[*storage.Rx]()
	for i := range t.NumMethod() {
		m := t.Method(i)
		for n := 1; n < m.Type.NumIn(); n++ {
			if m.Type.In(n) == reflect.TypeFor[storage.After]() {
				lists = append(lists, m)
			}
		}
	}
	return lists
}

// arguments are what a list can be called with, by the filters that they set:
// every one, and every set of up to four.
func arguments(t *testing.T, m reflect.Method) map[string][]reflect.Value {
	all := map[string][]reflect.Value{"": nil}
	for n := 1; n < m.Type.NumIn(); n++ {
		next := make(map[string][]reflect.Value)
		for name, args := range all {
			for more, value := range choices(t, m.Name, m.Type.In(n)) {
				next[name+more] = append(slices.Clone(args), value)
			}
		}
		all = next
	}
	return all
}

// choices are the values that a parameter can have.
func choices(t *testing.T, method string, in reflect.Type) map[string]reflect.Value {
	switch {
	case in == reflect.TypeFor[storage.After]():
		return map[string]reflect.Value{"": reflect.ValueOf(storage.First)}
	case in.Kind() == reflect.Struct:
		all := map[string]reflect.Value{" by": reflect.Zero(in)}
		for i := range in.NumField() {
			for name, value := range maps.Clone(all) {
				if strings.Count(name, " ") > 4 { // four together: a fifth is one more clause on each row
					continue
				}
				set := reflect.New(in).Elem()
				set.Set(value)
				fill(t, method, set.Field(i))
				all[name+" "+in.Field(i).Name] = set
			}
		}
		return all
	default:
		value := reflect.New(in).Elem()
		fill(t, method, value)
		return map[string]reflect.Value{"": value}
	}
}

func fill(t *testing.T, method string, value reflect.Value) {
	t.Helper()
	switch value.Kind() {
	case reflect.String:
		value.SetString("x")
	case reflect.Int, reflect.Int64:
		value.SetInt(5)
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		fill(t, method, value.Index(0))
	default:
		t.Fatalf("%s takes a %s, which this test cannot make up", method, value.Type())
	}
}

// seeks matches a step that finds rows by an index, and either in the order of the
// list, from where the page begins, or at most one: by a unique key.
var seeks = regexp.MustCompile(`SEARCH \w+ USING (COVERING )?INDEX (\w+ \(.*(\(\w+,(id|\w+_id|type)\)[<>]\(\?,\?\)|AND (id|place)<\?\))|contacts_phone|contacts_bsuid|sqlite_autoindex_conversations_2)`)

// plansOf says how SQLite executes what a list runs.
func plansOf(t *testing.T, db *storage.DB, m reflect.Method, args []reflect.Value) (plans map[string]string) {
	t.Helper()
	storagetest.View(t, db, func(rx *storage.Rx) (err error) {
		plans, err = rx.Plans(func() error {
			out := m.Func.Call(append([]reflect.Value{reflect.ValueOf(rx)}, args...))
			err, _ := out[len(out)-1].Interface().(error)
			return err
		})
		if err == nil && len(plans) == 0 {
			err = fmt.Errorf("%s asked nothing", m.Name)
		}
		return err
	})
	return plans
}

// Every list, with every set of up to four filters, begins at its index: it neither
// reads what lies before the page nor sorts.
func TestEveryListSeeksByItsIndex(t *testing.T) {
	db := open(t, newFile(t))
	lists := listMethods()
	if len(lists) < 4 {
		t.Fatalf("only %d lists were found", len(lists))
	}
	for _, m := range lists {
		for filters, args := range arguments(t, m) {
			for query, plan := range plansOf(t, db, m, args) {
				if strings.Contains(query, "LIMIT") && !seeks.MatchString(plan) || slow.MatchString(plan) {
					t.Errorf("%s%s:\n%s\n%s", m.Name, filters, query, plan)
				}
			}
		}
	}
}

// A filter may be one that no index answers, alone or with others. So a list with
// filters says how far it came, and ends its page when its time is up.
func TestEveryListWithFiltersHasAnEnd(t *testing.T) {
	for _, m := range listMethods() {
		filtered := false
		for n := 1; n < m.Type.NumIn(); n++ {
			in := m.Type.In(n)
			filtered = filtered || in.Kind() == reflect.Struct && in != reflect.TypeFor[storage.After]()
		}
		tells := m.Type.NumOut() == 3 && m.Type.Out(1) == reflect.TypeFor[storage.After]()
		if filtered && !tells {
			t.Errorf("%s may look at rows without end: let find read it", m.Name)
		}
	}
}

// bestIndexes are the lists' filters and the index that finds what they choose.
var bestIndexes = map[string]string{
	"Messages by ConversationID":                    "messages_of_conversation",
	"Messages by ContactID":                         "messages_of_conversation",
	"Messages by Status":                            "messages_of_account",
	"Contacts by PhoneNumber":                       "contacts_phone",
	"Contacts by BSUID":                             "contacts_bsuid",
	"Contacts by Username":                          "contacts_by_username",
	"Contacts by Email":                             "contacts_by_email",
	"Contacts by LabelID":                           "contact_labels_by_label",
	"Contacts by LabelID Search":                    "contact_labels_by_label",
	"Contacts by UpdatedSince":                      "contacts_of_account",
	"Conversations by":                              "conversations_by_status",
	"Conversations by Statuses":                     "conversations_by_status",
	"Conversations by ContactID":                    "sqlite_autoindex_conversations_2",
	"Conversations by AssigneeID":                   "conversations_assigned",
	"Conversations by Statuses AssigneeID":          "conversations_assigned",
	"Conversations by Statuses AssigneeID Unread":   "conversations_assigned",
	"Conversations by Unread":                       "conversations_unread",
	"Conversations by Statuses Unread":              "conversations_unread",
	"Conversations by Statuses Unassigned":          "conversations_by_status",
	"Conversations by Statuses LabelID":             "conversations_by_status",
	"Conversations by LabelID":                      "conversations_by_status",
	"Conversations by ByWaiting":                    "conversations_waiting",
	"Conversations by AssigneeID ByWaiting":         "conversations_waiting",
	"Conversations by Snoozed":                      "conversations_snoozed",
	"Conversations by Statuses Awake":               "conversations_by_status",
	"Conversations by Statuses AssigneeID Awake":    "conversations_assigned",
	"Conversations by MentionedID":                  "conversations_by_status",
	"Notes by":                                      "notes_of_conversation",
	"Notes by Search":                               "notes_of_conversation",
	"AuditEntries by":                               "audit_of_organization",
	"AuditEntries by Action ActorID":                "audit_of_organization",
	"LoggedCalls by":                                "api_log_of_organization",
	"LoggedCalls by Method Path":                    "api_log_of_organization",
	"LoggedCalls by CreatedAfter CreatedBefore":     "api_log_of_organization",
	"LoggedCalls by ErrorCode":                      "api_log_refused",
	"LoggedCalls by KeyID ErrorCode":                "api_log_refused",
	"Conversations by Statuses ContactID":           "sqlite_autoindex_conversations_2",
	"Customers by Email":                            "customers_by_email",
	"Customers by Status":                           "customers_by_status",
	"Customers by Status Email":                     "customers_by_email",
	"Customers by Status Archived":                  "customers_by_status",
	"Templates by Status":                           "templates_by_status",
	"Templates by Status Language":                  "templates_by_status",
	"Templates by Language":                         "templates_of_account",
	"Accounts by CustomerID":                        "accounts_of_organization",
	"EventItems by":                                 "events_of_organization",
	"EventItems by Types":                           "events_of_organization",
	"EventItems by PhoneNumberID":                   "events_of_organization",
	"EventItems by Of":                              "events_of_organization",
	"EventItems by CreatedAfter CreatedBefore":      "events_of_organization",
	"Deliveries by":                                 "deliveries_of_organization",
	"Deliveries by SubscriptionID Status EventType": "deliveries_of_subscription",
	"Deliveries by EventID":                         "deliveries_by_event_id",
	"Deliveries by Of":                              "deliveries_of_organization",
	"Deliveries by EventType EventID":               "deliveries_by_event_id",
	"Deliveries by EventID CreatedAfter":            "deliveries_by_event_id",
	"Deliveries by EventType":                       "deliveries_of_organization",
}

func TestEveryFilterUsesTheIndexMadeForIt(t *testing.T) {
	db := open(t, newFile(t))
	tried := 0
	for _, m := range listMethods() {
		for filters, args := range arguments(t, m) {
			index, ok := bestIndexes[m.Name+filters]
			if !ok {
				continue
			}
			tried++
			for query, plan := range plansOf(t, db, m, args) {
				if strings.Contains(query, "LIMIT") && !strings.Contains(plan, "INDEX "+index+" ") &&
					!strings.Contains(plan, "INDEX messages_placed") { // those are listed apart
					t.Errorf("%s%s:\n%s\n%s", m.Name, filters, query, plan)
				}
			}
		}
	}
	if tried != len(bestIndexes) {
		t.Errorf("%d of %d lists were found", tried, len(bestIndexes))
	}
}
