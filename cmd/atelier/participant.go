package main

import (
	"encoding/json"
	"strings"

	"github.com/alecthomas/kong"

	"atelier/actors/naming"
	"atelier/actors/participant"
	"atelier/actors/token"
	"atelier/cmd/atelier/service"
	"atelier/transport/control"
)

// closedLists are what the help and the checks of the commands below name.
var closedLists = kong.Vars{
	"kinds": naming.Or(participant.Kinds...), "kind_enum": strings.Join(participant.Kinds, ","),
	"scopes": strings.Join(participant.Scopes, ", "), "scope_enum": strings.Join(participant.Scopes, ","),
	"environments": naming.Or(participant.Environments...), "environment_enum": strings.Join(participant.Environments, ","),
	"policies": naming.Or(token.PolicyNames(nil)...), "policy_enum": strings.Join(token.PolicyNames(nil), ","),
	"policies_with_life": naming.And(token.PolicyNames(token.Lives)...),
}

// participantCmd onboards participants of the tokenization handler.
type participantCmd struct {
	Add     participantAdd     `cmd:"" help:"Add a participant; prints its identity and, once, the secret of its first key."`
	List    participantList    `cmd:"" help:"List the participants, without secrets."`
	Key     participantKey     `cmd:"" help:"Add another key and print its secret once, or remove one."`
	Grant   participantGrant   `cmd:"" help:"Let a participant detokenize, introspect, revoke and end sessions for another."`
	Ack     participantAck     `cmd:"" help:"Record that a participant acknowledged the security duties."`
	Policy  participantPolicy  `cmd:"" help:"Set the policy of the tokens bound to a participant."`
	Disable participantDisable `cmd:"" help:"Refuse everything a participant asks from now on."`
}

type participantAdd struct {
	common
	Name        string   `arg:"" help:"Name, for people."`
	Kind        string   `required:"" help:"${kinds}." enum:"${kind_enum}"`
	Scope       []string `required:"" help:"What its keys allow: ${scopes}, or both with a comma." enum:"${scope_enum}"`
	Environment string   `default:"production" help:"${environments}." enum:"${environment_enum}"`
}

// Run adds a participant.
func (c participantAdd) Run() error {
	return c.participant(service.ParticipantRequest{Op: "add", Name: c.Name, Kind: c.Kind, Environment: c.Environment, Scopes: c.Scope})
}

type participantList struct{ common }

// Run lists the participants.
func (c participantList) Run() error { return c.participant(service.ParticipantRequest{Op: "list"}) }

type participantKey struct {
	common
	ID     string `arg:"" help:"The participant's id."`
	Remove string `help:"Remove the key with this id instead." placeholder:"KEY"`
}

// Run adds or removes a key.
func (c participantKey) Run() error {
	if c.Remove != "" {
		return c.participant(service.ParticipantRequest{Op: "remove-key", ID: c.ID, KeyID: c.Remove})
	}
	return c.participant(service.ParticipantRequest{Op: "key", ID: c.ID})
}

type participantGrant struct {
	common
	ID     string `arg:"" help:"Who may act."`
	For    string `required:"" help:"For whom: the id of a participant." placeholder:"ID"`
	Remove bool   `help:"Take the grant back."`
}

// Run gives or takes a grant.
func (c participantGrant) Run() error {
	op := "grant"
	if c.Remove {
		op = "ungrant"
	}
	return c.participant(service.ParticipantRequest{Op: op, ID: c.ID, For: c.For})
}

type participantAck struct {
	common
	ID      string `arg:"" help:"The participant's id."`
	Version string `required:"" help:"Which version of the security duties it acknowledged."`
}

// Run records an acknowledgement.
func (c participantAck) Run() error {
	return c.participant(service.ParticipantRequest{Op: "ack", ID: c.ID, Version: c.Version})
}

type participantPolicy struct {
	common
	ID     string `arg:"" help:"The participant's id."`
	Policy string `arg:"" help:"${policies}." enum:"${policy_enum}"`
	TTL    int64  `help:"Life of tokens in seconds, for ${policies_with_life}." placeholder:"SECONDS"`
}

// Run sets a policy.
func (c participantPolicy) Run() error {
	return c.participant(service.ParticipantRequest{Op: "policy", ID: c.ID, Policy: c.Policy, TTLSeconds: c.TTL})
}

type participantDisable struct {
	common
	ID string `arg:"" help:"The participant's id."`
}

// Run disables a participant.
func (c participantDisable) Run() error {
	return c.participant(service.ParticipantRequest{Op: "disable", ID: c.ID})
}

// participant carries a request out and prints the answer.
func (c common) participant(r service.ParticipantRequest) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return c.through(
		func(running *control.Client) (string, error) { return running.Participant(b) },
		func(core *service.Core) (string, error) { return core.Participant(b) },
	)
}
