package service

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"atelier/actors/participant"
	pb "atelier/actors/participant/participantpb"
	"atelier/actors/token/seal"
)

// ParticipantRequest is what the participant commands ask for.
type ParticipantRequest struct {
	Op          string   `json:"op"` // add, list, key, remove-key, grant, ungrant, ack, policy, disable
	ID          string   `json:"id,omitempty"`
	Name        string   `json:"name,omitempty"`
	Kind        string   `json:"kind,omitempty"`
	Environment string   `json:"environment,omitempty"`
	Scopes      []string `json:"scopes,omitempty"`
	KeyID       string   `json:"key_id,omitempty"`
	For         string   `json:"for,omitempty"`
	Version     string   `json:"version,omitempty"`
	Policy      string   `json:"policy,omitempty"`
	TTLSeconds  int64    `json:"ttl_seconds,omitempty"`
}

// Participant carries out a request of the participant commands, JSON, and
// says in words what was done. A new secret is in the answer and nowhere else.
func (c *Core) Participant(request []byte) (string, error) {
	var r ParticipantRequest
	if err := json.Unmarshal(request, &r); err != nil {
		return "", fmt.Errorf("malformed request: %w", err)
	}
	h, err := c.participants.Get(participant.ID)
	if err != nil {
		return "", err
	}
	cmd := participant.Command{Caller: participant.Caller{ActorType: "admin", ActorID: c.cfg.Admin.ID, UserAgent: "atelier participant"}}
	done := "done\n"
	switch r.Op {
	case "list":
		return listParticipants(h.View()), nil
	case "add":
		env := r.Environment
		if env == "" {
			env = participant.Production
		}
		keyID, secret, hash := participant.NewKey(env)
		identity := participant.NewIdentity(env)
		cmd.Body = participant.Add{Name: r.Name, Kind: r.Kind, Environment: env, Scopes: r.Scopes, Identity: identity, KeyID: keyID, SecretHash: hash}
		v, _, err := h.Ask(cmd)
		if err != nil {
			return "", err
		}
		p := v.(*pb.Participant)
		return fmt.Sprintf("id        %s\nidentity  %s\nkey       %s\nsecret    %s   (shown once)\n", p.Id, identity, keyID, string(secret)), nil
	case "key":
		env := participant.Production
		if p := h.View().Get(r.ID); p != nil {
			env = p.Environment
		}
		keyID, secret, hash := participant.NewKey(env)
		cmd.Body = participant.AddKey{ID: r.ID, KeyID: keyID, SecretHash: hash}
		done = fmt.Sprintf("key     %s\nsecret  %s   (shown once)\n", keyID, string(secret))
	case "remove-key":
		cmd.Body = participant.RemoveKey{ID: r.ID, KeyID: r.KeyID}
	case "grant":
		cmd.Body = participant.Grant{ID: r.ID, For: r.For}
	case "ungrant":
		cmd.Body = participant.Ungrant{ID: r.ID, For: r.For}
	case "ack":
		cmd.Body = participant.Acknowledge{ID: r.ID, Version: r.Version}
	case "policy":
		cmd.Body = participant.SetPolicy{ID: r.ID, Policy: r.Policy, TTLSeconds: r.TTLSeconds}
	case "disable":
		cmd.Body = participant.Disable{ID: r.ID}
	default:
		return "", fmt.Errorf("unknown operation %q", r.Op)
	}
	if _, _, err := h.Ask(cmd); err != nil {
		return "", err
	}
	return done, nil
}

func listParticipants(v *participant.View) string {
	if len(v.All()) == 0 {
		return "no participants yet; add one with: atelier participant add NAME --kind platform --scope tokenize\n"
	}
	var b strings.Builder
	for _, p := range v.All() {
		fmt.Fprintf(&b, "%s  %s\n  %s, %s, scopes %s", p.Id, p.Name, p.Kind, p.Environment, strings.Join(p.Scopes, " "))
		if p.Disabled {
			b.WriteString(", disabled")
		}
		fmt.Fprintf(&b, "\n  identity %s\n", p.Identity)
		for _, k := range p.Keys {
			fmt.Fprintf(&b, "  key %s since %s\n", k.Id, time.UnixMilli(k.CreatedAt).UTC().Format(time.DateOnly))
		}
		if a := p.Acknowledgement; a != nil {
			fmt.Fprintf(&b, "  acknowledged %s on %s\n", a.Version, time.UnixMilli(a.At).UTC().Format(time.DateOnly))
		}
		if p.Policy != nil {
			fmt.Fprintf(&b, "  policy %s", p.Policy.Policy)
			if p.Policy.TtlSeconds != 0 {
				fmt.Fprintf(&b, " %d s", p.Policy.TtlSeconds)
			}
			b.WriteString("\n")
		}
		for _, d := range p.Delegates {
			fmt.Fprintf(&b, "  lets act for it: %s\n", d)
		}
	}
	return b.String()
}

// RotateTokenKeys makes a new server key while no server runs.
func (c *Core) RotateTokenKeys() (string, error) {
	if err := c.node.Alone(); err != nil {
		return "", err
	}
	keys, err := rotateTokenKeys(c.cfg, c.store, time.Now())
	if err != nil {
		return "", err
	}
	return describeKeys(keys), nil
}

// describeKeys tells about keys without a part of them.
func describeKeys(keys []seal.Key) string {
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "version %d, made %s", k.Version, k.MadeAt.Format(time.RFC3339))
		if !k.RetiredAt.IsZero() {
			fmt.Fprintf(&b, ", retired %s", k.RetiredAt.Format(time.RFC3339))
		} else {
			b.WriteString(", in use")
		}
		b.WriteString("\n")
	}
	return b.String()
}
