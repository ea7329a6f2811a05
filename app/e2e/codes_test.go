package e2e

import (
	"fmt"
	"testing"

	"github.com/matryer/is"

	"confab/jobs/provider"
)

// magicCodes are the provider's codes that fit into a magic recipient.
func magicCodes() (rows []provider.CodeRow) {
	for _, row := range provider.Codes() {
		if row.First <= 999_999 && row.Subcode == 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// expectation is a message on its way to a failure.
type expectation struct {
	row        provider.CodeRow
	number, id string
	async      bool
}

// TestEveryCodeOfTheProviderEndsAsAFailedMessage sends to the magic recipient of
// each code, and then has each code reported by callback. Every message has a
// number of its own, because some codes stop the whole number.
func TestEveryCodeOfTheProviderEndsAsAFailedMessage(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	var all []expectation
	for _, row := range magicCodes() {
		number := s.connect()
		id := s.send(number, fmt.Sprintf("+1999000%06d", row.First), `"type":"text","text":{"body":"hi"}`)
		all = append(all, expectation{row, number, id, row.Arrival == provider.InCallback})

		number = s.connect()
		s.fault(`{"kind":"error_code","code":%d,"async":true,"phone_number_id":%q}`, row.First, number)
		id = s.send(number, "+15550001111", `"type":"text","text":{"body":"hi"}`)
		all = append(all, expectation{row, number, id, true})
	}
	is.True(len(all) > 150)
	for _, e := range all {
		m := s.await(e.number, e.id, isStatus("failed"))
		fault := m["error"].(map[string]any)
		if fault["code"] != string(e.row.Code) || fault["provider_code"] != float64(e.row.First) || fault["message"] == "" {
			t.Errorf("%d ended with %v", e.row.First, fault)
		}
		want := []string{fmt.Sprint("failed ", e.row.First)}
		if e.async {
			want = append([]string{"accepted"}, want...)
		}
		if reported := s.reported(m); fmt.Sprint(reported) != fmt.Sprint(want) {
			t.Errorf("%d was reported as %v, not %v", e.row.First, reported, want)
		}
		is.Equal(m["message_id"] != nil, e.async) // what was refused has no id there
	}
}
