package rest

import (
	"atelier/actors/participant"
	"atelier/transport/wire"
)

// participantRecord is a participant as the owner sees it, without secrets.
type participantRecord struct {
	ID              string                 `json:"id" is:"Id"`
	Name            string                 `json:"name"`
	Kind            string                 `json:"kind" enum:"platform|business|psp"`
	Environment     string                 `json:"environment" enum:"production|sandbox"`
	Identity        string                 `json:"identity" doc:"The public value for identity.access_token; an identifier, never an authenticator."`
	Scopes          []string               `json:"scopes" enum:"tokenize|detokenize"`
	Keys            []participantKey       `json:"keys"`
	Delegates       []string               `json:"delegates" is:"Id" doc:"The ids of the participants that can act for this one."`
	Acknowledgement *acknowledgementRecord `json:"acknowledgement" open:"true"`
	Policy          *policyRecord          `json:"policy" open:"true"`
	Disabled        bool                   `json:"disabled"`
	CreatedAt       string                 `json:"created_at" is:"Timestamp"`
}

type participantKey struct {
	ID        string `json:"id"`
	CreatedAt string `json:"created_at" is:"Timestamp"`
}

type acknowledgementRecord struct {
	Version string `json:"version"`
	AdminID string `json:"admin_id"`
	At      string `json:"at" is:"Timestamp"`
}

type policyRecord struct {
	Policy     string `json:"policy" is:"TokenPolicy"`
	TTLSeconds *int64 `json:"ttl_seconds" range:"any"`
}

// shownSecret is a new key. Its secret is shown only in this response.
type shownSecret struct {
	ID     string `json:"id"`
	Secret string `json:"secret" pattern:"^ak_(live|test)_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$"`
}

func recordOfParticipant(p *participant.Participant) participantRecord {
	r := participantRecord{
		ID: p.Id, Name: p.Name, Kind: p.Kind, Environment: p.Environment, Identity: p.Identity, Scopes: p.Scopes,
		Keys: []participantKey{}, Delegates: append([]string{}, p.Delegates...), Disabled: p.Disabled, CreatedAt: wire.Stamp(p.CreatedAt),
	}
	for _, k := range p.Keys {
		r.Keys = append(r.Keys, participantKey{k.Id, wire.Stamp(k.CreatedAt)})
	}
	if a := p.Acknowledgement; a != nil {
		r.Acknowledgement = &acknowledgementRecord{a.Version, a.AdminId, wire.Stamp(a.At)}
	}
	if p.Policy != nil {
		r.Policy = &policyRecord{Policy: p.Policy.Policy}
		if p.Policy.TtlSeconds != 0 {
			r.Policy.TTLSeconds = &p.Policy.TtlSeconds
		}
	}
	return r
}

// askParticipants sends a command to the participants' actor and returns its result and a state
// that includes it.
func (r *Request) askParticipants(b participant.Body) (any, *participant.View, error) {
	h, err := r.api.Participants.Get(participant.ID)
	if err != nil {
		return nil, nil, err
	}
	v, _, err := h.Ask(participant.Command{Caller: r.adminCaller(), Body: b})
	return v, h.View(), err
}

type participantAddBody struct {
	Name        *string  `json:"name" length:"1..80"`
	Kind        *string  `json:"kind" enum:"platform|business|psp"`
	Scopes      []string `json:"scopes" items:"1.." enum:"tokenize|detokenize"`
	Environment string   `json:"environment,omitempty" enum:"|production|sandbox"`
}

type newParticipantRecord struct {
	ID          string      `json:"id" is:"Id"`
	Name        string      `json:"name"`
	Kind        string      `json:"kind" enum:"platform|business|psp"`
	Environment string      `json:"environment" enum:"production|sandbox"`
	Identity    string      `json:"identity"`
	Scopes      []string    `json:"scopes" enum:"tokenize|detokenize"`
	Key         shownSecret `json:"key" is:"NewKey"`
}

func addParticipant(r *Request) error {
	var in participantAddBody
	if err := r.decode(&in); err != nil {
		return err
	}
	keyID, secret, hash := participant.NewKey(in.Environment)
	v, _, err := r.askParticipants(participant.Add{
		Name: *in.Name, Kind: *in.Kind, Environment: in.Environment, Scopes: in.Scopes,
		Identity: participant.NewIdentity(in.Environment), KeyID: keyID, SecretHash: hash,
	})
	if err != nil {
		return err
	}
	p := v.(*participant.Participant)
	return r.JSON(newParticipantRecord{p.Id, p.Name, p.Kind, p.Environment, p.Identity, p.Scopes, shownSecret{keyID, string(secret)}})
}

func listParticipants(r *Request) error {
	h, err := r.api.Participants.Get(participant.ID)
	if err != nil {
		return err
	}
	out := []participantRecord{}
	for _, p := range h.View().All() {
		out = append(out, recordOfParticipant(p))
	}
	return r.JSON(out)
}

func addParticipantKey(r *Request) error {
	h, err := r.api.Participants.Get(participant.ID)
	if err != nil {
		return err
	}
	id := r.Param("participant_id")
	environment := h.View().Get(id).GetEnvironment()
	keyID, secret, hash := participant.NewKey(environment)
	_, _, err = r.askParticipants(participant.AddKey{ID: id, KeyID: keyID, SecretHash: hash})
	if err != nil {
		return err
	}
	return r.JSON(shownSecret{keyID, string(secret)})
}

func removeParticipantKey(r *Request) error {
	_, _, err := r.askParticipants(participant.RemoveKey{ID: r.Param("participant_id"), KeyID: r.Param("key_id")})
	if err != nil {
		return err
	}
	return r.NoContent()
}

type participantGrantBody struct {
	ParticipantID *string `json:"participant_id" doc:"The participant for which this one can act."`
}

func grantParticipant(r *Request) error {
	var in participantGrantBody
	if err := r.decode(&in); err != nil {
		return err
	}
	return r.changeParticipant(participant.Grant{ID: r.Param("participant_id"), For: *in.ParticipantID})
}

func ungrantParticipant(r *Request) error {
	_, _, err := r.askParticipants(participant.Ungrant{ID: r.Param("participant_id"), For: r.Param("for_id")})
	if err != nil {
		return err
	}
	return r.NoContent()
}

type participantAcknowledgeBody struct {
	Version *string `json:"version" length:"1..200"`
}

func acknowledgeParticipant(r *Request) error {
	var in participantAcknowledgeBody
	if err := r.decode(&in); err != nil {
		return err
	}
	return r.changeParticipant(participant.Acknowledge{ID: r.Param("participant_id"), Version: *in.Version})
}

type policyChangeBody struct {
	Policy     *string `json:"policy" is:"TokenPolicy"`
	TTLSeconds int64   `json:"ttl_seconds,omitempty" range:"0..1800" doc:"60 to 1800, for single_use and ttl. 0, or omitted, means the server's default."`
}

func setParticipantPolicy(r *Request) error {
	var in policyChangeBody
	if err := r.decode(&in); err != nil {
		return err
	}
	return r.changeParticipant(participant.SetPolicy{
		ID: r.Param("participant_id"), Policy: *in.Policy, TTLSeconds: in.TTLSeconds,
	})
}

func disableParticipant(r *Request) error {
	return r.changeParticipant(participant.Disable{ID: r.Param("participant_id")})
}

// changeParticipant applies a change and responds with the updated record.
func (r *Request) changeParticipant(b participant.Body) error {
	_, view, err := r.askParticipants(b)
	if err != nil {
		return err
	}
	return r.JSON(recordOfParticipant(view.Get(r.Param("participant_id"))))
}
