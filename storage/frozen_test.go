package storage_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

var freeze = flag.Bool("freeze", false, "put the current schema.sql into the newest testdata/v*.sql")

const frozenKey = "frozen databases share this key."

// frozenFile makes the file of a release, not upgraded yet.
func frozenFile(t *testing.T, version int) storage.Options {
	t.Helper()
	dump, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("v%d.sql", version)))
	check(t, err)
	o := storage.Options{Path: storage.DatabaseFile(t.TempDir()), Schema: storagetest.Schema(t), MasterKey: []byte(frozenKey)}
	alter(t, o.Path, "PRAGMA synchronous = OFF", string(dump))
	return o
}

// frozen calls fn with the file of each release.
func frozen(t *testing.T, fn func(t *testing.T, o storage.Options)) {
	for version := 1; version <= storage.SchemaVersion; version++ {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) { fn(t, frozenFile(t, version)) })
	}
}

// upgrade opens and closes a file.
func upgrade(t *testing.T, o storage.Options) {
	t.Helper()
	db, err := storage.Open(o)
	check(t, err)
	check(t, db.Close())
}

func TestFrozenDumpsAreKeptForEveryVersion(t *testing.T) {
	path := filepath.Join("testdata", fmt.Sprintf("v%d.sql", storage.SchemaVersion))
	text, err := os.ReadFile(path)
	check(t, err)
	if !*freeze {
		return
	}
	head, rest, _ := strings.Cut(string(text), "---- schema ----\n")
	_, rows, found := strings.Cut(rest, "---- rows ----\n")
	if !found {
		t.Fatalf("%s has lost its marks", path)
	}
	check(t, os.WriteFile(path, []byte(head+"---- schema ----\n"+storagetest.Schema(t)+"---- rows ----\n"+rows), 0o644))
}

// Each is upgraded once, for all that is held against it.
func TestFrozenFilesAreUpgraded(t *testing.T) {
	fresh := describe(t, newFile(t).Path)
	frozen(t, func(t *testing.T, o storage.Options) {
		before := contents(t, o.Path)
		db, err := storage.Open(o)
		check(t, err)
		t.Run("rows read back", func(t *testing.T) {
			check(t, db.View(context.Background(), func(rx *storage.Rx) error {
				readTenants(t, rx)
				readLabels(t, rx)
				readCustomers(t, rx)
				readQueue(t, rx)
				readAnswersAndCalls(t, rx)
				readMedia(t, rx)
				return nil
			}))
		})
		check(t, db.Close())

		// A failure here means that schema.sql changed: write a migration, raise
		// SchemaVersion and freeze the new version; see migrations/README.md.
		t.Run("it describes like a fresh one", func(t *testing.T) {
			for _, line := range difference(fresh, describe(t, o.Path)) {
				t.Error(line)
			}
			is := is.New(t)
			for pragma, want := range map[string]string{
				"user_version":   fmt.Sprint(storage.SchemaVersion),
				"application_id": fmt.Sprint(storage.ApplicationID),
				"auto_vacuum":    "2",
				"journal_mode":   "wal",
			} {
				is.Equal(column(t, o.Path, "PRAGMA "+pragma), []string{want})
			}
		})

		t.Run("rows outlive it", func(t *testing.T) {
			is := is.New(t)
			for table, rows := range before {
				if len(rows) == 0 {
					t.Errorf("the dump has no row in %s", table)
				}
			}
			after := contents(t, o.Path)
			for table, rows := range before {
				if table != "message_statuses" { // which became bits of their messages
					is.True(len(after[table]) >= len(rows)) // a migration that deletes rows says so here
				}
			}
			is.Equal(column(t, o.Path, `SELECT reported FROM messages ORDER BY id`), []string{"0", "8"})
			is.Equal(column(t, o.Path, "PRAGMA integrity_check"), []string{"ok"})
			is.Equal(column(t, o.Path, `SELECT "table" FROM pragma_foreign_key_check`), nil)
		})
	})
}

func text(s string) *string { return &s }

func readTenants(t *testing.T, rx *storage.Rx) {
	is := is.New(t)
	acme := storage.Organization{ID: 1, PublicID: "org_01KDYBMWFE0000000000000001", Name: "Acme", Plan: "self_hosted",
		Subscription: "active", RequireOptIn: true, CreatedAt: 1767323045678, UpdatedAt: 1767323045679}
	spaeti := storage.Organization{ID: 2, PublicID: "org_01KDYBMWFE0000000000000002", Name: "Späti & Söhne", Plan: "free",
		Subscription: "inactive", SuspendedAt: 1767323046000, CreatedAt: 1767323045680, UpdatedAt: 1767323046000}
	all, err := rx.Organizations()
	is.NoErr(err)
	is.Equal(all, []storage.Organization{acme, spaeti})

	teams, err := rx.Teams(1)
	is.NoErr(err)
	is.Equal(teams, []storage.Team{
		{ID: 1, PublicID: "team_01KDYBMWFE0000000000000001", OrganizationID: 1, Name: "Default", CreatedAt: 1767323045678, Assignment: "off"},
		{ID: 3, PublicID: "team_01KDYBMWFE0000000000000003", OrganizationID: 1, Name: "Support", CreatedAt: 1767323045690, Assignment: "off"},
	})
	users, err := rx.Users(1)
	is.NoErr(err)
	is.Equal(users, []storage.User{
		{ID: "01KDYBMWFE00000000000000U1", OrganizationID: 1, TeamID: 3, TeamPublicID: "team_01KDYBMWFE0000000000000003",
			Name: "Ada", Email: text("ada@example.com"), Role: storage.RoleAgent, CreatedAt: 1767323045700, Available: true, NotifyAbout: "mine_and_unassigned"},
		{ID: "01KDYBMWFE00000000000000U2", OrganizationID: 1, TeamID: 1, TeamPublicID: "team_01KDYBMWFE0000000000000001",
			Name: "Grace", Role: storage.RoleAgent, CreatedAt: 1767323045701, Available: true, NotifyAbout: "mine_and_unassigned"},
	})

	people, err := rx.Users(2)
	is.NoErr(err)
	for _, u := range people { // none in older dumps
		is.Equal(u.Status(1), storage.UserDisabled)
		is.Equal(u.Role, storage.RoleAdmin)
		sessions, err := rx.LatestAudit(2, 0, 10)
		is.NoErr(err)
		is.Equal(*sessions[0].AuditTarget.ID, "ses_01KDYBMWFE00000000000000N1")
	}

	hash := storage.KeyHash("svc_live_frozenfrozenfrozenfrozen")
	caller, err := rx.Principal(hash)
	is.NoErr(err)
	is.Equal(caller.Organization, acme)
	is.Equal(caller.Key, storage.Key{ID: "key_01KDYBMWFE00000000000000K1", OrganizationID: 1, Label: text("ci"), Hash: hash[:], Last4: "ozen",
		ExpiresAt: 1798859045678, LastUsedAt: 1767323099000, CreatedAt: 1767323045710,
		Scopes: storage.Strings{}, Accounts: storage.Accounts{}})
	keys, err := rx.Keys(1)
	is.NoErr(err)
	is.Equal(len(keys), 2)
	is.Equal(keys[1].RevokedAt, storage.Time(1767323050000))
	if keys[1].Agent != nil { // keys of older dumps have no limits
		is.Equal(*keys[1].Agent, "helper")
		is.Equal(keys[1].Scopes, storage.Strings{storage.ScopeRead, storage.ScopeSend})
		is.Equal(keys[1].Accounts, storage.Accounts{1})
	}
}

func readLabels(t *testing.T, rx *storage.Rx) {
	is := is.New(t)
	labels, err := rx.Labels(1, nil, storage.First, 10)
	is.NoErr(err)
	is.Equal(labels, []storage.Label{
		{ID: "lbl_01KDYBMWFE0000000000000002", OrganizationID: 1, TeamID: 3, TeamPublicID: "team_01KDYBMWFE0000000000000003",
			Name: "urgent", Color: "#00ff00", CreatedAt: 1767323045780, UpdatedAt: 1767323045780},
		{ID: "lbl_01KDYBMWFE0000000000000001", OrganizationID: 1, TeamID: 1, TeamPublicID: "team_01KDYBMWFE0000000000000001",
			Name: "Äpfel", Color: "#ff0000", CreatedAt: 1767323045780, UpdatedAt: 1767323045781},
	})
}

func readCustomers(t *testing.T, rx *storage.Rx) {
	is := is.New(t)
	const bakery = "cus_01KDYBMWFE00000000000000C1"
	all, _, err := rx.Customers(1, storage.CustomerFilter{Archived: true}, storage.First, 10)
	is.NoErr(err)
	is.Equal(all, []storage.Customer{{ID: bakery, OrganizationID: 1, TeamID: 1, TeamPublicID: "team_01KDYBMWFE0000000000000001", Name: "Bakery",
		Email: text("b@example.com"), Status: storage.CustomerArchived, Metadata: storage.JSON(`{"tier":2}`), ArchivedAt: 1767323060000,
		CreatedAt: 1767323045720, UpdatedAt: 1767323060000}})
	links, err := rx.SetupLinks(bakery, storage.First, 10)
	is.NoErr(err)
	is.Equal(links, []storage.SetupLink{{ID: "csl_01KDYBMWFE00000000000000L1", CustomerID: bakery, TokenHash: []byte{1, 2}, TokenLast4: "zzzz",
		Status: storage.LinkConsumed, SuccessRedirectURL: text("https://example.com/ok"), ExpiresAt: 1767409445678, ConsumedAt: 1767323050000,
		CreatedAt: 1767323045730}})
	gone, err := rx.Tombstone(2)
	is.NoErr(err)
	is.Equal(gone.DeletedAt, storage.Time(1767323052000))
}

func readQueue(t *testing.T, rx *storage.Rx) {
	is := is.New(t)
	jobs, err := rx.Jobs(storage.JobFilter{Limit: 10})
	is.NoErr(err)
	is.Equal(len(jobs), 4)
	is.Equal(jobs[0], storage.Job{ID: 7, Kind: "message.send", Lane: "account:1",
		Args: storage.JSON(`{"message":"msg_01KDYBMWFE00000000000000G2","account":1}`), State: storage.JobFailed, DueAt: 1767323045810,
		Runs: 5, Failures: 5, CallBegunAt: 1767323045809, LastError: text("timed out"), CreatedAt: 1767323045791})
	is.Equal(jobs[2].LeasedUntil, storage.Time(1767323105812))
	ran, err := rx.PeriodicRun("purge")
	is.NoErr(err)
	is.Equal(ran, storage.Time(1767323045811))
}

func readMedia(t *testing.T, rx *storage.Rx) {
	is := is.New(t)
	m, err := rx.MediaByToken("tok1")
	is.NoErr(err)
	is.Equal(m, storage.Media{ID: "med_01KDYBMWFE00000000000000M1", AccountID: 1, Origin: storage.OriginMessage, URLToken: "tok1",
		SHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", MIMEType: "image/png", Filename: text("a.png"),
		CreatedAt: 1767323045785})
	out, err := rx.MediaToSend(1, m.ID)
	is.NoErr(err)
	is.Equal(out, storage.OutgoingMedia{Media: m, ProviderID: text("1013859600285441"), ExpiresAt: 1769915045678})
	message, err := rx.Message(1, "msg_01KDYBMWFE00000000000000G1")
	is.NoErr(err)
	is.Equal(message.MediaToken, text("tok1"))
}

func readAnswersAndCalls(t *testing.T, rx *storage.Rx) {
	is := is.New(t)
	plain, err := rx.IdempotentReply(1, "k1")
	is.NoErr(err)
	is.Equal(plain, storage.IdempotentReply{Fingerprint: []byte{0xaa}, Status: 201, RequestID: "req_01K000000000000000000000R1",
		Body: []byte("{}"), CreatedAt: 4102444800000})
	sealed, err := rx.IdempotentReply(1, "k2")
	is.NoErr(err)
	is.Equal(string(sealed.Body), `{"data":{"secret":"whsec_1"},"request_id":"req_01K000000000000000000000R2"}`)

	calls, err := rx.APICalls(storage.APICallFilter{Limit: 10})
	is.NoErr(err)
	is.Equal(len(calls), 2)
	one := int64(1)
	is.Equal(calls[0], storage.APICall{ID: 1, OrganizationID: &one, OrganizationPublicID: text("org_01KDYBMWFE0000000000000001"),
		KeyID: text("key_01KDYBMWFE00000000000000K1"), Method: "POST", Path: "/v1/labels", Status: 201, Latency: 1834,
		IP: "192.0.2.1", RequestID: "req_01K000000000000000000000R1", CreatedAt: 1767323045820})
	is.Equal(calls[1].OrganizationID, nil)
}
