package token

import (
	"atelier/actors/durable"
	pb "atelier/actors/token/tokenpb"
	"atelier/actors/webhook"
)

// webhookEvents maps audit records to webhook events.
var webhookEvents = map[string]string{
	"token_detokenize": webhook.TokenUsed,
	"token_reuse":      webhook.TokenReused,
	"token_lock":       webhook.TokenLocked,
}

// webhookRows returns the webhook deliveries for an operation. record is the action in its audit
// record. The deliveries contain neither the token itself nor its credential.
func (v *Vault) webhookRows(record string, cmd *command, t *pb.Token) []durable.Row {
	kind := webhookEvents[record]
	if kind == "" || v.opts.Webhooks == nil {
		return nil
	}
	return v.opts.Webhooks.Rows(webhook.Occurrence{Type: kind, At: cmd.attempt.Now.UnixMilli(), Data: &webhook.Data{
		Environment: string(v.opts.Environment), ParticipantId: t.Participant, By: cmd.caller.Participant,
		CheckoutId: cmd.checkout, Policy: PolicyName(t.Policy),
	}})
}
