package e2e

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/config"
)

func TestAMessageIsSentThenDeliveredThenRead(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	number := s.connect()
	id := s.send(number, "+15550001111", `"type":"text","text":{"body":"hi"}`)
	m := s.await(number, id, isStatus("read"))
	is.Equal(s.reported(m), []string{"accepted", "sent", "delivered", "read"})
	is.Equal(m["error"], nil)
	is.Equal(m["played_at"], nil)
}

func TestAVoiceNoteIsPlayed(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	number := s.connect()
	id := s.send(number, "+15550001111", `"type":"audio","audio":{"link":"https://shop.test/note.ogg","voice":true}`)
	m := s.await(number, id, func(m map[string]any) bool { return m["played_at"] != nil })
	is.Equal(m["status"], "read") // played is no status
	is.Equal(s.reported(m), []string{"accepted", "sent", "delivered", "read", "played"})
}

func TestAnAnswerThatIsLostIsMadeUpForByCallbacks(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, func(c *config.Config) { c.Provider.RetrySchedule = []time.Duration{time.Minute} })
	number := s.connect()
	s.fault(`{"kind":"drop_connection","times":1}`) // takes the message and hangs up
	id := s.send(number, "+15550001111", `"type":"text","text":{"body":"hi"}`)
	m := s.await(number, id, isStatus("read"))
	is.Equal(s.reported(m), []string{"accepted", "sent", "delivered", "read"})
}
