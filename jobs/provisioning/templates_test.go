package provisioning

import (
	"encoding/json"
	"testing"
)

func TestTemplateStatusesReadAsOurOwn(t *testing.T) {
	var told []string
	for _, theirs := range []string{"APPROVED", "FLAGGED", "REINSTATED", "PENDING", "IN_APPEAL", "PENDING_DELETION", "REJECTED", "PAUSED", "DISABLED",
		"DELETED", "LIMIT_EXCEEDED", "ARCHIVED", "LOCKED", "UNARCHIVED", "SOMETHING_NEW", ""} {
		told = append(told, templateStatus(theirs))
	}
	got, _ := json.Marshal(told)
	want := `["approved","approved","approved","pending","pending","pending","rejected","rejected","rejected","rejected","rejected","rejected","rejected","rejected","rejected","rejected"]`
	if string(got) != want {
		t.Errorf("%s", got)
	}
}
