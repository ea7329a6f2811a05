package storage_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// unhinted are the functions that change what consoles show, and leave the hint to
// another, or change nothing that is seen.
var unhinted = map[string]string{
	"EnsureConversation":         "InsertMessage follows",
	"InsertThreadConversation":   "InsertMessage follows",
	"EnsureResolvedThread":       "InsertMessage follows",
	"MarkMessageReceived":        "InsertMessage follows",
	"MarkReactionReceived":       "InsertMessage follows",
	"markSentLate":               "MarkSent",
	"mergeConversations":         "MergeThreads",
	"takeConversation":           "MergeThreads",
	"mergeWaiting":               "MergeThreads",
	"limitUnread":                "MarkRead, DeleteMessages and ForgetMessages",
	"takeSignIn":                 "UpdateUser",
	"insertCalls":                "InsertAPICalls",
	"MarkKeyUsed":                "a look at the keys reads it",
	"MarkTemplateReviewed":       "not shown",
	"DetachLabel":                "DeleteLabel has told; it shows no more",
	"TouchLabeled":               "UpdateLabel tells",
	"TouchConversations":         "UpdateLabel tells",
	"DetachMedia":                "not shown before the message is read again",
	"ForgetSecrets":              "not shown",
	"SetAccessToken":             "not shown",
	"SetPIN":                     "not shown",
	"DeletePIN":                  "not shown",
	"deleteDeliveries":           "retention, and of a deleted subscription",
	"ReplayDelivery":             "InsertDelivery",
	"ensureSignupAccount":        "the account's state follows",
	"CopyLabeled":                "UpdateBroadcast follows",
	"AddRecipients":              "PublishBroadcast follows",
	"InsertBroadcast":            "PublishBroadcast follows",
	"CancelBroadcast":            "UpdateBroadcast",
	"MovePosition":               "not shown",
	"DeleteUnpublishedBroadcast": "not shown yet",
	"heldBack":                   "before anybody looks",
	"storeMove":                  "moveRecipient tells",
	"InsertOrganization":         "before anybody looks",
}

// hinted are the tables of which consoles are told.
var hinted = []string{"conversations", "messages", "contacts", "templates", "accounts", "deliveries", "api_keys", "users", "labels", "api_log", "broadcasts", "quick_replies", "organizations"}

var changes = regexp.MustCompile(`(?is)^\s*(?:INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM)\s+(\w+)`)

// A statement that changes what consoles show has to send a hint.
func TestEveryChangeThatConsolesShowIsHinted(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			table, tells := "", false
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BasicLit:
					if found := changes.FindStringSubmatch(strings.Trim(n.Value, "`\"")); n.Kind == token.STRING && found != nil && slices.Contains(hinted, found[1]) {
						table = found[1]
					}
				case *ast.CallExpr:
					if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "InsertRow" || s.Sel.Name == "UpdateRow") {
						if name := strings.Trim(n.Args[0].(*ast.BasicLit).Value, `"`); slices.Contains(hinted, name) {
							table = name
						}
					}
				case *ast.SelectorExpr:
					tells = tells || strings.HasPrefix(n.Sel.Name, "hint") && n.Sel.Name != "hints" || n.Sel.Name == "updateAccount" || n.Sel.Name == "updateUser"
				}
				return true
			})
			_, excused := unhinted[f.Name.Name]
			if table != "" && !tells && !excused {
				t.Errorf("%s: %s changes %s and tells no console: see Tx.hint", name, f.Name.Name, table)
			}
			known[f.Name.Name] = known[f.Name.Name] || table != "" && !tells
		}
	}
	for name := range unhinted {
		if !known[name] {
			t.Errorf("%s needs no excuse", name)
		}
	}
}

// told are the hints since the last call, as "kind id" with the organization that each is
// found to be of.
func told(t *testing.T, db *storage.DB, organization int64) (all []string) {
	t.Helper()
	hints, _ := db.Hints().Take()
	storagetest.View(t, db, func(rx *storage.Rx) error {
		for _, h := range hints {
			of, err := rx.OrganizationOf(h.Of)
			if err != nil {
				return err
			}
			if of != organization {
				t.Errorf("%v is of organization %d", h, of)
			}
			all = append(all, h.Kind+" "+strings.Join(h.IDs, " "))
		}
		return nil
	})
	slices.Sort(all)
	return all
}

func TestHintsKnowWhoseTheyAre(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	h := newThread(t, db, "106540352242922", "+15551234567")
	h.add(t, db)
	stop := db.WatchHints(t.Context())
	defer stop()
	for name, c := range map[string]struct {
		change func(*storage.Tx) error
		want   []string
	}{
		"message":  {nil, []string{"conversation " + h.conversation.ID}},
		"unread":   {func(tx *storage.Tx) error { return tx.SetUnread(h.conversation.ID, 1) }, []string{"conversation " + h.conversation.ID}},
		"opt-out":  {func(tx *storage.Tx) error { return tx.MarkOptedOut(h.contact.ID) }, []string{"contact " + h.contact.ID}},
		"degraded": {func(tx *storage.Tx) error { return tx.MarkDegraded(h.account.ID, "x") }, []string{"account "}},
		"failed": {func(tx *storage.Tx) error {
			if err := tx.MarkDegraded(h.account.ID, "x"); err != nil {
				return err
			}
			return storage.ErrConflict // nothing was changed
		}, nil},
	} {
		if c.change == nil {
			h.add(t, db)
		} else {
			err := db.Update(t.Context(), c.change)
			is.Equal(err != nil, name == "failed")
		}
		got := told(t, db, h.account.OrganizationID)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	stop()
	stop() // again does nothing
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.MarkOptedOut(h.contact.ID) })
	is.Equal(told(t, db, h.account.OrganizationID), nil)
}
