package participant

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"atelier/actors/catalog"
	"atelier/actors/catalog/catalogpb"
	"atelier/actors/durable"
	"atelier/actors/ids"
	"atelier/actors/naming"
	pb "atelier/actors/participant/participantpb"
	"atelier/actors/token"
)

// Host runs the participants' actor.
type Host = durable.Host[*pb.Command, *pb.Event, View]

// ID is the id of the one actor.
const ID = "all"

// Kind describes the actor.
func Kind(audit *catalog.Audit) durable.Kind[*pb.Command, *pb.Event, View] {
	return durable.Kind[*pb.Command, *pb.Event, View]{
		Name: "participants",
		New: func(string) durable.Core[*pb.Command, *pb.Event, View] {
			return &core{audit: audit, ids: ids.NewSource("participants")}
		},
		AppendEvent: durable.AppendMessage[*pb.Event],
		ParseEvent: func(record []byte) (*pb.Event, error) {
			e := &pb.Event{}
			return e, e.UnmarshalVT(record)
		},
		EncodeState: func(v *View) ([]byte, error) {
			return (&pb.Snapshot{Participants: v.all}).MarshalVT()
		},
	}
}

// core is the pure part. Owned by its actor; slice and records are replaced,
// never changed.
type core struct {
	audit *catalog.Audit
	ids   *ids.Source
	all   []*pb.Participant
}

func (c *core) find(id string) *pb.Participant {
	for _, p := range c.all {
		if p.Id == id {
			return p
		}
	}
	return nil
}

// decision gathers what a command leads to.
type decision struct {
	durable.Decision[*pb.Event]
	core *core
	cmd  *pb.Command
	env  durable.Env
}

func (d *decision) event(e *pb.Event) {
	e.At = d.env.Now.UnixMilli()
	d.Events = append(d.Events, e)
}

func (d *decision) record(action, target string, more map[string]string) {
	d.Rows = append(d.Rows, d.core.audit.Rows(&catalogpb.AuditRecord{
		Id: d.core.ids.Next(d.env.Now), Action: action, ActorType: d.cmd.Caller.GetActorType(), ActorId: d.cmd.Caller.GetActorId(),
		TargetId: target, Ip: d.cmd.Caller.GetIp(), UserAgent: d.cmd.Caller.GetUserAgent(), Metadata: more,
		CreatedAt: d.env.Now.UnixMilli(),
	})...)
}

// Decide implements durable.Core.
func (c *core) Decide(cmd *pb.Command, env durable.Env) (durable.Decision[*pb.Event], error) {
	d := &decision{core: c, cmd: cmd, env: env}
	var err error
	switch b := cmd.Body.(type) {
	case *pb.Command_Add:
		err = c.add(d, b.Add)
	case *pb.Command_AddKey:
		err = c.addKey(d, b.AddKey)
	case *pb.Command_RemoveKey:
		err = c.removeKey(d, b.RemoveKey)
	case *pb.Command_Grant:
		err = c.grant(d, b.Grant)
	case *pb.Command_Ungrant:
		err = c.ungrant(d, b.Ungrant)
	case *pb.Command_Acknowledge:
		err = c.acknowledge(d, b.Acknowledge)
	case *pb.Command_SetPolicy:
		err = c.setPolicy(d, b.SetPolicy)
	case *pb.Command_Disable:
		err = c.disable(d, b.Disable)
	case *pb.Command_SetEncryptionKey:
		err = c.setEncryptionKey(d, b.SetEncryptionKey)
	default:
		err = durable.Reject(durable.Invalid, "unknown command")
	}
	if err != nil {
		return durable.Decision[*pb.Event]{}, err
	}
	return d.Decision, nil
}

func (c *core) add(d *decision, in *pb.Add) error {
	name, ok := naming.Line(in.Name)
	if n := utf8.RuneCountInString(name); !ok || n < 1 || n > 80 {
		return durable.Reject(durable.Invalid, "name must be one line of 1 to 80 characters")
	}
	switch in.Kind {
	case Platform, Business, PSP:
	default:
		return durable.Reject(durable.Invalid, "kind must be platform, business or psp")
	}
	environment := in.Environment
	switch environment {
	case "":
		environment = Production
	case Production, Sandbox:
	default:
		return durable.Reject(durable.Invalid, "environment must be production or sandbox")
	}
	if len(in.Scopes) == 0 {
		return durable.Reject(durable.Invalid, "scopes must name at least one of tokenize and detokenize")
	}
	var scopes []string
	for _, s := range in.Scopes {
		if s != ScopeTokenize && s != ScopeDetokenize {
			return durable.Reject(durable.Invalid, "scopes must be tokenize or detokenize")
		}
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	if len(c.all) >= MaxParticipants {
		return durable.Reject(durable.Conflict, "there are %d participants already", MaxParticipants)
	}
	now := d.env.Now.UnixMilli()
	p := &pb.Participant{
		Id: c.ids.Next(d.env.Now), Name: name, Kind: in.Kind, Environment: environment, Identity: in.Identity, Scopes: scopes,
		Keys: []*pb.Key{{Id: in.KeyId, SecretHash: in.SecretHash, CreatedAt: now}}, CreatedAt: now,
	}
	d.Reply = p
	d.event(&pb.Event{Body: &pb.Event_Added{Added: p}})
	d.record("participant_add", p.Id, map[string]string{"kind": p.Kind, "environment": environment})
	return nil
}

// known returns the participant, or the rejection.
func (c *core) known(id string) (*pb.Participant, error) {
	p := c.find(id)
	if p == nil {
		return nil, durable.Reject(durable.Missing, "participant not found")
	}
	return p, nil
}

func (c *core) addKey(d *decision, in *pb.AddKey) error {
	p, err := c.known(in.Id)
	if err != nil {
		return err
	}
	if len(p.Keys) >= MaxKeys {
		return durable.Reject(durable.Conflict, "the participant has %d keys already; remove one first", MaxKeys)
	}
	k := &pb.Key{Id: in.KeyId, SecretHash: in.SecretHash, CreatedAt: d.env.Now.UnixMilli()}
	d.Reply = k
	d.event(&pb.Event{Body: &pb.Event_KeyAdded{KeyAdded: &pb.KeyAdded{Id: p.Id, Key: k}}})
	d.record("participant_key_add", p.Id, map[string]string{"key_id": k.Id})
	return nil
}

func (c *core) removeKey(d *decision, in *pb.RemoveKey) error {
	p, err := c.known(in.Id)
	if err != nil {
		return err
	}
	if Key(p, in.KeyId) == nil {
		return durable.Reject(durable.Missing, "key not found")
	}
	d.event(&pb.Event{Body: &pb.Event_KeyRemoved{KeyRemoved: &pb.KeyRemoved{Id: p.Id, KeyId: in.KeyId}}})
	d.record("participant_key_remove", p.Id, map[string]string{"key_id": in.KeyId})
	return nil
}

func (c *core) grant(d *decision, in *pb.Grant) error {
	who, err := c.known(in.Id)
	if err != nil {
		return err
	}
	whom := c.find(in.ParticipantId)
	switch {
	case whom == nil:
		return durable.Reject(durable.Invalid, "participant_id names no participant")
	case whom.Id == who.Id:
		return durable.Reject(durable.Invalid, "participant_id must be another participant")
	case whom.Environment != who.Environment:
		return durable.Reject(durable.Invalid, "participant_id belongs to another environment")
	case slices.Contains(whom.Delegates, who.Id):
		return nil // it has it
	case len(whom.Delegates) >= MaxDelegates:
		return durable.Reject(durable.Conflict, "the participant has %d delegates already", MaxDelegates)
	}
	d.event(&pb.Event{Body: &pb.Event_Granted{Granted: &pb.Granted{Id: who.Id, ParticipantId: whom.Id}}})
	d.record("participant_grant", who.Id, map[string]string{"for": whom.Id})
	return nil
}

func (c *core) ungrant(d *decision, in *pb.Ungrant) error {
	if _, err := c.known(in.Id); err != nil {
		return err
	}
	whom := c.find(in.ParticipantId)
	if whom == nil || !slices.Contains(whom.Delegates, in.Id) {
		return durable.Reject(durable.Missing, "grant not found")
	}
	d.event(&pb.Event{Body: &pb.Event_Ungranted{Ungranted: &pb.Ungranted{Id: in.Id, ParticipantId: whom.Id}}})
	d.record("participant_ungrant", in.Id, map[string]string{"for": whom.Id})
	return nil
}

func (c *core) acknowledge(d *decision, in *pb.Acknowledge) error {
	p, err := c.known(in.Id)
	if err != nil {
		return err
	}
	version := strings.TrimSpace(in.Version)
	if n := utf8.RuneCountInString(version); n < 1 || n > 200 || !utf8.ValidString(version) {
		return durable.Reject(durable.Invalid, "version must have 1 to 200 characters")
	}
	a := &pb.Acknowledgement{Version: version, AdminId: d.cmd.Caller.GetActorId(), At: d.env.Now.UnixMilli()}
	d.event(&pb.Event{Body: &pb.Event_Acknowledged{Acknowledged: &pb.Acknowledged{Id: p.Id, Acknowledgement: a}}})
	d.record("participant_acknowledge", p.Id, map[string]string{"version": version})
	return nil
}

func (c *core) setPolicy(d *decision, in *pb.SetPolicy) error {
	p, err := c.known(in.Id)
	if err != nil {
		return err
	}
	if _, ok := token.ParsePolicy(in.Policy); !ok {
		return durable.Reject(durable.Invalid, "policy must be single_use, ttl or session")
	}
	life := time.Duration(in.TtlSeconds) * time.Second
	if in.TtlSeconds != 0 && (in.Policy == "session" || life < token.MinLife || life > token.MaxLife) {
		return durable.Reject(durable.Invalid, "ttl_seconds must be %d to %d, and is not for session", int(token.MinLife.Seconds()), int(token.MaxLife.Seconds()))
	}
	d.event(&pb.Event{Body: &pb.Event_PolicySet{PolicySet: &pb.PolicySet{
		Id: p.Id, Policy: &pb.Policy{Policy: in.Policy, TtlSeconds: in.TtlSeconds},
	}}})
	d.record("participant_policy", p.Id, map[string]string{"policy": in.Policy, "ttl_seconds": fmt.Sprint(in.TtlSeconds)})
	return nil
}

func (c *core) disable(d *decision, in *pb.Disable) error {
	p, err := c.known(in.Id)
	if err != nil || p.Disabled {
		return err
	}
	d.event(&pb.Event{Body: &pb.Event_Disabled{Disabled: &pb.Disabled{Id: p.Id}}})
	d.record("participant_disable", p.Id, nil)
	return nil
}

func (c *core) setEncryptionKey(d *decision, in *pb.SetEncryptionKey) error {
	p, err := c.known(in.Id)
	if err != nil {
		return err
	}
	if len(in.Key) > 8<<10 {
		return durable.Reject(durable.Invalid, "the key is too large")
	}
	d.event(&pb.Event{Body: &pb.Event_EncryptionKeySet{EncryptionKeySet: &pb.EncryptionKeySet{Id: p.Id, Key: in.Key}}})
	// Whoever sets the key reads what is encrypted from then on: somebody should
	// notice a change that nobody wanted.
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

// Apply implements durable.Core.
func (c *core) Apply(_ uint64, e *pb.Event) {
	switch b := e.Body.(type) {
	case *pb.Event_Added:
		c.ids.Seen(b.Added.Id)
		c.all = append(c.all[:len(c.all):len(c.all)], b.Added)
	case *pb.Event_KeyAdded:
		c.change(b.KeyAdded.Id, func(p *pb.Participant) { p.Keys = append(p.Keys, b.KeyAdded.Key) })
	case *pb.Event_KeyRemoved:
		c.change(b.KeyRemoved.Id, func(p *pb.Participant) {
			p.Keys = slices.DeleteFunc(p.Keys, func(k *pb.Key) bool { return k.Id == b.KeyRemoved.KeyId })
		})
	case *pb.Event_Granted:
		c.change(b.Granted.ParticipantId, func(p *pb.Participant) { p.Delegates = append(p.Delegates, b.Granted.Id) })
	case *pb.Event_Ungranted:
		c.change(b.Ungranted.ParticipantId, func(p *pb.Participant) {
			p.Delegates = slices.DeleteFunc(p.Delegates, func(id string) bool { return id == b.Ungranted.Id })
		})
	case *pb.Event_Acknowledged:
		c.change(b.Acknowledged.Id, func(p *pb.Participant) { p.Acknowledgement = b.Acknowledged.Acknowledgement })
	case *pb.Event_PolicySet:
		c.change(b.PolicySet.Id, func(p *pb.Participant) { p.Policy = b.PolicySet.Policy })
	case *pb.Event_Disabled:
		c.change(b.Disabled.Id, func(p *pb.Participant) { p.Disabled = true })
	case *pb.Event_EncryptionKeySet:
		c.change(b.EncryptionKeySet.Id, func(p *pb.Participant) { p.EncryptionKey = b.EncryptionKeySet.Key })
	}
}

// change replaces a participant by a changed copy.
func (c *core) change(id string, fn func(*pb.Participant)) {
	i := slices.IndexFunc(c.all, func(p *pb.Participant) bool { return p.Id == id })
	if i < 0 {
		return
	}
	c.all = slices.Clone(c.all)
	c.all[i] = c.all[i].CloneVT()
	fn(c.all[i])
}

// Capture implements durable.Core.
func (c *core) Capture() *View {
	v := &View{
		all: c.all, byID: make(map[string]*pb.Participant, len(c.all)),
		byIdentity: make(map[string]*pb.Participant, len(c.all)), byKey: make(map[string]*pb.Participant, len(c.all)),
	}
	for _, p := range c.all {
		v.byID[p.Id], v.byIdentity[p.Identity] = p, p
		for _, k := range p.Keys {
			v.byKey[k.Id] = p
		}
	}
	return v
}

// Restore implements durable.Core.
func (c *core) Restore(_ uint64, state []byte) error {
	var snap pb.Snapshot
	if err := snap.UnmarshalVT(state); err != nil {
		return fmt.Errorf("decode snapshot: %w", err)
	}
	c.all = snap.Participants
	for _, p := range c.all {
		c.ids.Seen(p.Id)
	}
	return nil
}
