package storage

import "confab/storage/sqlite"

// Prefixes of public ids.
const (
	PrefixOrganization = "org_"
	PrefixTeam         = "team_"
	PrefixKey          = "key_"
	PrefixAccount      = "acc_"
	PrefixLabel        = "lbl_"
	PrefixRequest      = "req_"
	PrefixContact      = "ctc_"
	PrefixConversation = "cnv_"
	PrefixMessage      = "msg_"
	PrefixMedia        = "med_"
	PrefixTemplate     = "tmpl_"
	PrefixEvent        = "evt_"
	PrefixDelivery     = "wbd_"
	PrefixSubscription = "wbs_"
	PrefixSecret       = "sec_"
	PrefixCustomer     = "cus_"
	PrefixSetupLink    = "csl_"
	PrefixSession      = "ses_"
	PrefixPasskey      = "psk_"
	PrefixDevice       = "dev_"
	PrefixAudit        = "aud_"
	PrefixChange       = "chg_"
	PrefixNote         = "not_"
	PrefixView         = "viw_"
	PrefixQuickReply   = "qrp_"
	PrefixBroadcast    = "bcs_"
	PrefixImport       = "imp_"
	PrefixRule         = "rul_"
	PrefixFiring       = "fir_"
)

// RequestTime is when a request was made, as its id says.
func RequestTime(id string) Time { return sqlite.IDTime(PrefixRequest, id) }
