package token

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/durable"
	pb "atelier/actors/token/tokenpb"
	"atelier/actors/webhook"
)

// A webhook receives an event when a token is used, when a used token is used again, and when a
// token is locked. Each event contains the caller, the participant and the checkout, and no data of
// the token.
func TestWebhooksReceiveTheEventsOfTokens(t *testing.T) {
	var hooks *webhook.Webhooks
	w := newWorld(t, func(o *Options) {
		var err error
		hooks, err = webhook.New(webhook.Config{
			System: o.System, Journal: o.Journal, Audit: audit.New(o.Journal, clock.System, 0), Clock: clock.System, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		o.Webhooks = hooks.Outbox
	})
	defer func() { _ = hooks.Close(context.Background()) }()
	all := webhook.Create{URL: "https://hooks.example.org/", Events: []string{webhook.TokenUsed, webhook.TokenReused, webhook.TokenLocked}, Secret: []byte("sealed")}
	if _, err := hooks.Create(webhook.Caller{}, all); err != nil {
		t.Fatal(err)
	}
	used, locked := w.issue("c", pb.Policy_POLICY_SINGLE_USE), w.issue("d", pb.Policy_POLICY_SESSION)
	if _, err := w.vault.Detokenize(platform, Use{used, "business", "c"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.vault.Detokenize(business, Use{used, "business", "c"}); err != IsUsed {
		t.Error(err)
	}
	for range w.vault.opts.Rules.MaxMismatches {
		if _, err := w.vault.Detokenize(platform, Use{locked, "business", "elsewhere"}); err != BindingMismatch {
			t.Error(err)
		}
	}
	// Refusals and reads cause no events.
	if _, err := w.vault.Introspect(business, Use{used, "business", "c"}); err != nil {
		t.Error(err)
	}
	if _, err := w.vault.Detokenize(platform, Use{used, "platform", "c"}); err != NotFound {
		t.Error(err)
	}
	type event struct{ Type, Environment, Participant, By, Checkout, Policy string }
	var got []event
	err := w.journal.Scan(durable.Scan{Table: "hookqueue"}, func(_, value []byte) bool {
		d := &webhook.Delivery{}
		if err := d.Decode(value); err != nil {
			t.Fatal(err)
		}
		got = append(got, event{d.Type, d.Data.Environment, d.Data.ParticipantId, d.Data.By, d.Data.CheckoutId, d.Data.Policy})
		return true
	})
	single, session := PolicyName(pb.Policy_POLICY_SINGLE_USE), PolicyName(pb.Policy_POLICY_SESSION)
	want := []event{
		{webhook.TokenUsed, "production", "business", "platform", "c", single},
		{webhook.TokenReused, "production", "business", "business", "c", single},
		{webhook.TokenLocked, "production", "business", "platform", "elsewhere", session},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the webhook received %+v, want %+v; %v", got, want, err)
	}
}
