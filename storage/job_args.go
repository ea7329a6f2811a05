package storage

// JobArgs are the arguments of a job, which are stored as JSON. Every type of
// them embeds one of the types AboutAccount, AboutMessage, AboutDelivery and
// AboutNoAccount: no other way leads to the unexported method. So each job says
// what it is about, under the name by which JobsOfAccount looks for it, and none
// is left when its account is purged.
type JobArgs interface{ about() }

// AboutAccount is embedded in the arguments of a job that is about an account.
type AboutAccount struct {
	Account int64 `json:"account"`
}

// AboutMessage is embedded in the arguments of a job about a message of an account.
type AboutMessage struct {
	AboutAccount
	Message string `json:"message"`
}

// NewAboutMessage names a message.
func NewAboutMessage(m Message) AboutMessage { return AboutMessage{AboutAccount{m.AccountID}, m.ID} }

// AboutDelivery is embedded in the arguments of a job about a delivery, and so of its event.
type AboutDelivery struct {
	Delivery string `json:"delivery"`
}

// AboutNoAccount is embedded in those of a job that goes with no account.
type AboutNoAccount struct{}

func (AboutAccount) about()   {}
func (AboutDelivery) about()  {}
func (AboutNoAccount) about() {}

// JobsOfAccount lists up to limit jobs that are about an account, from one id
// on: those whose arguments name it, or the delivery of an event of
// it. It walks over the queue, which is why it is no part of the delete.
func (rx *Rx) JobsOfAccount(account, after int64, limit int) ([]int64, error) {
	return rx.FindIDs("jobs j", after, limit, `
		j.args ->> '$.account' = ?4
		OR EXISTS (SELECT 1 FROM deliveries d JOIN events e ON e.id = d.event
			WHERE d.id = j.args ->> '$.delivery' AND e.account_id = ?4)`, account)
}

// PurgeJobs removes jobs in any state, as CancelJob does.
func (tx *Tx) PurgeJobs(ids []int64) error {
	return tx.Run(`DELETE FROM jobs WHERE id IN (SELECT value FROM json_each(?))`, jsonList(ids))
}
