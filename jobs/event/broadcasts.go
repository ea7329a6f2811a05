package event

import (
	"encoding/json"

	"confab/storage"
)

// BroadcastView is the public shape of a broadcast, in events and in the API.
type BroadcastView struct {
	ID            string                  `json:"id"`
	Object        string                  `json:"object"`
	Name          string                  `json:"name"`
	PhoneNumberID *string                 `json:"phone_number_id"`
	Template      broadcastTemplate       `json:"template"`
	Audience      broadcastAudience       `json:"audience"`
	Status        string                  `json:"status"`
	PausedReason  *string                 `json:"paused_reason"`
	Counts        storage.BroadcastCounts `json:"counts"`
	ScheduledAt   storage.Time            `json:"scheduled_at"`
	StartedAt     storage.Time            `json:"started_at"`
	CompletedAt   storage.Time            `json:"completed_at"`
	CreatedBy     *string                 `json:"created_by"`
	CreatedAt     storage.Time            `json:"created_at"`
	UpdatedAt     storage.Time            `json:"updated_at"`
}

type broadcastTemplate struct {
	Name       string          `json:"name"`
	Language   string          `json:"language"`
	Components json.RawMessage `json:"components"`
}

type broadcastAudience struct {
	Type    string  `json:"type"`
	LabelID *string `json:"label_id"`
	Count   int64   `json:"count"`
}

// ViewBroadcast shows a broadcast.
func ViewBroadcast(b storage.Broadcast) BroadcastView {
	template := broadcastTemplate{Components: json.RawMessage("[]")}
	_ = json.Unmarshal(b.Content, &template) // which was checked when it was stored

	return BroadcastView{
		ID:            b.ID,
		Object:        "broadcast",
		Name:          b.Name,
		PhoneNumberID: b.AccountNumberID,
		Template:      template,
		Audience:      broadcastAudience{Type: b.AudienceType, LabelID: b.LabelID, Count: b.Total},
		Status:        b.Status,
		PausedReason:  b.PausedReason,
		Counts:        b.BroadcastCounts,
		ScheduledAt:   b.ScheduledAt,
		StartedAt:     b.StartedAt,
		CompletedAt:   b.CompletedAt,
		CreatedBy:     b.CreatedBy,
		CreatedAt:     b.CreatedAt,
		UpdatedAt:     b.UpdatedAt,
	}
}

// Broadcast says that the first messages of a broadcast are made, or that no one waits any more.
func Broadcast(kind string, s Subject, b storage.Broadcast) Event {
	return Event{subject: s, kind: kind, data: ViewBroadcast(b)}
}
