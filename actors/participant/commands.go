package participant

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"atelier/actors/durable"
	"atelier/actors/naming"
	"atelier/actors/registry"
	"atelier/actors/token"
)

// Caller is the acting account and its network address.
type Caller = registry.Caller

// Command is a command to the participants.
type Command = registry.Command[Body]

// Body is one kind of command.
type Body interface {
	// decide adds the command's decision to d, and changes nothing else.
	decide(d *decision) error
}

// Vocabulary contains all commands, with their replies.
var Vocabulary = durable.NewVocabulary[Body](
	durable.Says[Add, *Participant](),
	durable.Says[AddKey, *Key](),
	durable.Says[RemoveKey, durable.Nothing](),
	durable.Says[Grant, durable.Nothing](),
	durable.Says[Ungrant, durable.Nothing](),
	durable.Says[Acknowledge, durable.Nothing](),
	durable.Says[SetPolicy, durable.Nothing](),
	durable.Says[Disable, durable.Nothing](),
	durable.Says[SetEncryptionKey, durable.Nothing](),
)

// Add creates a participant with its first key. Only the hash of the key's secret is sent. The
// reply is the *Participant.
type Add struct {
	Name        string
	Kind        string // platform, business, psp
	Environment string // production, sandbox
	Scopes      []string
	Identity    string
	KeyID       string
	SecretHash  []byte
}

func (in Add) decide(d *decision) error {
	name, err := registry.CheckName(in.Name)
	if err != nil {
		return err
	}
	if !slices.Contains(Kinds, in.Kind) {
		return durable.Reject(durable.Invalid, "kind must be %s", naming.Or(Kinds...))
	}
	environment := cmp.Or(in.Environment, Production)
	if !slices.Contains(Environments, environment) {
		return durable.Reject(durable.Invalid, "environment must be %s", naming.Or(Environments...))
	}
	if len(in.Scopes) == 0 {
		return durable.Reject(durable.Invalid, "scopes must name at least one of %s", naming.And(Scopes...))
	}
	var scopes []string
	for _, s := range in.Scopes {
		if !slices.Contains(Scopes, s) {
			return durable.Reject(durable.Invalid, "scopes must be %s", naming.Or(Scopes...))
		}
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	if len(d.core.all) >= MaxParticipants {
		return durable.Reject(durable.Conflict, "there are %d participants already", MaxParticipants)
	}
	now := d.Now.UnixMilli()
	p := &Participant{
		Id: d.core.ids.Next(d.Now), Name: name, Kind: in.Kind, Environment: environment, Identity: in.Identity, Scopes: scopes,
		Keys: []*Key{{Id: in.KeyID, SecretHash: in.SecretHash, CreatedAt: now}}, CreatedAt: now,
	}
	d.Reply = p
	d.Event(&Event{Body: &Event_Added{Added: p}})
	d.record("participant_add", p.Id, map[string]string{"kind": p.Kind, "environment": environment})
	return nil
}

// known returns the participant with an id, or a Missing rejection.
func (c *core) known(id string) (*Participant, error) {
	p := c.find(id)
	if p == nil {
		return nil, durable.Reject(durable.Missing, "participant not found")
	}
	return p, nil
}

// AddKey adds a key to a participant. The reply is the *Key.
type AddKey struct {
	ID         string
	KeyID      string
	SecretHash []byte
}

func (in AddKey) decide(d *decision) error {
	p, err := d.core.known(in.ID)
	if err != nil {
		return err
	}
	if len(p.Keys) >= MaxKeys {
		return durable.Reject(durable.Conflict, "the participant has %d keys already; remove one first", MaxKeys)
	}
	k := &Key{Id: in.KeyID, SecretHash: in.SecretHash, CreatedAt: d.Now.UnixMilli()}
	d.Reply = k
	d.Event(&Event{Body: &Event_KeyAdded{KeyAdded: &KeyAdded{Id: p.Id, Key: k}}})
	d.record("participant_key_add", p.Id, map[string]string{"key_id": k.Id})
	return nil
}

// RemoveKey removes a key.
type RemoveKey struct{ ID, KeyID string }

func (in RemoveKey) decide(d *decision) error {
	p, err := d.core.known(in.ID)
	if err != nil {
		return err
	}
	if KeyOf(p, in.KeyID) == nil {
		return durable.Reject(durable.Missing, "key not found")
	}
	d.Event(&Event{Body: &Event_KeyRemoved{KeyRemoved: &KeyRemoved{Id: p.Id, KeyId: in.KeyID}}})
	d.record("participant_key_remove", p.Id, map[string]string{"key_id": in.KeyID})
	return nil
}

// Grant permits one participant to act for another.
type Grant struct{ ID, For string }

func (in Grant) decide(d *decision) error {
	who, err := d.core.known(in.ID)
	if err != nil {
		return err
	}
	whom := d.core.find(in.For)
	switch {
	case whom == nil:
		return durable.Reject(durable.Invalid, "participant_id names no participant")
	case whom.Id == who.Id:
		return durable.Reject(durable.Invalid, "participant_id must be another participant")
	case whom.Environment != who.Environment:
		return durable.Reject(durable.Invalid, "participant_id belongs to another environment")
	case slices.Contains(whom.Delegates, who.Id):
		return nil // already granted
	case len(whom.Delegates) >= MaxDelegates:
		return durable.Reject(durable.Conflict, "the participant has %d delegates already", MaxDelegates)
	}
	d.Event(&Event{Body: &Event_Granted{Granted: &Granted{Id: who.Id, ParticipantId: whom.Id}}})
	d.record("participant_grant", who.Id, map[string]string{"for": whom.Id})
	return nil
}

// Ungrant revokes the permission of Grant.
type Ungrant struct{ ID, For string }

func (in Ungrant) decide(d *decision) error {
	if _, err := d.core.known(in.ID); err != nil {
		return err
	}
	whom := d.core.find(in.For)
	if whom == nil || !slices.Contains(whom.Delegates, in.ID) {
		return durable.Reject(durable.Missing, "grant not found")
	}
	d.Event(&Event{Body: &Event_Ungranted{Ungranted: &Ungranted{Id: in.ID, ParticipantId: whom.Id}}})
	d.record("participant_ungrant", in.ID, map[string]string{"for": whom.Id})
	return nil
}

// Acknowledge records that a participant accepts the security duties of recipients of credentials,
// in this version.
type Acknowledge struct{ ID, Version string }

func (in Acknowledge) decide(d *decision) error {
	p, err := d.core.known(in.ID)
	if err != nil {
		return err
	}
	version := strings.TrimSpace(in.Version)
	if n := utf8.RuneCountInString(version); n < 1 || n > 200 || !utf8.ValidString(version) {
		return durable.Reject(durable.Invalid, "version must have 1 to 200 characters")
	}
	a := &Acknowledgement{Version: version, AdminId: d.Caller.ID, At: d.Now.UnixMilli()}
	d.Event(&Event{Body: &Event_Acknowledged{Acknowledged: &Acknowledged{Id: p.Id, Acknowledgement: a}}})
	d.record("participant_acknowledge", p.Id, map[string]string{"version": version})
	return nil
}

// SetPolicy sets the policy and lifetime of the tokens bound to a participant.
type SetPolicy struct {
	ID     string
	Policy string // a name for token.ParsePolicy
	// TTLSeconds is the lifetime; 0 means the default.
	TTLSeconds int64
}

func (in SetPolicy) decide(d *decision) error {
	p, err := d.core.known(in.ID)
	if err != nil {
		return err
	}
	policy, ok := token.ParsePolicy(in.Policy)
	if !ok {
		return durable.Reject(durable.Invalid, "policy must be %s", naming.Or(token.PolicyNames(nil)...))
	}
	life := time.Duration(in.TTLSeconds) * time.Second
	if in.TTLSeconds != 0 && (!policy.Life || life < token.MinLife || life > token.MaxLife) {
		return durable.Reject(durable.Invalid, "ttl_seconds must be %d to %d, and is not for %s",
			int(token.MinLife.Seconds()), int(token.MaxLife.Seconds()), naming.Or(token.PolicyNames(token.Ends)...))
	}
	d.Event(&Event{Body: &Event_PolicySet{PolicySet: &PolicySet{
		Id: p.Id, Policy: &Policy{Policy: in.Policy, TtlSeconds: in.TTLSeconds},
	}}})
	d.record("participant_policy", p.Id, map[string]string{"policy": in.Policy, "ttl_seconds": fmt.Sprint(in.TTLSeconds)})
	return nil
}

// Disable permanently disables a participant and all its keys.
type Disable struct{ ID string }

func (in Disable) decide(d *decision) error {
	p, err := d.core.known(in.ID)
	if err != nil || p.Disabled {
		return err
	}
	d.Event(&Event{Body: &Event_Disabled{Disabled: &Disabled{Id: p.Id}}})
	d.record("participant_disable", p.Id, nil)
	return nil
}

// SetEncryptionKey sets the public key (JWK, JSON) to which credentials for a participant are
// encrypted; an empty Key removes it.
type SetEncryptionKey struct {
	ID  string
	Key []byte
}

func (in SetEncryptionKey) decide(d *decision) error {
	p, err := d.core.known(in.ID)
	if err != nil {
		return err
	}
	if len(in.Key) > 8<<10 {
		return durable.Reject(durable.Invalid, "the key is too large")
	}
	d.Event(&Event{Body: &Event_EncryptionKeySet{EncryptionKeySet: &EncryptionKeySet{Id: p.Id, Key: in.Key}}})
	// The owner of the new key can read all later messages, so an unwanted change must be noticed.
	more := map[string]string{"security": "true"}
	if old := thumbprint(p.EncryptionKey); old != "" {
		more["old_thumbprint"] = old
	}
	if changed := thumbprint(in.Key); changed != "" {
		more["new_thumbprint"] = changed
	}
	d.record("participant_encryption_key", p.Id, more)
	return nil
}
