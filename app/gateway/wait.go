package gateway

import (
	"time"

	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/provider"
	"confab/storage"
)

// drainWait is how long a message whose call has begun is waited for when the server stops.
const drainWait = 8 * time.Second

// await is what a client waits at.
type await struct {
	answer   <-chan provider.Answer
	leave    func()
	deadline time.Time
}

// begin begins to wait for a message, instead of one of a transaction that was undone.
func (a *await) begin(answers *jobs.Answers, message string) {
	if a.leave != nil {
		a.leave()
	}
	a.answer, a.leave = answers.Await(message)
}

// finish answers with what becomes of the message that was accepted, now or by an earlier request
// with the same Idempotency-Key. Meanwhile the request holds nothing but its place.
func (g *Server) finish(r *rest.Request, rep rest.Reply) (rest.Reply, error) {
	id, c := rep.FirstID(), callOf(r)
	if id == "" {
		return rep, nil // a receipt
	}

	// Who has gone still waits: the message must be cancelled in time.
	r.DropBody()
	r.DetachContext()
	answer, err := g.outcome(r, c, id)
	rep.Status, rep.Type, rep.Body = answer.Status, answer.Type, rest.OrEmpty(answer.Body)
	return rep, err
}

func (g *Server) outcome(r *rest.Request, c *call, id string) (provider.Answer, error) {
	c.deadline = time.Now().Add(g.Wait)
	if c.answer == nil {
		if answer, known, err := g.join(r, c, id); err != nil || known {
			return answer, err
		}
	}

	timer := time.NewTimer(time.Until(c.deadline))
	defer timer.Stop()
	for draining := g.Draining; ; {
		select {
		case answer := <-c.answer:
			if answer.Status != 0 {
				return answer, nil
			}
			// A callback was faster than the answer, which will come, or has just now: it is told before
			// the call counts as ended.
			if g.API.Calls.Begun(id) || len(c.answer) > 0 {
				continue
			}
			if _, answer, known, err := g.read(r, id); err != nil || known {
				return answer, err
			}

		case <-timer.C:
			answer, _, err := g.giveUp(r, id)
			return answer, err

		case <-draining:
			draining = nil
			if answer, begun, err := g.giveUp(r, id); err != nil || !begun {
				return answer, err
			}
			timer.Reset(min(drainWait, time.Until(c.deadline)))
		}
	}
}

// join lets a request wait for the message of an earlier one, unless its end is known.
func (g *Server) join(r *rest.Request, c *call, id string) (provider.Answer, bool, error) {
	if err := g.takePlace(r, c); err != nil {
		return provider.Answer{}, false, err
	}
	c.begin(g.Answers, id)

	begun := g.API.Calls.Begun(id)
	m, answer, known, err := g.read(r, id)
	if end := m.CreatedAt.Std().Add(g.Wait); end.Before(c.deadline) { // it may lie ahead: the clock may have
		c.deadline = end
	}
	return answer, known && !begun, err
}

func (g *Server) read(r *rest.Request, id string) (m storage.Message, answer provider.Answer, known bool, err error) {
	var kept storage.GatewaySend
	err = g.API.View(r, func(rx *storage.Rx) (err error) {
		if m, err = rx.OutboundMessage(r.Account.ID, id); err != nil {
			return err
		}
		kept, err = rx.GatewaySend(r.Account.ID, id)
		return storage.IgnoreNotFound(err)
	})
	if err == nil {
		answer, known = answerOf(m, kept, r.ID)
	}
	return m, answer, known, err
}

// giveUp ends the waiting: a message whose call has not begun is cancelled. It may have ended just
// now, and if its call has begun, nobody knows yet.
func (g *Server) giveUp(r *rest.Request, id string) (answer provider.Answer, begun bool, err error) {
	if g.API.Calls.Cancel(r.HTTP.Context(), id) {
		err = g.API.DB.Update(r.HTTP.Context(), func(tx *storage.Tx) error {
			m, err := tx.OutboundMessage(r.Account.ID, id)
			if err == nil {
				_, err = jobs.CancelMessage(tx, &m)
			}
			return err
		})
		g.API.Calls.EndCancel(id)
		if err != nil {
			return answer, false, err
		}
	}

	_, answer, known, err := g.read(r, id)
	if err == nil && !known {
		why := "It is unknown whether the provider has the message. Callbacks will tell; it is not sent again."
		return refusal(codeUnknown, why, r.ID).Answer(), true, nil
	}
	return answer, false, err
}
