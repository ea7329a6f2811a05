package api

import (
	"errors"
	"strconv"
	"strings"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/messaging"
	"confab/storage"
)

// getInboxCounts handles GET /console/api/:phone_number_id/counts.
func (s *Server) getInboxCounts(r *rest.Request) (rest.Reply, error) {
	n, err := rest.QueryMany(s.Server, r, func(rx *storage.Rx) (storage.ConversationCounts, error) {
		return rx.CountConversations(r.Account.ID, r.User.ID)
	})
	return rest.OK(n), err
}

// getWaiting handles GET /console/api/waiting.
func (s *Server) getWaiting(r *rest.Request) (rest.Reply, error) {
	all, err := rest.QueryMany(s.Server, r, func(rx *storage.Rx) ([]storage.NumberWaiting, error) { return rx.CountWaiting(r.Org.ID) })
	return rest.OK(rest.OrEmpty(all)), err
}

// newestInbound finds the newest message of the person in the conversation of the path,
// and counts what came after it; nil if the person never wrote.
func (s *Server) newestInbound(r *rest.Request) (newest *storage.Message, unread storage.UnreadCount, err error) {
	err = s.List(r, func(rx *storage.Rx) error {
		newest = nil
		m, err := rx.NewestInbound(r.Param("id"))
		if err != nil {
			return storage.IgnoreNotFound(err)
		}

		newest = &m
		unread, err = rx.CountUnreadAfter(m)
		return err
	})
	return newest, unread, err
}

// readConversation handles POST /console/api/:phone_number_id/conversations/:id/read:
// somebody has it on screen. The person gets a receipt, where the settings say so.
func (s *Server) readConversation(r *rest.Request) (rest.Reply, error) {
	newest, unread, err := s.newestInbound(r)
	if err != nil {
		return rest.Reply{}, err
	}

	return rest.UpdateFound(s.Server, r, api.ConversationIn, func(tx *storage.Tx, c storage.FullConversation) (rest.Reply, error) {
		if err := tx.MarkMentionsRead(r.User.ID, c.Conversation); err != nil {
			return rest.Reply{}, err
		}

		var err error
		switch {
		case c.UnreadCount > 0 && newest != nil:
			err = s.markNewestRead(tx, r, *newest, unread)
		case newest == nil:
			err = tx.SetUnread(c.ID, 0)
		}
		if err != nil {
			return rest.Reply{}, err
		}
		return api.ShowConversation(&tx.Rx, r)
	})
}

// markNewestRead marks a person's newest message as read, and with it all before it.
func (s *Server) markNewestRead(tx *storage.Tx, r *rest.Request, m storage.Message, unread storage.UnreadCount) error {
	wasRead := m.Status == storage.MessageRead
	err := tx.MarkRead(&m, unread)
	if errors.Is(err, storage.ErrNotFound) || err == nil && (wasRead || !s.ReadReceipts || m.ProviderID == nil) {
		return nil // it was deleted meanwhile, or needs no receipt
	}
	if err != nil {
		return err
	}
	if sender, err := tx.Sender(r.Account.ID); err != nil || messaging.ReceiptRefusalOf(sender) != nil {
		return err // it is read here all the same
	}
	return jobs.EnqueueReceipt(tx, r.Account.ID, *m.ProviderID, false)
}

// unreadConversation handles POST /console/api/:phone_number_id/conversations/:id/unread.
func (s *Server) unreadConversation(r *rest.Request) (rest.Reply, error) {
	newest, _, err := s.newestInbound(r)
	if err != nil {
		return rest.Reply{}, err
	}

	return rest.UpdateFound(s.Server, r, api.ConversationIn, func(tx *storage.Tx, c storage.FullConversation) (rest.Reply, error) {
		if newest != nil {
			if err := tx.SetUnread(c.ID, 1); err != nil {
				return rest.Reply{}, err
			}
		}
		return api.ShowConversation(&tx.Rx, r)
	})
}

// maxHits is how many messages are asked about at once.
const maxHits = 100

// getSearchHits handles GET /console/api/:phone_number_id/search_hits: what the messages in the
// query say, so that the words that were looked for can be marked, and of which broadcasts they
// are copies.
func (s *Server) getSearchHits(r *rest.Request) (rest.Reply, error) {
	asked := r.Query().Get("ids")
	if asked == "" {
		return rest.Reply{}, rest.Missing("ids")
	}
	ids := strings.Split(asked, ",")
	if len(ids) > maxHits {
		return rest.Reply{}, rest.Invalid("ids", "must have at most "+strconv.Itoa(maxHits)+" items")
	}

	hits, err := rest.QueryMany(s.Server, r, func(rx *storage.Rx) ([]storage.SearchHit, error) { return rx.SearchHits(r.Account.ID, ids) })
	return rest.OK(rest.OrEmpty(hits)), err
}
