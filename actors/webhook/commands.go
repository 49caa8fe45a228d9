package webhook

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"atelier/actors/durable"
	"atelier/actors/naming"
	"atelier/actors/registry"
)

// Events to which a webhook can subscribe.
const (
	AttendeeRegistered = "attendee_registered"
	HelpRequested      = "help_requested"
	AttendeeCompleted  = "attendee_completed"
	WorkshopEnded      = "workshop_ended"
	CheckReported      = "check_reported"
	TokenUsed          = "token_used"
	TokenReused        = "token_reused"
	TokenLocked        = "token_locked"
	// Test is sent at the owner's request. No webhook subscribes to it.
	Test = "test"
)

// Events lists all events to which a webhook can subscribe.
var Events = []string{
	AttendeeRegistered, HelpRequested, AttendeeCompleted, WorkshopEnded, CheckReported, TokenUsed, TokenReused, TokenLocked,
}

// States of a webhook.
const (
	Active  = "active"
	Stopped = "stopped"
)

// Bounds of webhooks (transport/rest/RULES.md, "Limits").
const (
	MaxHooks    = 20
	MaxWaiting  = 1_000 // deliveries, per webhook
	MaxFailed   = 100   // kept, per webhook; the oldest are dropped
	MaxFailures = 20    // consecutive failed attempts that stop a webhook
	MaxTries    = 50    // kept, per webhook: the last
	maxURL      = 2_000 // characters
	maxCodelabs = 100
)

// Pauses are the times before each attempt. The first begins at the event, each other one at the
// previous attempt.
var Pauses = []time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
}

// Delivered reports whether a receiver accepted a delivery. A redirect counts as a failure, because
// its address was not checked.
func Delivered(status int32) bool { return status >= 200 && status < 300 }

// State returns the state of a webhook.
func (m *Hook) State() string {
	if m.GetStopped() {
		return Stopped
	}
	return Active
}

var errMissing = &durable.Rejection{Reason: durable.Missing, Text: "webhook not found"}

// Caller is the acting account and its address.
type Caller = registry.Caller

// Command is a command to a webhook.
type Command = registry.Command[Body]

// Body is one kind of command.
type Body interface {
	// decide adds the command's decision to d; it changes nothing else.
	decide(d *decision) error
}

// Vocabulary contains all webhook commands, with their replies.
var Vocabulary = durable.NewVocabulary[Body](
	durable.Says[Create, durable.Nothing](),
	durable.Says[Delete, durable.Nothing](),
	durable.Says[Note, durable.Nothing](),
	durable.Says[NoteTest, durable.Nothing](),
	durable.Says[Resume, durable.Nothing](),
)

// Create creates a webhook. Its secret is already sealed.
type Create struct {
	URL      string
	Events   []string
	Codelabs []string
	Names    bool
	Secret   []byte
}

func (b Create) decide(d *decision) error {
	if d.core.hook != nil {
		return durable.Reject(durable.Conflict, "there is such a webhook already")
	}
	if err := checkURL(b.URL); err != nil {
		return err
	}
	if len(b.Events) == 0 {
		return durable.Reject(durable.Invalid, "events must name at least one event: %s", naming.Or(Events...))
	}
	for i, e := range b.Events {
		if !slices.Contains(Events, e) {
			return durable.Reject(durable.Invalid, "events[%d] must be %s", i, naming.Or(Events...))
		}
		if slices.Contains(b.Events[:i], e) {
			return durable.Reject(durable.Invalid, "events names %s twice", e)
		}
	}
	if len(b.Codelabs) > maxCodelabs {
		return durable.Reject(durable.Invalid, "codelabs must name at most %d codelabs", maxCodelabs)
	}
	for i, id := range b.Codelabs {
		if !naming.ValidID(id) {
			return durable.Reject(durable.Invalid, "codelabs[%d] must be the id of a codelab", i)
		}
	}
	h := &Hook{
		Id: d.core.id, Url: b.URL, Events: b.Events, Codelabs: b.Codelabs, Names: b.Names, Secret: b.Secret,
		CreatedAt: d.Now.UnixMilli(),
	}
	d.Event(&Change{Body: &Change_Created{h}})
	d.Rows = append(d.Rows, listed(h))
	d.record("webhook_create")
	return nil
}

// checkURL refuses URLs of an invalid form. The addresses of the host are checked at each delivery,
// because they can change.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case utf8.RuneCountInString(text) > maxURL:
		return durable.Reject(durable.Invalid, "url is longer than %d characters", maxURL)
	case err != nil || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return durable.Reject(durable.Invalid, "url is not a URL")
	case u.Scheme != "https":
		return durable.Reject(durable.Invalid, "url must begin with https://")
	case u.User != nil:
		return durable.Reject(durable.Invalid, "url must not contain a user name or password")
	case u.Hostname() == "":
		return durable.Reject(durable.Invalid, "url must name a host")
	case u.Fragment != "":
		return durable.Reject(durable.Invalid, "url must not have a fragment (#)")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return durable.Reject(durable.Invalid, "url must have a port from 1 to 65535")
		}
	}
	return nil
}

// Delete deletes a webhook.
type Delete struct{}

func (Delete) decide(d *decision) error {
	d.Event(&Change{Body: &Change_Deleted{&Deleted{}}})
	d.Rows = append(d.Rows, durable.Row{Table: listTable, Key: []byte(d.core.id), Delete: true})
	d.record("webhook_delete")
	return nil
}

// Causes of a failed attempt other than the response's status.
const (
	RefusedAddress = "refused_address" // in our own network
	TimedOut       = "timeout"
	Redirected     = "redirect"
	BadTLS         = "tls"
	NotConnected   = "connect"
)

// Errors lists all causes.
var Errors = []string{RefusedAddress, TimedOut, Redirected, BadTLS, NotConnected}

// Outcome is the result of an attempt.
type Outcome struct {
	Status int32 // 0 if there was no answer
	TookMS int32
	Error  string // one of Errors, or ""
}

func (o Outcome) tried(d *Delivery) *Tried {
	return &Tried{Status: o.Status, Id: d.Id, Type: d.Type, Number: d.Tries + 1, TookMs: o.TookMS, Error: o.Error}
}

// Note records the result of an attempt. The delivery is removed, waits for its next attempt, or is
// stored as failed. MaxFailures consecutive failed attempts stop the webhook.
type Note struct {
	// Due is the time at which the delivery was due, which is part of its row's key.
	Due      int64
	Delivery *Delivery
	Outcome
}

func (b Note) decide(d *decision) error {
	h, now := d.core.hook, d.Now
	t := b.tried(b.Delivery)
	d.Rows = append(d.Rows, gone(queueTable, waitingKey(h.Id, b.Due, b.Delivery.Id)))
	if !Delivered(b.Status) {
		next := b.Delivery.Clone()
		next.Tries++
		if int(next.Tries) < len(Pauses) {
			d.Rows = append(d.Rows, waiting(h.Id, now.Add(Pauses[next.Tries]).UnixMilli(), next))
		} else {
			t.Kept = next.Id
			d.Rows = append(d.Rows, kept(h.Id, next))
			if n := len(h.Failed) - MaxFailed + 1; n > 0 {
				for _, id := range h.Failed[:n] {
					d.Rows = append(d.Rows, gone(failedTable, failedKey(h.Id, id)))
				}
			}
		}
		if h.Failures+1 >= MaxFailures && !h.Stopped {
			t.Stopped = true
			stopped := h.Clone()
			stopped.Stopped = true
			d.Rows = append(d.Rows, listed(stopped))
			d.record("webhook_stopped")
		}
	}
	d.Event(&Change{Body: &Change_Tried{t}})
	return nil
}

// NoteTest records the result of a test delivery. The result is shown as the last attempt and has
// no other effect.
type NoteTest struct {
	ID string // of the delivery
	Outcome
}

func (b NoteTest) decide(d *decision) error {
	t := b.tried(&Delivery{Id: b.ID, Type: Test})
	t.Test = true
	d.Event(&Change{Body: &Change_Tried{t}})
	return nil
}

// Resume resumes a webhook. The deliveries in Failed get all their attempts again. The next attempt
// of all deliveries in Failed and Delayed is due now.
type Resume struct {
	Failed  []*Delivery
	Delayed []Delayed
}

func (b Resume) decide(d *decision) error {
	now := d.Now.UnixMilli()
	h := d.core.hook.Clone()
	for _, x := range b.Failed {
		again := x.Clone()
		again.Tries = 0
		d.Rows = append(d.Rows, gone(failedTable, failedKey(h.Id, x.Id)), waiting(h.Id, now, again))
	}
	for _, x := range b.Delayed {
		d.Rows = append(d.Rows, gone(queueTable, waitingKey(h.Id, x.Due, x.Id)), waiting(h.Id, now, x.Delivery))
	}
	h.Stopped = false
	d.Rows = append(d.Rows, listed(h))
	d.Event(&Change{Body: &Change_Resumed{&Resumed{}}})
	d.record("webhook_resume")
	return nil
}
