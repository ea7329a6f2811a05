package storage

import (
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"confab/storage/sqlite"
)

// The busiest tables have neither references nor CHECKs for what the program makes sure
// of, because SQLite would check them again with every message. So a full check of a
// file looks for what those would have refused: it lists all rows that are not sound. A
// file that is not upgraded yet, such as that of an old backup, is held against what its
// schema has already.
var unsoundRows = []struct {
	what, query string
	since       int // the schema that has what the query asks for
}{
	{"messages without their account", `
		SELECT count(*) FROM messages m WHERE NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = m.account_id)`, 1},
	{"messages without their conversation", `
		SELECT count(*) FROM messages m
		WHERE NOT EXISTS (SELECT 1 FROM conversations v WHERE v.id = m.conversation_id AND v.contact_id = m.contact_id)`, 1},
	{"messages with an unknown direction, state or source", `
		SELECT count(*) FROM messages
		WHERE direction NOT IN ('inbound', 'outbound')
			OR status NOT IN ('queued', 'pending', 'sent', 'delivered', 'read', 'failed')
			OR source NOT IN ('api', 'app', 'console', 'broadcast', 'rule', 'gateway')
			OR coalesce(media_status, 'ready') NOT IN ('fetching', 'ready', 'failed')
			OR is_revoked NOT IN (0, 1)`, 1},
	{"messages whose content is not JSON", `
		SELECT count(*) FROM messages WHERE NOT json_valid(content) OR NOT json_valid(coalesce(context, '{}'))`, 1},
	{"conversations with an unknown state or count", `
		SELECT count(*) FROM conversations WHERE status NOT IN ('open', 'resolved', 'pending') OR unread_count < 0`, 1},
	{"recipients without their broadcast, or in an unknown state", `
		SELECT count(*) FROM broadcast_recipients r
		WHERE r.status NOT BETWEEN 0 AND 5 OR NOT json_valid(coalesce(r.fields, '{}'))
			OR NOT EXISTS (SELECT 1 FROM broadcasts b WHERE b.number = r.broadcast)`, 8},
	{"jobs with an unknown state or arguments", `
		SELECT count(*) FROM jobs
		WHERE state NOT IN ('due', 'held', 'running', 'failed') OR NOT json_valid(args) OR preparing NOT IN (0, 1)`, 1},
}

func checkRows(conn *sqlx.DB, path string, version int) error {
	var found []string
	for _, rule := range unsoundRows {
		if version < rule.since {
			continue
		}
		var n int64
		if err := conn.Get(&n, rule.query); err != nil {
			return sqlite.Explain(path, err)
		}
		if n > 0 {
			found = append(found, fmt.Sprintf("%d %s", n, rule.what))
		}
	}

	if len(found) > 0 {
		return fmt.Errorf("%s has %s", path, strings.Join(found, "; "))
	}
	return nil
}
