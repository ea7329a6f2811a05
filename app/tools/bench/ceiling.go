package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"

	"confab/storage"
)

// answer has the shape of the API's answer to GET message: as many fields, of the same
// types.
type answer struct {
	Data      message `json:"data"`
	RequestID string  `json:"request_id"`
}

type message struct {
	ID             string            `json:"id"`
	Object         string            `json:"object"`
	Direction      string            `json:"direction"`
	From           *string           `json:"from"`
	To             *string           `json:"to"`
	BSUID          *string           `json:"bsuid"`
	ParentBSUID    *string           `json:"parent_bsuid"`
	Username       *string           `json:"username"`
	ContactID      string            `json:"contact_id"`
	ConversationID string            `json:"conversation_id"`
	MessageID      *string           `json:"message_id"`
	Type           string            `json:"type"`
	Status         string            `json:"status"`
	Source         string            `json:"source"`
	Context        json.RawMessage   `json:"context"`
	IsRevoked      bool              `json:"is_revoked"`
	EditedAt       *time.Time        `json:"edited_at"`
	CreatedAt      time.Time         `json:"created_at"`
	UpdatedAt      time.Time         `json:"updated_at"`
	Text           map[string]string `json:"text"`
}

func sampleMessage(id string) message {
	from, to, wamid := "+15550000000", "+15551000000", "wamid.bench"
	now := time.Now()

	return message{
		ID:             id,
		Object:         "message",
		Direction:      "outbound",
		From:           &from,
		To:             &to,
		ContactID:      id,
		ConversationID: id,
		MessageID:      &wamid,
		Type:           "text",
		Status:         "sent",
		Source:         "api",
		CreatedAt:      now,
		UpdatedAt:      now,
		Text:           map[string]string{"body": "a message of the past"},
	}
}

// ceiling serves GET message without a database: a router, the check of a key, and the
// JSON of a message. Its rate is the most that HTTP allows on this machine. The arguments
// are an address to listen on and the API key.
func ceiling(args []string) error {
	address, key := args[0], args[1]
	keys := map[[32]byte]bool{storage.KeyHash(key): true}

	router := httprouter.New()
	router.GET("/", func(http.ResponseWriter, *http.Request, httprouter.Params) {})

	router.GET("/v1/:number/messages/:id", func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !keys[storage.KeyHash(token)] {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}

		body, err := json.Marshal(answer{Data: sampleMessage(p.ByName("id")), RequestID: "req_bench"})
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}

		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	})

	return http.ListenAndServe(address, router)
}
