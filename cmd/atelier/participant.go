package main

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"atelier/actors/naming"
	participants "atelier/actors/participant"
	"atelier/actors/token"
	"atelier/transport/control"
)

// closedLists contains the values of the enums, for the help and the validation of the commands
// below.
var closedLists = kong.Vars{
	"kinds": naming.Or(participants.Kinds...), "kind_enum": strings.Join(participants.Kinds, ","),
	"scopes": strings.Join(participants.Scopes, ", "), "scope_enum": strings.Join(participants.Scopes, ","),
	"environments": naming.Or(participants.Environments...), "environment_enum": strings.Join(participants.Environments, ","),
	"policies": naming.Or(token.PolicyNames(nil)...), "policy_enum": strings.Join(token.PolicyNames(nil), ","),
	"policies_with_life": naming.And(token.PolicyNames(token.Lives)...),
}

// participantCmd manages the participants of the tokenization handler.
type participantCmd struct {
	Add     participantAdd     `cmd:"" help:"Add a participant, and print its identity and, once, the secret of its first key."`
	List    participantList    `cmd:"" help:"List the participants, without secrets."`
	Key     participantKey     `cmd:"" help:"Add another key and print its secret once, or remove one."`
	Grant   participantGrant   `cmd:"" help:"Let a participant act for another: detokenize, introspect, revoke tokens, end sessions."`
	Ack     participantAck     `cmd:"" help:"Record that a participant acknowledged the security obligations."`
	Policy  participantPolicy  `cmd:"" help:"Set the policy of the tokens bound to a participant."`
	Disable participantDisable `cmd:"" help:"Disable a participant: refuse all its requests."`
}

type participantAdd struct {
	common
	Name        string   `arg:"" help:"Display name."`
	Kind        string   `required:"" help:"${kinds}." enum:"${kind_enum}"`
	Scope       []string `required:"" help:"Scopes of its keys: ${scopes}, or both, separated by a comma." enum:"${scope_enum}"`
	Environment string   `default:"production" help:"${environments}." enum:"${environment_enum}"`
}

// participant is a participant in the API's responses.
type participant struct {
	ID              string   `json:"id"`
	Name            string   `json:"name"`
	Kind            string   `json:"kind"`
	Environment     string   `json:"environment"`
	Identity        string   `json:"identity"`
	Scopes          []string `json:"scopes"`
	Keys            []key    `json:"keys"`
	Key             key      `json:"key"` // the key just added
	Delegates       []string `json:"delegates"`
	Acknowledgement *struct {
		Version string    `json:"version"`
		At      time.Time `json:"at"`
	} `json:"acknowledgement"`
	Policy *struct {
		Policy     string `json:"policy"`
		TTLSeconds int64  `json:"ttl_seconds"`
	} `json:"policy"`
	Disabled bool `json:"disabled"`
}

type key struct {
	ID        string    `json:"id"`
	Secret    string    `json:"secret"`
	CreatedAt time.Time `json:"created_at"`
}

// participantsPath returns the path of all participants, or of one participant's resource.
func participantsPath(of ...string) string {
	path := "/api/admin/participants"
	for _, part := range of {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// Run adds a participant.
func (c participantAdd) Run() error {
	return c.operate(func(server *control.Client) error {
		var p participant
		err := server.Call("POST", participantsPath(), map[string]any{
			"name": c.Name, "kind": c.Kind, "environment": c.Environment, "scopes": c.Scope,
		}, &p)
		if err == nil {
			fmt.Printf("id        %s\nidentity  %s\nkey       %s\nsecret    %s   (shown once)\n", p.ID, p.Identity, p.Key.ID, p.Key.Secret)
		}
		return err
	})
}

type participantList struct{ common }

// Run lists the participants.
func (c participantList) Run() error {
	return c.operate(func(server *control.Client) error {
		var all []participant
		if err := server.Call("GET", participantsPath(), nil, &all); err != nil {
			return err
		}
		if len(all) == 0 {
			fmt.Println("no participants yet; add one with: atelier participant add NAME --kind platform --scope tokenize")
		}
		for _, p := range all {
			p.print()
		}
		return nil
	})
}

func (p *participant) print() {
	fmt.Printf("%s  %s\n  %s, %s, scopes %s", p.ID, p.Name, p.Kind, p.Environment, strings.Join(p.Scopes, " "))
	if p.Disabled {
		fmt.Print(", disabled")
	}
	fmt.Printf("\n  identity %s\n", p.Identity)
	for _, k := range p.Keys {
		fmt.Printf("  key %s since %s\n", k.ID, k.CreatedAt.Format(time.DateOnly))
	}
	if a := p.Acknowledgement; a != nil {
		fmt.Printf("  acknowledged %s on %s\n", a.Version, a.At.Format(time.DateOnly))
	}
	if p.Policy != nil {
		fmt.Printf("  policy %s", p.Policy.Policy)
		if p.Policy.TTLSeconds != 0 {
			fmt.Printf(" %d s", p.Policy.TTLSeconds)
		}
		fmt.Println()
	}
	for _, d := range p.Delegates {
		fmt.Printf("  can act for it: %s\n", d)
	}
}

type participantKey struct {
	common
	ID     string `arg:"" help:"Id of the participant."`
	Remove string `help:"Remove the key with this id instead." placeholder:"KEY"`
}

// Run adds or removes a key.
func (c participantKey) Run() error {
	if c.Remove != "" {
		return c.change("DELETE", nil, c.ID, "keys", c.Remove)
	}
	return c.operate(func(server *control.Client) error {
		var k key
		err := server.Call("POST", participantsPath(c.ID, "keys"), nil, &k)
		if err == nil {
			fmt.Printf("key     %s\nsecret  %s   (shown once)\n", k.ID, k.Secret)
		}
		return err
	})
}

type participantGrant struct {
	common
	ID     string `arg:"" help:"Id of the participant that can act."`
	For    string `required:"" help:"Id of the participant on whose behalf it acts." placeholder:"ID"`
	Remove bool   `help:"Revoke the grant."`
}

// Run adds or revokes a grant.
func (c participantGrant) Run() error {
	if c.Remove {
		return c.change("DELETE", nil, c.ID, "grants", c.For)
	}
	return c.change("POST", map[string]any{"participant_id": c.For}, c.ID, "grants")
}

type participantAck struct {
	common
	ID      string `arg:"" help:"Id of the participant."`
	Version string `required:"" help:"Acknowledged version of the security obligations."`
}

// Run records an acknowledgement.
func (c participantAck) Run() error {
	return c.change("POST", map[string]any{"version": c.Version}, c.ID, "acknowledge")
}

type participantPolicy struct {
	common
	ID     string `arg:"" help:"Id of the participant."`
	Policy string `arg:"" help:"${policies}." enum:"${policy_enum}"`
	TTL    int64  `help:"Lifetime of tokens in seconds, for ${policies_with_life}." placeholder:"SECONDS"`
}

// Run sets a policy.
func (c participantPolicy) Run() error {
	return c.change("POST", map[string]any{"policy": c.Policy, "ttl_seconds": c.TTL}, c.ID, "policy")
}

type participantDisable struct {
	common
	ID string `arg:"" help:"Id of the participant."`
}

// Run disables a participant.
func (c participantDisable) Run() error { return c.change("POST", nil, c.ID, "disable") }

// change sends a request that changes a participant.
func (c common) change(method string, body any, of ...string) error {
	return c.operate(func(server *control.Client) error {
		err := server.Call(method, participantsPath(of...), body, nil)
		if err == nil {
			fmt.Println("done")
		}
		return err
	})
}
